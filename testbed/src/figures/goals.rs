//! What the whole must show: each goal, our number, whether it is reached.

use super::data::{Data, Quantity, by_loss, label, same_place};
use super::record::Sample;
use serde::Serialize;

/// A goal and how far it is reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Goal {
    /// What is promised.
    pub says: String,
    /// Our number, or why there is none.
    pub measured: String,
    /// What it must be.
    pub needed: String,
    /// Whether it is; `None` when samples for it are missing.
    pub passed: Option<bool>,
}

/// All goals.
pub fn goals(data: &Data) -> Vec<Goal> {
    let mut goals = vec![
        times_tcp(data, "bidirectional", 5.0),
        utilisation(data, "bidirectional", (1.0, 1.0)),
        times_tcp(data, "adaptive", 7.0),
        utilisation(data, "adaptive", (0.1, 1.0)),
        combined(data),
        extra_bytes(data),
    ];
    goals.extend(best_static(data));
    goals.push(declared_lost(data));
    goals.push(goodput_with_gap(data));
    goals
}

/// Goodput of BBRv3 at 1 % loss against TCP CUBIC by unicast.
fn times_tcp(data: &Data, scheme: &str, needed: f64) -> Goal {
    let goodput = |transport: &str, scheme: &str| {
        let chosen = Chosen::of(
            data,
            &["download-time"],
            &[("transport", transport), ("scheme", scheme)],
        );
        chosen.mean(GOODPUT, 1.0)
    };
    let times = goodput("bbr3", scheme)
        .zip(goodput("tcp-cubic", "unicast"))
        .map(|(ours, tcp)| ours / tcp);
    Goal::at_least(
        format!("BBRv3 {scheme} at 1 % loss: goodput against TCP CUBIC unicast"),
        times,
        needed,
        "×",
    )
}

/// What both TCP flows keep beside BBRv3, the lowest over some losses.
fn utilisation(data: &Data, scheme: &str, losses: (f64, f64)) -> Goal {
    let chosen = Chosen::of(data, &["fairness"], &[("congestion", "bbr3"), ("scheme", scheme)]);
    let kept = [1, 2].map(|flow| {
        let quantity = if flow == 1 {
            Quantity::of("utilisation1")
        } else {
            Quantity::of("utilisation2")
        };
        chosen
            .means(quantity, losses)
            .into_iter()
            .map(|(_, mean)| 100.0 * mean)
    });
    let at = if losses.0 < losses.1 { "0.1 to 1 %" } else { "1 %" };
    Goal::at_least(
        format!("BBRv3 {scheme} at {at} loss: utilisation of TCP1 and TCP2, the lowest"),
        kept.into_iter().flatten().min_by(f64::total_cmp),
        90.0,
        " %",
    )
}

fn combined(data: &Data) -> Goal {
    let chosen = Chosen::of(
        data,
        &["fairness"],
        &[("congestion", "bbr3"), ("scheme", "adaptive")],
    );
    let means = chosen.means(Quantity::of("combined_mbit"), (0.1, 1.0));
    Goal::at_least(
        "BBRv3 adaptive at 0.1 to 1 % loss: QUIC and TCP together, the lowest",
        means.into_iter().map(|(_, mean)| mean).min_by(f64::total_cmp),
        90.0,
        " Mbit/s",
    )
}

/// What adaptive sends more than unicast where nothing is lost.
fn extra_bytes(data: &Data) -> Goal {
    let bytes = |scheme: &str| {
        let labels = [("transport", "bbr3"), ("scheme", scheme)];
        let chosen = Chosen::of(data, &["download-time"], &labels);
        let of = |quantity| chosen.mean(quantity, 0.0);
        Some(of(super::catalogue::CLIENT_BYTES)? + of(super::catalogue::SERVER_BYTES)?)
    };
    let extra = bytes("adaptive")
        .zip(bytes("unicast"))
        .map(|(adaptive, unicast)| 100.0 * (adaptive / unicast - 1.0));
    Goal::at_most(
        "BBRv3 adaptive without loss: bytes on the uplinks beyond those of unicast",
        extra,
        3.0,
        " %",
    )
}

/// Adaptive's goodput against the best static scheme's, the worst loss, for each transport that was measured so.
fn best_static(data: &Data) -> Vec<Goal> {
    let samples = data.of(&["download-time"]);
    let mut transports: Vec<String> = samples
        .iter()
        .filter(|sample| sample.label("scheme") == Some("adaptive"))
        .filter_map(|sample| label(sample, "transport"))
        .collect();
    transports.sort();
    transports.dedup();
    if transports.is_empty() {
        transports.push("bbr3".to_owned());
    }
    let goal = |transport: &String| {
        let goodput = |scheme: &str| {
            let labels = [("transport", transport.as_str()), ("scheme", scheme)];
            Chosen::of(data, &["download-time"], &labels).means(GOODPUT, (0.0, 100.0))
        };
        let fixed: Vec<(f64, f64)> = STATIC.iter().flat_map(|scheme| goodput(scheme)).collect();
        let share = |&(loss, adaptive): &(f64, f64)| {
            let here = fixed.iter().filter(|(other, _)| same_place(loss, *other));
            let best = here.map(|(_, mean)| *mean).max_by(f64::total_cmp)?;
            Some((loss, 100.0 * adaptive / best))
        };
        let worst = goodput("adaptive")
            .iter()
            .filter_map(share)
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let at = worst
            .map(|(loss, _)| format!(", at {loss} % loss"))
            .unwrap_or_default();
        Goal::at_least(
            format!(
                "{} adaptive: goodput against the best static scheme's, the worst point{at}",
                super::data::display(transport)
            ),
            worst.map(|(_, share)| share),
            95.0,
            " %",
        )
    };
    transports.iter().map(goal).collect()
}

