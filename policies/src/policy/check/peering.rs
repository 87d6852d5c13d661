//! `peerings:`.

use indexmap::IndexMap;

use crate::path::PathSet;
use crate::policy::check::entries;
use crate::policy::check::report::Report;
use crate::policy::{Path, Peering};
use crate::spec::{self, Name, PolicyFile};

/// The peerings that are right.
pub(super) fn check(file: &PolicyFile, report: &mut Report) -> Vec<Peering> {
    let mut peerings = Vec::new();
    for (name, spec) in entries(file.peerings.as_ref()) {
        report.name(name);
        peerings.extend(peering(file, name, spec, report));
    }
    peerings
}

fn peering(file: &PolicyFile, name: &Name, spec: &spec::Peering, report: &mut Report) -> Option<Peering> {
    let sites = report
        .required(spec.sites.as_ref(), name, "sites")
        .and_then(|list| sites(file, list, report));
    let specs = entries(report.required(spec.paths.as_ref(), name, "paths"));
    if spec.paths.is_some() && !(1..=PathSet::CAPACITY).contains(&specs.len()) {
        report.fault(
            name.place,
            format!(
                "peering `{}` has {} paths, expected 1 to {}",
                name.text,
                specs.len(),
                PathSet::CAPACITY
            ),
        );
    }
    let sites = sites?;
    let mut paths: IndexMap<String, Path> = IndexMap::new();
    for (path_name, spec) in specs {
        report.name(path_name);
        let Some(uplinks) = uplinks(file, &sites, path_name, spec, report) else {
            continue;
        };
        if let Some(twin) = paths.values().find(|path| path.uplinks == uplinks) {
            report.fault(
                path_name.place,
                format!(
                    "path `{}` joins the same two uplinks as path `{}`",
                    path_name.text, twin.name
                ),
            );
        }
        paths.insert(
            path_name.text.clone(),
            Path {
                name: path_name.text.clone(),
                uplinks,
            },
        );
    }
    Some(Peering {
        name: name.text.clone(),
        sites,
        paths,
    })
}

fn sites(file: &PolicyFile, list: &spec::OneOrMany, report: &mut Report) -> Option<[String; 2]> {
    let known: Vec<&str> = entries(file.sites.as_ref())
        .iter()
        .map(|(name, _)| name.text.as_str())
        .collect();
    let mut found = true;
    for site in &list.values {
        found &= report.lookup(site, "a site", &known).is_some();
    }
    let names: Vec<String> = list.values.iter().map(|site| site.text.clone()).collect();
    match <[String; 2]>::try_from(names) {
        Ok(names) if names[0] == names[1] => {
            report.fault(
                list.values[1].place,
                format!("site `{}` cannot peer with itself", names[1]),
            );
            None
        }
        Ok(names) => found.then_some(names),
        Err(names) => {
            report.fault(list.place, format!("expected two sites, found {}", names.len()));
            None
        }
    }
}

/// The uplink at each of the two sites.
fn uplinks(
    file: &PolicyFile,
    sites: &[String; 2],
    path: &Name,
    spec: &spec::Path,
    report: &mut Report,
) -> Option<[String; 2]> {
    let peers = [sites[0].as_str(), sites[1].as_str()];
    for (site, _) in &spec.0 {
        report.lookup(site, "a site of this peering", &peers);
    }
    let mut uplinks = [const { None }; 2];
    for (site, uplink) in sites.iter().zip(&mut uplinks) {
        let Some((_, text)) = spec.0.iter().find(|(name, _)| name.text == *site) else {
            report.fault(
                path.place,
                format!("path `{}` names no uplink of site `{site}`", path.text),
            );
            continue;
        };
        let site_spec = entries(file.sites.as_ref())
            .iter()
            .find(|(name, _)| name.text == *site);
        let known: Vec<&str> = site_spec
            .map_or(&[][..], |(_, spec)| entries(spec.uplinks.as_ref()))
            .iter()
            .map(|(name, _)| name.text.as_str())
            .collect();
        if report
            .lookup(text, &format!("an uplink of site `{site}`"), &known)
            .is_some()
        {
            *uplink = Some(text.text.clone());
        }
    }
    let [first, second] = uplinks;
    Some([first?, second?])
}
