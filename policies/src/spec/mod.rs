//! The shape of the policy file, exactly as in YAML.
//!
//! These types say which keys exist and what is a mapping, a list or a single value; every single value stays the
//! [`Text`] that was written, with its place. What the texts mean, and whether they fit together, is decided on the
//! way to [`crate::policy`], so that one reading of a file can report every wrong value in it. For the same reason no
//! key is required here: what is missing is reported there, with the name of what misses it.

mod read;
mod site;
mod text;
mod traffic;

pub use read::{Kind, read};
pub(crate) use site::{Access, Path, Peering, Site, Uplink};
pub use text::{Entries, Name, OneOrMany, Place, Text};
pub(crate) use traffic::{Bicast, Match, Policy};

use serde::Deserialize;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyFile {
    pub(crate) measurement: Option<Measurement>,
    pub(crate) sites: Option<Entries<Site>>,
    pub(crate) peerings: Option<Entries<Peering>>,
    pub(crate) policies: Option<Entries<Policy>>,
}

/// `measurement: {period: 250ms, sampling: 2%, mark: {dscp: [3, 7]}, confidence: 99.99%}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measurement {
    pub(crate) period: Option<Text>,
    pub(crate) sampling: Option<Text>,
    pub(crate) mark: Option<Mark>,
    pub(crate) confidence: Option<Text>,
}

/// `mark: {dscp: [3, 7]}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    pub(crate) dscp: Option<OneOrMany>,
}

/// What messages about a policy file say.
pub(crate) const KIND: Kind = Kind {
    name: "a policy file",
    expected: "`sites`, `peerings` and `policies`",
    example,
};

/// How the mapping under a key is written.
fn example(key: &str) -> Option<&'static str> {
    Some(match key {
        "access" => "`access: {port: NAME, gateway: 10.1.0.1/24}`",
        "address" => "`address: {SITE: 10.1.0.0/24}`",
        "bicast" => "`bicast: {enter: 5% for 2s, exit: 1% for 30s}`",
        "from" => "`from: {SITE: {mode: bicast}}`",
        "mark" => "`mark: {dscp: [3, 7]}`",
        "match" => "`match: {protocol: udp, port: {SITE: 5001}}`",
        "measurement" => "`measurement: {period: 250ms, sampling: 2%}`",
        "paths" => "`paths: {NAME: {SITE: UPLINK, SITE: UPLINK}}`",
        "port" => "`port: {SITE: 5001}`",
        "uplinks" => "`uplinks: {NAME: {port: NAME, next_hop: 10.11.0.1, address: 10.11.0.2/24}}`",
        _ => return None,
    })
}
