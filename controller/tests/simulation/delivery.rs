//! Packets from host to host: do they arrive, which way, and what do they look like?

use controller::testing::{Delivery, Ipv4Packet, Packet, Payload, World};
use ofproto::MacAddr;
use policies::Direction;

use crate::common::*;

#[test]
fn packets_of_a_class_arrive_over_the_preferred_path_and_no_other() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(1));
    drain(&mut world, video);
    let expected = Delivery {
        sent: 200,
        delivered: 200,
        duplicates: 0,
        missing: 0,
    };
    assert_eq!(world.delivery(video), expected);
    assert_eq!(truth(&world, "a", Forward, video), (200, 0));
    assert_eq!(truth(&world, "b", Forward, video), (0, 0));
}

#[test]
fn both_directions_and_every_class_arrive() {
    let mut world = two_uplinks();
    let streams = ["video", "telemetry", "download"]
        .map(|policy| [Forward, Reverse].map(|direction| world.traffic(policy, direction, 100)));
    world.run(secs(2));
    for stream in streams.into_iter().flatten() {
        world.stop(stream);
    }
    world.run(secs(1));
    for stream in streams.into_iter().flatten() {
        let delivery = world.delivery(stream);
        assert_eq!((delivery.sent, delivery.missing), (200, 0), "{stream:?}");
    }
}

#[test]
fn a_delivered_packet_has_the_addresses_of_host_and_gateway_and_no_mark() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(1));
    let server = world.site("server");
    let packet = world.stream(video).last_delivered().copied().unwrap();
    assert_eq!(packet.eth_dst, server.host.mac);
    assert_eq!(
        packet.eth_src,
        server.switch.ports().by_name("host").unwrap().hw_addr
    );
    let ip = packet.ipv4().unwrap();
    assert_eq!((ip.src, ip.dst), world.hosts(Forward));
    assert_eq!(ip.dscp, 0);
    assert_eq!(ip.ttl, 64 - 4, "two switches and two routers, one hop each");
}

#[test]
fn a_path_with_a_port_of_its_own_delivers_to_it_and_others_do_not() {
    let policy = "mode: bicast, path_ports: {server: {b: 6001}}";
    let mut world = World::settled(&video(policy));
    let ports_of = |world: &mut World, lossy: &str, direction: Direction| {
        world.loss("a", direction, if lossy == "a" { 1.0 } else { 0.0 });
        world.loss("b", direction, if lossy == "b" { 1.0 } else { 0.0 });
        let stream = world.traffic("video", direction, 200);
        world.run(secs(1));
        drain(world, stream);
        let ip = *world.stream(stream).last_delivered().unwrap().ipv4().unwrap();
        (ip.src_port, ip.dst_port)
    };
    assert_eq!(ports_of(&mut world, "b", Forward).1, 5001);
    assert_eq!(ports_of(&mut world, "a", Forward).1, 6001);
    assert_eq!(
        ports_of(&mut world, "a", Reverse).0,
        5001,
        "the other direction has none"
    );
}

#[test]
fn between_the_sites_packets_carry_one_of_the_two_colours_in_turn() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(3));
    let runs = world.link("a", Forward).truth(video).runs;
    assert!(runs.len() > 6, "{runs:?}");
    for pair in runs.windows(2) {
        let mut colours = [pair[0].dscp, pair[1].dscp];
        colours.sort_unstable();
        assert_eq!(colours, [3, 7]);
    }
}

#[test]
fn a_class_of_a_code_point_is_delivered_with_it() {
    let mut world = World::settled(&with_policies(
        "  voice:\n    match: {protocol: udp, dscp: 46}\n    mode: unicast\n",
    ));
    let voice = world.traffic("voice", Forward, 100);
    world.run(secs(1));
    let colours = world.link("a", Forward).truth(voice).runs;
    assert!(colours.iter().all(|run| [3, 7].contains(&run.dscp)));
    assert_eq!(delivered(&world, voice).dscp, 46);
}

#[test]
fn traffic_that_no_policy_claims_takes_the_default_uplink_as_it_is() {
    let mut world = two_uplinks();
    let (src, dst) = world.hosts(Forward);
    let other = Ipv4Packet {
        dscp: 10,
        ecn: 1,
        ..Ipv4Packet::udp((src, 1111), (dst, 2222), Payload::default())
    };
    let other = world.flows(Forward, vec![other], 100);
    world.run(secs(1));
    drain(&mut world, other);
    assert_eq!(world.delivery(other).delivered, 100);
    assert_eq!(truth(&world, "a", Forward, other), (100, 0));
    let ip = delivered(&world, other);
    assert_eq!((ip.dscp, ip.ecn, ip.ttl), (10, 1, 60));
}

#[test]
fn a_mark_does_not_touch_the_congestion_bits() {
    let mut world = two_uplinks();
    let (src, dst) = world.hosts(Forward);
    let video = Ipv4Packet {
        ecn: 3,
        ..Ipv4Packet::udp((src, 1111), (dst, 5001), Payload::default())
    };
    let video = world.flows(Forward, vec![video], 100);
    world.run(secs(1));
    assert_eq!(delivered(&world, video).ecn, 3);
}

