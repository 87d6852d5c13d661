//! What every version of BBR does on a path without loss or jitter.

use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bbr1::Bbr1;
use super::bbr2::Bbr2;
use super::bbr3::Bbr3;
use super::ideal_path::IdealPath;
use super::model::Model;
use super::rate_sample::to_f64;
use crate::delay_gap::DelayGap;

const SECOND: Duration = Duration::from_secs(1);
const RTT: Duration = Duration::from_millis(20);
const RATE: f64 = 5e6;

/// Runs a check on a path of each version.
macro_rules! for_each_version {
    ($check:ident) => {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (for_v1, for_v2, for_v3) = (rng.clone(), rng.clone(), rng);
        $check(IdealPath::new(RATE, RTT, |c, now| Bbr1::new(c, for_v1, now)));
        let gap = DelayGap::default;
        $check(IdealPath::new(RATE, RTT, |c, now| {
            Bbr2::new(c, gap(), for_v2, now)
        }));
        $check(IdealPath::new(RATE, RTT, |c, now| {
            Bbr3::new(c, gap(), for_v3, now)
        }));
    };
}

#[test]
fn the_pipe_is_filled_and_the_queue_of_that_emptied() {
    fn check<M: Model>(mut path: IdealPath<M>) {
        let knows_the_bandwidth = |path: &IdealPath<M>| (path.model.bw() / RATE - 1.0).abs() < 0.05;
        assert!(path.run_until(SECOND, |p| p.c.inflight > 2 * p.bdp()));
        assert!(path.run_until(SECOND, |p| p.c.inflight <= p.bdp() * 3 / 2));
        assert!(knows_the_bandwidth(&path), "{}", path.model.bw());
    }
    for_each_version!(check);
}

#[test]
fn an_application_with_little_to_send_is_paced_all_the_same() {
    fn check<M: Model>(mut path: IdealPath<M>) {
        path.run_until(SECOND, |p| p.c.delivered > 0);
        path.has_data = false;
        path.run(SECOND);
        let unpaced = to_f64(path.c.initial_cwnd) / 0.001;
        assert!(
            path.c.pacing_rate < unpaced / 5.0,
            "{} bytes/s",
            path.c.pacing_rate
        );
    }
    for_each_version!(check);
}

#[test]
fn a_path_that_grows_faster_is_found_out() {
    fn check<M: Model>(mut path: IdealPath<M>) {
        path.run(2 * SECOND);
        path.rate = 2.0 * RATE;
        let is_found_out = path.run_until(8 * SECOND, |p| p.model.bw() > 1.8 * RATE);
        assert!(is_found_out, "{}", path.model.bw());
    }
    for_each_version!(check);
}

#[test]
fn persistent_congestion_leaves_one_packet_more_than_is_in_flight() {
    fn check<M: Model>(mut path: IdealPath<M>) {
        path.run(SECOND);
        path.model.on_enter_rto(&mut path.c);
        assert_eq!(path.c.cwnd, path.c.inflight + path.c.smss);
        let before = path.c.cwnd;
        path.run(SECOND);
        assert!(path.c.cwnd > before, "and it recovers");
    }
    for_each_version!(check);
}
