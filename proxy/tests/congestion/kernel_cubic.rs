//! A TCP flow with the CUBIC of Linux, as far as it decides what shares a bottleneck: `tcp_cubic.c` with its HyStart
//! and its Reno-friendly slope, RACK-TLP (RFC 8985), SACK, delayed acknowledgments, no pacing. It counts in segments
//! and gives each transmission a number of its own, so that its loss detection is exact.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// IP packet of a full segment of 1,448 bytes, less what `path.rs` adds: the frame has 1,514.
pub(crate) const SEGMENT_DATAGRAM: usize = 1472;
/// Bytes of the application in a segment.
pub(crate) const SEGMENT_PAYLOAD: u64 = 1448;
/// IP packet of an acknowledgment, likewise.
pub(crate) const ACK_DATAGRAM: usize = 24;

const BETA: f64 = 717.0 / 1024.0;
const C: f64 = 0.4;
/// α of the Reno-friendly region for this β.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
const DUP_THRESH: u64 = 3;
/// `hystart_low_window`, segments.
const HYSTART_LOW_WINDOW: f64 = 16.0;
const MIN_RTO: Duration = Duration::from_millis(200);
const DELAYED_ACK: Duration = Duration::from_millis(40);

/// What happens to either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Happening {
    /// A transmission of this number arrives at the receiver.
    Segment(u64),
    /// An acknowledgment of so many arrivals arrives at the sender.
    Ack(usize),
    /// A timer of the sender may be due.
    Timer,
    /// The receiver's timer may be due.
    AckTimer,
}

/// What the flow wants done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// Send this to the other end.
    Send(Happening),
    /// Say this at that time.
    At(Instant, Happening),
}

/// Both ends of the flow.
#[derive(Debug)]
pub(crate) struct KernelCubic {
    cwnd: f64,
    ssthresh: f64,
    w_max: f64,
    k: f64,
    w_est: f64,
    epoch: Option<Instant>,
    hystart: HyStart,
    min_rtt: Duration,
    srtt: Duration,
    next_number: u64,
    in_flight: BTreeMap<u64, Transmission>,
    /// Data to be sent again, by the number of its first transmission.
    lost: Vec<u64>,
    /// Data whose first transmission is below this belongs to the recovery under way.
    recovery_end: u64,
    /// Lost data of this recovery that has not arrived yet.
    unrepaired: u64,
    highest_delivered: u64,
    deadline: Option<(Instant, Timer)>,
    /// Transmissions in the order in which they arrived; an acknowledgment is how many of them it covers.
    arrivals: Vec<u64>,
    acknowledged: usize,
    ack_sent: usize,
    ack_deadline: Option<Instant>,
    /// Next number in order; what skips some is acknowledged at once.
    expected: u64,
}

#[derive(Clone, Copy, Debug)]
struct Transmission {
    sent: Instant,
    origin: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Reordering,
    Probe,
    Retransmission,
}

/// HyStart as in Linux: an acknowledgment train longer than half the round trip, or a longer delay.
#[derive(Debug)]
struct HyStart {
    round_end: u64,
    round_start: Option<Instant>,
    last_ack: Option<Instant>,
    round_min: Duration,
    samples: u32,
}

impl KernelCubic {
    pub(crate) fn new() -> Self {
        Self {
            cwnd: 10.0,
            ssthresh: f64::INFINITY,
            w_max: 0.0,
            k: 0.0,
            w_est: 0.0,
            epoch: None,
            hystart: HyStart {
                round_end: 0,
                round_start: None,
                last_ack: None,
                round_min: Duration::MAX,
                samples: 0,
            },
            min_rtt: Duration::MAX,
            srtt: Duration::ZERO,
            next_number: 0,
            in_flight: BTreeMap::new(),
            lost: Vec::new(),
            recovery_end: 0,
            unrepaired: 0,
            highest_delivered: 0,
            deadline: None,
            arrivals: Vec::new(),
            acknowledged: 0,
            ack_sent: 0,
            ack_deadline: None,
            expected: 0,
        }
    }

