//! Colour periods of one direction: when they change, and the samples that come of them.

use policies::{LossSample, ModePolicy, PathSet, Source, Timestamp};

use super::{Receiver, Steering, SteeringOutput};
use crate::measure::{Closed, MarkingOutput, ReceiverReading, SenderReading};

impl Steering {
    /// The sender's meters.
    pub fn sender_reading(&mut self, now: Timestamp, reading: SenderReading) -> Vec<SteeringOutput> {
        let Some(running) = &mut self.running else {
            return vec![];
        };
        let outputs = running.marking.sender_reading(now, reading);
        self.marking_outputs(now, outputs)
    }

    /// The receiver's meters.
    pub fn receiver_reading(&mut self, now: Timestamp, reading: ReceiverReading) -> Vec<SteeringOutput> {
        let Some(running) = &mut self.running else {
            return vec![];
        };
        let outputs = running.marking.receiver_reading(now, reading);
        self.marking_outputs(now, outputs)
    }

    /// If the open period is over: opens the next one. The caller sends the steer entry of [`Steering::sending`] and
    /// says [`Steering::flipped`] when it is confirmed.
    pub fn take_flip(&mut self, now: Timestamp) -> bool {
        // Only who may change the mode needs to know what a standby path is worth.
        let sampling = match self.direction_policy().mode {
            ModePolicy::Adaptive => self.measurement.sampling.fraction(),
            ModePolicy::Unicast | ModePolicy::Bicast => 0.0,
        };
        let Some(running) = &mut self.running else {
            return false;
        };
        if !std::mem::take(&mut running.flip_due) {
            return false;
        }
        let standby = running.sample.paths.current() != running.main.paths.current();
        let sample_due = sampling > 0.0
            && standby
            && running.usable.len() > 1
            && f64::from(running.periods_since_sample + 1) * sampling >= 1.0;
        // Twice in a row over the sample group would leave no closed period of the main group between.
        let sampled = (sample_due || running.parked.is_some()) && !running.marking.sampled();
        running.periods_since_sample = if sampled {
            0
        } else {
            running.periods_since_sample + 1
        };
        let group = if sampled { &running.sample } else { &running.main };
        let carried = match self.receiver {
            Receiver::Ready => group.paths.certain(),
            Receiver::Unknown | Receiver::Doubted => PathSet::EMPTY,
        };
        running.marking.flip(now, sampled, carried);
        true
    }

    /// The switch confirmed the flip.
    pub fn flipped(&mut self, now: Timestamp) {
        if let Some(running) = &mut self.running {
            running.marking.flipped(now);
        }
    }

    pub(super) fn marking_outputs(
        &mut self,
        now: Timestamp,
        marking: Vec<MarkingOutput>,
    ) -> Vec<SteeringOutput> {
        let mut outputs = vec![];
        for output in marking {
            match output {
                MarkingOutput::ReadSender => outputs.push(SteeringOutput::ReadSender),
                MarkingOutput::ReadReceiver => outputs.push(SteeringOutput::ReadReceiver),
                MarkingOutput::FlipDue => {
                    if let Some(running) = &mut self.running {
                        running.flip_due = true;
                    }
                }
                MarkingOutput::SenderClosed { sampled } => outputs.extend(self.main_out_of_use(sampled)),
                MarkingOutput::Late { path, packets } => {
                    if let Some(total) = self.totals.get_mut(path.index()) {
                        total.received += packets;
                    }
                }
                MarkingOutput::Closed(closed) => outputs.extend(self.closed(now, &closed)),
            }
        }
        outputs
    }

    pub(super) fn closed(&mut self, now: Timestamp, closed: &Closed) -> Vec<SteeringOutput> {
        self.sent += closed.sent;
        let Some(running) = &mut self.running else {
            return vec![];
        };
        let in_use = running.applied.paths();
        for (path, received) in &closed.received {
            let Some(total) = self.totals.get_mut(path.index()) else {
                continue;
            };
            total.periods += 1;
            total.sent += closed.sent;
            total.received += received;
            let by = if closed.sampled && !in_use.contains(*path) {
                total.sampled_periods += 1;
                Source::SampledBicast
            } else {
                Source::AlternateMarking
            };
            if closed.sent > 0 {
                running.engine.observe(&LossSample {
                    path: *path,
                    direction: self.key.direction,
                    from: closed.from,
                    until: closed.until,
                    sent: closed.sent,
                    lost: closed.sent.saturating_sub(*received),
                    by,
                });
            }
        }
        if closed.sampled {
            running.standby_turn = running.standby_turn.wrapping_add(1);
        }
        let mut outputs = self.settle_decisions(now, None);
        outputs.extend(self.replan());
        outputs
    }
}