#[test]
fn a_packet_that_dies_at_the_gateway_was_never_sent() {
    let mut world = two_uplinks();
    let (src, dst) = world.hosts(Forward);
    let dying = Ipv4Packet {
        ttl: 1,
        ..Ipv4Packet::udp((src, 1111), (dst, 5001), Payload::default())
    };
    let dying = world.flows(Forward, vec![dying], 100);
    world.run(secs(2));
    drain(&mut world, dying);
    assert_eq!(world.delivery(dying).delivered, 0);
    assert_eq!(world.direction("video", "client").sent, 0);
    assert_eq!(measured(&mut world, "video", "client", "a"), (0, 0));
}

#[test]
fn in_bicast_every_packet_arrives_twice_and_either_loss_is_covered() {
    let mut world = World::settled(&video("mode: bicast"));
    world.loss("a", Forward, 0.3);
    world.loss("b", Forward, 0.3);
    let video = world.traffic("video", Forward, 500);
    world.run(secs(10));
    drain(&mut world, video);
    let (a, b) = (
        truth(&world, "a", Forward, video),
        truth(&world, "b", Forward, video),
    );
    let delivery = world.delivery(video);
    assert_eq!((a.0, b.0), (5_000, 5_000));
    assert_eq!(
        delivery.delivered + delivery.duplicates,
        (a.0 - a.1) + (b.0 - b.1)
    );
    assert!(
        (300..600).contains(&delivery.missing),
        "about 9 % lose both copies: {delivery:?}"
    );
}

#[test]
fn arp_for_the_gateway_and_for_the_uplink_addresses_is_answered_with_the_port_of_that_side() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Reverse, 50);
    world.run(secs(1));
    drain(&mut world, video);
    let client = world.site("client");
    let mac_of = |port: &str| Some(client.switch.ports().by_name(port).unwrap().hw_addr);
    assert_eq!(client.host.neighbor(), mac_of("host"));
    assert_eq!(client.router("a").neighbor(), mac_of("a"));
    assert_eq!(client.router("b").neighbor(), mac_of("b"));
}

#[test]
fn a_next_hop_that_announces_a_new_address_is_followed_at_once() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 100);
    world.run(secs(1));
    world.replace_router("client", "a", OTHER_MAC, true);
    world.run(ms(100));
    let before = world.delivery(video).missing;
    world.run(secs(2));
    drain(&mut world, video);
    assert!(before <= 2, "{before}");
    assert_eq!(world.delivery(video).missing, 0, "{:?}", world.delivery(video));
}

#[test]
fn a_next_hop_that_says_nothing_is_found_again_when_its_entry_is_refreshed() {
    let mut world = two_uplinks();
    world.replace_router("client", "a", OTHER_MAC, false);
    let video = world.traffic("video", Forward, 100);
    let found = world.run_until(secs(60), |world| world.delivery(video).delivered > 0);
    let found = found.expect("it is found");
    assert!(found < secs(35), "{found:?}");
    let missing = world.delivery(video).missing;
    world.run(secs(5));
    drain(&mut world, video);
    assert!(world.delivery(video).missing <= missing);
}

#[test]
fn a_host_that_was_never_heard_of_is_found_by_its_first_packet() {
    let mut world = World::new(TWO_UPLINKS);
    world.run(secs(2));
    let video = world.traffic("video", Forward, 100);
    let found = world.run_until(secs(5), |world| world.delivery(video).delivered > 0);
    assert!(found.expect("it is found") < ms(200));
    world.run(secs(1));
    assert!(world.delivery(video).missing < 10, "{:?}", world.delivery(video));
}

#[test]
fn a_flood_to_a_host_that_is_not_there_is_only_a_few_questions() {
    let mut world = two_uplinks();
    let (src, _) = world.hosts(Forward);
    let nobody = Ipv4Packet::udp((src, 1111), ([10, 2, 0, 77].into(), 5001), Payload::default());
    let begin = world.sent().len();
    world.flows(Forward, vec![nobody], 2_000);
    world.run(secs(10));
    let questions = world.sent()[begin..]
        .iter()
        .filter(|sent| sent.site == "server" && matches!(sent.message, ofproto::Message::PacketOut(_)));
    assert!(questions.count() < 30);
}

#[test]
fn a_network_scan_does_not_keep_a_new_host_from_being_found() {
    let mut world = World::new(
        &TWO_UPLINKS
            .replace("10.2.0.1/24", "10.2.0.1/16")
            .replace("server: [10.2.0.0/24]", "server: 10.2.0.0/16"),
    );
    world.run(secs(2));
    let (src, dst) = world.hosts(Forward);
    let scan: Vec<Ipv4Packet> = (0..5_000_u32)
        .map(|n| {
            let target = std::net::Ipv4Addr::from(u32::from_be_bytes([10, 2, 100, 0]) + n);
            Ipv4Packet::udp((src, 1111), (target, 5001), Payload::default())
        })
        .collect();
    let scan = world.flows(Forward, scan, 90);
    world.run(secs(50));
    world.stop(scan);
    world.run(secs(20));
    let video = world.traffic("video", Forward, 10);
    let found = world.run_until(secs(30), |world| world.delivery(video).delivered > 0);
    assert!(found.is_some(), "{dst} is never found");
}

fn delivered(world: &World, stream: controller::testing::StreamId) -> Ipv4Packet {
    let packet: &Packet = world.stream(stream).last_delivered().expect("something arrived");
    *packet.ipv4().expect("an IPv4 packet")
}

const OTHER_MAC: MacAddr = MacAddr::new(2, 0, 1, 0, 9, 9);
