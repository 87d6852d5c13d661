//! Packets from host to host: do they arrive, which way, and what do they look like?

use crate::common::*;
use controller::testing::Delivery;

#[test]
fn packets_of_a_class_arrive_over_the_preferred_path_and_no_other() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(1));
    world.stop(video);
    world.run(secs(1));
    let expected = Delivery {
        sent: 200,
        delivered: 200,
        duplicates: 0,
        missing: 0,
    };
    assert_eq!(world.delivery(video), expected);
    assert_eq!(world.link("a", Forward).truth(video).entered, 200);
    assert_eq!(world.link("b", Forward).truth(video).entered, 0);
}
