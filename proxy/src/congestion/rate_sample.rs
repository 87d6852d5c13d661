//! The transport's side of BBR, "C" and "RS" in the drafts: what is in flight, what was delivered, and the
//! delivery-rate sample of each acknowledgment, made of what noq tells a controller.
//!
//! draft-cheng-iccrg-delivery-rate-estimation-02 §3; draft-ietf-ccwg-bbr §4.1.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// State of the connection that the BBR drafts call `C`, and the outputs that the algorithms set.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// Sender maximum send size: the current datagram size, bytes.
    pub(super) smss: u64,
    /// Window before anything is known, bytes.
    pub(super) initial_cwnd: u64,
    /// Congestion window, bytes (output).
    pub(super) cwnd: u64,
    /// Bytes per second (output).
    pub(super) pacing_rate: f64,
    /// Largest burst handed to the network at once, bytes (output).
    pub(super) send_quantum: u64,
    /// Bytes delivered over the life of the connection.
    pub(super) delivered: u64,
    /// Bytes declared lost over the life of the connection.
    pub(super) lost: u64,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub(super) inflight: u64,
    /// `delivered` beyond which samples are no longer limited by the application; 0 when they are not.
    pub(super) app_limited: u64,
    /// When a loss was first seen whose repair is not yet confirmed.
    recovery_start: Option<Instant>,
    /// The loss reported last was the first of its recovery.
    pub(super) entered_recovery: bool,
    exited_recovery: bool,
    cwnd_limited: Limited,
    delivered_time: Instant,
    first_send_time: Instant,
    last_acked_pn: u64,
    min_rtt: Duration,
    newly_acked: u64,
    newly_lost: u64,
    newest: Option<(Packet, Instant)>,
    packets: VecDeque<Packet>,
}

/// `C.is_cwnd_limited` is about the last round trip: the running one counts, and the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Limited {
    this_round: bool,
    last_round: bool,
}

/// A packet in flight, "P" in the drafts, with the connection's state at the time it was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) pn: u64,
    pub(super) size: u64,
    pub(super) send_time: Instant,
    pub(super) delivered: u64,
    delivered_time: Instant,
    first_send_time: Instant,
    pub(super) is_app_limited: bool,
    /// In flight when it was sent, itself included.
    pub(super) tx_in_flight: u64,
    pub(super) lost: u64,
}

/// What one acknowledgment says, "RS" in the drafts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RateSample {
    /// Bytes per second; 0 when the sample is not reliable.
    pub(super) delivery_rate: f64,
    /// Bytes delivered since the newest acknowledged packet was sent.
    pub(super) delivered: u64,
    /// `C.delivered` when that packet was sent; none when the acknowledgment delivered nothing that is known.
    pub(super) prior_delivered: Option<u64>,
    /// Round trip of that packet.
    pub(super) rtt: Option<Duration>,
    /// In flight when that packet was sent.
    pub(super) tx_in_flight: u64,
    /// Bytes declared lost since that packet was sent.
    pub(super) lost: u64,
    /// The application had nothing to send when that packet was sent.
    pub(super) is_app_limited: bool,
    /// Bytes acknowledged by this acknowledgment.
    pub(super) newly_acked: u64,
    /// Bytes declared lost since the acknowledgment before.
    pub(super) newly_lost: u64,
    /// In flight before this acknowledgment.
    pub(super) prior_inflight: u64,
    /// This acknowledgment ends a recovery.
    pub(super) exited_recovery: bool,
}

/// A packet that noq never reports again (a lost MTU probe) is forgotten after this.
const FORGET_AFTER: Duration = Duration::from_secs(60);