    /// The flow begins, or something happens.
    pub(crate) fn handle(&mut self, now: Instant, happening: Option<Happening>) -> Vec<Effect> {
        let (timer, ack_timer) = (self.deadline(), self.ack_deadline);
        let mut effects = Vec::new();
        match happening {
            Some(Happening::Segment(number)) => {
                let ack = self.on_segment(now, number);
                effects.extend(ack.map(|count| Effect::Send(Happening::Ack(count))));
            }
            Some(Happening::AckTimer) if ack_timer == Some(now) => {
                effects.push(Effect::Send(Happening::Ack(self.send_ack())));
            }
            Some(Happening::Ack(count)) => self.on_ack(now, count),
            Some(Happening::Timer) if timer == Some(now) => {
                let probe = self.on_timer(now);
                effects.extend(probe.map(|number| Effect::Send(Happening::Segment(number))));
            }
            Some(Happening::Timer | Happening::AckTimer) | None => {}
        }
        while self.in_flight.len() < to_segments(self.cwnd) {
            effects.push(Effect::Send(Happening::Segment(self.transmit(now))));
        }
        let changed = |new: Option<Instant>, old| new.filter(|at| Some(*at) != old);
        let timers = [
            (changed(self.deadline(), timer), Happening::Timer),
            (changed(self.ack_deadline, ack_timer), Happening::AckTimer),
        ];
        effects.extend(
            timers
                .into_iter()
                .filter_map(|(at, what)| Some(Effect::At(at?, what))),
        );
        effects
    }

    /// Bytes that the receiver has.
    pub(crate) fn received(&self) -> u64 {
        self.arrivals.len() as u64 * SEGMENT_PAYLOAD
    }

