//! The files that operators start from are valid and mean what their comments say.

#![expect(clippy::disallowed_methods, reason = "a test reads its cases from files")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use policies::{
    DefaultRoute, Direction, Measurement, ModePolicy, PathIndex, PolicySet, Probability, Threshold, Uplink,
    load,
};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn load_or_explain(name: &str, text: &str) -> PolicySet {
    let result = load(name, text);
    assert!(result.is_ok(), "{}", result.unwrap_err());
    result.unwrap()
}

#[test]
fn every_example_loads() {
    let mut count = 0;
    for entry in std::fs::read_dir(workspace().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            load_or_explain(path.to_str().unwrap(), &std::fs::read_to_string(&path).unwrap());
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn the_two_uplinks_example_says_what_its_comments_say() {
    let text = std::fs::read_to_string(workspace().join("examples/two-uplinks.yaml")).unwrap();
    let set = load_or_explain("two-uplinks.yaml", &text);

    assert_eq!(
        set.measurement,
        Measurement::default(),
        "the file shows the defaults"
    );
    let client = &set.sites["client"];
    assert_eq!(
        (client.datapath_id, &client.default),
        (1, &DefaultRoute::Uplink("a".to_owned()))
    );
    assert_eq!(client.access.gateways, ["10.1.0.1/24".parse().unwrap()]);
    assert_eq!(client.uplinks["b"].next_hop.to_string(), "10.12.0.1");
    assert_eq!(client.uplinks["a"].recovery, Uplink::DEFAULT_RECOVERY);
    assert_eq!(set.peerings["client-server"].path_names(), ["a", "b"]);

    let video = &set.policies["video"];
    assert_eq!(
        (video.priority, video.sampling),
        (100, Probability::from_percent(2.0).unwrap())
    );
    let forward = video.direction(Direction::Forward);
    assert_eq!(forward.mode, ModePolicy::Adaptive);
    assert_eq!(forward.prefer, [PathIndex(0), PathIndex(1)]);
    let hold = Duration::from_secs(10);
    assert_eq!(
        forward.exit,
        Threshold {
            loss: Probability::from_percent(0.5).unwrap(),
            hold
        }
    );
    let matches: Vec<String> = video
        .class
        .matches(Direction::Forward)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(matches, ["udp 10.1.0.0/24 → 10.2.0.0/24 port 5001"]);
    let telemetry: Vec<String> = set.policies["telemetry"]
        .class
        .matches(Direction::Reverse)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(telemetry, ["udp 10.2.0.0/24 → 10.1.0.0/24 port 5002"]);
}

#[test]
fn each_direction_may_differ_from_the_rest_of_the_policy() {
    let text = "
sites:
  van: {datapath: 00:00:00:00:00:00:00:0a, access: {port: lan, gateway: [10.1.0.1/24, 10.9.0.1/24]}, uplinks: {
    lte: {port: wwan0, next_hop: 100.64.0.1, mac: 02:00:00:00:0a:01}, sat: {port: sat0, next_hop: 10.12.0.1,
    address: 10.12.0.2/24, recovery: 1m}}}
  studio: {datapath: 0x0b, access: {port: lan, gateway: 10.2.0.1/24}, uplinks: {
    fibre: {port: eth0, next_hop: 10.21.0.1, address: 10.21.0.2/24}}}
peerings:
  up: {sites: [van, studio], paths: {lte: {van: lte, studio: fibre}, sat: {van: sat, studio: fibre}}}
policies:
  voice:
    match: {dscp: 46}
    mode: bicast
    prefer: sat
    bicast: {enter: 5% for 2s, exit: 1% for 30s}
    sampling: 0%
    from:
      studio: {mode: adaptive, bicast: {enter: 3%}}
";
    let set = load_or_explain("van.yaml", text);
    let voice = &set.policies["voice"];
    let [forward, reverse] = &voice.directions;
    assert_eq!(
        (forward.mode, reverse.mode),
        (ModePolicy::Bicast, ModePolicy::Adaptive)
    );
    assert_eq!(forward.prefer, [PathIndex(1), PathIndex(0)]);
    assert_eq!(
        reverse.enter,
        Threshold {
            loss: Probability::from_percent(3.0).unwrap(),
            hold: Duration::ZERO
        }
    );
    assert_eq!(
        reverse.exit.hold,
        Duration::from_secs(30),
        "what the direction does not say, the policy says"
    );
    assert_eq!(voice.measurement(&set.measurement).sampling, Probability::ZERO);
    assert_eq!(
        (set.sites["van"].datapath_id, set.sites["studio"].datapath_id),
        (10, 11)
    );
    assert_eq!(set.sites["van"].default, DefaultRoute::Drop);
    assert_eq!(set.sites["van"].access.gateways.len(), 2);
    assert_eq!(set.sites["van"].uplinks["sat"].recovery, Duration::from_secs(60));
    assert_eq!(voice.class.restored_dscp(), 46);
}

/// A hub with two branches: a policy without addresses claims what its own peering's sites exchange, no more.
#[test]
fn policies_of_two_peerings_do_not_claim_each_others_packets() {
    let site = |name: &str, id: u8| {
        format!(
            "  {name}: {{datapath: 0x{id}, access: {{port: lan, gateway: 10.{id}.0.1/24}}, uplinks: \
             {{a: {{port: a, next_hop: 10.9.{id}.1, address: 10.9.{id}.2/24}}, \
             b: {{port: b, next_hop: 10.8.{id}.1, address: 10.8.{id}.2/24}}}}}}\n"
        )
    };
    let peering = |name: &str| {
        format!(
            "  {name}-hub: {{sites: [{name}, hub], paths: {{a: {{{name}: a, hub: a}}, b: {{{name}: b, hub: b}}}}}}\n"
        )
    };
    let text = format!(
        "sites:\n{}{}{}peerings:\n{}{}policies:\n  one: {{peering: east-hub, mode: unicast}}\n  two: {{peering: west-hub, mode: unicast}}\n",
        site("east", 1),
        site("west", 2),
        site("hub", 3),
        peering("east"),
        peering("west"),
    );
    let set = policies::load("hub.yaml", &text).unwrap();
    let class = |name: &str| set.policies[name].class.matches(Direction::Forward)[0].to_string();
    assert_eq!(
        (class("one"), class("two")),
        (
            "ip 10.1.0.0/24 → 10.3.0.0/24".to_owned(),
            "ip 10.2.0.0/24 → 10.3.0.0/24".to_owned()
        )
    );
}
