//! A path without loss or jitter on which the tests of a BBR version watch its states.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::model::Model;
use super::rate_sample::{Connection, to_bytes, to_f64};

const PACKET: u64 = 1000;
const TICK: Duration = Duration::from_micros(100);

/// A sender paced by its model, a bottleneck with an endless queue, and a receiver that acknowledges each packet.
pub(super) struct IdealPath<M> {
    pub(super) c: Connection,
    pub(super) model: M,
    pub(super) now: Instant,
    /// Bytes per second.
    pub(super) rate: f64,
    pub(super) rtt: Duration,
    /// The application has something to send.
    pub(super) has_data: bool,
    credit: f64,
    busy_until: Instant,
    next_pn: u64,
    in_flight: VecDeque<(Instant, Instant, u64)>,
}

impl<M: Model> IdealPath<M> {
    pub(super) fn new(rate: f64, rtt: Duration, model: impl FnOnce(&mut Connection, Instant) -> M) -> Self {
        let now = Instant::now();
        let mut c = Connection::new(now, 1000);
        let model = model(&mut c, now);
        let (busy_until, in_flight) = (now, VecDeque::new());
        Self {
            c,
            model,
            now,
            rate,
            rtt,
            has_data: true,
            credit: 0.0,
            busy_until,
            next_pn: 0,
            in_flight,
        }
    }

    /// Lets time pass until it is so, or this long; whether it was so.
    pub(super) fn run_until(&mut self, longest: Duration, mut is_so: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + longest;
        while self.now < end {
            if is_so(self) {
                return true;
            }
            self.tick();
        }
        is_so(self)
    }

    pub(super) fn run(&mut self, duration: Duration) {
        self.run_until(duration, |_| false);
    }

    /// Declares the newest packets in flight lost, every `nth` of them.
    pub(super) fn lose(&mut self, nth: usize) {
        let now = self.now;
        for (_, _, pn) in self.in_flight.iter().rev().step_by(nth) {
            if let Some(packet) = self.c.on_packet_lost(now, PACKET, *pn) {
                self.model.update_on_loss(&mut self.c, &packet, now);
            }
        }
        let mut n = 0;
        let len = self.in_flight.len();
        self.in_flight.retain(|_| {
            n += 1;
            !(len - n).is_multiple_of(nth)
        });
    }

    fn tick(&mut self) {
        self.now += TICK;
        let burst = to_f64(self.c.send_quantum.max(10 * PACKET));
        self.credit = (self.credit + self.c.pacing_rate * TICK.as_secs_f64()).min(burst);
        while self.has_data && self.credit >= to_f64(PACKET) {
            if self.c.inflight + PACKET > self.c.cwnd {
                self.c.on_cwnd_limited();
                break;
            }
            self.send();
        }
        let mut acked = false;
        while let Some((arrival, sent, pn)) = self.in_flight.front().copied().filter(|p| p.0 <= self.now) {
            self.in_flight.pop_front();
            self.c.on_packet_acked(arrival, sent, PACKET, pn);
            acked = true;
        }
        if acked {
            let inflight = PACKET * self.in_flight.len() as u64;
            let rs = self.c.on_end_acks(self.now, inflight, !self.has_data);
            self.model.update_on_ack(&mut self.c, &rs, self.now);
        }
    }

    fn send(&mut self) {
        self.model.on_transmit(&mut self.c, self.now);
        self.c.on_packet_sent(self.now, PACKET, self.next_pn);
        self.credit -= to_f64(PACKET);
        self.busy_until = self.busy_until.max(self.now) + Duration::from_secs_f64(to_f64(PACKET) / self.rate);
        self.in_flight
            .push_back((self.busy_until + self.rtt, self.now, self.next_pn));
        self.next_pn += 1;
    }

    /// The bandwidth-delay product of the path itself.
    pub(super) fn bdp(&self) -> u64 {
        to_bytes(self.rate * self.rtt.as_secs_f64())
    }
}
