//! `sites:`.

use indexmap::IndexMap;

use crate::policy::check::addresses;
use crate::policy::check::entries;
use crate::policy::check::report::Report;
use crate::policy::check::values::{self, Fault};
use crate::policy::{Access, DefaultRoute, Site, Uplink};
use crate::spec::{self, Name, PolicyFile, Text};

/// The sites that are right.
pub(super) fn check(file: &PolicyFile, report: &mut Report) -> Vec<Site> {
    let mut datapaths: IndexMap<u64, &Name> = IndexMap::new();
    let mut sites = Vec::new();
    for (name, spec) in entries(file.sites.as_ref()) {
        report.name(name);
        let site = site(name, spec, report);
        let id = spec
            .datapath
            .as_ref()
            .and_then(|text| Some((text, addresses::datapath_id(&text.text).ok()?)));
        if let Some((text, id)) = id
            && let Some(other) = datapaths.insert(id, name)
        {
            let (other, line) = (&other.text, other.place.line);
            report.fault(
                text.place,
                format!(
                    "datapath {id:016x} is used by two sites: `{other}` (line {line}) and `{}`",
                    name.text
                ),
            );
        }
        sites.extend(site);
    }
    sites
}

fn site(name: &Name, spec: &spec::Site, report: &mut Report) -> Option<Site> {
    let datapath_id = report
        .required(spec.datapath.as_ref(), name, "datapath")
        .and_then(|text| report.value(text, addresses::datapath_id));
    let access = report
        .required(spec.access.as_ref(), name, "access")
        .and_then(|spec| access(name, spec, report));
    let specs = entries(report.required(spec.uplinks.as_ref(), name, "uplinks"));
    if specs.is_empty() && spec.uplinks.is_some() {
        report.fault(
            name.place,
            format!("site `{}` needs at least one uplink", name.text),
        );
    }
    let mut uplinks = IndexMap::new();
    for (uplink_name, spec) in specs {
        report.name(uplink_name);
        if let Some(uplink) = uplink(uplink_name, spec, report) {
            uplinks.insert(uplink.name.clone(), uplink);
        }
    }
    ports_are_distinct(name, spec, report);
    let default = default_route(name, spec.default.as_ref(), specs, report);
    Some(Site {
        name: name.text.clone(),
        datapath_id: datapath_id?,
        access: access?,
        uplinks,
        default: default?,
    })
}

fn access(site: &Name, spec: &spec::Access, report: &mut Report) -> Option<Access> {
    let owner = Name {
        text: format!("{}.access", site.text),
        place: site.place,
    };
    let port = report
        .required(spec.port.as_ref(), &owner, "port")
        .and_then(|text| report.value(text, addresses::port_name));
    let gateways = report
        .required(spec.gateway.as_ref(), &owner, "gateway")
        .and_then(|list| {
            if list.values.is_empty() {
                report.fault(list.place, "expected at least one gateway address".to_owned());
            }
            report.list(list, addresses::interface)
        });
    Some(Access {
        port: port?,
        gateways: gateways?,
    })
}

fn uplink(name: &Name, spec: &spec::Uplink, report: &mut Report) -> Option<Uplink> {
    let port = report
        .required(spec.port.as_ref(), name, "port")
        .and_then(|text| report.value(text, addresses::port_name));
    let next_hop = report
        .required(spec.next_hop.as_ref(), name, "next_hop")
        .and_then(|text| report.value(text, addresses::address));
    let address = report.optional(spec.address.as_ref(), addresses::interface);
    let mac = report.optional(spec.mac.as_ref(), addresses::mac);
    let range = std::time::Duration::ZERO..=std::time::Duration::from_secs(3600);
    let recovery = report.optional(spec.recovery.as_ref(), |text| values::duration_in(text, &range));

    if spec.address.is_none() && spec.mac.is_none() {
        let message = format!("uplink `{}` needs `address` or `mac`", name.text);
        let help = "the next hop is asked for its MAC address by ARP, which needs an address of our own";
        report.fault(name.place, Fault::with_help(message, help));
    }
    if let (Some(next_hop), Some(Some(address)), Some(text)) = (next_hop, address, &spec.next_hop) {
        if address.addr() == next_hop {
            report.fault(
                text.place,
                format!("the next hop `{next_hop}` is the uplink's own address"),
            );
        } else if !address.contains(&next_hop) && spec.mac.is_none() {
            report.fault(
                text.place,
                Fault::with_help(
                    format!("the next hop `{next_hop}` is not in the network of `{address}`"),
                    "ARP cannot find it there; give its `mac` if this is intended",
                ),
            );
        }
    }
    Some(Uplink {
        name: name.text.clone(),
        port: port?,
        next_hop: next_hop?,
        address: address?,
        mac: mac?,
        recovery: recovery?.unwrap_or(Uplink::DEFAULT_RECOVERY),
    })
}

/// A port serves the hosts or one uplink.
fn ports_are_distinct(site: &Name, spec: &spec::Site, report: &mut Report) {
    let mut seen: IndexMap<&str, &Text> = IndexMap::new();
    let access = spec.access.as_ref().and_then(|access| access.port.as_ref());
    let uplinks = entries(spec.uplinks.as_ref())
        .iter()
        .filter_map(|(_, uplink)| uplink.port.as_ref());
    for port in access.into_iter().chain(uplinks) {
        if let Some(first) = seen.insert(&port.text, port) {
            let (line, site) = (first.place.line, &site.text);
            report.fault(
                port.place,
                format!(
                    "port `{}` of site `{site}` is used twice, first in line {line}",
                    port.text
                ),
            );
        }
    }
}

fn default_route(
    site: &Name,
    text: Option<&Text>,
    uplinks: &[(Name, spec::Uplink)],
    report: &mut Report,
) -> Option<DefaultRoute> {
    let Some(text) = text else {
        return Some(DefaultRoute::Drop);
    };
    if text.text == "drop" {
        return Some(DefaultRoute::Drop);
    }
    let known: Vec<&str> = std::iter::once("drop")
        .chain(uplinks.iter().map(|(name, _)| name.text.as_str()))
        .collect();
    report.lookup(text, &format!("a default route of site `{}`", site.text), &known)?;
    Some(DefaultRoute::Uplink(text.text.clone()))
}
