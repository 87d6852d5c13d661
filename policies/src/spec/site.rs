//! `sites:` and `peerings:`.

use serde::Deserialize;

use crate::spec::{Entries, OneOrMany, Text};

/// `client: {datapath: …, access: …, uplinks: …, default: a}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Site {
    pub(crate) datapath: Option<Text>,
    pub(crate) access: Option<Access>,
    pub(crate) uplinks: Option<Entries<Uplink>>,
    pub(crate) default: Option<Text>,
}

/// `access: {port: host, gateway: 10.1.0.1/24}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Access {
    pub(crate) port: Option<Text>,
    pub(crate) gateway: Option<OneOrMany>,
}

/// `a: {port: a, next_hop: 10.11.0.1, address: 10.11.0.2/24, mac: "02:00:00:00:0a:01", recovery: 10s}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uplink {
    pub(crate) port: Option<Text>,
    pub(crate) next_hop: Option<Text>,
    pub(crate) address: Option<Text>,
    pub(crate) mac: Option<Text>,
    pub(crate) recovery: Option<Text>,
}

/// `client-server: {sites: [client, server], paths: …}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peering {
    pub(crate) sites: Option<OneOrMany>,
    pub(crate) paths: Option<Entries<Path>>,
}

/// `a: {client: a, server: a}`: the uplink at each site, by the name of the site.
pub(crate) type Path = Entries<Text>;
