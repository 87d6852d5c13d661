//! What proxies report is shown, is told with decisions, and changes nothing that is sent to a switch.

use controller::api::Response;
use controller::testing::{Chance, World, seed};
use policies::{ProxyReport, ReceivedByPort, ReceivedReport, SendingReport};

use crate::common::*;

/// The line of a proxy at the server's site: `arrived` packets by path a, `rescued` by path b, `neither` lost.
fn line(arrived: u64, rescued: u64, neither: u64) -> ProxyReport {
    let path = |port, first_arrivals, rescued| ReceivedByPort {
        port,
        first_arrivals,
        rescued,
        ..Default::default()
    };
    ProxyReport {
        every_ms: 1_000,
        from: "the server's key".to_owned(),
        peer: "client".to_owned(),
        site: Some("server".to_owned()),
        policy: Some("video".to_owned()),
        received: Some(ReceivedReport {
            remote: "10.1.0.2:4433".to_owned(),
            neither,
            gap_us: 4_000,
            paths: vec![path(None, arrived, 0), path(Some(4443), rescued, rescued)],
            ..Default::default()
        }),
        sending: Some(SendingReport {
            connections: 1,
            rtt_us: 20_000,
            cwnd: 100_000,
            delivery_bps: 5_000_000,
        }),
        ..Default::default()
    }
}

fn video_with_ports(keys: &str) -> String {
    video(&format!("path_ports: {{server: {{b: 4443}}}}, {keys}"))
}

/// A second of 500 packets, of which path b rescued 25 and one is lost, again and again.
fn report_for(world: &mut World, seconds: u64) {
    for second in 1..=seconds {
        assert_eq!(
            world.report(&line(474 * second, 25 * second, second)),
            Response::Done
        );
        world.run(secs(1));
    }
}

#[test]
fn reports_of_bicast_are_shown_with_the_policy_and_its_paths() {
    let mut world = World::settled(&video_with_ports("mode: bicast"));
    world.traffic("video", Forward, 500);
    world.run(secs(2));
    report_for(&mut world, 11);

    let there = world.direction("video", "client");
    let copies = there.copies.expect("the receiving site's proxy reports");
    assert_eq!(
        (copies.packets, copies.neither, copies.rescued, copies.gap_us),
        (5_000, 10, 250, 4_000)
    );
    assert_eq!(copies.age_ms, 1_000);
    let joint = there.joint.expect("bicast is in force");
    let measured = joint.measured.expect("it is measured");
    assert_eq!((measured.sent, measured.lost), (1_000, 2));
    assert_eq!(joint.if_independent, Some(0.0), "no link loses anything");
    assert_eq!(there.sending, None, "nobody at the sending site reports");

    let back = world.direction("video", "server");
    assert_eq!(back.sending.map(|sending| sending.cwnd), Some(100_000));
    assert_eq!(back.copies, None);

    let b = world
        .path("video", "client", "b")
        .copies
        .expect("b is told by its port");
    assert_eq!((b.first_arrivals, b.rescued), (250, 250));
    let a = world
        .path("video", "client", "a")
        .copies
        .expect("a is what is left");
    assert_eq!((a.first_arrivals, a.rescued), (4_740, 0));
}

#[test]
fn the_decision_that_ends_bicast_tells_what_the_copies_were_worth() {
    let mut world = World::settled(&video_with_ports("mode: adaptive"));
    world.traffic("video", Forward, 500);
    world.loss("a", Forward, 0.05);
    world.loss("b", Forward, 0.05);
    world
        .run_until(secs(10), |world| world.mode("video", "client") == "bicast a+b")
        .expect("bicast");
    world.run(secs(2));
    report_for(&mut world, 11);
    world.loss("a", Forward, 0.0);
    world
        .run_until(secs(30), |world| world.mode("video", "client") == "unicast a")
        .expect("unicast");
    let decision = world.decisions().last().expect("a decision").sentence.clone();
    assert!(
        decision
            .ends_with("; meanwhile 0.2 % lost both copies (10 of 5,000), 250 were rescued by the second"),
        "{decision}"
    );
    assert_eq!(world.direction("video", "client").joint, None);
}

#[test]
fn what_a_proxy_says_of_unicast_is_no_joint_loss() {
    let mut world = World::settled(&video_with_ports("mode: unicast"));
    world.traffic("video", Forward, 500);
    report_for(&mut world, 5);
    let view = world.direction("video", "client");
    assert_eq!(view.copies.map(|copies| copies.neither), Some(4));
    assert_eq!(view.joint, None);
}

#[test]
fn a_report_is_dropped_when_no_more_come() {
    let mut world = World::settled(&video_with_ports("mode: bicast"));
    world.traffic("video", Forward, 500);
    world.run(secs(2));
    report_for(&mut world, 4);
    world.run(ms(3_900));
    assert!(world.direction("video", "client").copies.is_some());
    world.run(ms(200));
    let view = world.direction("video", "client");
    assert_eq!((view.copies, view.sending), (None, None));
    assert_eq!(view.joint.and_then(|joint| joint.measured), None);
    assert_eq!(world.path("video", "client", "b").copies, None);
}

