//! Labs for real: these need root and Open vSwitch. They look at counts and states, never at a clock.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn testbed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_testbed"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Runs `testbed` and returns what it printed; the test fails when it fails.
fn expect_success(arguments: &[&str]) -> String {
    let output = testbed(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "testbed {} failed: {error}{printed}",
        arguments.join(" ")
    );
    printed.into_owned()
}

/// A name that no other test and no lab of the user has.
fn unique_name(purpose: &str) -> String {
    format!("test-{purpose}-{}", std::process::id())
}

fn inspect(name: &str) -> Value {
    serde_json::from_str(&expect_success(&["lab", "inspect", "--name", name, "-o", "json"])).unwrap()
}

#[test]
fn lab_up_and_down() {
    let name = unique_name("up");
    let name = name.as_str();
    // The detached keeper must not hold our pipe: `output` returns only when everybody has closed it.
    let said = expect_success(&["lab", "up", "--detach", "--name", name, "--backend", "emulator"]);
    assert!(said.contains("is up: links by emulator"), "{said}");

    let again = testbed(&["lab", "up", "--detach", "--name", name]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("runs already"));

    let state = inspect(name);
    assert_eq!(state["namespaces"].as_array().unwrap().len(), 9);
    assert_eq!(state["links"].as_array().unwrap().len(), 4);
    for (site, id) in [("client", "0000000000000001"), ("server", "0000000000000002")] {
        let bridge = format!("br-{site}");
        let exec = ["lab", "exec", "--name", name, site, "--", "ovs-vsctl"];
        let found =
            expect_success(&[&exec[..], &["get", "bridge", &bridge, "datapath_id", "fail_mode"]].concat());
        assert_eq!(found, format!("\"{id}\"\nsecure\n"));
        let ports = expect_success(&[&exec[..], &["list-ports", &bridge]].concat());
        assert_eq!(ports, "a\nb\nhost\n");
        let target = expect_success(&[&exec[..], &["get-controller", &bridge]].concat());
        assert!(target.starts_with("tcp:10.0."), "{target}");
    }

    expect_success(&[
        "lab",
        "set",
        "--name",
        name,
        "a",
        "client-to-server",
        "loss=5%",
        "delay=20ms",
    ]);
    let spec = inspect(name)["links"][0]["spec"].clone();
    assert_eq!(spec["loss"]["bernoulli"], 0.05);
    assert_eq!(spec["delay"], 0.02);
    assert!(
        !testbed(&["lab", "set", "--name", name, "a", "both", "loss=5"])
            .status
            .success()
    );

    let exec = testbed(&[
        "lab", "exec", "--name", name, "control", "--", "sh", "-c", "exit 7",
    ]);
    assert_eq!(exec.status.code(), Some(7));

    expect_success(&["lab", "down", "--name", name]);
    assert!(!testbed(&["lab", "inspect", "--name", name]).status.success());
    expect_success(&["clean", "--check"]);
}

#[test]
fn killing_the_lab_leaves_nothing() {
    for victim in [Victim::Keeper, Victim::Init, Victim::Lab] {
        for moment in [0, 30, 120, 250, 400, 2_000] {
            let name = unique_name("kill");
            let mut keeper = Command::new(env!("CARGO_BIN_EXE_testbed"))
                .args(["lab", "up", "--name", &name, "--backend", "emulator"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // The moments only spread the kills over the life of a lab; nothing is expected of them.
            std::thread::sleep(Duration::from_millis(moment));
            kill(victim, &mut keeper);
            keeper.wait().unwrap();
            let check = testbed(&["clean", "--check"]);
            let found = String::from_utf8_lossy(&check.stdout);
            assert!(
                check.status.success(),
                "{victim:?} killed after {moment} ms left: {found}"
            );
            assert!(!testbed(&["lab", "inspect", "--name", &name]).status.success());
        }
    }
    assert!(!Path::new("/run/netns/client-host").exists());
}

#[derive(Debug, Clone, Copy)]
enum Victim {
    Keeper,
    Init,
    Lab,
}

/// Kills the keeper, its child or its grandchild. Where these do not exist yet, the keeper.
fn kill(victim: Victim, keeper: &mut Child) {
    let depth = match victim {
        Victim::Keeper => 0,
        Victim::Init => 1,
        Victim::Lab => 2,
    };
    let mut pid = keeper.id();
    for _ in 0..depth {
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        match children
            .split_whitespace()
            .next()
            .and_then(|child| child.parse().ok())
        {
            Some(child) => pid = child,
            None => return keeper.kill().unwrap(),
        }
    }
    let killed = Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();
    if !killed.success() {
        keeper.kill().unwrap();
    }
}

#[test]
fn emulator_over_tap() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let said = expect_success(&[
        "run",
        "smoke",
        "--seed",
        "7",
        "--backend",
        "emulator",
        "--out",
        out,
    ]);
    assert!(said.contains("links by emulator"), "{said}");

    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.path().join(file)).unwrap()).unwrap()
    };
    let manifest = read("manifest.json");
    assert_eq!(manifest["experiment"], "smoke");
    assert_eq!(manifest["seed"], 7);
    assert!(
        manifest["machine"]["open_vswitch"]
            .as_str()
            .unwrap()
            .contains("Open vSwitch")
    );
    let results = read("results.json");
    let checks = results["checks"].as_array().unwrap();
    assert!(checks.len() >= 10 && checks.iter().all(|check| check["passed"] == true));
    let lossy = &results["measurements"]["lossy"];
    let share = lossy["lost"].as_f64().unwrap() / lossy["sent"].as_f64().unwrap();
    assert!((0.1..0.3).contains(&share), "a loss of 20 % lost {share}");
}

#[test]
fn an_unknown_experiment_is_a_usage_error_that_lists_the_known_ones() {
    let output = testbed(&["run", "perpetual-motion"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected one of smoke"));
}

/// What the names of recorded messages end with: direction and message type.
fn kinds(folder: &Path) -> std::collections::BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("a folder of recorded messages");
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name")
    });
    names
        .filter_map(|name| {
            let kind = name.strip_suffix(".bin")?;
            kind.get(kind.len().checked_sub("c2s-t00".len())?..)
                .map(str::to_owned)
        })
        .collect()
}

#[test]
fn each_kind_of_message_is_recorded_again() {
    let folder = tempfile::tempdir().unwrap();
    expect_success(&["record-vectors", "--out", folder.path().to_str().unwrap()]);
    let of_the_codec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ofproto/tests/vectors/ovs");
    let recorded = kinds(folder.path());
    assert_eq!(recorded, kinds(&of_the_codec));
    assert!(recorded.len() > 30, "{recorded:?}");
}
