//! Where recorded messages are: in this crate's own `tests/vectors`, and, where the environment variable
//! `BICAST_VECTORS` names one, in another folder beside that. Both may have any of the subfolders `ovs` and
//! `ovs-live-of13` (`.bin` files with the text in a `.txt` beside each), `ryu-of13/packets` (`.packet` files) and
//! `ovs-fuzz-regression` (malformed messages).

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a subfolder with such an extension, digits behind it left aside.
pub(crate) fn files(subfolder: &str, extension: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> = folders()
        .into_iter()
        .filter_map(|folder| fs::read_dir(folder.join(subfolder)).ok())
        .flatten()
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| {
            path.extension()
                .unwrap_or_default()
                .to_string_lossy()
                .trim_end_matches(char::is_numeric)
                == extension
        })
        .collect();
    paths.sort();
    paths
}

fn folders() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let other = std::env::var_os("BICAST_VECTORS").map(PathBuf::from);
    let folders: Vec<_> = [Some(own), other].into_iter().flatten().collect();
    for folder in &folders {
        assert!(
            folder.is_dir(),
            "the folder of recorded messages {} does not exist",
            folder.display()
        );
    }
    folders
}
