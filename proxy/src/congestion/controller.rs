//! A BBR model behind noq's `Controller`: what noq reports packet by packet becomes the drafts' per-transmit,
//! per-acknowledgment and per-loss steps.

use std::any::Any;
use std::time::Instant;

use noq::congestion::{Controller, ControllerMetrics};
use noq_proto::RttEstimator;

use super::model::Model;
use super::rate_sample::{Connection, to_bytes};

/// The connection and the model of the path that one BBR version keeps of it.
#[derive(Clone, Debug)]
pub(super) struct ModelController<M> {
    c: Connection,
    model: M,
}

impl<M: Model> ModelController<M> {
    /// A controller of a connection that starts with datagrams of `mtu` bytes.
    pub(super) fn new(now: Instant, mtu: u16, model: impl FnOnce(&mut Connection) -> M) -> Self {
        let mut c = Connection::new(now, mtu);
        let model = model(&mut c);
        Self { c, model }
    }
}

impl<M: Model> Controller for ModelController<M> {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.model.on_transmit(&mut self.c, now);
        self.c.on_packet_sent(now, bytes.into(), pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.c.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.c.on_packet_acked(now, sent, bytes, pn);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest_acked: Option<u64>) {
        let rs = self.c.on_end_acks(now, in_flight, app_limited);
        if rs.newly_acked > 0 {
            self.model.update_on_ack(&mut self.c, &rs, now);
        }
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        if let Some(packet) = self.c.on_packet_lost(now, lost_bytes.into(), pn) {
            self.model.update_on_loss(&mut self.c, &packet, now);
        }
    }

    /// Losses are taken packet by packet; noq tells of ECN marks without their number, which BBR cannot use.
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        _is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        if is_persistent_congestion {
            self.model.on_enter_rto(&mut self.c);
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.model.on_spurious_loss(&mut self.c);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.c.smss = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.c.cwnd
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.c.cwnd;
        metrics.pacing_rate = Some(to_bytes(self.c.pacing_rate));
        metrics.send_quantum = Some(self.c.send_quantum);
        metrics.bandwidth_estimate = Some(to_bytes(self.model.bw() * 8.0)).filter(|bits| *bits > 0);
        metrics
    }

    /// noq duplicates a controller when the peer's port changes: the model stays, what is in flight does not.
    fn clone_box(&self) -> Box<dyn Controller> {
        let mut clone = self.clone();
        clone.c.forget_in_flight();
        Box::new(clone)
    }

    fn initial_window(&self) -> u64 {
        self.c.initial_cwnd
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
