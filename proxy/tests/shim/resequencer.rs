//! The resequencer never loses a packet, never holds one too long, and keeps what it delivers together.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proxy::shim::header::SequenceNumber;
use proxy::shim::path_stats::PathId;
use proxy::shim::resequencer::{Arrival, Limits, NEAR, Outcome, Place, RUN, Resequencer};

const HOLD: Duration = Duration::from_millis(20);
const QUIET: Duration = Duration::from_millis(100);
const FAST: PathId = PathId::new(0);
const SLOW: PathId = PathId::new(1);

/// A resequencer whose packets carry their number and when they came.
struct Bench {
    resequencer: Resequencer<(u64, Instant)>,
    now: Instant,
    hold: Duration,
    /// Number, when it came, when it went out.
    out: Vec<(u64, Instant, Instant)>,
    total: Outcome,
}

impl Bench {
    fn new(lead: u32, held_bytes: usize) -> Self {
        let limits = Limits {
            lead,
            short: 0,
            held_bytes,
            quiet: QUIET,
        };
        Self {
            resequencer: Resequencer::new(limits),
            now: Instant::now(),
            hold: HOLD,
            out: Vec::new(),
            total: Outcome::default(),
        }
    }

    fn packet(&mut self, number: u64) -> Place {
        self.packet_by(FAST, number)
    }

    fn packet_by(&mut self, path: PathId, number: u64) -> Place {
        let (now, sequence) = (self.now, SequenceNumber::new(number));
        let arrival = Arrival {
            sequence,
            path,
            packet: &[0; 100],
            meta: (number, now),
        };
        let out = &mut self.out;
        let (place, outcome) = self.resequencer.receive(now, self.hold, arrival, &mut |packet| {
            out.push((packet.meta.0, packet.meta.1, now))
        });
        self.add(outcome);
        place
    }