#[test]
fn names_that_are_not_in_the_policy_file_are_answered() {
    let mut world = World::settled(&video_with_ports("mode: bicast"));
    let with = |site: Option<&str>, policy: Option<&str>| ProxyReport {
        site: site.map(str::to_owned),
        policy: policy.map(str::to_owned),
        ..line(1, 0, 0)
    };
    for (report, expected) in [
        (
            with(Some("server"), Some("vidoe")),
            "`vidoe` is not a policy, expected `video`; did you mean `video`?",
        ),
        (
            with(Some("sever"), Some("video")),
            "`sever` is not a site of policy `video`, expected one of `client`, `server`; did you mean `server`?",
        ),
        (
            with(None, Some("video")),
            "the line about peer `client` names no policy and site: give bicast-proxy `report.site` and, under \
             `report.policies`, the policy of `client`",
        ),
    ] {
        assert_eq!(world.report(&report), Response::Error(expected.to_owned()));
    }
    assert_eq!(world.direction("video", "client").copies, None);
}

#[test]
fn a_policy_that_goes_away_takes_its_reports_with_it() {
    let mut world = World::settled(&video_with_ports("mode: bicast"));
    report_for(&mut world, 3);
    assert!(world.reload(&video_with_ports("mode: unicast")));
    assert!(
        world.direction("video", "client").copies.is_some(),
        "a change keeps them"
    );
    let without = with_policies("  other: {match: {protocol: udp, port: {server: 5009}}, mode: unicast}\n");
    assert!(world.reload(&without));
    assert!(matches!(world.report(&line(9_999, 0, 0)), Response::Error(_)));
    assert!(world.reload(&video_with_ports("mode: bicast")));
    world.run(secs(1));
    assert_eq!(world.direction("video", "client").copies, None);
}

/// The document's line is one, and finds its policy.
#[test]
fn the_line_in_the_document_is_taken() {
    let document = include_str!("../../../docs/proxy.md");
    let shown = document
        .split("```json\n")
        .nth(1)
        .expect("the document shows a line");
    let shown = shown.split("```").next().expect("it ends");
    let shown: ProxyReport = serde_json::from_str(shown).expect("it is a report");
    let mut world = World::settled(&video_with_ports("mode: bicast"));
    let here = ProxyReport {
        site: Some("client".to_owned()),
        policy: Some("video".to_owned()),
        ..shown
    };
    assert_eq!(world.report(&here), Response::Done);
    let sending = world.direction("video", "client").sending.expect("it is shown");
    assert_eq!((sending.rtt_us, sending.delivery_bps), (12_400, 48_000_000));
}

/// The invariant: whatever is reported, at whatever moment, the switches are sent the same.
#[test]
fn reports_of_anything_at_any_moment_change_no_mode_and_no_message() {
    let story = |rumours: bool| {
        let mut world = World::settled(&video_with_ports("mode: adaptive, sampling: 10%"));
        let mut chance = Chance::new(seed());
        world.traffic("video", Forward, 500);
        world.traffic("video", Reverse, 200);
        for (a, b, seconds) in [(0.05, 0.03, 8), (0.0, 0.1, 25), (0.2, 0.0, 8), (0.0, 0.0, 5)] {
            world.loss("a", Forward, a);
            world.loss("b", Forward, b);
            for _ in 0..seconds * 5 {
                if rumours {
                    let report = rumour(&mut chance);
                    assert_eq!(world.report(&report), Response::Done);
                }
                world.run(ms(200));
            }
        }
        let modes: Vec<(String, String)> = world
            .decisions()
            .iter()
            .map(|decision| (decision.before.clone(), decision.after.clone()))
            .collect();
        assert!(modes.len() >= 3, "the story has changes of mode: {modes:?}");
        (modes, world.sent().to_vec())
    };
    let (modes, sent) = story(false);
    let (modes_despite, sent_despite) = story(true);
    assert_eq!(modes, modes_despite);
    assert_eq!(sent.len(), sent_despite.len());
    assert!(
        sent.iter()
            .zip(&sent_despite)
            .all(|(a, b)| (a.at, &a.message) == (b.at, &b.message))
    );
}

/// Counts of any size, which may go back, of either site.
fn rumour(chance: &mut Chance) -> ProxyReport {
    let bits = chance.draw() % 64;
    let [arrived, rescued, neither] = [(); 3].map(|()| chance.draw() >> bits);
    let site = if chance.draw().is_multiple_of(2) {
        "client"
    } else {
        "server"
    };
    ProxyReport {
        site: Some(site.to_owned()),
        every_ms: chance.draw() >> bits,
        ..line(arrived, rescued, neither)
    }
}
