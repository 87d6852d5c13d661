//! The rate stage: a first-in first-out queue limited in bytes before a server of a fixed bit rate.

use crate::moment::Moment;
use std::collections::VecDeque;
use std::time::Duration;

/// A byte-limited queue and the transmitter behind it. The head of `waiting` is in service.
#[derive(Debug)]
pub struct RateQueue<P> {
    rate_bps: Option<u64>,
    limit_bytes: u64,
    waiting: VecDeque<(usize, P)>,
    waiting_bytes: u64,
    /// When the packet at the head leaves the transmitter.
    head_leaves: Moment,
}

impl<P> RateQueue<P> {
    /// An empty queue before a server of `rate_bps` bits per second (`None`: infinitely fast).
    pub fn new(rate_bps: Option<u64>, limit_bytes: u64) -> Self {
        RateQueue {
            rate_bps,
            limit_bytes,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            head_leaves: Moment::ZERO,
        }
    }

    /// Goes on with another rate and limit. The packet in service keeps its rate; packets that already
    /// wait stay even when they exceed the new limit.
    pub fn reconfigure(&mut self, rate_bps: Option<u64>, limit_bytes: u64) {
        self.rate_bps = rate_bps;
        self.limit_bytes = limit_bytes;
    }

    /// Appends a packet of `length` bytes. An empty queue takes a packet of any size.
    ///
    /// The caller has taken out what left before `now` with [`RateQueue::pop`].
    ///
    /// # Errors
    /// The packet itself when it does not fit.
    pub fn push(&mut self, now: Moment, length: usize, packet: P) -> Result<(), P> {
        if self.waiting.is_empty() {
            self.head_leaves = now + self.transmission_time(length);
        } else if self.waiting_bytes + length as u64 > self.limit_bytes {
            return Err(packet);
        }
        self.waiting_bytes += length as u64;
        self.waiting.push_back((length, packet));
        Ok(())
    }

    /// Takes out the packet at the head when it has left the transmitter by `now`, with the moment it left.
    pub fn pop(&mut self, now: Moment) -> Option<(Moment, P)> {
        if self.waiting.is_empty() || self.head_leaves > now {
            return None;
        }
        let left = self.head_leaves;
        let (length, packet) = self.waiting.pop_front()?;
        self.waiting_bytes -= length as u64;
        if let Some((length, _)) = self.waiting.front() {
            self.head_leaves = left + self.transmission_time(*length);
        }
        Some((left, packet))
    }

    /// When the packet at the head leaves the transmitter.
    pub fn next_departure(&self) -> Option<Moment> {
        (!self.waiting.is_empty()).then_some(self.head_leaves)
    }

    /// Packets that wait or are in service.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn transmission_time(&self, length: usize) -> Duration {
        match self.rate_bps {
            None | Some(0) => Duration::ZERO,
            Some(rate) => {
                let nanos = (length as u128 * 8 * 1_000_000_000).div_ceil(u128::from(rate));
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Moment {
        Moment::from_nanos(micros * 1000)
    }

    #[test]
    fn packets_leave_back_to_back_at_the_rate() {
        // 1,250 bytes at 100 Mbit/s take 100 microseconds each.
        let mut queue = RateQueue::new(Some(100_000_000), 1_000_000);
        for packet in 0..3 {
            queue.push(micros(1000), 1250, packet).unwrap();
        }
        assert_eq!(queue.next_departure(), Some(micros(1100)));
        assert_eq!(queue.pop(micros(1099)), None);
        assert_eq!(queue.pop(micros(2000)), Some((micros(1100), 0)));
        assert_eq!(queue.pop(micros(2000)), Some((micros(1200), 1)));
        assert_eq!(queue.pop(micros(2000)), Some((micros(1300), 2)));
        assert_eq!(queue.pop(micros(2000)), None);
    }

    #[test]
    fn an_idle_transmitter_starts_when_the_packet_comes() {
        let mut queue = RateQueue::new(Some(100_000_000), 1_000_000);
        queue.push(micros(0), 1250, 'a').unwrap();
        queue.pop(micros(100)).unwrap();
        queue.push(micros(5000), 1250, 'b').unwrap();
        assert_eq!(queue.next_departure(), Some(micros(5100)));
    }

    #[test]
    fn a_packet_beyond_the_byte_limit_is_refused() {
        let mut queue = RateQueue::new(Some(8_000), 2_000);
        queue.push(micros(0), 1000, 'a').unwrap();
        queue.push(micros(0), 1000, 'b').unwrap();
        assert_eq!(queue.push(micros(0), 1, 'c'), Err('c'));
        assert_eq!(queue.len(), 2);
        // One second later the first has left and there is room again.
        queue.pop(micros(1_000_000)).unwrap();
        queue.push(micros(1_000_000), 1000, 'd').unwrap();
    }

    #[test]
    fn an_empty_queue_takes_a_packet_larger_than_its_limit() {
        let mut queue = RateQueue::new(Some(8_000), 10);
        assert_eq!(queue.push(micros(0), 1500, 'a'), Ok(()));
    }

    #[test]
    fn a_new_rate_holds_from_the_next_packet() {
        let mut queue = RateQueue::new(Some(100_000_000), 1_000_000);
        queue.push(micros(0), 1250, 'a').unwrap();
        queue.push(micros(0), 1250, 'b').unwrap();
        queue.reconfigure(Some(10_000_000), 1_000_000);
        assert_eq!(queue.pop(micros(5000)), Some((micros(100), 'a')));
        assert_eq!(queue.pop(micros(5000)), Some((micros(1100), 'b')));
    }

    #[test]
    fn without_a_rate_packets_leave_at_once() {
        let mut queue = RateQueue::new(None, 10);
        queue.push(micros(3), 1500, 'a').unwrap();
        assert_eq!(queue.pop(micros(3)), Some((micros(3), 'a')));
    }
}
