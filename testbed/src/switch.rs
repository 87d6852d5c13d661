//! One site's Open vSwitch: its own `ovsdb-server` and `ovs-vswitchd` in the site's namespace, with their own
//! folder for sockets, database and logs. No system-wide Open vSwitch is looked at or touched.

use crate::netns::Netns;
use crate::packet_socket;
use crate::process::{self, Daemon, Usage};
use crate::sched;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Which datapath forwards packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Datapath {
    /// Open vSwitch's userspace datapath: needs nothing from the kernel.
    Netdev,
    /// The kernel module `openvswitch`.
    System,
}

/// What a switch is made from.
#[derive(Debug, Clone)]
pub struct SwitchPlan {
    /// The bridge's name.
    pub bridge: String,
    /// Its datapath id, 16 hexadecimal digits.
    pub datapath_id: String,
    /// Devices of the namespace that become ports; the first gets OpenFlow port 1, and so on.
    pub ports: Vec<String>,
    /// Where the controller listens, e.g. `tcp:10.0.1.1:6653`; `None` for a switch without one.
    pub controller: Option<String>,
}

/// A running switch. Dropping it kills its daemons.
#[derive(Debug)]
pub struct Switch {
    netns: Netns,
    plan: SwitchPlan,
    datapath: Datapath,
    folder: PathBuf,
    running: Mutex<Running>,
}

#[derive(Debug)]
struct Running {
    vswitchd: Option<Daemon>,
    _ovsdb: Daemon,
    starts: u32,
    packets_dropped: u64,
}

