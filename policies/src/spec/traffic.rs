//! `policies:`.

use serde::Deserialize;

use crate::spec::{Entries, Mark, OneOrMany, Text};

/// `video: {peering: …, priority: 100, match: …, mode: adaptive, prefer: …, bicast: …, sampling: 2%, mark: …, path_ports: …, from:
/// …}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    pub(crate) peering: Option<Text>,
    pub(crate) priority: Option<Text>,
    #[serde(rename = "match")]
    pub(crate) matching: Option<Match>,
    pub(crate) mode: Option<Text>,
    pub(crate) prefer: Option<OneOrMany>,
    pub(crate) bicast: Option<Bicast>,
    pub(crate) sampling: Option<Text>,
    pub(crate) mark: Option<Mark>,
    /// By the name of the site, then of the path.
    pub(crate) path_ports: Option<Entries<Entries<Text>>>,
    /// What each site sends, by the name of the site, where it differs from the above.
    pub(crate) from: Option<Entries<DirectionPolicy>>,
}

/// `match: {protocol: udp, address: …, port: …, dscp: 46}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Match {
    pub(crate) protocol: Option<Text>,
    /// By the name of the site.
    pub(crate) address: Option<Entries<OneOrMany>>,
    /// By the name of the site.
    pub(crate) port: Option<Entries<OneOrMany>>,
    pub(crate) dscp: Option<Text>,
}

/// `bicast: {enter: 5% for 2s, exit: 1% for 30s}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bicast {
    pub(crate) enter: Option<Text>,
    pub(crate) exit: Option<Text>,
}

/// `server: {mode: bicast, prefer: …, bicast: …}` under `from:`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DirectionPolicy {
    pub(crate) mode: Option<Text>,
    pub(crate) prefer: Option<OneOrMany>,
    pub(crate) bicast: Option<Bicast>,
}
