//! Synthetic recordings: plausible numbers for every experiment, the same in every run.

use super::data::Data;
use super::record::{Length, Manifest, Sample};
use super::store::Recording;
use crate::machine::Machine;
use serde_json::json;
use std::collections::BTreeMap;

/// All experiments, with numbers that reach every goal.
pub(crate) fn data() -> Data {
    data_with(|_| ())
}

/// The same with each sample changed.
pub(crate) fn data_with(change: impl Fn(&mut Sample)) -> Data {
    let mut samples = Vec::new();
    downloads(&mut samples);
    windows(&mut samples);
    fairness(&mut samples);
    labs(&mut samples);
    gaps(&mut samples);
    stories(&mut samples);
    samples.iter_mut().for_each(change);
    let mut recordings: Vec<Recording> = Vec::new();
    for sample in samples {
        let of_it = recordings
            .iter_mut()
            .find(|recording| recording.manifest.experiment == sample.experiment);
        match of_it {
            Some(recording) => recording.samples.push(sample),
            None => recordings.push(Recording {
                manifest: manifest(&sample.experiment),
                samples: vec![sample],
                notes: Vec::new(),
            }),
        }
    }
    Data { recordings }
}

/// A manifest of this experiment.
pub(crate) fn manifest(experiment: &str) -> Manifest {
    Manifest {
        experiment: experiment.to_owned(),
        commit: Some("0123456789ab".to_owned()),
        seed: 1,
        length: Length::Quick,
        backend: "emulator".to_owned(),
        machine: Machine {
            kernel: "Linux 6.12".to_owned(),
            processors: 2,
            processor: "A CPU & more".to_owned(),
            open_vswitch: "ovs-vswitchd (Open vSwitch) 3.5.0".to_owned(),
        },
        parameters: json!({"bytes": 100_000_000, "cap_s": 120}),
        started: "2026-01-02T03:04:05Z".to_owned(),
        continued: Vec::new(),
    }
}

/// A sample of these labels, places and values.
pub(crate) fn sample(
    experiment: &str,
    labels: &[(&str, &str)],
    at: &[(&str, f64)],
    repetition: u32,
    values: &[(&str, f64)],
) -> Sample {
    let numbers = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect()
    };
    Sample {
        experiment: experiment.to_owned(),
        labels: labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        at: numbers(at),
        repetition,
        seed: 1,
        values: numbers(values),
        ..Sample::default()
    }
}

const SCHEMES: [&str; 5] = [
    "unicast",
    "client-side",
    "server-side",
    "bidirectional",
    "adaptive",
];

fn downloads(samples: &mut Vec<Sample>) {
    let lines = [
        ("direct", "cubic"),
        ("proxies", "cubic"),
        ("proxies", "bbr1"),
        ("proxies", "bbr2"),
        ("proxies", "bbr3"),
    ];
    for (via, congestion) in lines {
        for scheme in SCHEMES {
            let both = matches!(scheme, "server-side" | "bidirectional" | "adaptive");
            for loss in [
                0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0,
            ] {
                if loss > 15.0 && !both {
                    continue;
                }
                let fraction = loss / 100.0;
                let residual: f64 = if both { fraction * fraction } else { fraction };
                let rate = match congestion {
                    "cubic" => 94.0_f64.min(1.3 / residual.max(1e-5).sqrt()),
                    "bbr1" => 94.0 * (1.0 - residual),
                    "bbr2" => 60.0 * (1.0 - residual) / (1.0 + 40.0 * residual),
                    _ => 95.0 * (1.0 - residual) / (1.0 + 20.0 * residual),
                };
                for repetition in 0..3 {
                    let rate = rate * (1.0 + 0.03 * (f64::from(repetition) - 1.0));
                    let seconds = 800.0 / rate;
                    let (capped, seconds) = (seconds > 120.0, seconds.min(120.0));
                    let bytes = rate * seconds * 125_000.0;
                    let copies = match scheme {
                        "server-side" | "bidirectional" => 2.0,
                        "adaptive" if loss >= 0.5 => 1.95,
                        "adaptive" => 1.02,
                        _ => 1.0,
                    };
                    let mut one = sample(
                        "download-time",
                        &[("via", via), ("congestion", congestion), ("scheme", scheme)],
                        &[("loss_percent", loss)],
                        repetition,
                        &[
                            ("seconds", seconds),
                            ("goodput_mbit", rate),
                            ("bytes", bytes),
                            ("payload_bytes", bytes),
                            ("uplink_bytes_client", 0.02 * bytes),
                            ("uplink_bytes_server", 1.05 * copies * bytes / (1.0 - residual)),
                        ],
                    );
                    one.capped = capped;
                    samples.push(one);
                }
            }
        }
    }
}