impl Connection {
    pub(super) fn new(now: Instant, mtu: u16) -> Self {
        let smss = u64::from(mtu);
        let initial_cwnd = initial_window(mtu);
        Self {
            smss,
            initial_cwnd,
            cwnd: initial_cwnd,
            pacing_rate: 0.0,
            send_quantum: 2 * smss,
            delivered: 0,
            lost: 0,
            inflight: 0,
            app_limited: 0,
            recovery_start: None,
            entered_recovery: false,
            exited_recovery: false,
            cwnd_limited: Limited::default(),
            delivered_time: now,
            first_send_time: now,
            last_acked_pn: 0,
            min_rtt: Duration::MAX,
            newly_acked: 0,
            newly_lost: 0,
            newest: None,
            packets: VecDeque::new(),
        }
    }

    /// `OnPacketSent`. Packet numbers start again in each packet-number space and noq does not say which one
    /// it is, so a number that does not rise forgets what was in flight before: a few handshake packets go
    /// without a sample.
    pub(super) fn on_packet_sent(&mut self, now: Instant, size: u64, pn: u64) {
        if self.packets.back().is_some_and(|last| pn <= last.pn) {
            self.packets.clear();
        }
        if self.inflight == 0 {
            self.first_send_time = now;
            self.delivered_time = now;
        }
        self.inflight += size;
        self.packets.push_back(Packet {
            pn,
            size,
            send_time: now,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            is_app_limited: self.app_limited != 0,
            tx_in_flight: self.inflight,
            lost: self.lost,
        });
    }

    /// `UpdateRateSample`: one packet of an acknowledgment, in rising order of packet numbers.
    pub(super) fn on_packet_acked(&mut self, now: Instant, sent: Instant, size: u64, pn: u64) {
        self.delivered += size;
        self.delivered_time = now;
        self.newly_acked += size;
        if self.recovery_start.is_some_and(|start| sent > start) {
            self.recovery_start = None;
            self.exited_recovery = true;
        }
        let Some(packet) = self.take(pn, |p| p.send_time == sent) else {
            return;
        };
        if self.newest.is_none() || self.is_newest(&packet) {
            self.newest = Some((packet, now));
            self.last_acked_pn = pn;
            self.first_send_time = packet.send_time;
        }
    }

    /// `IsNewestPacket`: the most recently sent packet that has been delivered.
    fn is_newest(&self, p: &Packet) -> bool {
        p.send_time > self.first_send_time
            || (p.send_time == self.first_send_time && p.pn > self.last_acked_pn)
    }

    /// A packet was declared lost: the packet as it was sent, if it is known.
    pub(super) fn on_packet_lost(&mut self, now: Instant, size: u64, pn: u64) -> Option<Packet> {
        self.lost += size;
        self.newly_lost += size;
        let packet = self.take(pn, |p| p.size == size)?;
        self.inflight = self.inflight.saturating_sub(size);
        self.entered_recovery = self.recovery_start.is_none();
        self.recovery_start.get_or_insert(now);
        Some(packet)
    }

    /// `GenerateRateSample`, at the end of an acknowledgment; `inflight` is what noq has in flight after it.
    pub(super) fn on_end_acks(&mut self, now: Instant, inflight: u64, app_limited: bool) -> RateSample {
        let mut rs = RateSample {
            newly_acked: std::mem::take(&mut self.newly_acked),
            newly_lost: std::mem::take(&mut self.newly_lost),
            prior_inflight: self.inflight,
            exited_recovery: std::mem::take(&mut self.exited_recovery),
            ..RateSample::default()
        };
        self.inflight = inflight;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if app_limited {
            self.mark_app_limited();
        }
        while self
            .packets
            .front()
            .is_some_and(|p| now.saturating_duration_since(p.send_time) > FORGET_AFTER)
        {
            self.packets.pop_front();
        }

        let Some((p, acked)) = self.newest.take() else {
            return rs;
        };
        let send_elapsed = p.send_time.saturating_duration_since(p.first_send_time);
        let ack_elapsed = acked.saturating_duration_since(p.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        let rtt = acked.saturating_duration_since(p.send_time);
        self.min_rtt = self.min_rtt.min(rtt);
        rs.rtt = Some(rtt);
        rs.delivered = self.delivered.saturating_sub(p.delivered);
        rs.prior_delivered = Some(p.delivered);
        rs.tx_in_flight = p.tx_in_flight;
        rs.lost = self.lost.saturating_sub(p.lost);
        rs.is_app_limited = p.is_app_limited;
        // A shorter interval than a round trip makes no reliable rate.
        if interval >= self.min_rtt && !interval.is_zero() {
            rs.delivery_rate = to_f64(rs.delivered) / interval.as_secs_f64();
        }
        rs
    }

    /// `MarkConnectionAppLimited`: samples are limited until what is in flight now was delivered.
    pub(super) fn mark_app_limited(&mut self) {
        self.app_limited = (self.delivered + self.inflight).max(1);
    }

    /// The window held the sender back.
    pub(super) fn on_cwnd_limited(&mut self) {
        self.cwnd_limited.this_round = true;
    }

    /// `C.is_cwnd_limited`: the window was fully used at some time in the last round trip.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.this_round || self.cwnd_limited.last_round
    }

