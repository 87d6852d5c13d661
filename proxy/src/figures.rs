//! What a connection's congestion controller sees and noq does not tell, and which algorithm it is.
//!
//! A layer around the controller, for two reasons: who listens knows which peer has come, and so which algorithm is
//! configured for it, only after the handshake, when the controller exists already; and the smallest RTT, what is in
//! flight and the delivery rate pass by here.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use noq::congestion::{Controller, ControllerFactory, ControllerMetrics};
use noq_proto::RttEstimator;

use crate::congestion::Algorithm;
use crate::delay_gap::DelayGap;

/// The figures of one connection, shared by its controller and whoever shows them.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Index in [`Algorithm::ALL`].
    algorithm: AtomicUsize,
    min_rtt_us: AtomicU64,
    in_flight: AtomicU64,
    delivered: AtomicU64,
    delivery_rate: AtomicU64,
    app_limited: AtomicBool,
}

impl Figures {
    pub(crate) fn new(algorithm: Algorithm) -> Arc<Figures> {
        let figures = Figures {
            algorithm: AtomicUsize::new(0),
            min_rtt_us: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            delivery_rate: AtomicU64::new(0),
            app_limited: AtomicBool::new(false),
        };
        figures.set_algorithm(algorithm);
        Arc::new(figures)
    }

    /// What controls the connection from the next acknowledgement on.
    pub(crate) fn algorithm(&self) -> Algorithm {
        let index = self.algorithm.load(Relaxed);
        Algorithm::ALL.get(index).copied().unwrap_or(Algorithm::ALL[0])
    }

    pub(crate) fn set_algorithm(&self, algorithm: Algorithm) {
        let index = Algorithm::ALL.iter().position(|known| *known == algorithm);
        self.algorithm.store(index.unwrap_or(0), Relaxed);
    }

    /// The smallest RTT so far; zero before the first.
    pub(crate) fn min_rtt(&self) -> Duration {
        Duration::from_micros(self.min_rtt_us.load(Relaxed))
    }

    /// Bytes sent and neither acknowledged nor lost.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }

    /// Bytes acknowledged.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Relaxed)
    }

    /// Bits per second that were acknowledged over the latest round trip or 100 ms, whichever is longer.
    pub(crate) fn delivery_rate(&self) -> u64 {
        self.delivery_rate.load(Relaxed)
    }

    /// Whether the application, not the network, limited what was sent last.
    pub(crate) fn app_limited(&self) -> bool {
        self.app_limited.load(Relaxed)
    }
}

/// Makes the controllers of one connection: the first, and a fresh one when its path changes.
#[derive(Debug)]
pub(crate) struct ObservedFactory {
    pub(crate) figures: Arc<Figures>,
    pub(crate) gap: DelayGap,
}

impl ControllerFactory for ObservedFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let algorithm = self.figures.algorithm();
        Box::new(Observed {
            inner: algorithm.factory(self.gap.clone()).build(now, mtu),
            algorithm,
            mtu,
            rate_since: (now, self.figures.delivered()),
            round: MIN_ROUND,
            factory: self,
        })
    }
}

/// The layer itself.
#[derive(Debug)]
struct Observed {
    inner: Box<dyn Controller>,
    algorithm: Algorithm,
    mtu: u16,
    /// When the delivery rate was computed last, and what had been delivered by then.
    rate_since: (Instant, u64),
    round: Duration,
    factory: Arc<ObservedFactory>,
}

impl Observed {
    fn update_rate(&mut self, now: Instant) {
        let figures = &self.factory.figures;
        let (since, before) = self.rate_since;
        let took = now.saturating_duration_since(since);
        if took < self.round {
            return;
        }
        let delivered = figures.delivered();
        let bits = u128::from(delivered.saturating_sub(before)) * 8;
        let rate = bits * 1_000_000 / took.as_micros().max(1);
        figures
            .delivery_rate
            .store(u64::try_from(rate).unwrap_or(u64::MAX), Relaxed);
        self.rate_since = (now, delivered);
    }

    fn follow_the_wish(&mut self, now: Instant) {
        let wish = self.factory.figures.algorithm();
        if wish != self.algorithm {
            self.inner = wish.factory(self.factory.gap.clone()).build(now, self.mtu);
            self.algorithm = wish;
        }
    }
}

impl Controller for Observed {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.inner.on_sent(now, bytes, largest);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let figures = &self.factory.figures;
        figures.delivered.fetch_add(bytes, Relaxed);
        let min_rtt = u64::try_from(rtt.min().as_micros()).unwrap_or(u64::MAX);
        figures.min_rtt_us.store(min_rtt, Relaxed);
        figures.app_limited.store(app_limited, Relaxed);
        self.round = rtt.get().max(MIN_ROUND);
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.factory.figures.in_flight.store(in_flight, Relaxed);
        self.update_rate(now);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.follow_the_wish(now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        largest: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, persistent, ecn, lost, largest);
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.mtu = mtu;
        self.inner.on_mtu_update(mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Observed {
            inner: self.inner.clone_box(),
            factory: Arc::clone(&self.factory),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

const MIN_ROUND: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_changes_with_the_wish_and_the_window_starts_anew() {
        let figures = Figures::new(Algorithm::Cubic);
        let factory = Arc::new(ObservedFactory {
            figures: Arc::clone(&figures),
            gap: DelayGap::default(),
        });
        let start = Instant::now();
        let mut controller = factory.build(start, 1200);
        controller.on_congestion_event(start, start, false, false, 1200, 1);
        let reduced = controller.window();
        assert!(reduced < controller.initial_window());

        figures.set_algorithm(Algorithm::Bbr3);
        controller.on_end_acks(start, 2400, false, Some(1));
        assert!(controller.window() > reduced);
        assert!(
            controller.metrics().pacing_rate.is_some(),
            "BBR paces, CUBIC leaves that to noq"
        );
        assert_eq!(figures.in_flight(), 2400);
        assert_eq!(figures.algorithm(), Algorithm::Bbr3);
    }
}
