//! One direction of a link as a state machine without clock or sockets: packets go in with `push`, come
//! out with `pop` when they are due, and `next_deadline` says when to ask again.

use super::class::{ClassKey, PacketKey};
use super::counters::Counters;
use super::loss::{LossProcess, fraction};
use super::queue::RateQueue;
use super::spec::LinkSpec;
use crate::moment::Moment;
use rand::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::time::Duration;

/// What became of a packet when it was pushed. A dropped packet is handed back, so that its buffer can
/// be used again.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict<P> {
    /// It will come out of `pop`.
    Accepted,
    /// The loss model dropped it.
    Lost(P),
    /// The queue was full.
    Overflowed(P),
}

/// One direction of a link: loss, then the rate and its queue, then the delay. Packets keep their order.
#[derive(Debug)]
pub struct LinkEmulator<P> {
    spec: LinkSpec,
    loss: LossProcess,
    jitter: Xoshiro256PlusPlus,
    queue: RateQueue<(Option<PacketKey>, P)>,
    delay_line: VecDeque<(Moment, Option<PacketKey>, P)>,
    last_due: Moment,
    counters: Counters,
}

impl<P: AsRef<[u8]>> LinkEmulator<P> {
    /// An empty link.
    pub fn new(spec: LinkSpec) -> Self {
        LinkEmulator {
            loss: LossProcess::new(spec.loss, spec.seed),
            jitter: jitter_numbers(spec.seed),
            queue: RateQueue::new(spec.rate_bps, spec.queue_bytes),
            delay_line: VecDeque::new(),
            last_due: Moment::ZERO,
            counters: Counters::default(),
            spec,
        }
    }

    /// Takes an Ethernet frame in.
    pub fn push(&mut self, now: Moment, packet: P) -> Verdict<P> {
        self.advance(now);
        let key = PacketKey::of(packet.as_ref());
        let length = packet.as_ref().len();
        self.counters.count(key.as_ref(), |tally| {
            tally.received += 1;
            tally.received_bytes += length as u64;
        });
        if self.loss.lose() {
            self.counters.count(key.as_ref(), |tally| tally.lost += 1);
            self.counters.first_lost_at.get_or_insert(now);
            return Verdict::Lost(packet);
        }
        match self.queue.push(now, length, (key, packet)) {
            Ok(()) => Verdict::Accepted,
            Err((key, packet)) => {
                self.counters.count(key.as_ref(), |tally| tally.overflowed += 1);
                Verdict::Overflowed(packet)
            }
        }
    }

    /// Takes out the next packet that is due by `now`, with its due moment.
    pub fn pop(&mut self, now: Moment) -> Option<(Moment, P)> {
        self.advance(now);
        if self.delay_line.front()?.0 > now {
            return None;
        }
        let (due, key, packet) = self.delay_line.pop_front()?;
        let length = packet.as_ref().len() as u64;
        self.counters.count(key.as_ref(), |tally| {
            tally.forwarded += 1;
            tally.forwarded_bytes += length;
        });
        Some((due, packet))
    }

    /// The earliest moment at which `pop` may have something; `None` while the link is empty. It may lie
    /// a little before the true due moment, never after it.
    pub fn next_deadline(&self) -> Option<Moment> {
        let delayed = self.delay_line.front().map(|(due, ..)| *due);
        // Packets in the delay line are due before all that still wait in the queue.
        delayed.or_else(|| Some(self.queue.next_departure()? + self.least_delay()))
    }

    /// What the link does at present.
    pub fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    /// Changes the link under way. Packets on it stay on it, in order; a new seed restarts the random
    /// numbers, the same seed goes on with them.
    pub fn set(&mut self, now: Moment, spec: LinkSpec) {
        self.advance(now);
        if spec.seed == self.spec.seed {
            self.loss.set_model(spec.loss);
        } else {
            self.loss = LossProcess::new(spec.loss, spec.seed);
            self.jitter = jitter_numbers(spec.seed);
        }
        self.queue.reconfigure(spec.rate_bps, spec.queue_bytes);
        self.counters.first_lost_at = None;
        self.spec = spec;
    }

    /// Counts packets of this class apart from now on.
    pub fn register(&mut self, key: ClassKey) {
        self.counters.register(key);
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Moves what has left the transmitter by `now` to the delay line.
    fn advance(&mut self, now: Moment) {
        while let Some((left, (key, packet))) = self.queue.pop(now) {
            let delay = self.draw_delay();
            self.last_due = self.last_due.max(left + delay);
            self.delay_line.push_back((self.last_due, key, packet));
        }
    }

    fn draw_delay(&mut self) -> Duration {
        if self.spec.jitter.is_zero() {
            return self.spec.delay;
        }
        let spread = self.spec.jitter.mul_f64(2.0 * fraction(&mut self.jitter));
        (self.spec.delay + spread).saturating_sub(self.spec.jitter)
    }

    fn least_delay(&self) -> Duration {
        self.spec.delay.saturating_sub(self.spec.jitter)
    }
}

/// Delays draw from numbers of their own, so that switching jitter on does not change which packets
/// are lost.
fn jitter_numbers(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x6a69_7474_6572)
}

#[cfg(test)]
mod tests {
    use super::super::spec::LossModel;
    use super::*;