fn declared_lost(data: &Data) -> Goal {
    let at = gap(data, 20.0);
    let worst = at
        .iter()
        .filter_map(|sample| DECLARED.get(sample))
        .max_by(f64::total_cmp);
    Goal::at_most(
        "a gap of 20 ms, with resequencing: declared lost for each really lost, the worst",
        worst,
        1.5,
        "",
    )
}

/// Goodput with a gap of 20 ms against that without, for each congestion control and loss, the worst.
fn goodput_with_gap(data: &Data) -> Goal {
    let (with, without) = (gap(data, 20.0), gap(data, 0.0));
    let same_line =
        |a: &Sample, b: &Sample| a.labels == b.labels && a.at.get("loss_percent") == b.at.get("loss_percent");
    let mbit = Quantity::of("mbit");
    let share = |sample: &&Sample| {
        let of = |all: &[&Sample]| {
            let line = all.iter().copied().filter(|other| same_line(sample, other));
            mbit.summary(line).map(|summary| summary.mean)
        };
        Some(100.0 * of(&with)? / of(&without)?)
    };
    Goal::at_least(
        "a gap of 20 ms, with resequencing: goodput against that without a gap, the worst",
        with.iter().filter_map(share).min_by(f64::total_cmp),
        80.0,
        " %",
    )
}

fn gap(data: &Data, gap_ms: f64) -> Vec<&Sample> {
    let mut samples = data.of(&["delay-gap"]);
    samples.retain(|sample| {
        sample.label("resequencing") == Some("on")
            && sample
                .at
                .get("gap_ms")
                .is_some_and(|&gap| same_place(gap, gap_ms))
    });
    samples
}

/// Samples of a series, chosen by labels that are known only when it runs.
struct Chosen<'a>(Vec<&'a Sample>);

impl<'a> Chosen<'a> {
    fn of(data: &'a Data, experiments: &[&str], labels: &[(&str, &str)]) -> Self {
        let mut samples = data.of(experiments);
        samples.retain(|sample| {
            labels
                .iter()
                .all(|(name, value)| label(sample, name).as_deref() == Some(*value))
        });
        Chosen(samples)
    }

    /// The mean at each loss from the one to the other.
    fn means(&self, quantity: Quantity, losses: (f64, f64)) -> Vec<(f64, f64)> {
        let points = by_loss(&self.0, quantity, losses).into_iter();
        points.map(|(loss, summary)| (loss, summary.mean)).collect()
    }

    fn mean(&self, quantity: Quantity, loss: f64) -> Option<f64> {
        let points = self.means(quantity, (loss, loss));
        points.first().map(|(_, mean)| *mean)
    }
}

impl Goal {
    fn at_least(says: impl Into<String>, measured: Option<f64>, limit: f64, unit: &str) -> Self {
        Goal::new(
            says.into(),
            measured,
            format!("≥ {limit}{unit}"),
            unit,
            |number| number >= limit,
        )
    }

    fn at_most(says: impl Into<String>, measured: Option<f64>, limit: f64, unit: &str) -> Self {
        Goal::new(
            says.into(),
            measured,
            format!("≤ {limit}{unit}"),
            unit,
            |number| number <= limit,
        )
    }

    fn new(
        says: String,
        measured: Option<f64>,
        needed: String,
        unit: &str,
        holds: impl Fn(f64) -> bool,
    ) -> Self {
        let measured = measured.filter(|number| number.is_finite());
        Goal {
            says,
            measured: measured.map_or_else(
                || "not measured".to_owned(),
                |number| format!("{number:.2}{unit}"),
            ),
            needed,
            passed: measured.map(holds),
        }
    }
}

const GOODPUT: Quantity = Quantity::of("goodput_mbit");
const DECLARED: Quantity = Quantity::of("declared_lost").per("really_lost");
const STATIC: [&str; 4] = ["unicast", "client-side", "server-side", "bidirectional"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::testing;

    fn verdicts(data: &Data) -> Vec<Option<bool>> {
        goals(data).into_iter().map(|goal| goal.passed).collect()
    }

    #[test]
    fn without_samples_every_goal_is_not_measured() {
        assert!(verdicts(&Data::default()).iter().all(Option::is_none));
    }

    #[test]
    fn goals_follow_the_samples() {
        let reached = testing::data();
        assert!(
            verdicts(&reached).iter().all(|passed| *passed == Some(true)),
            "{:#?}",
            goals(&reached)
        );
        // The same measurements with a worse adaptive scheme miss the goals that speak of it, and no other.
        let missed = testing::data_with(|sample| {
            if sample.label("scheme") == Some("adaptive") {
                for value in sample.values.values_mut() {
                    *value *= 0.5;
                }
                let sent = sample.values.get_mut("uplink_bytes_server");
                sent.into_iter().for_each(|bytes| *bytes *= 4.0);
            }
        });
        for (goal, passed) in goals(&missed).iter().zip(verdicts(&missed)) {
            assert_eq!(passed, Some(!goal.says.contains("adaptive")), "{goal:?}");
        }
    }

    #[test]
    fn faulty_samples_decide_nothing() {
        let faulty = testing::data_with(|sample| sample.faults.push("the emulator was late".to_owned()));
        assert!(verdicts(&faulty).iter().all(Option::is_none));
    }
}