fn windows(samples: &mut Vec<Sample>) {
    for (scheme, loss, frames) in [
        ("unicast", 10.0, 12_000.0),
        ("client-side", 10.0, 18_000.0),
        ("server-side", 20.0, 7_000.0),
        ("bidirectional", 20.0, 16_000.0),
    ] {
        let mut one = sample(
            "cwnd",
            &[("congestion", "bbr3"), ("scheme", scheme), ("via", "proxies")],
            &[("loss_percent", loss)],
            0,
            &[("ack_frames", frames), ("seconds", 20.0)],
        );
        let trace = (0..2000).map(f64::from).map(|step| {
            let time = step / 100.0;
            (
                time,
                150_000.0 + 60_000.0 * (time * 1.3).sin() + 9_000.0 * (step % 7.0) - 2_000.0 * time,
            )
        });
        one.traces.insert("cwnd_bytes".to_owned(), trace.collect());
        samples.push(one);
    }
}

fn fairness(samples: &mut Vec<Sample>) {
    for congestion in ["bbr1", "bbr3"] {
        for scheme in SCHEMES {
            for step in 0..=10 {
                let loss = f64::from(step) / 10.0;
                let alone = if step == 0 { 94.0 } else { 15.0 / loss.sqrt() };
                let kept = if congestion == "bbr3" { 0.93 } else { 0.6 };
                let (tcp, quic) = (alone * kept, 95.0 - alone * kept);
                samples.push(sample(
                    "fairness",
                    &[("congestion", congestion), ("scheme", scheme), ("via", "proxies")],
                    &[("loss_percent", loss)],
                    0,
                    &[
                        ("tcp1_mbit", tcp),
                        ("tcp2_mbit", tcp * 1.02),
                        ("quic_mbit", quic),
                        ("tcp1_alone_mbit", alone),
                        ("tcp2_alone_mbit", alone),
                        ("utilisation1", kept),
                        ("utilisation2", kept * 1.02),
                        ("combined_mbit", quic + tcp),
                        ("jain", super::statistics::jain(&[quic, tcp]).unwrap_or_default()),
                    ],
                ));
            }
        }
    }
}

