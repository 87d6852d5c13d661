//! Running a command inside a lab from outside.

use super::site_environment;
use crate::netns::Netns;
use crate::process;
use anyhow::{Context, Result};
use nix::sched::{CloneFlags, setns};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;

/// Enters the namespaces of the lab whose init process is `init_pid` (outside numbering), runs `command` in
/// the network namespace `namespace` and returns its exit code. The calling process stays inside: it must
/// have a single thread and nothing else to do.
///
/// # Errors
/// When the lab or the namespace is gone, or the command cannot be started.
pub fn exec(init_pid: u32, namespace: &str, command: &[OsString]) -> Result<i32> {
    let folder = std::env::current_dir().ok();
    let lab = process::open(init_pid).context("the lab has ended")?;
    setns(lab, CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).context("cannot enter the lab")?;
    // Entering a mount namespace leads to its root; folders outside /run are the same there.
    if let Some(folder) = folder {
        let _ = std::env::set_current_dir(folder);
    }
    let (program, arguments) = command.split_first().context("no command given")?;
    let mut command = Netns::open(namespace)?.command(program);
    command.args(arguments).envs(site_environment(namespace));
    let status = command
        .status()
        .with_context(|| format!("cannot run {} in `{namespace}`", program.to_string_lossy()))?;
    Ok(status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}
