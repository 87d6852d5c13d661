//! The experiments, one file each.

mod byte_exactness;
mod capacity;
mod controller_restart;
mod emulator;
mod hitless_switch;
mod measured_loss;
mod proxied;
mod proxy_report;
mod reaction;
mod receiver_cost;
pub mod series;
mod smoke;
mod soak;
mod support;
mod uplink_down;
mod vswitchd_restart;

use crate::experiment::Experiment;

/// All experiments, in the order in which `testbed list` shows them.
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(smoke::Smoke),
        Box::new(emulator::Emulator),
        Box::new(capacity::Capacity),
        Box::new(hitless_switch::HitlessSwitch),
        Box::new(measured_loss::MeasuredLoss),
        Box::new(reaction::Reaction),
        Box::new(controller_restart::ControllerRestart),
        Box::new(vswitchd_restart::VswitchdRestart),
        Box::new(uplink_down::UplinkDown),
        Box::new(byte_exactness::ByteExactness),
        Box::new(soak::Soak),
        Box::new(receiver_cost::ReceiverCost),
        Box::new(proxy_report::ProxyReport),
    ]
}

/// The experiment of this name.
pub fn named(name: &str) -> Option<Box<dyn Experiment>> {
    all().into_iter().find(|experiment| experiment.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let names: Vec<&str> = all().iter().map(|experiment| experiment.name()).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert!(names.iter().all(|name| named(name).is_some()));
        assert!(named("perpetual-motion").is_none());
    }
}
