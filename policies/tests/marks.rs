//! Policies that differ by their DSCP only are told apart at the receiver by marks of their own.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use policies::{LoadError, PolicySet, load};

fn with_policies(policies: &str) -> Result<PolicySet, LoadError> {
    let sites = "
sites:
  van: {datapath: 0x0a, access: {port: lan, gateway: 10.1.0.1/24}, uplinks: {
    lte: {port: wwan0, next_hop: 10.11.0.1, address: 10.11.0.2/24},
    sat: {port: sat0, next_hop: 10.12.0.1, address: 10.12.0.2/24}}}
  studio: {datapath: 0x0b, access: {port: lan, gateway: 10.2.0.1/24}, uplinks: {
    fibre: {port: eth0, next_hop: 10.21.0.1, address: 10.21.0.2/24}}}
peerings:
  up: {sites: [van, studio], paths: {lte: {van: lte, studio: fibre}, sat: {van: sat, studio: fibre}}}
policies:
";
    load("van.yaml", &format!("{sites}{policies}"))
}

fn load_or_explain(policies: &str) -> PolicySet {
    let result = with_policies(policies);
    assert!(result.is_ok(), "{}", result.unwrap_err());
    result.unwrap()
}

#[test]
fn a_mark_of_its_own_tells_a_policy_apart() {
    let set = load_or_explain(
        "
  voice: {match: {dscp: 46}, priority: 200, mode: bicast, mark: {dscp: [11, 15]}}
  rest: {match: {}, mode: unicast}
",
    );
    let colours = |policy: &str| set.policies[policy].measurement(&set.measurement).colours;
    assert_eq!((colours("voice"), colours("rest")), ([11, 15], [3, 7]));
}

#[test]
fn a_mark_of_its_own_frees_the_common_colours_for_the_class() {
    let set = load_or_explain("  local: {match: {dscp: 3}, mode: bicast, mark: {dscp: [11, 15]}}\n");
    assert_eq!(set.policies["local"].class.restored_dscp(), 3);
}

#[test]
fn policies_without_packets_in_common_share_a_mark() {
    load_or_explain(
        "
  voice: {match: {protocol: udp, dscp: 46}, priority: 200, mode: bicast}
  download: {match: {protocol: tcp}, mode: unicast}
",
    );
}

#[test]
fn policies_that_the_priority_tells_apart_share_a_mark() {
    // What both could claim belongs to the same one at both ends, whatever its DSCP is.
    load_or_explain(
        "
  video: {match: {protocol: udp, port: {studio: 5001}}, priority: 200, mode: bicast}
  voice: {match: {dscp: 46}, mode: unicast}
",
    );
    load_or_explain(
        "
  call: {match: {protocol: udp, port: {studio: 5060}, dscp: 46}, priority: 200, mode: bicast}
  voice: {match: {dscp: 46}, mode: unicast}
",
    );
}

#[test]
fn who_follows_every_proposal_is_done() {
    let classes = [(46, 200), (34, 200), (24, 150), (0, 100)];
    let mut marks = vec![String::new(); classes.len()];
    let policies = |marks: &[String]| -> String {
        let lines = classes.iter().zip(marks).map(|((dscp, priority), mark)| {
            format!("  p{dscp}: {{match: {{dscp: {dscp}}}, priority: {priority}, mode: bicast{mark}}}\n")
        });
        lines.collect()
    };
    let error = with_policies(&policies(&marks)).unwrap_err();
    assert_eq!(error.problems().len(), 6, "{error}");
    for problem in error.problems() {
        let help = problem.help.as_ref().unwrap();
        let (policy, mark) = help.split_once(" a mark of its own, such as ").unwrap();
        let index = classes
            .iter()
            .position(|(dscp, _)| policy == format!("give `p{dscp}`"))
            .unwrap();
        marks[index] = format!(", {}", mark.trim_matches('`'));
    }
    load_or_explain(&policies(&marks));
}

#[test]
fn a_mark_is_asked_for_when_none_is_left_to_propose() {
    let policies: String = (16..32)
        .map(|dscp| format!("  p{dscp}: {{match: {{dscp: {dscp}}}, mode: bicast}}\n"))
        .collect();
    let error = with_policies(&policies).unwrap_err();
    let last = error.problems().last().unwrap().help.clone().unwrap();
    assert_eq!(last, "give `p31` a mark of its own, `mark: {dscp: [X, Y]}`");
}
