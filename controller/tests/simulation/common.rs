//! What the tests share.

use std::time::Duration;

use controller::testing::World;
pub(crate) use policies::Direction::Forward;

/// Two sites, two paths, three adaptive policies.
pub(crate) const TWO_UPLINKS: &str = include_str!("../../../examples/two-uplinks.yaml");

/// The world of `examples/two-uplinks.yaml`, ready for traffic.
pub(crate) fn two_uplinks() -> World {
    World::settled(TWO_UPLINKS)
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
