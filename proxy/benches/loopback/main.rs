//! Bulk data over loopback, one connection, everything in one run on one machine:
//!
//! ```text
//!  pair     application ─ TCP ─▶ bicast-proxy ═ QUIC ═▶ bicast-proxy ─ TCP ─▶ server
//!  splice   application ─ TCP ─▶ copy ───────── TCP ──▶ copy ──────── TCP ─▶ server      (tokio's copy_bidirectional)
//!  noq                           client ═══════ QUIC ═▶ server
//! ```
//!
//! Each box but applications and servers is a process of its own; processor time is that of the two between.
//! `BENCH_MB` and `BENCH_ROUNDS` say how much and how often.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

mod bulk;
mod noq_pair;
#[path = "../../tests/programs/mod.rs"]
mod programs;
mod splice;

use std::process::ExitCode;
use std::time::Duration;

use programs::Programs;

/// What one transfer took.
#[derive(Clone, Copy)]
struct Run {
    took: Duration,
    /// Of the sending and of the receiving process.
    cpu: [Duration; 2],
}

/// What is compared.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Noq,
    /// The configuration of both proxies, and of the peer.
    Pair(&'static str, &'static str, &'static str),
    Splice,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Noq => "noq, client and server",
            Way::Pair(name, ..) => name,
            Way::Splice => "plain TCP splice, two of tokio's copy_bidirectional",
        }
    }

    fn run(self, bytes: u64) -> Run {
        match self {
            Way::Noq => noq_pair::run(bytes),
            Way::Splice => splice::run(bytes),
            Way::Pair(_, both, peer) => {
                let server = bulk::listen();
                let programs = Programs::start(both, peer, server.local_addr().unwrap());
                let cpu = || [programs.near.usage().cpu, programs.far.usage().cpu];
                let before = cpu();
                let took = bulk::transfer(programs.forward, &server, bytes);
                let after = cpu();
                Run {
                    took,
                    cpu: [after[0] - before[0], after[1] - before[1]],
                }
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["noq-server"] => noq_pair::serve(),
        ["noq-client", address, bytes] => noq_pair::send(address.parse().unwrap(), bytes.parse().unwrap()),
        ["splice", target] => splice::serve(target.parse().unwrap()),
        _ => return compare(words.first().copied().unwrap_or_default()),
    }
    ExitCode::SUCCESS
}

/// Compares those whose names contain `wanted`, noq in any case.
fn compare(wanted: &str) -> ExitCode {
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (bytes, rounds) = (number("BENCH_MB", 1000) * 1_000_000, number("BENCH_ROUNDS", 5));
    let ways = WAYS
        .into_iter()
        .filter(|way| *way == Way::Noq || way.name().contains(wanted));
    let ways: Vec<Way> = ways.collect();
    // In turn, so that whatever else the machine does meets all of them.
    let rounds: Vec<Vec<Run>> = (0..rounds)
        .map(|_| ways.iter().map(|way| way.run(bytes)).collect())
        .collect();
    println!(
        "{:55} {:>8} {:>9} {:>17}",
        "", "Mbit/s", "of noq's", "CPU seconds/GB"
    );
    let mut good = true;
    for (index, way) in ways.iter().enumerate() {
        let of = |figure: &dyn Fn(&Run, &Run) -> f64| {
            median(
                rounds
                    .iter()
                    .map(|round| figure(&round[index], &round[0]))
                    .collect(),
            )
        };
        let seconds = |run: &Run| run.took.as_secs_f64();
        let gigabytes = bytes as f64 / 1e9;
        let ratio = of(&|run, noq| seconds(noq) / seconds(run));
        let cpu = [0, 1].map(|side| of(&|run, _| run.cpu[side].as_secs_f64() / gigabytes));
        println!(
            "{:55} {:8.0} {:>7.0} % {:8.2} + {:.2}",
            way.name(),
            of(&|run, _| bytes as f64 * 8.0 / 1e6 / seconds(run)),
            ratio * 100.0,
            cpu[0],
            cpu[1]
        );
        good &= ratio >= GOAL || !matches!(way, Way::Pair(..));
    }
    println!("picoquic: skipped, no package registry has it");
    match good {
        true => ExitCode::SUCCESS,
        false => {
            println!("FAIL: a pair is below {:.0} % of noq", GOAL * 100.0);
            ExitCode::FAILURE
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

const WAYS: [Way; 5] = [
    Way::Noq,
    Way::Pair(
        "the pair, CUBIC, shim off",
        "shim: {mode: off}",
        ", congestion: cubic",
    ),
    Way::Pair(
        "the pair, CUBIC, shim on",
        "shim: {mode: on}",
        ", congestion: cubic",
    ),
    Way::Pair(
        "the pair, BBRv3, shim on",
        "shim: {mode: on}",
        ", congestion: bbr3",
    ),
    Way::Splice,
];
const GOAL: f64 = 0.9;
