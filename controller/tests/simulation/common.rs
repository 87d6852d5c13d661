//! What the tests share.

use std::time::Duration;

use controller::pipeline::Table;
use controller::testing::{StreamId, World};
use ofproto::{FlowModCommand, Message, MeterId};
use policies::Direction;
pub(crate) use policies::Direction::{Forward, Reverse};

/// Two sites, two paths, three adaptive policies.
pub(crate) const TWO_UPLINKS: &str = include_str!("../../../examples/two-uplinks.yaml");

/// The world of `examples/two-uplinks.yaml`, ready for traffic.
pub(crate) fn two_uplinks() -> World {
    World::settled(TWO_UPLINKS)
}

/// The sites and paths of `examples/two-uplinks.yaml` with other policies.
pub(crate) fn with_policies(policies: &str) -> String {
    let (sites, _) = TWO_UPLINKS
        .split_once("\npolicies:\n")
        .expect("the example has policies");
    format!("{sites}\npolicies:\n{policies}")
}

/// One policy, `video`, with these keys: `mode: adaptive, sampling: 10%`.
pub(crate) fn video(keys: &str) -> String {
    with_policies(&format!(
        "  video: {{match: {{protocol: udp, port: {{server: 5001}}}}, {keys}}}\n"
    ))
}

/// Stops a stream and waits until everything under way has arrived and is counted.
pub(crate) fn drain(world: &mut World, stream: StreamId) {
    world.stop(stream);
    world.run(secs(5));
}

/// What the controller has counted on a path over all closed periods: sent, lost.
pub(crate) fn measured(world: &mut World, policy: &str, from: &str, path: &str) -> (u64, u64) {
    let total = world.path(policy, from, path).total;
    (total.sent, total.sent - total.received)
}

/// What the link of a path did to a stream: sent, lost.
pub(crate) fn truth(world: &World, path: &str, direction: Direction, stream: StreamId) -> (u64, u64) {
    let truth = world.link(path, direction).truth(stream);
    (truth.entered, truth.dropped)
}

/// Changes of tables, groups and meters that the controller sent to a site after its first `since` messages. Colour
/// flips are none: they go on as long as anything is sent.
pub(crate) fn changes(world: &World, site: &str, since: usize) -> Vec<Message> {
    let sent = world.sent()[since..].iter().filter(|sent| sent.site == site);
    let messages = sent.map(|sent| &sent.message).filter(|message| match message {
        Message::FlowMod(flow_mod) => {
            flow_mod.command != FlowModCommand::ModifyStrict || flow_mod.table_id != Table::Steer.id()
        }
        Message::GroupMod(_) | Message::MeterMod(_) => true,
        _ => false,
    });
    messages.cloned().collect()
}

/// What a switch holds, to compare: flow entries, groups and meters in words.
pub(crate) fn contents(world: &World, site: &str) -> Vec<String> {
    let switch = &world.site(site).switch;
    let flows = switch.flows().iter().map(|entry| {
        format!(
            "{:?} {} {:?} {:?}",
            entry.table, entry.priority, entry.match_, entry.instructions
        )
    });
    let groups = switch
        .groups()
        .descriptions()
        .into_iter()
        .map(|group| format!("{group:?}"));
    let meters = switch
        .meters()
        .configs(MeterId::ALL)
        .expect("all is always there");
    let meters = meters.into_iter().map(|meter| format!("{meter:?}"));
    flows.chain(groups).chain(meters).collect()
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