    fn packets(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            self.packet(number);
        }
    }

    /// Time passes; the timer fires exactly when asked for.
    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(deadline) = self
            .resequencer
            .next_deadline(self.hold)
            .filter(|at| *at <= until)
        {
            self.now = self.now.max(deadline);
            let (now, out) = (self.now, &mut self.out);
            let outcome = self.resequencer.expire(now, self.hold, &mut |packet| {
                out.push((packet.meta.0, packet.meta.1, now))
            });
            self.add(outcome);
        }
        self.now = until;
    }

    fn add(&mut self, outcome: Outcome) {
        self.total.given_up += outcome.given_up;
        self.total.released += outcome.released;
        self.total.longest = self.total.longest.max(outcome.longest);
    }

    fn delivered(&mut self) -> Vec<u64> {
        self.out.drain(..).map(|(number, ..)| number).collect()
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn packets_run_ahead_of_a_hole_by_the_lead_and_wait_beyond_it() {
    let mut bench = Bench::new(3, 1 << 20);
    bench.packets([10, 12, 13, 14, 15, 16]);
    assert_eq!(bench.delivered(), [10, 12, 13, 14]);
    assert_eq!(
        bench.packet_by(SLOW, 11),
        Place::Filled {
            opened_by: FAST,
            open_for: ms(0)
        }
    );
    assert_eq!(bench.delivered(), [11, 15, 16]);
    assert_eq!(
        bench.total,
        Outcome {
            released: 2,
            ..Outcome::default()
        }
    );
}

#[test]
fn without_a_lead_the_order_is_strict() {
    let mut bench = Bench::new(0, 1 << 20);
    bench.packets([1, 5, 3, 2]);
    assert_eq!(bench.delivered(), [1, 2, 3]);
    bench.packet(4);
    assert_eq!(bench.delivered(), [4, 5]);
}

#[test]
fn a_hole_is_given_up_when_its_time_is_over_and_what_comes_then_is_late() {
    let mut bench = Bench::new(1, 1 << 20);
    bench.packets([1, 3, 4]);
    bench.wait(ms(5));
    bench.packets([6, 7]);
    assert_eq!(bench.delivered(), [1, 3]);
    bench.wait(ms(14));
    assert_eq!(bench.delivered(), [0; 0]);
    bench.wait(ms(1));
    assert_eq!(
        bench.delivered(),
        [4, 6],
        "the hole at 2 is given up, that at 5 is open still"
    );
    assert_eq!(bench.total.given_up, 1);
    assert_eq!(bench.packet_by(SLOW, 2), Place::Late);
    assert_eq!(
        bench.packet_by(SLOW, 5),
        Place::Filled {
            opened_by: FAST,
            open_for: ms(15)
        }
    );
    assert_eq!(bench.delivered(), [2, 5, 7]);
    assert_eq!(bench.packet_by(SLOW, 2), Place::Stray, "it came already");
}

#[test]
fn nothing_is_held_where_holding_is_off_or_no_copies_come() {
    for (lead, hold) in [(u32::MAX, HOLD), (0, Duration::ZERO)] {
        let mut bench = Bench::new(lead, 1 << 20);
        bench.hold = hold;
        let numbers = [1, 900, 3, 2000, 2, 1500];
        bench.packets(numbers);
        assert_eq!(bench.delivered(), numbers);
        assert_eq!(bench.resequencer.next_deadline(hold), None);
    }
}

#[test]
fn held_bytes_are_bounded_by_giving_holes_up() {
    let mut bench = Bench::new(0, 1000);
    bench.packets([1].into_iter().chain(3..=100));
    assert!(bench.resequencer.held() <= 10);
    assert_eq!(
        bench.delivered(),
        [1].into_iter().chain(3..=100).collect::<Vec<_>>()
    );
    assert_eq!(bench.total.given_up, 1);
}

#[test]
fn a_forged_number_far_ahead_moves_nothing_and_holds_nothing() {
    let mut bench = Bench::new(10, 1 << 20);
    bench.packets(1..=5);
    for forged in [5 + NEAR + 2, 1 << 20, 1 << 38] {
        for _ in 0..100 {
            assert_eq!(bench.packet(forged), Place::Stray);
        }
    }
    bench.delivered();
    bench.packets([6, 7, 9, 8]);
    assert_eq!(bench.delivered(), [6, 7, 9, 8]);
    assert_eq!((bench.total, bench.resequencer.held()), (Outcome::default(), 0));
}

#[test]
fn a_forged_number_that_is_near_costs_order_for_a_while_and_no_packet() {
    let mut bench = Bench::new(10, 1 << 20);
    bench.packets(1..=5);
    bench.packet(4000);
    bench.packets([6, 7, 8, 10, 11]);
    bench.wait(HOLD);
    assert_eq!(bench.delivered(), [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 4000]);
    // The genuine packets are behind now: they pass at once.
    bench.packets([9, 12, 13, 14]);
    assert_eq!(bench.delivered(), [9, 12, 13, 14]);
}

#[test]
fn a_sender_that_starts_anew_is_followed_once_its_packets_are_alone() {
    let mut bench = Bench::new(0, 1 << 20);
    let far = 1 << 30;
    bench.packets(1..=5);
    bench.packets(far..far + 100);
    bench.packets([7]);
    bench.wait(QUIET);
    bench.packets(far + 100..far + 100 + u64::from(RUN));
    bench.delivered();
    bench.packets([far + 109, far + 108]);
    assert_eq!(bench.delivered(), [far + 108, far + 109], "in order again");
}

#[test]
fn a_second_packet_with_a_number_that_is_held_takes_no_place_away() {
    let mut bench = Bench::new(0, 1 << 20);
    bench.packets([1, 3, 3, 2]);
    assert_eq!(bench.delivered(), [1, 3, 2, 3]);
}

#[test]
fn numbers_wrap() {
    let mut bench = Bench::new(0, 1 << 20);
    let wrap = SequenceNumber::MODULUS;
    bench.packets(wrap - 3..wrap);
    bench.packets([wrap + 1, wrap]);
    assert_eq!(bench.delivered(), [wrap - 3, wrap - 2, wrap - 1, wrap, wrap + 1]);
}

/// The two copies of each packet: lost, or so late.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u64, PathId)>> {
    let copy = || prop::option::weighted(0.8, 0u64..3_000);
    prop::collection::vec((copy(), copy()), 1..300).prop_map(|copies| {
        let mut arrivals = Vec::new();
        for (number, (fast, slow)) in (1u64..).zip(copies) {
            // One packet each 200 µs; the slow path is later by 10 ms.
            let (fast, slow) = (
                fast.map(|late| late + 200 * number),
                slow.map(|late| late + 200 * number + 10_000),
            );
            // As after de-duplication.
            arrivals.extend(
                fast.map(|at| (at, number, FAST))
                    .or(slow.map(|at| (at, number, SLOW))),
            );
        }
        arrivals.sort_by_key(|(at, ..)| *at);
        arrivals
    })
}

