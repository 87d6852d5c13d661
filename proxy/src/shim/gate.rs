//! Lets QUIC acknowledge a packet that others had overtaken before it sees what comes behind it.
//!
//! QUIC stops acknowledging all packets below one whose acknowledgement it knows to have arrived (RFC 9000
//! §13.2.4), also one that came after that acknowledgement was sent. Behind a packet that filled a hole there is
//! often one that tells of such an arrival. Taken in one go, the late packet is received and never acknowledged,
//! and its sender takes it for lost: one in ten rescued packets at 100 Mbit/s and a gap of 20 ms.
//!
//! So after such a packet the gate is closed until QUIC has sent something, which it does at once for a packet
//! out of order, or for [`PATIENCE`] if it does not.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::resequencer::Out;

/// Where the packets of one stream pass on their way to QUIC.
#[derive(Debug)]
pub struct Gate<M> {
    closed_until: Option<Instant>,
    waiting: VecDeque<Waiting<M>>,
    waiting_bytes: usize,
    max_bytes: usize,
}

/// How long the gate is closed if QUIC has nothing to say.
pub const PATIENCE: Duration = Duration::from_millis(1);
/// How long a packet waits at the gate at most, however often it is closed.
pub const LONGEST_WAIT: Duration = Duration::from_millis(4);
/// Shorter packets mostly carry acknowledgements only, which are not acknowledged: no answer is waited for.
pub const LEAST_LEN: usize = 200;

impl<M: Copy> Gate<M> {
    /// An open gate; no more than `max_bytes` will wait at it.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            closed_until: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            max_bytes,
        }
    }

    /// Lets a packet out, or keeps it while the gate is closed.
    pub fn pass(&mut self, now: Instant, packet: Out<'_, M>, out: &mut dyn FnMut(&[u8], M)) {
        let closes = packet.overtaken && packet.packet.len() >= LEAST_LEN;
        if self.waiting_bytes + packet.packet.len() > self.max_bytes {
            while self.closed_until.is_some() {
                self.open(now, out);
            }
        }
        if self.closed_until.is_some() {
            self.waiting_bytes += packet.packet.len();
            let Out { packet, meta, .. } = packet;
            self.waiting.push_back(Waiting {
                since: now,
                packet: packet.into(),
                meta,
                closes,
            });
            return;
        }
        out(packet.packet, packet.meta);
        self.closed_until = closes.then(|| now + PATIENCE);
    }

    /// QUIC has sent something, or its time is over: lets out what waits, up to the next overtaken packet.
    pub fn open(&mut self, now: Instant, out: &mut dyn FnMut(&[u8], M)) {
        self.closed_until = None;
        while let Some(first) = self.waiting.pop_front() {
            self.waiting_bytes -= first.packet.len();
            out(&first.packet, first.meta);
            if first.closes && now.saturating_duration_since(first.since) < LONGEST_WAIT {
                self.closed_until = Some(now + PATIENCE);
                break;
            }
        }
    }

    /// When to open the gate at the latest; none while it is open.
    pub fn closed_until(&self) -> Option<Instant> {
        self.closed_until
    }
}

#[derive(Debug)]
struct Waiting<M> {
    since: Instant,
    packet: Box<[u8]>,
    meta: M,
    closes: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(gate: &mut Gate<u32>, now: Instant, packets: &[(u32, bool)]) -> Vec<u32> {
        let mut passed = Vec::new();
        for (number, overtaken) in packets {
            let packet = Out {
                packet: &[0; LEAST_LEN],
                meta: *number,
                overtaken: *overtaken,
            };
            gate.pass(now, packet, &mut |_, number| passed.push(number));
        }
        passed
    }

    fn open(gate: &mut Gate<u32>, now: Instant) -> Vec<u32> {
        let mut passed = Vec::new();
        gate.open(now, &mut |_, number| passed.push(number));
        passed
    }

    #[test]
    fn each_overtaken_packet_is_the_last_that_quic_sees_before_it_answers() {
        let (mut gate, now) = (Gate::new(10 * LEAST_LEN), Instant::now());
        let packets = [
            (1, false),
            (2, true),
            (3, false),
            (4, true),
            (5, true),
            (6, false),
        ];
        assert_eq!(pass(&mut gate, now, &packets), [1, 2]);
        assert_eq!(gate.closed_until(), Some(now + PATIENCE));
        assert_eq!(
            [open(&mut gate, now), open(&mut gate, now), open(&mut gate, now)],
            [vec![3, 4], vec![5], vec![6]]
        );
        assert_eq!(gate.closed_until(), None);
        assert_eq!(pass(&mut gate, now, &[(7, false)]), [7]);
    }

    #[test]
    fn nothing_waits_long_for_answers_that_do_not_come() {
        let (mut gate, mut now) = (Gate::new(100 * LEAST_LEN), Instant::now());
        let mut passed = pass(
            &mut gate,
            now,
            &(0..20).map(|number| (number, true)).collect::<Vec<_>>(),
        );
        let start = now;
        while let Some(until) = gate.closed_until() {
            now = until;
            passed.extend(open(&mut gate, now));
        }
        assert_eq!(passed, (0..20).collect::<Vec<_>>());
        assert_eq!(now - start, LONGEST_WAIT);
    }

    #[test]
    fn the_gate_opens_when_too_much_waits() {
        let (mut gate, now) = (Gate::new(10 * LEAST_LEN), Instant::now());
        let packets: Vec<_> = (0..100).map(|number| (number, number % 7 == 0)).collect();
        let mut passed = pass(&mut gate, now, &packets);
        assert!(passed.len() > 80);
        while gate.closed_until().is_some() {
            passed.extend(open(&mut gate, now));
        }
        assert_eq!(passed, (0..100).collect::<Vec<_>>());
    }
}
