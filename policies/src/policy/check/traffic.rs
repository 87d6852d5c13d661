//! `policies:`.

use std::time::Duration;

use ipnet::Ipv4Net;

use crate::class::Class;
use crate::path::{Direction, PathIndex};
use crate::policy::check::addresses;
use crate::policy::check::entries;
use crate::policy::check::mark;
use crate::policy::check::measurement::sampling;
use crate::policy::check::report::Report;
use crate::policy::check::values::{self, Fault};
use crate::policy::{DirectionPolicy, Measurement, ModePolicy, Peering, Policy, Site, Threshold};
use crate::spec::{self, Entries, Name, OneOrMany, Place, PolicyFile, Text};

/// The policies that are right.
pub(super) fn check(file: &PolicyFile, measurement: &Measurement, report: &mut Report) -> Vec<Policy> {
    let mut policies = Vec::new();
    for (name, spec) in entries(file.policies.as_ref()) {
        report.name(name);
        policies.extend(policy(file, name, spec, measurement, report));
    }
    policies
}

/// Where a class names no address at a site, it means the hosts of that site: what they exchange with others is
/// not the peering's, and would look lost at its other end.
pub(super) fn complete_addresses(policies: &mut [Policy], sites: &[Site], peerings: &[Peering]) {
    for policy in policies {
        let Some(peering) = peerings.iter().find(|peering| peering.name == policy.peering) else {
            continue; // reported with the peering
        };
        for (addresses, name) in policy.class.addresses.iter_mut().zip(&peering.sites) {
            if addresses.is_empty()
                && let Some(site) = sites.iter().find(|site| site.name == *name)
            {
                *addresses = site.access.gateways.iter().map(Ipv4Net::trunc).collect();
            }
        }
    }
}

/// A policy's peering, as far as its policies need to know it: the shape, which may have faults of its own.
struct Pair<'a> {
    name: &'a str,
    sites: [&'a str; 2],
    paths: Vec<&'a str>,
}

fn policy(
    file: &PolicyFile,
    name: &Name,
    spec: &spec::Policy,
    measurement: &Measurement,
    report: &mut Report,
) -> Option<Policy> {
    let priority = |text: &str| values::number(text, "priority", &(1..=1000));
    let priority = report.optional(spec.priority.as_ref(), priority);
    let sampling = report.optional(spec.sampling.as_ref(), sampling);
    let colours = mark::check(spec.mark.as_ref(), report).map(|own| own.unwrap_or(measurement.colours));
    let pair = pair(file, name, spec.peering.as_ref(), report)?;
    let class = class(spec.matching.as_ref(), &pair, colours, report);
    for (site, _) in entries(spec.from.as_ref()) {
        report.lookup(site, &format!("a site of peering `{}`", pair.name), &pair.sites);
    }
    for (site, _) in entries(spec.path_ports.as_ref()) {
        report.lookup(site, &format!("a site of peering `{}`", pair.name), &pair.sites);
        if class.as_ref().is_some_and(|class| class.protocol != Some(UDP)) {
            let message = "only packets of UDP can be delivered to another port".to_owned();
            report.fault(
                site.place,
                Fault::with_help(message, "add `protocol: udp` to the match"),
            );
        }
    }
    let [forward, reverse] = Direction::ALL.map(|d| direction(d, name, spec, &pair, report));
    Some(Policy {
        name: name.text.clone(),
        peering: pair.name.to_owned(),
        priority: priority?.unwrap_or(Policy::DEFAULT_PRIORITY),
        class: class?,
        sampling: sampling?.unwrap_or(measurement.sampling),
        colours: colours?,
        directions: [forward?, reverse?],
    })
}

fn pair<'a>(
    file: &'a PolicyFile,
    policy: &Name,
    name: Option<&Text>,
    report: &mut Report,
) -> Option<Pair<'a>> {
    let peerings = entries(file.peerings.as_ref());
    let known: Vec<&str> = peerings.iter().map(|(name, _)| name.text.as_str()).collect();
    let index = match name {
        Some(name) => report.lookup(name, "a peering", &known)?,
        None if known.len() == 1 => 0,
        None => {
            let message = format!(
                "policy `{}` needs the key `peering`: expected {}",
                policy.text,
                crate::names::one_of(&known)
            );
            report.fault(policy.place, message);
            return None;
        }
    };
    let (name, peering) = &peerings[index];
    let sites: Vec<&str> = peering
        .sites
        .as_ref()?
        .values
        .iter()
        .map(|site| site.text.as_str())
        .collect();
    let defined = |site: &str| {
        entries(file.sites.as_ref())
            .iter()
            .any(|(name, _)| name.text == site)
    };
    if !sites.iter().all(|site| defined(site)) {
        return None; // reported with the peering; what is keyed by site cannot be judged
    }
    let paths = entries(peering.paths.as_ref())
        .iter()
        .map(|(name, _)| name.text.as_str())
        .collect();
    Some(Pair {
        name: &name.text,
        sites: sites.try_into().ok()?,
        paths,
    })
}