fn labs(samples: &mut Vec<Sample>) {
    for (via, congestion, mbit) in [
        ("direct", "cubic", 8.0),
        ("direct", "bbr", 85.0),
        ("proxies", "bbr1", 82.0),
        ("proxies", "bbr3", 60.0),
        ("proxies", "cubic", 7.0),
    ] {
        for repetition in 0..3 {
            let mbit = mbit * (1.0 + 0.05 * f64::from(repetition));
            samples.push(sample(
                "cc-lab",
                &[("via", via), ("congestion", congestion)],
                &[("loss_percent", 2.0)],
                repetition,
                &[
                    ("mbit", mbit),
                    ("retransmits", mbit * 20.0),
                    ("cwnd", mbit * 3.0),
                    ("rtt_ms", 101.0),
                ],
            ));
        }
    }
    for (congestion, share, queue) in [
        ("cubic", 0.3, 1.5),
        ("bbr1", 0.9, 3.0),
        ("bbr2", 0.7, 1.1),
        ("bbr3", 0.75, 1.2),
    ] {
        for path in 0..100 {
            let number = f64::from(path);
            let rtt = 10.0 + 290.0 * (number * 0.618).fract();
            let rate = 2.0 * 50f64.powf((number * 0.414).fract());
            let loss = 3.0 * (number * 0.273).fract();
            let throughput = rate * share * (1.0 - loss / 10.0);
            samples.push(sample(
                "field-test",
                &[("congestion", congestion), ("via", "proxies")],
                &[("path", number), ("loss_percent", loss)],
                0,
                &[
                    ("retransmitted_fraction", loss / 100.0 * queue),
                    ("throughput_mbit", throughput),
                    ("inflight_bytes", throughput * rtt * 125.0 * queue),
                    ("rtt_ms", rtt * (1.0 + 0.2 * queue)),
                    ("min_rtt_ms", rtt),
                    ("rate_mbit", rate),
                    (
                        "receive_window_limited_fraction",
                        (0.3 * queue * (number * 0.77).fract()).min(1.0),
                    ),
                    ("reordered_fraction", 0.002 * queue * (number * 0.31).fract()),
                    ("cpu_seconds", 0.02 + 0.01 * share + 0.0001 * number),
                ],
            ));
        }
    }
}

fn gaps(samples: &mut Vec<Sample>) {
    for congestion in ["cubic", "bbr1", "bbr3"] {
        for resequencing in ["on", "off"] {
            for gap in [0.0, 2.0, 5.0, 10.0, 20.0, 50.0, 90.0] {
                for loss in [1.0, 2.0, 5.0] {
                    let wrong = if resequencing == "on" {
                        1.1
                    } else {
                        1.0 + gap * 2.0
                    };
                    let mbit = if resequencing == "on" {
                        92.0 - gap / 5.0
                    } else {
                        90.0 / (1.0 + gap / 8.0)
                    };
                    samples.push(sample(
                        "delay-gap",
                        &[("congestion", congestion), ("resequencing", resequencing)],
                        &[("gap_ms", gap), ("loss_percent", loss)],
                        0,
                        &[
                            ("declared_lost", 100.0 * wrong),
                            ("really_lost", 100.0),
                            ("mbit", mbit - loss),
                        ],
                    ));
                }
            }
        }
    }
}

fn stories(samples: &mut Vec<Sample>) {
    for (number, story) in (1..).zip([
        "step",
        "bursts",
        "handover",
        "blackout-a",
        "blackout-b",
        "flapping",
    ]) {
        let number = f64::from(number);
        for scheme in ["unicast", "bidirectional", "adaptive"] {
            for repetition in 0..3 {
                let wobble = 1.0 + 0.04 * f64::from(repetition);
                let (goodput, loss, sent) = match scheme {
                    "unicast" => (40.0 + number, 2.5, 60e6),
                    "adaptive" => (88.0 - number, 0.2, 80e6),
                    _ => (89.0 - number, 0.1, 130e6),
                };
                let mut one = sample(
                    "adaptive",
                    &[("story", story), ("scheme", scheme), ("congestion", "bbr3")],
                    &[],
                    repetition,
                    &[
                        ("goodput_mbit", goodput * wobble),
                        ("residual_loss_percent", loss * wobble),
                        ("p99_delay_ms", 6.0 * wobble * number),
                        ("uplink_bytes_client", 2e6),
                        ("uplink_bytes_server", sent),
                    ],
                );
                if scheme == "adaptive" {
                    one.values.insert("reaction_ms".to_owned(), 700.0 * wobble);
                    let decisions = vec![(0.0, 0.0), (2.0 + number / 3.0, 1.0), (8.0, 0.0), (10.0, 0.0)];
                    one.traces.insert("decisions".to_owned(), decisions);
                }
                samples.push(one);
            }
        }
    }
}
