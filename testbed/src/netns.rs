//! Named network namespaces inside the lab: entering them with a thread or a command.

use crate::process;
use anyhow::{Context, Result, anyhow};
use nix::sched::{CloneFlags, setns};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A network namespace with a name, as `ip netns` knows it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Netns {
    name: String,
    file: Arc<File>,
    environment: Vec<(String, String)>,
}

impl Netns {
    /// Makes a namespace with IPv6 off and its loopback up.
    ///
    /// # Errors
    /// When `ip` fails, e.g. because the name is taken.
    pub fn create(name: &str) -> Result<Netns> {
        process::run(process::command("ip").args(["netns", "add", name]))?;
        let netns = Netns::open(name)?;
        netns.run(|| {
            for scope in ["all", "default"] {
                sysctl(&format!("net/ipv6/conf/{scope}/disable_ipv6"), "1")?;
            }
            Ok(())
        })?;
        netns.ip("link set dev lo up\n")?;
        Ok(netns)
    }

    /// Opens a namespace that exists.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn open(name: &str) -> Result<Netns> {
        let path = Path::new("/run/netns").join(name);
        let file = File::open(&path).with_context(|| format!("no network namespace `{name}` in this lab"))?;
        Ok(Netns {
            name: name.to_owned(),
            file: Arc::new(file),
            environment: Vec::new(),
        })
    }

    /// Adds a variable to the environment of every command that is run here.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A command that runs inside.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = process::command(program);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let file = Arc::clone(&self.file);
        // SAFETY: between fork and exec the closure only makes the system call setns, which is
        // async-signal-safe; it neither allocates nor takes locks.
        unsafe {
            command.pre_exec(move || setns(&*file, CloneFlags::CLONE_NEWNET).map_err(std::io::Error::from));
        }
        command
    }

    /// Runs `work` on a thread that has entered the namespace and waits for it. Sockets made there belong
    /// to the namespace for their whole life.
    ///
    /// # Errors
    /// Those of `work`, and when the namespace cannot be entered.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(&*self.file, CloneFlags::CLONE_NEWNET)
                    .with_context(|| format!("cannot enter the namespace `{}`", self.name))?;
                work()
            });
            thread
                .join()
                .map_err(|_| anyhow!("the work in the namespace `{}` panicked", self.name))?
        })
    }

    /// Runs `ip -batch` commands inside, one per line.
    ///
    /// # Errors
    /// When one of them fails.
    pub fn ip(&self, batch: &str) -> Result<()> {
        process::run_with_input(self.command("ip").args(["-batch", "-"]), batch)
            .with_context(|| format!("in the namespace `{}`", self.name))
    }

    /// Sets a sysctl of the namespace, `key` with slashes below `/proc/sys`.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn sysctl(&self, key: &str, value: &str) -> Result<()> {
        self.run(|| sysctl(key, value))
            .with_context(|| format!("in the namespace `{}`", self.name))
    }
}

/// Sets a sysctl of the calling thread's namespace. A key that this kernel does not have (no IPv6, say)
/// needs no setting.
fn sysctl(key: &str, value: &str) -> Result<()> {
    let path = Path::new("/proc/sys").join(key);
    if !path.exists() {
        return Ok(());
    }
    std::fs::write(&path, value).with_context(|| format!("cannot set {key} to {value}"))
}