impl Switch {
    /// Starts the daemons and makes the bridge.
    ///
    /// # Errors
    /// When one of them does not come up.
    pub fn start(netns: &Netns, plan: SwitchPlan, datapath: Datapath) -> Result<Switch> {
        let folder = folder(netns.name());
        // A lab before this one in the same sandbox has left its database there.
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => std::fs::create_dir_all(&folder)?,
        }
        let database = folder.join("conf.db");
        process::run(
            process::command("ovsdb-tool")
                .arg("create")
                .arg(&database)
                .arg(schema()?),
        )?;
        let ovsdb = Daemon::spawn(
            "ovsdb-server",
            in_folder(&mut netns.command("ovsdb-server"), &folder)
                .arg(&database)
                .arg(format!("--remote=punix:{}", folder.join("db.sock").display()))
                .args(log_arguments(&folder, "ovsdb-server")),
            &folder.join("ovsdb-server.out"),
        )?;
        let switch = Switch {
            netns: netns.clone(),
            plan,
            datapath,
            folder,
            running: Mutex::new(Running {
                vswitchd: None,
                _ovsdb: ovsdb,
                starts: 0,
                packets_dropped: 0,
            }),
        };
        wait_until("ovsdb-server answers", || {
            switch.vsctl(&["--no-wait", "init"]).map(|_| ())
        })?;
        // The bridge is described before ovs-vswitchd first runs: it then starts into its final state, and
        // no controller sees a half-made bridge.
        switch.describe_bridge()?;
        switch.start_vswitchd()?;
        Ok(switch)
    }

    /// Kills `ovs-vswitchd` (SIGKILL); the database stays.
    ///
    /// # Errors
    /// The system's.
    pub fn kill_vswitchd(&self) -> Result<()> {
        let mut running = self.running();
        running.packets_dropped += running.take_drops()?;
        if let Some(mut vswitchd) = running.vswitchd.take() {
            vswitchd.kill()?;
        }
        Ok(())
    }

    /// Starts `ovs-vswitchd` on the database that is there; returns when its ports are in place.
    ///
    /// # Errors
    /// When it does not come up, or runs already.
    pub fn start_vswitchd(&self) -> Result<()> {
        let mut running = self.running();
        if running.vswitchd.is_some() {
            bail!("ovs-vswitchd of `{}` runs already", self.netns.name());
        }
        let mut command = self.netns.command("ovs-vswitchd");
        command
            .arg(format!("unix:{}", self.folder.join("db.sock").display()))
            .arg(format!(
                "--pidfile={}",
                self.folder.join("ovs-vswitchd.pid").display()
            ))
            .arg("--mlockall")
            .args(log_arguments(&self.folder, "ovs-vswitchd"));
        if self.datapath == Datapath::Netdev {
            command.arg("--disable-system");
        }
        // SAFETY: between fork and exec the closure only makes the system call setpriority, which is
        // async-signal-safe.
        unsafe { command.pre_exec(|| sched::nice(-20)) };
        let mut vswitchd = Daemon::spawn(
            "ovs-vswitchd",
            in_folder(&mut command, &self.folder),
            &self.folder.join("ovs-vswitchd.out"),
        )?;
        running.starts += 1;
        // A change that is waited for: ovs-vsctl returns when ovs-vswitchd has applied the whole database.
        let change = format!("external_ids:starts={}", running.starts);
        self.vsctl(&["--timeout=15", "set", "Open_vSwitch", ".", &change])
            .with_context(|| format!("ovs-vswitchd of `{}` does not answer", self.netns.name()))?;
        vswitchd.check_running()?;
        if self.datapath == Datapath::Netdev {
            let raised = packet_socket::raise_receive_buffers(vswitchd.pid(), RECEIVE_BUFFER_BYTES)?;
            if raised < self.plan.ports.len() {
                let error = self
                    .vsctl(&["--columns=name,error", "list", "Interface"])
                    .unwrap_or_default();
                bail!(
                    "ovs-vswitchd of `{}` has opened {raised} packet sockets: {error}",
                    self.netns.name()
                );
            }
        }
        running.vswitchd = Some(vswitchd);
        Ok(())
    }

    /// Kills `ovs-vswitchd` and starts it again on the same database: tables, groups and meters are lost.
    ///
    /// # Errors
    /// As [`Switch::start_vswitchd`].
    pub fn restart_vswitchd(&self) -> Result<()> {
        self.kill_vswitchd()?;
        self.start_vswitchd()
    }

    /// Process id of `ovs-vswitchd` inside the lab, while it runs.
    pub fn vswitchd_pid(&self) -> Option<u32> {
        self.running().vswitchd.as_ref().map(Daemon::pid)
    }

    /// Processor time and memory of `ovs-vswitchd`.
    ///
    /// # Errors
    /// When it does not run.
    pub fn usage(&self) -> Result<Usage> {
        process::usage(self.vswitchd_pid().context("ovs-vswitchd does not run")?)
    }

    /// Packets lost because `ovs-vswitchd` did not read its ports fast enough, since the switch started.
    ///
    /// # Errors
    /// When its sockets cannot be read.
    pub fn packets_dropped(&self) -> Result<u64> {
        let mut running = self.running();
        running.packets_dropped += running.take_drops()?;
        Ok(running.packets_dropped)
    }

    /// The bridge's name.
    pub fn bridge(&self) -> &str {
        &self.plan.bridge
    }

    /// The folder of sockets, database and logs (inside the lab).
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `ovs-vsctl` on this switch's database.
    ///
    /// # Errors
    /// When it fails.
    pub fn vsctl(&self, arguments: &[&str]) -> Result<String> {
        let database = format!("--db=unix:{}", self.folder.join("db.sock").display());
        process::run(process::command("ovs-vsctl").arg(database).args(arguments))
    }

    /// Runs `ovs-ofctl -O OpenFlow13 VERB BRIDGE …` on this switch's bridge.
    ///
    /// # Errors
    /// When it fails.
    pub fn ofctl(&self, verb: &str, arguments: &[&str]) -> Result<String> {
        let socket = format!(
            "unix:{}",
            self.folder.join(format!("{}.mgmt", self.plan.bridge)).display()
        );
        process::run(
            process::command("ovs-ofctl")
                .args(["-O", "OpenFlow13", verb, &socket])
                .args(arguments),
        )
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe_bridge(&self) -> Result<()> {
        let bridge = self.plan.bridge.as_str();
        let datapath = match self.datapath {
            Datapath::Netdev => "datapath_type=netdev",
            Datapath::System => "datapath_type=system",
        };
        let datapath_id = format!("other-config:datapath-id={}", self.plan.datapath_id);
        let mut words = vec![
            "--no-wait",
            "add-br",
            bridge,
            "--",
            "set",
            "bridge",
            bridge,
            datapath,
            &datapath_id,
        ];
        words.extend([
            "fail_mode=secure",
            "protocols=OpenFlow13",
            "other-config:disable-in-band=true",
        ]);
        let numbers: Vec<String> = (1..=self.plan.ports.len())
            .map(|port| format!("ofport_request={port}"))
            .collect();
        for (port, number) in self.plan.ports.iter().zip(&numbers) {
            words.extend([
                "--",
                "add-port",
                bridge,
                port,
                "--",
                "set",
                "interface",
                port,
                number,
            ]);
        }
        if let Some(controller) = &self.plan.controller {
            words.extend([
                "--",
                "set-controller",
                bridge,
                controller,
                "--",
                "set",
                "controller",
                bridge,
            ]);
            words.extend([
                "connection-mode=out-of-band",
                "max_backoff=1000",
                "inactivity_probe=5000",
            ]);
        }
        self.vsctl(&words)?;
        Ok(())
    }
}

impl Running {
    fn take_drops(&self) -> Result<u64> {
        self.vswitchd
            .as_ref()
            .map_or(Ok(0), |vswitchd| packet_socket::take_drops(vswitchd.pid()))
    }
}

/// The folder of the switch in namespace `name`: sockets, database, logs.
pub fn folder(name: &str) -> PathBuf {
    Path::new("/run/openvswitch").join(name)
}

/// Points Open vSwitch's programs at the switch's own folder instead of the system's.
fn in_folder<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    for variable in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"] {
        command.env(variable, folder);
    }
    command
}

fn log_arguments(folder: &Path, program: &str) -> [String; 2] {
    [
        format!("--log-file={}", folder.join(format!("{program}.log")).display()),
        "-vconsole:off".to_owned(),
    ]
}

fn schema() -> Result<&'static Path> {
    let places = [
        "/usr/share/openvswitch/vswitch.ovsschema",
        "/usr/local/share/openvswitch/vswitch.ovsschema",
    ];
    let found = places.into_iter().map(Path::new).find(|path| path.exists());
    found.context("Open vSwitch is not installed: no vswitch.ovsschema in /usr/share/openvswitch")
}

/// Tries `attempt` every few milliseconds until it works, for up to ten seconds.
pub(crate) fn wait_until(what: &str, mut attempt: impl FnMut() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(error) if start.elapsed() > Duration::from_secs(10) => {
                return Err(error).with_context(|| format!("waited ten seconds until {what}"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Half a second of 15,000 full packets a second.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;
