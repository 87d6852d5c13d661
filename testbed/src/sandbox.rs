//! The world of a lab: PID, mount and network namespaces of its own, so that whatever is killed, whenever,
//! the kernel takes everything else away.
//!
//! ```text
//! testbed (keeper, outside) ──fork──▶ init (PID 1 of the lab) ──fork──▶ lab ──▶ Open vSwitch, hosts, traffic
//!    waits for init                     reaps orphans                     everything else in this crate
//! ```
//!
//! - The keeper dies: the kernel kills init (parent-death signal), and with init its whole PID namespace.
//! - The lab dies: init sees it and ends, and with it its whole PID namespace.
//! - Named network namespaces, veth pairs, TAPs and files lie in the lab's mount and network namespaces and
//!   go with their last process.

use anyhow::{Context, Result, ensure};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, setsid};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Proof of being inside, as the lab process.
#[derive(Debug)]
pub struct Sandbox {
    init_pid: u32,
    ready: Option<File>,
}

/// How long a sandbox lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// As long as the process that the user started: that one is the keeper.
    Attached,
    /// Until it is ended: the keeper is a background process, and the one that the user started returns
    /// as soon as [`Sandbox::detach`] is called.
    Detached,
}

impl Sandbox {
    /// Enters new namespaces. Returns in the lab process only; the others end with its exit code.
    ///
    /// To be called before any thread is started. `held_by_lab` (a listening socket) is handed back here and
    /// closed in the other processes, so that it ends with the lab.
    ///
    /// # Errors
    /// Without root's capabilities.
    pub fn enter<H>(lifetime: Lifetime, held_by_lab: H) -> Result<(Sandbox, H)> {
        ensure!(
            single_threaded(),
            "a sandbox must be entered before threads are started"
        );
        ensure!(
            nix::unistd::geteuid().is_root(),
            "the testbed needs root: it makes network namespaces"
        );
        let ready = match lifetime {
            Lifetime::Attached => None,
            Lifetime::Detached => Some(become_background_keeper()?),
        };
        name_process(KEEPER)?;
        unshare(CloneFlags::CLONE_NEWPID).context("cannot make a PID namespace")?;
        let (alive_reader, alive_writer) = nix::unistd::pipe().context("cannot make a pipe")?;
        // SAFETY: the process has a single thread, so the child may do anything.
        if let ForkResult::Parent { child } = unsafe { fork() }.context("cannot fork")? {
            drop((alive_reader, held_by_lab, ready));
            if lifetime == Lifetime::Detached {
                let_go_of_terminal()?;
            }
            // `alive_writer` stays open as long as the keeper lives.
            let code = wait_for(child);
            drop(alive_writer);
            std::process::exit(code);
        }
        drop(alive_writer);
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        ensure_parent_alive(&alive_reader)?;
        drop(alive_reader);

        name_process(INIT)?;
        // /proc is still the outer one here: it tells this process's id as the outside sees it.
        let init_pid = std::fs::read_link("/proc/self")?
            .to_string_lossy()
            .parse()
            .context("unknown own id")?;
        setsid().context("cannot start a session")?;
        crate::sched::raise_autogroup();
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET)
            .context("cannot make mount and network namespaces")?;
        mount_private_folders()?;
        // SAFETY: the process has a single thread, so the child may do anything.
        if let ForkResult::Parent { child } = unsafe { fork() }.context("cannot fork")? {
            drop((held_by_lab, ready));
            if lifetime == Lifetime::Detached {
                let_go_of_terminal()?;
            }
            std::process::exit(wait_for(child));
        }
        name_process(LAB)?;
        crate::process::run(crate::process::command("ip").args(["link", "set", "dev", "lo", "up"]))?;
        Ok((Sandbox { init_pid, ready }, held_by_lab))
    }

    /// The id of the lab's init process, as the outside sees it.
    pub fn init_pid(&self) -> u32 {
        self.init_pid
    }

    /// Lets the process that the user started return (a detached lab that is ready), and lets go of its
    /// terminal. Does nothing in an attached one.
    ///
    /// # Errors
    /// The system's.
    pub fn detach(&mut self) -> Result<()> {
        if let Some(mut ready) = self.ready.take() {
            ready
                .write_all(b"1")
                .context("cannot report that the lab is ready")?;
            let_go_of_terminal()?;
        }
        Ok(())
    }
}

/// Names of the three processes, as /proc/PID/comm shows them: the keeper outside …
pub const KEEPER: &str = "testbed-keeper";
/// … the init process …
pub const INIT: &str = "testbed-init";
/// … and the lab itself.
pub const LAB: &str = "testbed-lab";

/// Forks into the background. Returns there, with the pipe on which readiness is reported; the process that
/// the user started waits for it and ends.
fn become_background_keeper() -> Result<File> {
    let (reader, writer) = nix::unistd::pipe().context("cannot make a pipe")?;
    // SAFETY: the process has a single thread, so the child may do anything.
    match unsafe { fork() }.context("cannot fork")? {
        ForkResult::Parent { .. } => {
            drop(writer);
            let mut byte = [0];
            let ready = File::from(reader).read(&mut byte).is_ok_and(|count| count == 1);
            // The lab has said on standard error why it is not ready.
            std::process::exit(i32::from(!ready));
        }
        ForkResult::Child => {
            drop(reader);
            setsid().context("cannot start a session")?;
            Ok(File::from(writer))
        }
    }
}

/// Standard input, output and error become /dev/null: whoever reads the output of the process that the user
/// started sees its end.
fn let_go_of_terminal() -> Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    nix::unistd::dup2_stderr(&null)?;
    Ok(())
}

/// The parent may have died between fork and the request for a parent-death signal; then its end of the
/// pipe is closed.
fn ensure_parent_alive(alive: &OwnedFd) -> Result<()> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let mut polled = [PollFd::new(alive.as_fd(), PollFlags::POLLIN)];
    poll(&mut polled, PollTimeout::ZERO)?;
    ensure!(
        polled[0].revents().is_none_or(|events| events.is_empty()),
        "the keeper of this lab is gone"
    );
    Ok(())
}

fn mount_private_folders() -> Result<()> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .context("cannot make mounts private")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    for folder in [
        "/run",
        "/var/run/openvswitch",
        "/var/log/openvswitch",
        "/var/lib/openvswitch",
        "/etc/openvswitch",
    ] {
        // /var/run is a link to /run on most systems: covered by the first.
        if Path::new(folder).exists() {
            mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("mode=0755"))
                .with_context(|| format!("cannot mount a private {folder}"))?;
        }
    }
    mount(
        Some("proc"),
        "/proc",
        Some("proc"),
        flags | MsFlags::MS_NOEXEC,
        none,
    )
    .context("cannot mount /proc")?;
    std::fs::create_dir_all(crate::process::TEMPORARY)?;
    std::fs::create_dir_all("/run/netns")?;
    Ok(())
}

/// Waits for `child`, reaping every other child on the way, and returns the exit code that stands for its end.
fn wait_for(child: Pid) -> i32 {
    loop {
        match waitpid(Pid::from_raw(-1), None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => return code,
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => return 128 + signal as i32,
            Err(nix::errno::Errno::ECHILD) => return 1,
            _ => {}
        }
    }
}

fn name_process(name: &str) -> Result<()> {
    let name = std::ffi::CString::new(name)?;
    nix::sys::prctl::set_name(&name).context("cannot name the process")
}

fn single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}
