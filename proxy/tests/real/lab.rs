//! A network namespace, two proxies as processes in it, and other programs.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use proxy::PrivateKey;
use proxy::stats::{self, Stats};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::common::{soon, until};

/// Runs a test where every port is free.
pub(crate) fn in_namespace<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    let test = std::thread::spawn(|| {
        // Only this thread, and what it starts, is in the new namespace.
        unshare(CloneFlags::CLONE_NEWNET).expect("this needs root");
        let up = std::process::Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status();
        assert!(up.unwrap().success());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(test());
    });
    if let Err(panic) = test.join() {
        std::panic::resume_unwind(panic);
    }
}

/// `near` dials `far`; both are processes.
pub(crate) struct Proxies {
    pub(crate) near: Program,
    pub(crate) far: Program,
    pub(crate) folder: tempfile::TempDir,
}

/// A running `bicast-proxy`.
pub(crate) struct Program {
    child: Child,
    file: PathBuf,
    socket: PathBuf,
}

impl Proxies {
    /// `forwards` are those of the near side, with `peer: far`; the far side connects to 127.0.0.1. `both` is said of
    /// both sides.
    pub(crate) async fn start(both: &str, forwards: &str) -> Proxies {
        let folder = tempfile::tempdir().unwrap();
        let keys = [PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap()];
        let [near, far] = ["near", "far"].map(|name| folder.path().join(name));
        let config = |side: &Path, key: &PrivateKey, rest: String| {
            std::fs::write(side.with_extension("key"), key.to_text()).unwrap();
            let (key, socket) = (side.with_extension("key"), side.with_extension("sock"));
            let text = format!(
                "key: {}\nsocket: {}\n{both}\n{rest}\n",
                key.display(),
                socket.display()
            );
            std::fs::write(side.with_extension("yaml"), text).unwrap();
        };
        let peers = format!(
            "peers:\n  far: {{key: {}, dial: \"127.0.0.1:4433\"}}",
            keys[1].public()
        );
        config(&near, &keys[0], format!("{peers}\nforwards:\n{forwards}"));
        let peers = format!(
            "peers:\n  near: {{key: {}, allow: \"127.0.0.1:*\"}}",
            keys[0].public()
        );
        config(&far, &keys[1], format!("listen: 127.0.0.1:4433\n{peers}"));
        let far = Program::start(&far).await;
        let near = Program::start(&near).await;
        let proxies = Proxies { near, far, folder };
        proxies.connected().await;
        proxies
    }

    pub(crate) async fn connected(&self) {
        let both = |program: &Program| {
            program
                .stats()
                .is_some_and(|stats| stats.peers[0].connections.len() == 2)
        };
        until("both are connected", || both(&self.near) && both(&self.far)).await;
    }
}

impl Program {
    async fn start(side: &Path) -> Program {
        let (file, socket) = (side.with_extension("yaml"), side.with_extension("sock"));
        let program = Program {
            child: run(&file),
            file,
            socket,
        };
        until("it runs", || program.stats().is_some()).await;
        program
    }

    /// After it was killed.
    pub(crate) async fn start_again(&mut self) {
        self.child = run(&self.file);
        until("it runs", || self.stats().is_some()).await;
    }

    /// Ends it so that it can do nothing more.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// `None` when it does not run.
    pub(crate) fn stats(&self) -> Option<Stats> {
        stats::ask(&self.socket).ok()
    }

    pub(crate) fn streams(&self) -> u64 {
        self.stats()
            .map_or(0, |stats| stats.peers[0].counters.streams_open)
    }

    pub(crate) fn open_files(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id().unwrap());
        std::fs::read_dir(folder).unwrap().count()
    }

    /// CPU time that it has spent, in ticks of 10 ms (proc(5): utime and stime).
    pub(crate) fn cpu_ticks(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id().unwrap())).unwrap();
        let behind_the_name = text.rsplit_once(") ").unwrap().1;
        let fields: Vec<&str> = behind_the_name.split(' ').collect();
        fields[11..13]
            .iter()
            .map(|ticks| ticks.parse::<u64>().unwrap())
            .sum()
    }

    /// Waits until it has let go of all streams, and has no more files open than it had `before` them.
    pub(crate) async fn is_as(&self, before: usize) {
        until("all is let go", || {
            self.streams() == 0 && self.open_files() <= before
        })
        .await;
    }
}

fn run(file: &Path) -> Child {
    let program = Command::new(env!("CARGO_BIN_EXE_bicast-proxy"))
        .args(["run", "--log", "off", "--config"])
        .arg(file)
        .kill_on_drop(true)
        .spawn();
    program.unwrap()
}

/// Starts a program that ends with the test.
pub(crate) fn start(command: &str) -> Child {
    spawn(command, Stdio::null())
}

/// Runs a program with this input to its end.
pub(crate) async fn output(command: &str, input: &[u8]) -> Output {
    let mut child = spawn(command, Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    let write = async move {
        // A program that does not want it all says so by its exit code.
        let _ = stdin.write_all(input).await;
    };
    let ((), output) = soon(async { tokio::join!(write, child.wait_with_output()) }).await;
    output.unwrap()
}

/// Words end at spaces; '' is an empty one.
fn spawn(command: &str, input: Stdio) -> Child {
    let mut words = command.split_whitespace();
    let name = words.next().unwrap();
    let child = Command::new(name)
        .args(words.map(|word| if word == "''" { "" } else { word }))
        .env("PATH", PATH)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    child.unwrap_or_else(|error| panic!("{name}: {error}; testbed/setup.sh installs it"))
}

/// Waits until somebody listens there.
pub(crate) async fn listens(port: u16) {
    let wait = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    soon(wait).await;
}

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
