//! No two policies may claim the same packets at the same priority, nor look alike where the packets are counted.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::class::ClassMatch;
use crate::path::Direction;
use crate::policy::check::entries;
use crate::policy::check::mark::FreeMarks;
use crate::policy::check::report::Report;
use crate::policy::check::values::Fault;
use crate::policy::{Measurement, Peering, Policy};
use crate::spec::{Place, PolicyFile};

/// What one policy claims of the packets that one site sends.
struct Claim<'a> {
    policy: &'a Policy,
    matches: Vec<ClassMatch>,
}

/// Compares the claims at each sending site: a site classifies what its hosts send without knowing for which peering
/// it is.
pub(super) fn check(
    file: &PolicyFile,
    measurement: &Measurement,
    peerings: &[Peering],
    policies: &[Policy],
    report: &mut Report,
) {
    let mut free = FreeMarks::new(measurement, policies);
    let mut reported: HashSet<(&str, &str)> = HashSet::new();
    for (site, claims) in by_sender(peerings, policies) {
        for (index, second) in claims.iter().enumerate() {
            for first in &claims[..index] {
                let pair = (first.policy.name.as_str(), second.policy.name.as_str());
                let places = || (place(file, pair.0), place(file, pair.1));
                if let Some(shared) = conflict(first, second) {
                    if reported.insert(pair) {
                        let fault = both_claim(pair, places(), site, first.policy.priority, &shared);
                        report.fault(places().1, fault);
                    }
                } else if let Some(policy) = taken_for_another(first, second)
                    && reported.insert(pair)
                {
                    let fault = alike(pair, places(), policy, free.propose(policy));
                    report.fault(places().1, fault);
                }
            }
        }
    }
}

fn by_sender<'a>(peerings: &'a [Peering], policies: &'a [Policy]) -> IndexMap<&'a str, Vec<Claim<'a>>> {
    let peerings: IndexMap<&str, &Peering> = peerings
        .iter()
        .map(|peering| (peering.name.as_str(), peering))
        .collect();
    let mut claims: IndexMap<&str, Vec<Claim<'_>>> = IndexMap::new();
    for policy in policies {
        let Some(peering) = peerings.get(policy.peering.as_str()) else {
            continue;
        };
        for direction in Direction::ALL {
            let claim = Claim {
                policy,
                matches: policy.class.matches(direction),
            };
            claims.entry(peering.sender(direction)).or_default().push(claim);
        }
    }
    claims
}

/// Some packets that both claim, and neither more than the other.
fn conflict(first: &Claim<'_>, second: &Claim<'_>) -> Option<ClassMatch> {
    if first.policy.priority != second.policy.priority {
        return None;
    }
    first
        .matches
        .iter()
        .find_map(|a| second.matches.iter().find_map(|b| a.intersection(b)))
}

/// The policy that packets of the other are counted for at the receiver, where a colour stands in the place of the
/// DSCP. It matches on a DSCP that kept these packets from it at the sender, and its priority keeps them from the
/// other at the receiver. Of two at the same priority it can be either; it is the second then.
fn taken_for_another<'a>(first: &Claim<'a>, second: &Claim<'a>) -> Option<&'a str> {
    let (a, b) = (first.policy, second.policy);
    if a.class.dscp == b.class.dscp || !a.colours.iter().any(|colour| b.colours.contains(colour)) {
        return None;
    }
    let higher = if a.priority > b.priority { a } else { b };
    higher.class.dscp?;
    let on_the_way = |class: &ClassMatch| ClassMatch { dscp: None, ..*class };
    let overlap = first.matches.iter().map(on_the_way).any(|a| {
        let mut others = second.matches.iter().map(on_the_way);
        others.any(|b| a.overlaps(&b))
    });
    overlap.then_some(higher.name.as_str())
}

fn both_claim(
    (first, second): (&str, &str),
    (first_place, second_place): (Place, Place),
    site: &str,
    priority: u16,
    shared: &ClassMatch,
) -> Fault {
    Fault::with_help(
        format!(
            "policies `{first}` (line {}) and `{second}` (line {}) both claim {shared} sent by site `{site}` at \
             priority {priority}",
            first_place.line, second_place.line
        ),
        "give one of them a higher `priority` or narrow its `match`",
    )
}

fn alike(
    (first, second): (&str, &str),
    (first_place, second_place): (Place, Place),
    policy: &str,
    mark: Option<[u8; 2]>,
) -> Fault {
    let example = match mark {
        Some([one, other]) => format!("such as `mark: {{dscp: [{one}, {other}]}}`"),
        None => "`mark: {dscp: [X, Y]}`".to_owned(),
    };
    Fault::with_help(
        format!(
            "policies `{first}` (line {}) and `{second}` (line {}) are told apart by their DSCP, which the mark \
             replaces on the way",
            first_place.line, second_place.line
        ),
        format!("give `{policy}` a mark of its own, {example}"),
    )
}

/// Where the policy is in the file.
fn place(file: &PolicyFile, policy: &str) -> Place {
    let mut names = entries(file.policies.as_ref()).iter().map(|(name, _)| name);
    names
        .find(|name| name.text == policy)
        .map(|name| name.place)
        .unwrap_or_default()
}
