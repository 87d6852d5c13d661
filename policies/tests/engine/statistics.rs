//! How often and how fast the engine decides, over many seeds.

use std::fmt::Write;
use std::time::Duration;

use policies::estimate::kl::divergence;
use policies::{Mode, PathSet};

use crate::chance::{Chance, seed, seed_is_default};
use crate::simulation::{READ_AFTER, Simulation};

const ADAPTIVE: &str = "mode: adaptive\nbicast: {enter: 2%, exit: 0.5% for 10s}";
const PERIOD: Duration = Duration::from_millis(250);

#[test]
fn loss_held_at_the_threshold_for_five_minutes_does_not_flap() {
    for rate in [50.0, 500.0, 2_000.0, 10_000.0] {
        for other in [0.0, 0.005, 0.02] {
            for seed in seed()..seed() + 5 {
                let mut simulation = Simulation::new(&["a", "b"], ADAPTIVE, seed);
                simulation.packets_per_second = rate;
                simulation.loss = vec![0.02, other];
                simulation.run(Duration::from_secs(300));
                let decisions = simulation.sentences();
                assert!(
                    decisions.len() <= 2,
                    "seed {seed}, {rate} packets/s, b {other}: {decisions:#?}"
                );
            }
        }
    }
}

#[test]
fn loss_held_at_exit_for_five_minutes_does_not_flap() {
    for rate in [500.0, 2_000.0, 10_000.0] {
        for seed in seed()..seed() + 5 {
            let mut simulation = Simulation::new(&["a", "b"], ADAPTIVE, seed);
            simulation.packets_per_second = rate;
            simulation.loss = vec![0.1, 0.1];
            simulation.run(Duration::from_secs(10));
            assert_eq!(simulation.mode(), "bicast a+b");
            simulation.loss = vec![0.005, 0.005];
            simulation.run(Duration::from_secs(300));
            let decisions = simulation.sentences();
            assert!(
                decisions.len() <= 2,
                "seed {seed}, {rate} packets/s: {decisions:#?}"
            );
        }
    }
}

#[test]
fn a_day_of_harmless_loss_changes_nothing() {
    let mut simulation = Simulation::new(&["a", "b"], ADAPTIVE, seed());
    simulation.loss = vec![0.001, 0.001];
    simulation.run(Duration::from_secs(86_400));
    assert!(
        simulation.decisions.is_empty(),
        "seed {}: {:#?}",
        seed(),
        simulation.sentences()
    );
}

/// Rows: packets per second. Columns: the loss that path a jumps to. Cells: median and longest time from the jump to
/// the decision, over the time that no test at this confidence can beat on average, |ln alpha| / KL(loss ‖ enter) / rate.
#[test]
fn a_step_is_detected_close_to_the_theoretical_bound() {
    let mut table =
        String::from("packets/s |      3 % loss |      5 % loss |     10 % loss |     50 % loss\n");
    for rate in [100_u32, 500, 2_000, 10_000] {
        write!(table, "{rate:9}").unwrap();
        for loss in [0.03, 0.05, 0.1, 0.5] {
            let bound = -f64::ln(1e-4) / divergence(loss, 0.02) / f64::from(rate);
            let mut delays: Vec<f64> = (seed()..seed() + 21)
                .map(|seed| detection_delay(f64::from(rate), loss, seed))
                .collect();
            delays.sort_by(f64::total_cmp);
            let (median, longest) = (delays[10], delays[20]);
            write!(table, " | {median:.1}/{longest:.1}/{bound:.2} s").unwrap();
            // A period is reported when it is over; the change falls somewhere into it.
            let steps = (PERIOD * 2 + READ_AFTER).as_secs_f64();
            if loss > 0.03 && bound < 5.0 {
                assert!(median <= 1.5 * bound + steps, "seed {}\n{table}", seed());
                assert!(longest <= 3.0 * bound + 2.0 * steps, "seed {}\n{table}", seed());
            }
        }
        table.push('\n');
    }
    if seed_is_default() {
        insta::assert_snapshot!("detection_delay", table);
    }
}

/// Seconds from the jump to bicast; infinite when it takes more than two minutes.
fn detection_delay(rate: f64, loss: f64, seed: u64) -> f64 {
    let mut simulation = Simulation::new(&["a", "b"], ADAPTIVE, seed);
    simulation.packets_per_second = rate;
    simulation.run(Duration::from_secs(20));
    let jump = simulation.now;
    simulation.loss[0] = loss;
    for _ in 0..480 {
        simulation.run_one_period();
        if let Some(decision) = simulation.decisions.first() {
            return decision.at.saturating_since(jump).as_secs_f64();
        }
    }
    f64::INFINITY
}

/// Whatever happens, the mode is one that the controller can carry out.
#[test]
fn any_sequence_of_events_leaves_a_sound_mode() {
    let policies = [
        ADAPTIVE,
        "mode: unicast\nprefer: c",
        "mode: bicast\nprefer: [b, c]",
        "mode: adaptive\nprefer: [c, a]\nsampling: 0%\nbicast: {enter: 5% for 2s, exit: 1% for 1s}",
    ];
    for seed in seed()..seed() + 40 {
        let mut events = Chance::new(seed ^ 0xe7e7);
        let mut pick = |limit: u64| usize::try_from(events.below(limit)).unwrap();
        let mut simulation = Simulation::new(&["a", "b", "c"], policies[pick(4)], seed);
        for _ in 0..200 {
            match pick(8) {
                0 => simulation.reconfigure(policies[pick(4)]),
                1 => simulation.set_usable(PathSet::all(pick(4))),
                2 => {
                    simulation.set_usable(PathSet::all(3).without(simulation.path(["a", "b", "c"][pick(3)])))
                }
                3 => simulation.pin(Some(Mode::Bicast(PathSet::all(2)))),
                4 => simulation.pin(None),
                5 => simulation.restart(),
                _ => {
                    simulation.loss =
                        [0.0, 0.01, 0.05, 1.0].map(|_| [0.0, 0.01, 0.05, 1.0][pick(4)])[..3].to_vec()
                }
            }
            simulation.run(Duration::from_secs(pick(8) as u64));
            let mode = simulation.engine.mode();
            assert!(!mode.paths().is_empty(), "seed {seed}");
            assert_eq!(
                mode.paths().intersection(PathSet::all(3)),
                mode.paths(),
                "seed {seed}"
            );
            assert!(
                !matches!(mode, Mode::Bicast(paths) if paths.len() < 2),
                "seed {seed}: {mode:?}"
            );
            let in_use = mode.paths().intersection(simulation.usable);
            let alive = !in_use.is_empty() || simulation.usable.is_empty() || simulation.engine.pinned();
            assert!(
                alive || matches!(mode, Mode::Bicast(_)),
                "seed {seed}: {mode:?} {:?}",
                simulation.usable
            );
        }
    }
}
