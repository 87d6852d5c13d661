//! The datapath's memory: the way of a flow is worked out for its first packet and then remembered.
//!
//! Because of that memory a change of the rules does not take effect at once, and not for every flow at the same
//! moment: each remembered flow goes on as before until its turn has come, at most the lag after the change. What the
//! controller reads of tables and groups is new at once, and so is the answer to its barrier.

use std::collections::HashMap;
use std::time::Duration;

use ofproto::PortNo;
use policies::Timestamp;

use super::chance::Chance;
use super::forwarding::{Rules, Step};
use super::packet::{Packet, Payload};

/// The ways that are remembered.
#[derive(Debug)]
pub(super) struct Cache {
    flows: HashMap<(PortNo, Packet), Remembered>,
    /// A change reaches every flow within this time.
    lag: Duration,
    seed: u64,
    flows_seen: u64,
    changes: u64,
}

#[derive(Debug)]
struct Remembered {
    /// Flows are told apart by the order in which they came.
    number: u64,
    steps: Vec<Step>,
    used: Timestamp,
    /// The rules have changed; from then on the way is worked out anew.
    stale_from: Option<Timestamp>,
}

impl Cache {
    /// An empty memory that follows at once. `seed` decides which flow follows a change how late.
    pub(super) fn new(seed: u64) -> Cache {
        Cache {
            flows: HashMap::new(),
            lag: Duration::ZERO,
            seed,
            flows_seen: 0,
            changes: 0,
        }
    }

    /// From now on a change reaches every flow within this time.
    pub(super) fn set_lag(&mut self, lag: Duration) {
        self.lag = lag;
    }

    /// The way of a packet, as the datapath has it now.
    pub(super) fn steps(
        &mut self,
        now: Timestamp,
        in_port: PortNo,
        packet: Packet,
        rules: Rules<'_>,
    ) -> &[Step] {
        let packet = packet.with_payload(Payload::default());
        let flow = self.flows.entry((in_port, packet)).or_insert_with(|| {
            self.flows_seen += 1;
            Remembered {
                number: self.flows_seen,
                steps: vec![],
                used: now,
                stale_from: Some(now),
            }
        });
        if flow.stale_from.is_some_and(|from| from <= now) {
            flow.steps = rules.pipeline(in_port, packet);
            flow.stale_from = None;
        }
        flow.used = now;
        &flow.steps
    }

    /// The rules have changed. Flows that were not used for long are forgotten.
    pub(super) fn rules_changed(&mut self, now: Timestamp) {
        self.changes += 1;
        self.flows
            .retain(|_, flow| now.saturating_since(flow.used) < MAX_IDLE);
        for flow in self.flows.values_mut() {
            if flow.stale_from.is_none() {
                let mut chance = Chance::new(self.seed ^ self.changes << 20 ^ flow.number);
                flow.stale_from = Some(now + self.lag.mul_f64(chance.fraction()));
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.flows.clear();
    }
}

/// As Open vSwitch's `max-idle`.
const MAX_IDLE: Duration = Duration::from_secs(10);