fn class(
    spec: Option<&spec::Match>,
    pair: &Pair<'_>,
    colours: Option<[u8; 2]>,
    report: &mut Report,
) -> Option<Class> {
    let Some(spec) = spec else {
        return Some(Class::default());
    };
    let protocol = report.optional(spec.protocol.as_ref(), values::protocol);
    let dscp = report.optional(spec.dscp.as_ref(), values::dscp);
    let addresses = by_site(spec.address.as_ref(), pair, report, addresses::network);
    let ports = by_site(spec.port.as_ref(), pair, report, values::port);

    if let (Some((first, _)), Some(protocol)) = (entries(spec.port.as_ref()).first(), protocol) {
        match protocol {
            Some(TCP | UDP | SCTP) => {}
            None => report.fault(
                first.place,
                Fault::with_help(
                    "a match on ports needs a protocol that has ports".to_owned(),
                    "add `protocol: udp`, `tcp` or `sctp`",
                ),
            ),
            Some(_) => report.fault(
                first.place,
                "this protocol has no ports, only udp, tcp and sctp do".to_owned(),
            ),
        }
    }
    if let (Some(Some(dscp)), Some(text)) = (dscp, &spec.dscp)
        && colours.is_some_and(|colours| colours.contains(&dscp))
    {
        report.fault(
            text.place,
            Fault::with_help(
                format!(
                    "DSCP {dscp} is one of the two colours that mark measured packets, a class cannot have it"
                ),
                "choose other colours for the policy with `mark: {dscp: [X, Y]}`",
            ),
        );
    }
    Some(Class {
        protocol: protocol?,
        addresses: addresses?,
        ports: ports?,
        dscp: dscp?,
    })
}

/// The lists of both sites; empty where the file says nothing, which means any.
fn by_site<T: PartialEq>(
    spec: Option<&Entries<OneOrMany>>,
    pair: &Pair<'_>,
    report: &mut Report,
    parse: impl Fn(&str) -> Result<T, Fault>,
) -> Option<[Vec<T>; 2]> {
    let mut lists = [Vec::new(), Vec::new()];
    let mut complete = true;
    for (site, list) in entries(spec) {
        let index = report.lookup(site, &format!("a site of peering `{}`", pair.name), &pair.sites);
        if list.values.is_empty() {
            report.fault(
                list.place,
                "expected at least one value; leave the key out to match any".to_owned(),
            );
        }
        match (index, report.list(list, &parse)) {
            (Some(index), Some(values)) => lists[index] = values,
            _ => complete = false,
        }
    }
    complete.then_some(lists)
}

fn direction(
    direction: Direction,
    name: &Name,
    spec: &spec::Policy,
    pair: &Pair<'_>,
    report: &mut Report,
) -> Option<DirectionPolicy> {
    let sender = pair.sites[direction.sender()];
    let own = entries(spec.from.as_ref())
        .iter()
        .find(|(site, _)| site.text == sender)
        .map(|(_, own)| own);

    let mode = mode(
        own.and_then(|own| own.mode.as_ref()).or(spec.mode.as_ref()),
        name,
        pair,
        report,
    );
    let prefer = preference(
        own.and_then(|own| own.prefer.as_ref()).or(spec.prefer.as_ref()),
        pair,
        report,
    );
    let thresholds = thresholds(
        name,
        own.and_then(|own| own.bicast.as_ref()),
        spec.bicast.as_ref(),
        report,
    );
    let path_ports = path_ports(direction, spec, pair, report);
    let (enter, exit) = thresholds?;
    Some(DirectionPolicy {
        direction,
        mode: mode?,
        prefer: prefer?,
        enter,
        exit,
        path_ports: path_ports?,
    })
}