proptest! {
    #[test]
    fn each_packet_goes_out_once_in_time_and_within_the_lead(arrivals in arrivals(), lead in 0u32..60) {
        let mut bench = Bench::new(lead, 1 << 20);
        let start = bench.now;
        // What came before the hole in which the first packet was could be seen from no hole.
        bench.packet(0);
        let mut overdue = vec![];
        for (at, number, path) in &arrivals {
            bench.wait((start + Duration::from_micros(*at)).saturating_duration_since(bench.now));
            if bench.packet_by(*path, *number) == Place::Late {
                overdue.push(*number);
            }
        }
        bench.wait(HOLD);
        let mut highest = 0;
        for (number, came, went) in &bench.out {
            prop_assert!(*went - *came <= HOLD, "{number} was held for {:?}", *went - *came);
            prop_assert!(
                overdue.contains(number) || highest <= number + u64::from(lead),
                "{number} went out after {highest}"
            );
            highest = highest.max(*number);
        }
        prop_assert!(bench.total.longest <= HOLD);
        let mut numbers = bench.delivered();
        numbers.sort_unstable();
        let mut came: Vec<u64> = arrivals.iter().map(|(_, number, _)| *number).chain([0]).collect();
        came.sort_unstable();
        prop_assert_eq!(numbers, came);
        prop_assert_eq!(bench.resequencer.held(), 0);
    }

    #[test]
    fn any_numbers_at_any_time_go_out_once_and_in_time(numbers in prop::collection::vec((any::<u64>(), 0u64..4, 0u64..30), 1..300)) {
        let mut bench = Bench::new(5, 3_000);
        for (number, kind, wait) in &numbers {
            // Near, a bit further, far, anywhere.
            let number = match kind { 0 => number % 20, 1 => number % 5_000, 2 => (1 << 30) + number % 50, _ => *number };
            bench.packet(number);
            bench.wait(Duration::from_millis(*wait));
        }
        bench.wait(HOLD);
        prop_assert_eq!(bench.out.len(), numbers.len());
        prop_assert!(bench.out.iter().all(|(_, came, went)| *went - *came <= HOLD));
    }
}

#[test]
fn what_is_missing_between_acknowledgements_is_not_waited_for() {
    let limits = Limits {
        lead: 2,
        short: 100,
        held_bytes: 1 << 20,
        quiet: QUIET,
    };
    let (now, hold) = (Instant::now(), Duration::from_millis(50));
    for (before, behind, passes) in [(40, 40, true), (1200, 40, false), (40, 1200, false)] {
        let (mut resequencer, mut passed) = (Resequencer::new(limits), Vec::new());
        let packets = [(0, before), (2, behind), (3, 40), (4, 40), (5, 40)];
        for (number, len) in packets {
            let arrival = Arrival {
                sequence: SequenceNumber::new(number),
                path: PathId::new(0),
                packet: &vec![0; len],
                meta: number,
            };
            resequencer.receive(now, hold, arrival, &mut |out| passed.push(out.meta));
        }
        let expected: &[u64] = if passes { &[0, 2, 3, 4, 5] } else { &[0, 2, 3] };
        assert_eq!(passed, expected, "{before} and {behind} bytes");
        assert_eq!(resequencer.next_deadline(hold).is_none(), passes);
    }
}
