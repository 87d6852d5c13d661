//! Marking driven by hand: readings answered at once, time as told.

use super::*;

const A: PathIndex = PathIndex(0);
const B: PathIndex = PathIndex(1);
const PERIOD: Duration = Duration::from_millis(250);

/// A marking whose switches answer every reading at once with these counts.
struct Driven {
    marking: Marking,
    now: Timestamp,
    sent: SenderReading,
    received: ReceiverReading,
    seen: Vec<MarkingOutput>,
}

impl Driven {
    fn new() -> Driven {
        let now = Timestamp::ZERO;
        let marking = Marking::new(now, PERIOD, Colour::Zero, false);
        Driven {
            marking,
            now,
            sent: [0; 2],
            received: vec![[0; 2]; 2],
            seen: vec![],
        }
    }

    /// Sends packets of the colour in force: so many arrive by each path.
    fn packets(&mut self, sent: u64, arrive: [u64; 2]) {
        let colour = self.marking.colour().index();
        self.sent[colour] += sent;
        for (path, packets) in self.received.iter_mut().zip(arrive) {
            path[colour] += packets;
        }
    }

    /// Lets time pass until `done` holds for something that came out.
    fn until(&mut self, done: impl Fn(&MarkingOutput) -> bool) {
        for _ in 0..1000 {
            let mut outputs = self.marking.tick(self.now);
            while let Some(output) = outputs.pop() {
                match output {
                    MarkingOutput::ReadSender => {
                        outputs.extend(self.marking.sender_reading(self.now, self.sent));
                    }
                    MarkingOutput::ReadReceiver => {
                        outputs.extend(self.marking.receiver_reading(self.now, self.received.clone()));
                    }
                    _ => self.seen.push(output),
                }
            }
            if self.seen.iter().any(&done) {
                return;
            }
            self.now = self.now.max(self.marking.deadline().unwrap_or(self.now));
        }
        panic!("never came; seen {:?}", self.seen);
    }

    fn flip(&mut self, carried: &[PathIndex]) {
        self.seen.clear();
        self.until(|output| *output == MarkingOutput::FlipDue);
        self.marking
            .flip(self.now, false, carried.iter().copied().collect());
        self.marking.flipped(self.now);
        self.seen.clear();
    }

    fn closed(&mut self) -> Closed {
        self.until(|output| matches!(output, MarkingOutput::Closed(_)));
        let closed = self.seen.drain(..).find_map(|output| match output {
            MarkingOutput::Closed(closed) => Some(closed),
            _ => None,
        });
        closed.expect("waited for it")
    }

    /// Both colours have a base after this, and `Zero` is open on both paths.
    fn settled() -> Driven {
        let mut driven = Driven::new();
        for _ in 0..2 {
            driven.packets(10, [10, 10]);
            driven.flip(&[A, B]);
        }
        driven
    }
}

#[test]
fn a_period_is_counted_for_each_path_that_carried_it() {
    let mut driven = Driven::settled();
    driven.packets(1000, [950, 990]);
    driven.flip(&[A, B]);
    let closed = driven.closed();
    assert_eq!((closed.sent, closed.received), (1000, vec![(A, 950), (B, 990)]));
}

#[test]
fn a_path_that_left_the_group_during_the_period_is_not_counted() {
    let mut driven = Driven::settled();
    driven.packets(1000, [950, 490]);
    driven.marking.restrict(PathSet::single(A), PathSet::single(A));
    driven.flip(&[A]);
    assert_eq!(driven.closed().received, vec![(A, 950)]);
}

#[test]
fn a_group_that_changes_after_the_last_packet_left_takes_nothing_from_the_period() {
    let mut driven = Driven::settled();
    driven.packets(1000, [950, 990]);
    driven.flip(&[A, B]);
    driven.until(|output| matches!(output, MarkingOutput::SenderClosed { .. }));
    driven.marking.restrict(PathSet::single(B), PathSet::single(B));
    assert_eq!(driven.closed().received, vec![(A, 950), (B, 990)]);
}

#[test]
fn a_late_packet_is_credited_before_its_colour_is_used_again() {
    let mut driven = Driven::settled();
    driven.packets(1000, [999, 1000]);
    driven.flip(&[A, B]);
    assert_eq!(driven.closed().received, vec![(A, 999), (B, 1000)]);
    driven.received[0][Colour::Zero.index()] += 1;
    driven.packets(5, [5, 5]);
    driven.until(|output| *output == MarkingOutput::FlipDue);
    assert!(driven.seen.contains(&MarkingOutput::Late { path: A, packets: 1 }));
}

#[test]
fn nothing_is_flipped_while_nothing_is_sent() {
    let mut driven = Driven::settled();
    driven.until(|output| matches!(output, MarkingOutput::SenderClosed { .. }));
    let before = driven.now;
    for _ in 0..100 {
        driven.seen.clear();
        driven.now += PERIOD;
        let outputs = driven.marking.tick(driven.now);
        assert!(!outputs.contains(&MarkingOutput::FlipDue));
        driven.marking.sender_reading(driven.now, driven.sent);
        driven
            .marking
            .receiver_reading(driven.now, driven.received.clone());
    }
    assert!(driven.now > before);
}

#[test]
fn counters_that_went_back_start_over() {
    let mut driven = Driven::settled();
    driven.sent = [0; 2];
    driven.received = vec![[0; 2]; 2];
    driven.packets(7, [7, 7]);
    driven.flip(&[A, B]);
    driven.until(|output| matches!(output, MarkingOutput::SenderClosed { .. }));
    for _ in 0..4 {
        driven.now += PERIOD;
        for output in driven.marking.tick(driven.now) {
            if output == MarkingOutput::ReadReceiver {
                let outputs = driven
                    .marking
                    .receiver_reading(driven.now, driven.received.clone());
                assert!(
                    !outputs
                        .iter()
                        .any(|output| matches!(output, MarkingOutput::Closed(_)))
                );
            }
        }
    }
}