/// The ports that the receiving site delivers to, by path.
fn path_ports(
    direction: Direction,
    spec: &spec::Policy,
    pair: &Pair<'_>,
    report: &mut Report,
) -> Option<Vec<(PathIndex, u16)>> {
    let receiver = pair.sites[direction.receiver()];
    let of_site = entries(spec.path_ports.as_ref())
        .iter()
        .find(|(site, _)| site.text == receiver)
        .map_or(&[][..], |(_, ports)| entries(Some(ports)));
    let what = format!("a path of peering `{}`", pair.name);
    let mut complete = Some(Vec::new());
    for (path, port) in of_site {
        let index = report.lookup(path, &what, &pair.paths);
        let index = index.and_then(|index| u8::try_from(index).ok());
        let port = report.value(port, values::port);
        complete = complete
            .zip(index.zip(port))
            .map(|(ports, (index, port))| [ports, vec![(PathIndex(index), port)]].concat());
    }
    complete
}

fn mode(text: Option<&Text>, policy: &Name, pair: &Pair<'_>, report: &mut Report) -> Option<ModePolicy> {
    let Some(text) = text else {
        let message = format!("policy `{}` needs the key `mode`", policy.text);
        report.fault(
            policy.place,
            Fault::with_help(message, "write `mode: unicast`, `bicast` or `adaptive`"),
        );
        return None;
    };
    let mode = report.value(text, values::mode)?;
    if mode != ModePolicy::Unicast && pair.paths.len() < 2 {
        report.fault(
            text.place,
            Fault::with_help(
                format!(
                    "mode {mode} needs at least two paths, peering `{}` has {}",
                    pair.name,
                    pair.paths.len()
                ),
                "add a path to the peering or write `mode: unicast`",
            ),
        );
    }
    Some(mode)
}

/// Every path once: those that are named, then the rest in the order of the file.
fn preference(spec: Option<&OneOrMany>, pair: &Pair<'_>, report: &mut Report) -> Option<Vec<PathIndex>> {
    let mut order = Vec::new();
    if let Some(list) = spec {
        for name in &list.values {
            let what = format!("a path of peering `{}`", pair.name);
            order.push(report.lookup(name, &what, &pair.paths)?);
        }
        report.list(list, |text| Ok(text.to_owned()))?;
    }
    let rest = (0..pair.paths.len())
        .filter(|index| !order.contains(index))
        .collect::<Vec<_>>();
    order
        .into_iter()
        .chain(rest)
        .map(|index| u8::try_from(index).ok().map(PathIndex))
        .collect()
}

/// `enter` and `exit`, each from the direction, else from the policy, else the default.
fn thresholds(
    policy: &Name,
    own: Option<&spec::Bicast>,
    general: Option<&spec::Bicast>,
    report: &mut Report,
) -> Option<(Threshold, Threshold)> {
    let written =
        |key: fn(&spec::Bicast) -> Option<&Text>| own.and_then(key).or_else(|| general.and_then(key));
    let (enter_text, exit_text) = (
        written(|bicast| bicast.enter.as_ref()),
        written(|bicast| bicast.exit.as_ref()),
    );

    let enter = report.optional(enter_text, |text| {
        let (loss, hold) = values::threshold(text)?;
        at_most_an_hour(
            text,
            Threshold {
                loss,
                hold: hold.unwrap_or(Duration::ZERO),
            },
        )
    });
    let exit = report.optional(exit_text, |text| {
        let (loss, hold) = values::threshold(text)?;
        let hold = hold.ok_or_else(|| {
            let message = format!("`{text}` does not say for how long the loss must stay below it");
            Fault::with_help(message, format!("did you mean `{text} for 10s`?"))
        })?;
        if hold < Duration::from_secs(1) {
            return Err(format!("the time in `{text}` is out of range, expected 1s to 1h").into());
        }
        at_most_an_hour(text, Threshold { loss, hold })
    });
    let (enter, exit) = (
        enter?.unwrap_or(Threshold::DEFAULT_ENTER),
        exit?.unwrap_or(Threshold::DEFAULT_EXIT),
    );
    if exit.loss >= enter.loss {
        let place = exit_text
            .or(enter_text)
            .map_or(policy.place, |text: &Text| -> Place { text.place });
        report.fault(
            place,
            Fault::with_help(
                format!(
                    "exit ({}{}) must be below enter ({}{}), else the mode would flap",
                    exit.loss,
                    by_default(exit_text),
                    enter.loss,
                    by_default(enter_text),
                ),
                "a quarter of `enter` is a good `exit`",
            ),
        );
        return None;
    }
    Some((enter, exit))
}

fn by_default(text: Option<&Text>) -> &'static str {
    if text.is_none() { " by default" } else { "" }
}

fn at_most_an_hour(text: &str, threshold: Threshold) -> Result<Threshold, Fault> {
    if threshold.hold > Duration::from_secs(3600) {
        return Err(format!("the time in `{text}` is out of range, expected at most 1h").into());
    }
    Ok(threshold)
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;
