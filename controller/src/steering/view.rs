//! What the API shows of one direction.

use policies::{Estimate, Mode, PathIndex};

use super::Steering;
use crate::api::{DirectionView, JointView, LossView, PathView};

impl Steering {
    /// The direction in one line, without what proxies report.
    pub fn view(&self) -> DirectionView {
        let running = self.running.as_ref();
        DirectionView {
            policy: self.policy.name.clone(),
            from: self.sender().to_owned(),
            to: self.receiver().to_owned(),
            policy_mode: self.direction_policy().mode.to_string(),
            mode: running.map_or("not started".to_owned(), |running| {
                running.engine.mode().display(&self.path_names)
            }),
            pinned: running.is_some_and(|running| running.engine.pinned()),
            sent: self.sent,
            changes: self.changes,
            reason: self.reason.clone(),
            joint: running
                .filter(|running| matches!(running.engine.mode(), Mode::Bicast(_)))
                .map(|running| JointView {
                    measured: running.engine.joint_estimate().map(loss),
                    if_independent: running.engine.independent_loss(),
                }),
            copies: None,
            sending: None,
        }
    }

    /// Its paths, one line each, without what proxies report.
    pub fn path_views(&self) -> Vec<PathView> {
        let paths = (0_u8..)
            .map(PathIndex)
            .zip(self.path_names.iter().zip(&self.totals));
        paths
            .map(|(index, (name, total))| {
                let running = self.running.as_ref();
                PathView {
                    policy: self.policy.name.clone(),
                    from: self.sender().to_owned(),
                    to: self.receiver().to_owned(),
                    path: name.clone(),
                    usable: running.is_some_and(|running| running.usable.contains(index)),
                    in_use: running.is_some_and(|running| running.main.paths.current().contains(index)),
                    loss: running
                        .and_then(|running| running.engine.estimate(index))
                        .map(loss),
                    total: *total,
                    copies: None,
                }
            })
            .collect()
    }
}

fn loss(estimate: Estimate) -> LossView {
    LossView {
        sent: estimate.sent,
        lost: estimate.lost,
        span_ms: u64::try_from(estimate.span.as_millis()).unwrap_or(u64::MAX),
        lower: estimate.lower,
        upper: estimate.upper,
    }
}