    /// A round trip has ended.
    pub(super) fn start_round(&mut self) {
        self.cwnd_limited = Limited {
            this_round: false,
            last_round: self.cwnd_limited.this_round,
        };
    }

    /// `InLossRecovery`: a packet was lost, and none sent since then has been acknowledged.
    pub(super) fn in_recovery(&self) -> bool {
        self.recovery_start.is_some()
    }

    /// `InitPacingRate`: one initial window per round trip, or per millisecond while none is known.
    pub(super) fn init_pacing_rate(&mut self, startup_gain: f64, rtt: Option<Duration>) {
        let rtt = rtt
            .unwrap_or(Duration::from_millis(1))
            .max(Duration::from_micros(1));
        self.pacing_rate = startup_gain * to_f64(self.initial_cwnd) / rtt.as_secs_f64();
    }

    /// What was in flight belongs to the path before: noq reports none of it on the new one.
    pub(super) fn forget_in_flight(&mut self) {
        self.packets.clear();
        self.newest = None;
        self.inflight = 0;
        self.recovery_start = None;
    }

    fn take(&mut self, pn: u64, is_it: impl Fn(&Packet) -> bool) -> Option<Packet> {
        let index = self.packets.binary_search_by_key(&pn, |p| p.pn).ok()?;
        self.packets.get(index).copied().filter(|p| is_it(p))?;
        self.packets.remove(index)
    }
}

/// The initial congestion window of RFC 9002 §7.2, bytes.
pub(super) fn initial_window(mtu: u16) -> u64 {
    let mtu = u64::from(mtu);
    14_720.clamp(2 * mtu, 10 * mtu)
}

/// Bytes as a factor in a rate or a gain; exact up to 2^53.
pub(super) fn to_f64(bytes: u64) -> f64 {
    bytes as f64
}

