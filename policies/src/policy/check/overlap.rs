//! No two policies may claim the same packets at the same priority.

use indexmap::IndexMap;

use crate::class::ClassMatch;
use crate::path::Direction;
use crate::policy::check::entries;
use crate::policy::check::report::Report;
use crate::policy::check::values::Fault;
use crate::policy::{Peering, Policy};
use crate::spec::PolicyFile;

/// What one policy claims of the packets that one site sends.
struct Claim<'a> {
    policy: &'a Policy,
    matches: Vec<ClassMatch>,
}

/// Compares the claims at each sending site and priority: a site classifies what its hosts send without knowing for
/// which peering it is.
pub(super) fn check(file: &PolicyFile, peerings: &[Peering], policies: &[Policy], report: &mut Report) {
    let peerings: IndexMap<&str, &Peering> = peerings
        .iter()
        .map(|peering| (peering.name.as_str(), peering))
        .collect();
    let mut claims: IndexMap<(&str, u16), Vec<Claim<'_>>> = IndexMap::new();
    for policy in policies {
        let Some(peering) = peerings.get(policy.peering.as_str()) else {
            continue;
        };
        for direction in Direction::ALL {
            let claim = Claim {
                policy,
                matches: policy.class.matches(direction),
            };
            claims
                .entry((peering.sender(direction), policy.priority))
                .or_default()
                .push(claim);
        }
    }
    let mut reported: Vec<(&str, &str)> = Vec::new();
    for ((site, priority), claims) in &claims {
        for (index, second) in claims.iter().enumerate() {
            for first in &claims[..index] {
                let pair = (first.policy.name.as_str(), second.policy.name.as_str());
                let Some(shared) = shared(&first.matches, &second.matches) else {
                    continue;
                };
                if !reported.contains(&pair) {
                    reported.push(pair);
                    conflict(file, pair, site, *priority, &shared, report);
                }
            }
        }
    }
}

/// Some packets that both claim.
fn shared(first: &[ClassMatch], second: &[ClassMatch]) -> Option<ClassMatch> {
    first
        .iter()
        .find_map(|a| second.iter().find_map(|b| a.intersection(b)))
}

fn conflict(
    file: &PolicyFile,
    (first, second): (&str, &str),
    site: &str,
    priority: u16,
    shared: &ClassMatch,
    report: &mut Report,
) {
    let place = |policy: &str| {
        let mut names = entries(file.policies.as_ref()).iter().map(|(name, _)| name);
        names
            .find(|name| name.text == policy)
            .map(|name| name.place)
            .unwrap_or_default()
    };
    let (first_line, second_place) = (place(first).line, place(second));
    report.fault(
        second_place,
        Fault::with_help(
            format!(
                "policies `{first}` (line {first_line}) and `{second}` (line {}) both claim {shared} sent by site \
                 `{site}` at priority {priority}",
                second_place.line
            ),
            "give one of them a higher `priority` or narrow its `match`",
        ),
    );
}