    fn transmit(&mut self, now: Instant) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        let origin = self.lost.pop().unwrap_or(number);
        self.in_flight.insert(number, Transmission { sent: now, origin });
        self.arm(now);
        number
    }

    /// The receiver gets a transmission; the acknowledgment that it sends at once, if any.
    fn on_segment(&mut self, now: Instant, number: u64) -> Option<usize> {
        let in_order = number == self.expected;
        self.expected = self.expected.max(number + 1);
        self.arrivals.push(number);
        if in_order && self.arrivals.len() - self.ack_sent < 2 {
            self.ack_deadline = Some(now + DELAYED_ACK);
            return None;
        }
        Some(self.send_ack())
    }

    /// The acknowledgment of what the receiver has.
    fn send_ack(&mut self) -> usize {
        self.ack_deadline = None;
        self.ack_sent = self.arrivals.len();
        self.ack_sent
    }

    /// The sender gets an acknowledgment of so many arrivals.
    fn on_ack(&mut self, now: Instant, count: usize) {
        let mut delivered = 0;
        while self.acknowledged < count {
            let number = self.arrivals[self.acknowledged];
            self.acknowledged += 1;
            let Some(transmission) = self.in_flight.remove(&number) else {
                continue;
            };
            delivered += 1;
            self.highest_delivered = self.highest_delivered.max(number);
            self.on_rtt(now - transmission.sent);
            if transmission.origin != number && transmission.origin < self.recovery_end {
                self.unrepaired = self.unrepaired.saturating_sub(1);
            }
            self.leave_slow_start(now, number, now - transmission.sent);
        }
        if delivered == 0 {
            return;
        }
        if self.unrepaired == 0 {
            self.grow(now, delivered as f64);
        }
        self.detect_losses(DUP_THRESH);
        self.arm(now);
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt.is_zero() {
            rtt
        } else {
            (self.srtt * 7 + rtt) / 8
        };
    }

    fn leave_slow_start(&mut self, now: Instant, number: u64, rtt: Duration) {
        if self.cwnd < self.ssthresh {
            self.hystart.begin_round(now, number, self.next_number);
            if self.cwnd >= HYSTART_LOW_WINDOW && self.hystart.is_over(now, self.min_rtt, rtt) {
                self.ssthresh = self.cwnd;
            }
        }
    }

    /// `bictcp_update` and `tcp_cong_avoid_ai`.
    fn grow(&mut self, now: Instant, acked: f64) {
        if self.cwnd < self.ssthresh {
            self.cwnd += acked;
            return;
        }
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.w_est = self.cwnd;
            self.k = ((self.w_max - self.cwnd).max(0.0) / C).cbrt();
            self.w_max = self.w_max.max(self.cwnd);
            now
        });
        let t = (now - epoch + self.min_rtt).as_secs_f64();
        let target = C * (t - self.k).powi(3) + self.w_max;
        self.w_est += ALPHA * acked / self.cwnd;
        let per_window = (target - self.cwnd).max(self.w_est - self.cwnd).max(0.01);
        self.cwnd += per_window.min(self.cwnd / 2.0) * acked / self.cwnd;
    }

    /// What has this many later ones delivered is lost.
    fn detect_losses(&mut self, reordering: u64) {
        let limit = (self.highest_delivered + 1).saturating_sub(reordering);
        let lost: Vec<u64> = self.in_flight.range(..limit).map(|(number, _)| *number).collect();
        for number in lost {
            self.lose(number);
        }
    }

    fn lose(&mut self, number: u64) {
        let Some(transmission) = self.in_flight.remove(&number) else {
            return;
        };
        let origin = transmission.origin;
        self.lost.push(origin);
        if origin >= self.recovery_end {
            self.recovery_end = self.next_number;
            self.unrepaired = 0;
            self.reduce();
        }
        if origin == number {
            self.unrepaired += 1;
        }
    }

    /// `cubictcp_recalc_ssthresh`.
    fn reduce(&mut self) {
        self.w_max = if self.cwnd < self.w_max {
            self.cwnd * (1.0 + BETA) / 2.0
        } else {
            self.cwnd
        };
        self.ssthresh = (self.cwnd * BETA).max(2.0);
        self.cwnd = self.ssthresh;
        self.epoch = None;
    }

    /// When the sender's timer is due.
    fn deadline(&self) -> Option<Instant> {
        self.deadline.map(|(at, _)| at)
    }

    fn arm(&mut self, now: Instant) {
        let has_holes = self.in_flight.range(..self.highest_delivered).next().is_some();
        self.deadline = if self.in_flight.is_empty() {
            None
        } else if has_holes {
            Some((now + self.min_rtt / 4, Timer::Reordering))
        } else if self.srtt.is_zero() {
            Some((now + Duration::from_secs(1), Timer::Retransmission))
        } else {
            Some((now + 2 * self.srtt + Duration::from_millis(2), Timer::Probe))
        };
    }

    /// The sender's timer is due; a transmission that the window does not hold back, if any.
    fn on_timer(&mut self, now: Instant) -> Option<u64> {
        match self.deadline.take()?.1 {
            Timer::Reordering => {
                self.detect_losses(1);
                self.arm(now);
                None
            }
            Timer::Probe => {
                let number = self.transmit(now);
                self.deadline = Some((now + MIN_RTO.max(2 * self.srtt), Timer::Retransmission));
                Some(number)
            }
            Timer::Retransmission => {
                let outstanding: Vec<u64> = self.in_flight.keys().copied().collect();
                self.recovery_end = self.recovery_end.min(outstanding.first().copied().unwrap_or(0));
                for number in outstanding {
                    self.lose(number);
                }
                self.cwnd = 1.0;
                self.unrepaired = 0;
                None
            }
        }
    }
}

impl HyStart {
    fn begin_round(&mut self, now: Instant, number: u64, next_number: u64) {
        if number >= self.round_end || self.round_start.is_none() {
            self.round_end = next_number;
            (self.round_start, self.last_ack) = (Some(now), Some(now));
            (self.round_min, self.samples) = (Duration::MAX, 0);
        }
    }

    /// `hystart_update`; the train may be half as long as it might be if segments were paced.
    fn is_over(&mut self, now: Instant, min_rtt: Duration, rtt: Duration) -> bool {
        const MS: Duration = Duration::from_millis(1);
        if self.last_ack.is_some_and(|last| now - last <= 2 * MS) {
            self.last_ack = Some(now);
            if self.round_start.is_some_and(|start| now - start > min_rtt / 2) {
                return true;
            }
        }
        self.round_min = self.round_min.min(rtt);
        self.samples += 1;
        self.samples >= 8 && self.round_min > min_rtt + (min_rtt / 8).clamp(4 * MS, 16 * MS)
    }
}

/// Windows are small positive numbers.
#[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
fn to_segments(cwnd: f64) -> usize {
    cwnd as usize
}