    /// A frame of `length` bytes whose first byte is `tag`.
    fn frame(tag: u8, length: usize) -> Vec<u8> {
        let mut frame = vec![0; length];
        frame[0] = tag;
        frame
    }

    fn link(changes: &[&str]) -> LinkEmulator<Vec<u8>> {
        LinkEmulator::new(LinkSpec::default().with_changes(changes).unwrap())
    }

    fn micros(micros: u64) -> Moment {
        Moment::from_nanos(micros * 1000)
    }

    /// Pops everything until the link is empty: due moments in microseconds and tags.
    fn drain(link: &mut LinkEmulator<Vec<u8>>) -> Vec<(u64, u8)> {
        let mut out = Vec::new();
        while let Some(deadline) = link.next_deadline() {
            while let Some((due, packet)) = link.pop(deadline) {
                out.push((due.as_nanos() / 1000, packet[0]));
            }
        }
        out
    }

    #[test]
    fn a_packet_is_due_after_its_transmission_and_the_delay() {
        let mut link = link(&["rate=100mbit", "delay=5ms"]);
        link.push(micros(0), frame(1, 1250));
        link.push(micros(0), frame(2, 1250));
        assert_eq!(link.next_deadline(), Some(micros(5100)));
        assert!(link.pop(micros(5099)).is_none());
        assert_eq!(drain(&mut link), [(5100, 1), (5200, 2)]);
    }

    #[test]
    fn counters_account_for_every_packet() {
        let mut link = link(&["rate=1mbit", "queue=5000", "loss=30%", "seed=3"]);
        for _ in 0..1000 {
            link.push(micros(0), frame(0, 1000));
        }
        let before = link.counters().total;
        assert_eq!(before.received, 1000);
        assert_eq!(before.in_flight(), 5);
        assert!((250..350).contains(&before.lost), "{}", before.lost);
        drain(&mut link);
        let after = link.counters().total;
        assert_eq!(
            (after.forwarded, after.forwarded_bytes, after.in_flight()),
            (5, 5000, 0)
        );
        assert_eq!(after.lost + after.overflowed + after.forwarded, after.received);
    }

    #[test]
    fn loss_comes_before_the_rate_stage() {
        let mut link = link(&["loss=100%", "rate=1mbit"]);
        assert!(matches!(link.push(micros(0), frame(0, 1000)), Verdict::Lost(_)));
        assert_eq!(link.next_deadline(), None);
        assert_eq!(link.counters().first_lost_at, Some(micros(0)));
    }

    #[test]
    fn jitter_spreads_the_delay_and_keeps_the_order() {
        let mut link = link(&["rate=unlimited", "delay=5ms", "jitter=2ms"]);
        for tag in 0..200 {
            link.push(micros(u64::from(tag) * 100), frame(tag, 100));
        }
        let out = drain(&mut link);
        assert!(out.is_sorted());
        assert_eq!(
            out.iter().map(|(_, tag)| *tag).collect::<Vec<u8>>(),
            (0..200).collect::<Vec<u8>>()
        );
        let delays: Vec<u64> = out.iter().map(|(due, tag)| due - u64::from(*tag) * 100).collect();
        assert!(delays.iter().all(|delay| (3000..=7000).contains(delay)));
        assert!(delays.iter().max().unwrap() - delays.iter().min().unwrap() > 1500);
    }

    #[test]
    fn a_shorter_delay_does_not_let_later_packets_overtake() {
        let mut link = link(&["rate=unlimited", "delay=50ms"]);
        link.push(micros(0), frame(1, 100));
        let faster = link.spec().with_changes(&["delay=1ms"]).unwrap();
        link.set(micros(10), faster);
        link.push(micros(20), frame(2, 100));
        assert_eq!(drain(&mut link), [(50_000, 1), (50_000, 2)]);
    }

    #[test]
    fn packets_on_the_link_survive_a_change() {
        let mut link = link(&["rate=unlimited", "delay=5ms"]);
        link.push(micros(0), frame(1, 100));
        let lossy = link.spec().with_changes(&["loss=100%"]).unwrap();
        link.set(micros(1), lossy);
        link.push(micros(2), frame(2, 100));
        assert_eq!(drain(&mut link), [(5000, 1)]);
        assert_eq!(link.counters().total.lost, 1);
    }

    #[test]
    fn the_same_seed_loses_the_same_packets_with_and_without_jitter() {
        let lost = |changes: &[&str]| {
            let mut link = link(changes);
            (0..1000)
                .map(|_| matches!(link.push(micros(0), frame(0, 60)), Verdict::Lost(_)))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lost(&["loss=10%", "seed=4"]),
            lost(&["loss=10%", "seed=4", "jitter=1ms"])
        );
    }

    #[test]
    fn a_changed_loss_goes_on_with_the_random_numbers() {
        let mut link = link(&["rate=unlimited"]);
        link.set(
            micros(0),
            LinkSpec {
                loss: LossModel::Bernoulli(0.5),
                ..link.spec().clone()
            },
        );
        let first: Vec<bool> = (0..64)
            .map(|_| matches!(link.push(micros(0), frame(0, 60)), Verdict::Lost(_)))
            .collect();
        link.set(micros(0), link.spec().clone());
        let second: Vec<bool> = (0..64)
            .map(|_| matches!(link.push(micros(0), frame(0, 60)), Verdict::Lost(_)))
            .collect();
        assert_ne!(first, second);
    }
}
