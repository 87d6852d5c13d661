//! A recording on disk: `manifest.json`, and `samples.jsonl` with a sample in each line.
//!
//! Lines are only ever appended, and each is on disk before the next measurement begins. Whatever interrupts a run
//! costs the sample that was being measured.

use super::record::{Continuation, Key, Manifest, Sample};
use anyhow::{Context, Result, bail};
use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A recording that is being written.
#[derive(Debug)]
pub struct Store {
    file: File,
    path: PathBuf,
    recording: Recording,
    sound: HashSet<Key>,
}

/// A recording as read.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Where it comes from.
    pub manifest: Manifest,
    /// In the order in which they were measured.
    pub samples: Vec<Sample>,
    /// What was wrong with the files, a sentence each.
    pub notes: Vec<String>,
}

impl Store {
    /// Begins a recording in the folder `dir`, or continues the one that is there.
    ///
    /// # Errors
    /// When the recording there was made with another seed, backend or other parameters (the message names each),
    /// when it is damaged anywhere but in its last line, when another run is writing to it, or when the folder cannot be
    /// written to.
    pub fn open(dir: &Path, manifest: Manifest) -> Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
        let path = dir.join(SAMPLES);
        let cannot_open = || format!("cannot open {}", path.display());
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .with_context(cannot_open)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another run is writing to {}", path.display()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot_open),
        }
        let manifest = continued(dir, manifest)?;
        let (samples, notes, sound_bytes) = read_samples(&path)?;
        if !notes.is_empty() {
            file.set_len(sound_bytes).with_context(cannot_open)?;
        }
        write_manifest(dir, &manifest)?;
        let sound = samples
            .iter()
            .filter(|sample| sample.is_sound())
            .map(Sample::key)
            .collect();
        Ok(Store {
            file,
            path,
            recording: Recording {
                manifest,
                samples,
                notes,
            },
            sound,
        })
    }

    /// Whether a sound sample of this key is there. A faulty one does not count: it is to be measured again.
    pub fn has(&self, key: &Key) -> bool {
        self.sound.contains(key)
    }

    /// How many samples of this key are there, faulty ones included.
    pub fn attempts(&self, key: &Key) -> usize {
        self.samples()
            .iter()
            .filter(|sample| sample.key() == *key)
            .count()
    }

    /// Adds a sample; it is on disk when this returns.
    ///
    /// # Errors
    /// When a number in it is not finite, or the disk refuses it.
    pub fn append(&mut self, sample: Sample) -> Result<()> {
        if let Some(name) = sample.not_finite() {
            bail!("`{name}` of {} is not a finite number", sample.key());
        }
        let mut line = serde_json::to_vec(&sample)?;
        line.push(b'\n');
        let cannot_write = || format!("cannot write {}", self.path.display());
        self.file.write_all(&line).with_context(cannot_write)?;
        self.file.sync_data().with_context(cannot_write)?;
        if sample.is_sound() {
            self.sound.insert(sample.key());
        }
        self.recording.samples.push(sample);
        Ok(())
    }

    /// All samples, those of earlier runs first.
    pub fn samples(&self) -> &[Sample] {
        &self.recording.samples
    }

    /// What was dropped when the recording was opened, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.recording.notes
    }
}

impl Recording {
    /// Whether the folder `dir` holds a recording.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(SAMPLES).is_file()
    }

    /// Reads the recording in the folder `dir` and changes nothing; it may still be being written.
    ///
    /// # Errors
    /// When there is none, or it is damaged anywhere but in its last line.
    pub fn read(dir: &Path) -> Result<Self> {
        let manifest =
            read_manifest(dir)?.with_context(|| format!("{} holds no recording", dir.display()))?;
        let (samples, notes, _) = read_samples(&dir.join(SAMPLES))?;
        Ok(Recording {
            manifest,
            samples,
            notes,
        })
    }
}

/// The manifest of the recording with this run in it.
fn continued(dir: &Path, manifest: Manifest) -> Result<Manifest> {
    let Some(mut recorded) = read_manifest(dir)? else {
        return Ok(manifest);
    };
    let differences = recorded.differences(&manifest);
    if !differences.is_empty() {
        bail!(
            "{} holds a recording of something else; move it away or choose another --out\n  {}",
            dir.display(),
            differences.join("\n  ")
        );
    }
    recorded.continued.push(Continuation {
        commit: manifest.commit,
        length: manifest.length,
        machine: manifest.machine,
        started: manifest.started,
    });
    Ok(recorded)
}

fn read_manifest(dir: &Path) -> Result<Option<Manifest>> {
    let path = dir.join(MANIFEST);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let manifest =
        serde_json::from_str(&text).with_context(|| format!("{} is no manifest", path.display()))?;
    Ok(Some(manifest))
}

