//! A pair of `bicast-proxy` as programs, on loopback, and what they use.

#![allow(dead_code, reason = "each test and benchmark that shares it needs some of it")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use proxy::PrivateKey;
use proxy::stats::{self, Stats};

/// `near` dials `far`; both are ready. Dropped, both are killed.
pub(crate) struct Programs {
    pub(crate) near: Program,
    pub(crate) far: Program,
    /// Where applications connect.
    pub(crate) forward: SocketAddr,
    _folder: tempfile::TempDir,
}

/// One of them.
pub(crate) struct Program {
    child: Child,
    socket: std::path::PathBuf,
}

/// What a program has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Processor time.
    pub(crate) cpu: Duration,
    /// Resident memory, bytes.
    pub(crate) memory: u64,
    /// Open files.
    pub(crate) files: usize,
}

impl Programs {
    /// One forward to `target`. `both` is more of the configuration of both, `peer` more of each one's peer.
    pub(crate) fn start(both: &str, peer: &str, target: SocketAddr) -> Programs {
        let folder = tempfile::tempdir().unwrap();
        let keys = [PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap()];
        let [streams, datagrams] = free_udp_ports();
        let forward = free_tcp_address();
        let far = format!(
            "{both}\nlisten: 127.0.0.1:{streams}\nlisten_datagrams: 127.0.0.1:{datagrams}\n\
             peers:\n  near: {{key: {}, allow: [\"{target}\"]{peer}}}\n",
            keys[0].public()
        );
        let near = format!(
            "{both}\npeers:\n  far: {{key: {}, dial: \"127.0.0.1:{streams}\", dial_datagrams: \"127.0.0.1:{datagrams}\"{peer}}}\n\
             forwards:\n  web: {{kind: tcp, listen: \"{forward}\", peer: far, target: \"{target}\"}}\n",
            keys[1].public()
        );
        let programs = Programs {
            far: Program::start(folder.path(), "far", &keys[1], &far),
            near: Program::start(folder.path(), "near", &keys[0], &near),
            forward,
            _folder: folder,
        };
        let ready = |program: &Program| {
            program
                .stats()
                .is_some_and(|stats| stats.peers[0].connections.len() >= 2)
        };
        until("both are connected", || {
            ready(&programs.near) && ready(&programs.far)
        });
        programs
    }
}

impl Program {
    fn start(folder: &Path, name: &str, key: &PrivateKey, config: &str) -> Program {
        let file = |end: &str| folder.join(format!("{name}.{end}"));
        std::fs::write(file("key"), key.to_text()).unwrap();
        let own = format!(
            "key: {}\nsocket: {}\n",
            file("key").display(),
            file("sock").display()
        );
        std::fs::write(file("yaml"), own + config).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_bicast-proxy"))
            .args(["run", "--log", "warn", "--config"])
            .arg(file("yaml"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Program {
            child,
            socket: file("sock"),
        }
    }

    /// What it tells, if it does.
    pub(crate) fn stats(&self) -> Option<Stats> {
        stats::ask(&self.socket).ok()
    }

    /// What it has used so far.
    pub(crate) fn usage(&self) -> Usage {
        usage(self.child.id())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What process `pid` has used so far.
pub(crate) fn usage(pid: u32) -> Usage {
    let proc = Path::new("/proc").join(pid.to_string());
    let read = |name: &str| std::fs::read_to_string(proc.join(name)).unwrap();
    let stat = read("stat");
    // Behind the name, which may hold anything, the third field comes first.
    let fields: Vec<_> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    let ticks: u64 = [14, 15]
        .iter()
        .map(|field| fields[field - 3].parse::<u64>().unwrap())
        .sum();
    let pages: u64 = read("statm").split(' ').nth(1).unwrap().parse().unwrap();
    Usage {
        cpu: Duration::from_millis(ticks * 10),
        memory: pages * 4096,
        files: std::fs::read_dir(proc.join("fd")).unwrap().count(),
    }
}

/// Waits until it is so.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "not so in time: {what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// That nobody has at present.
fn free_tcp_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

/// The same.
fn free_udp_ports() -> [u16; 2] {
    let sockets = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
}
