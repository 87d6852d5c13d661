//! Running programs: to their end with an error that says what failed, or as daemons with a log file that
//! are killed when dropped. Also what /proc tells about a process.

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Variable that marks every process that a lab started; `testbed clean` looks for it.
pub const MARK: &str = "BICAST_LAB";

/// A command that carries the lab's mark and keeps its temporary files inside the lab.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env(MARK, "1").env("TMPDIR", TEMPORARY);
    command
}

/// Runs a command to its end and returns what it printed.
///
/// # Errors
/// When it cannot be started or ends with another status than 0; the error holds what it wrote to
/// standard error.
pub fn run(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", describe(command)))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} ended with {}: {}",
            describe(command),
            output.status,
            message.trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command to its end with `input` as standard input.
///
/// # Errors
/// As [`run`].
pub fn run_with_input(command: &mut Command, input: &str) -> Result<()> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", describe(command)))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(input.as_bytes())
            .with_context(|| format!("cannot write to {}", describe(command)))?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} ended with {}: {}",
            describe(command),
            output.status,
            message.trim()
        );
    }
    Ok(())
}

/// A long-running child with a log file. Dropping it kills it.
#[derive(Debug)]
pub struct Daemon {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// Starts `command` with standard output and error appended to `log`.
    ///
    /// # Errors
    /// When the log cannot be opened or the program not be started.
    pub fn spawn(name: &str, command: &mut Command, log: &Path) -> Result<Daemon> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(log)
            .with_context(|| format!("cannot open {}", log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("cannot start {}", describe(command)))?;
        Ok(Daemon {
            name: name.to_owned(),
            child,
            log: log.to_owned(),
        })
    }

    /// Process id inside the lab.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The file that holds what it printed.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The exit status when it has ended.
    ///
    /// # Errors
    /// The system's.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Fails when the process has ended, with the end of its log.
    ///
    /// # Errors
    /// When it has ended.
    pub fn check_running(&mut self) -> Result<()> {
        if let Some(status) = self.ended()? {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(8).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            bail!(
                "{} ended with {status}; its log ends:\n{}",
                self.name,
                tail.join("\n")
            );
        }
        Ok(())
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// Kills it (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// The system's.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = self.kill();
    }
}

/// What a process has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time of all its threads, user and system together.
    pub cpu: Duration,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
}

/// Reads the usage of process `pid` from /proc.
///
/// # Errors
/// When there is no such process.
pub fn usage(pid: u32) -> Result<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("no process {pid} in this lab"))?;
    parse_stat(&stat).with_context(|| format!("/proc/{pid}/stat has an unknown form"))
}

/// How many file descriptors process `pid` has open.
///
/// # Errors
/// When there is no such process.
pub fn open_files(pid: u32) -> Result<usize> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd"));
    Ok(files
        .with_context(|| format!("no process {pid} in this lab"))?
        .count())
}

/// Opens a process as a file descriptor: a hold on it that does not fall to another process of the same number.
///
/// # Errors
/// When there is no such process.
pub fn open(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes plain numbers.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })
}

/// Waits until a process, opened with [`open`], has ended.
///
/// # Errors
/// The system's.
pub fn wait_for_end(process: &OwnedFd) -> io::Result<()> {
    let mut polled = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    while poll(&mut polled, PollTimeout::NONE) == Err(Errno::EINTR) {}
    Ok(())
}

/// Borrows descriptor `number` of another process.
///
/// # Errors
/// When it is not open there, or may not be borrowed.
pub fn borrow_descriptor(process: &OwnedFd, number: i32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_getfd takes plain numbers; the descriptor of the process is open.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let number = i32::try_from(result)
        .ok()
        .filter(|number| *number >= 0)
        .ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just returned this descriptor to us, nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Reads the processor time of the calling process's thread `tid` from /proc.
///
/// # Errors
/// When there is no such thread.
pub fn thread_cpu(tid: i32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat"))
        .with_context(|| format!("no thread {tid}"))?;
    Ok(parse_stat(&stat)
        .context("its stat file has an unknown form")?
        .cpu)
}

fn parse_stat(stat: &str) -> Option<Usage> {
    // The second field is the name in parentheses and may hold spaces; the fields after it are plain.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let ticks = number(14)? + number(15)?;
    Some(Usage {
        cpu: Duration::from_millis(ticks * (1000 / TICKS_PER_SECOND)),
        rss_bytes: number(24)? * PAGE_BYTES,
    })
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    format!("`{}`", words.join(" "))
}

/// Folder for temporary files of a lab's programs, inside the lab's own /run.
pub const TEMPORARY: &str = "/run/tmp";
/// /proc counts in USER_HZ, which is 100 on every architecture that Rust's standard library supports.
const TICKS_PER_SECOND: u64 = 100;
/// Page size where Open vSwitch and this testbed run in practice (x86-64, arm64 with 4 KiB pages).
const PAGE_BYTES: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_read_behind_a_name_with_spaces_and_parentheses() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 0 -20 4 0 99 4096000 300 18446744073709551615";
        let usage = parse_stat(stat).unwrap();
        assert_eq!(usage.cpu, Duration::from_secs(3));
        assert_eq!(usage.rss_bytes, 300 * 4096);
    }

    #[test]
    fn a_failing_command_reports_its_words_and_its_complaint() {
        let error = run(command("sh").args(["-c", "echo no luck >&2; exit 3"]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("sh -c") && error.contains("no luck") && error.contains('3'),
            "{error}"
        );
    }
}