/// Written aside and renamed: an interruption leaves the old one or the new one.
fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<()> {
    let (path, aside) = (dir.join(MANIFEST), dir.join("manifest.json.new"));
    let text = serde_json::to_string_pretty(manifest)? + "\n";
    std::fs::write(&aside, text)
        .and_then(|()| std::fs::rename(&aside, &path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The samples, what is to be said about the file, and the length of its sound part.
fn read_samples(path: &Path) -> Result<(Vec<Sample>, Vec<String>, u64)> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let sound = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let (lines, rest) = bytes.split_at(sound);
    let mut samples = Vec::new();
    for (number, line) in (1..).zip(lines.split_inclusive(|&byte| byte == b'\n')) {
        let sample = serde_json::from_slice(line)
            .with_context(|| format!("{} line {number} is no sample", path.display()))?;
        samples.push(sample);
    }
    let notes = if rest.is_empty() {
        Vec::new()
    } else {
        vec![format!(
            "{}: the last line was cut off after {} bytes and is dropped",
            path.display(),
            rest.len()
        )]
    };
    Ok((samples, notes, sound as u64))
}

const MANIFEST: &str = "manifest.json";
const SAMPLES: &str = "samples.jsonl";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::testing::{manifest, sample};
    use serde_json::json;

    fn sample_at(loss: f64, repetition: u32) -> Sample {
        sample(
            "download-time",
            &[("scheme", "unicast")],
            &[("loss_percent", loss)],
            repetition,
            &[("seconds", 8.9)],
        )
    }

    fn open(dir: &Path) -> Result<Store> {
        Store::open(dir, manifest("download-time"))
    }

    #[test]
    fn a_recording_is_continued_where_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(dir.path()).unwrap();
        let faulty = Sample {
            faults: vec!["the emulator was late".to_owned()],
            ..sample_at(0.3, 0)
        };
        for sample in [sample_at(0.1, 0), sample_at(0.1, 1), faulty.clone()] {
            store.append(sample).unwrap();
        }
        drop(store);
        let store = open(dir.path()).unwrap();
        assert!(store.has(&sample_at(0.1, 1).key()));
        assert!(!store.has(&sample_at(0.1, 2).key()));
        // What was faulty is to be measured again.
        assert!(!store.has(&faulty.key()));
        assert_eq!(store.attempts(&faulty.key()), 1);
        assert_eq!(store.notes(), [""; 0]);
        let recording = Recording::read(dir.path()).unwrap();
        assert_eq!(recording.samples, store.samples());
        assert_eq!(recording.manifest.continued.len(), 1);
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(dir.path()).unwrap();
        store.append(sample_at(0.1, 0)).unwrap();
        store.append(sample_at(0.2, 0)).unwrap();
        drop(store);
        let path = dir.path().join(SAMPLES);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 20]).unwrap();

        let read = Recording::read(dir.path()).unwrap();
        assert_eq!((read.samples.len(), read.notes.len()), (1, 1));
        let mut store = open(dir.path()).unwrap();
        assert!(
            store.notes()[0].contains("the last line was cut off"),
            "{:?}",
            store.notes()
        );
        assert!(!store.has(&sample_at(0.2, 0).key()));
        store.append(sample_at(0.2, 0)).unwrap();
        drop(store);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn a_broken_line_before_the_last_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(dir.path()).unwrap();
        store.append(sample_at(0.1, 0)).unwrap();
        drop(store);
        let path = dir.path().join(SAMPLES);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{}\n{text}", &text[..30])).unwrap();
        let error = format!("{:#}", open(dir.path()).unwrap_err());
        assert!(error.contains("samples.jsonl line 1 is no sample"), "{error}");
    }

    #[test]
    fn other_parameters_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()).unwrap());
        let before = std::fs::read(dir.path().join(MANIFEST)).unwrap();
        let other = Manifest {
            seed: 7,
            parameters: json!({"bytes": 1_000, "cap_s": 120}),
            ..manifest("download-time")
        };
        let error = Store::open(dir.path(), other).unwrap_err().to_string();
        let shown = error.lines().skip(1).collect::<Vec<_>>();
        assert_eq!(
            shown,
            [
                "  seed: recorded 1, wanted 7",
                "  bytes: recorded 100000000, wanted 1000"
            ],
            "{error}"
        );
        assert_eq!(std::fs::read(dir.path().join(MANIFEST)).unwrap(), before);
    }

    #[test]
    fn two_runs_do_not_write_to_one_recording() {
        let dir = tempfile::tempdir().unwrap();
        let _first = open(dir.path()).unwrap();
        let error = open(dir.path()).unwrap_err().to_string();
        assert!(error.starts_with("another run is writing to"), "{error}");
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(dir.path()).unwrap();
        let mut broken = sample_at(0.1, 0);
        broken.values.insert("mbit".to_owned(), f64::NAN);
        let error = store.append(broken).unwrap_err().to_string();
        assert!(error.contains("`mbit`"), "{error}");
        assert!(store.samples().is_empty());
    }

    #[test]
    fn keys_hold_when_a_number_changes_in_its_last_digit() {
        assert_eq!(sample_at(0.1 + 0.2, 0).key(), sample_at(0.3, 0).key());
        assert_eq!(
            sample_at(0.3, 2).key().to_string(),
            "download-time scheme=unicast loss_percent=0.3 #2"
        );
    }
}