/// A product of rates, times and gains as bytes; what does not fit is clamped.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float cast saturates, and the fraction of a byte is nothing"
)]
pub(super) fn to_bytes(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u16 = 1000;
    const MS: Duration = Duration::from_millis(1);

    fn send(c: &mut Connection, at: Instant, pns: std::ops::Range<u64>) {
        for pn in pns {
            c.on_packet_sent(at, 1000, pn);
        }
    }

    #[test]
    fn rate_is_what_was_delivered_over_the_longer_of_sending_and_acknowledging() {
        let start = Instant::now();
        let mut c = Connection::new(start, MTU);
        for pn in 0..10u32 {
            c.on_packet_sent(start + pn * MS, 1000, pn.into());
        }
        // Ten packets sent 1 ms apart, acknowledged 2 ms apart: the acknowledgments are the slower.
        let mut rs = RateSample::default();
        for pn in 0..10u32 {
            let now = start + 20 * MS + pn * 2 * MS;
            c.on_packet_acked(now, start + pn * MS, 1000, pn.into());
            rs = c.on_end_acks(now, 10_000 - u64::from(pn + 1) * 1000, false);
        }
        assert_eq!(rs.rtt, Some(29 * MS));
        assert_eq!(rs.delivered, 10_000);
        // All ten since the sending of the last, which is 38 ms after the start.
        assert!((rs.delivery_rate - 10_000.0 / 0.038).abs() < 1.0, "{rs:?}");
    }

    #[test]
    fn a_sample_is_application_limited_until_what_was_in_flight_is_delivered() {
        let start = Instant::now();
        let mut c = Connection::new(start, MTU);
        send(&mut c, start, 0..2);
        c.on_packet_acked(start + 10 * MS, start, 1000, 0);
        assert!(!c.on_end_acks(start + 10 * MS, 1000, true).is_app_limited);
        send(&mut c, start + 11 * MS, 2..3);
        c.on_packet_acked(start + 21 * MS, start + 11 * MS, 1000, 2);
        assert!(
            c.on_end_acks(start + 21 * MS, 1000, false).is_app_limited,
            "sent while there was nothing to send"
        );
        assert_ne!(c.app_limited, 0, "packet 1 is outstanding");
        send(&mut c, start + 22 * MS, 3..4);
        c.on_packet_acked(start + 32 * MS, start, 1000, 1);
        c.on_end_acks(start + 32 * MS, 1000, false);
        assert_eq!(c.app_limited, 0);
    }

    #[test]
    fn numbers_that_start_again_do_not_mix_packet_number_spaces() {
        let start = Instant::now();
        let mut c = Connection::new(start, MTU);
        send(&mut c, start, 0..3);
        send(&mut c, start + MS, 0..2);
        // Number 0 of the first space: delivered, but no sample of the packet of the second space.
        c.on_packet_acked(start + 10 * MS, start, 1000, 0);
        let rs = c.on_end_acks(start + 10 * MS, 4000, false);
        assert_eq!((rs.newly_acked, rs.rtt), (1000, None));
        c.on_packet_acked(start + 11 * MS, start + MS, 1000, 0);
        let rs = c.on_end_acks(start + 11 * MS, 3000, false);
        assert_eq!((rs.newly_acked, rs.rtt), (1000, Some(10 * MS)));
    }

    #[test]
    fn losses_between_sending_and_acknowledgment_are_in_the_sample() {
        let start = Instant::now();
        let mut c = Connection::new(start, MTU);
        send(&mut c, start, 0..10);
        assert_eq!(
            c.on_packet_lost(start + 5 * MS, 1000, 3).map(|p| p.tx_in_flight),
            Some(4000)
        );
        assert!(c.on_packet_lost(start + 5 * MS, 1000, 99).is_none(), "never sent");
        assert!(c.in_recovery());
        c.on_packet_acked(start + 10 * MS, start, 1000, 9);
        let rs = c.on_end_acks(start + 10 * MS, 8000, false);
        assert_eq!((rs.lost, rs.newly_lost, rs.tx_in_flight), (2000, 2000, 10_000));
        assert_eq!(c.on_end_acks(start + 11 * MS, 8000, false).newly_lost, 0);
        assert!(c.in_recovery(), "sent before the loss was seen");
        c.on_packet_sent(start + 12 * MS, 1000, 10);
        c.on_packet_acked(start + 22 * MS, start + 12 * MS, 1000, 10);
        assert!(!c.in_recovery());
    }

    #[test]
    fn a_new_path_starts_with_nothing_in_flight() {
        let start = Instant::now();
        let mut c = Connection::new(start, MTU);
        send(&mut c, start, 0..5);
        c.forget_in_flight();
        assert_eq!(c.inflight, 0);
        assert!(c.on_packet_lost(start, 1000, 2).is_none());
        assert!(!c.in_recovery(), "a loss on the path before is none on this one");
    }
}
