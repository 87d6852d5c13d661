//! From the shapes to the truth: what every text means, and whether it all fits together.
//!
//! Everything wrong is reported, not only the first thing. Names are therefore looked up in the shapes, so that an
//! uplink with a wrong address does not make the paths over it unknown too.

mod addresses;
mod mark;
mod measurement;
mod overlap;
mod peering;
pub(crate) mod report;
mod site;
mod traffic;
pub(crate) mod values;

use indexmap::IndexMap;

use crate::error::Problem;
use crate::policy::{Peering, Policy, PolicySet, Site};
use crate::spec::{Entries, PolicyFile};
use report::Report;

impl TryFrom<&PolicyFile> for PolicySet {
    type Error = Vec<Problem>;

    fn try_from(file: &PolicyFile) -> Result<PolicySet, Vec<Problem>> {
        let mut report = Report::default();
        if entries(file.sites.as_ref()).is_empty() {
            report.fault_at_start("the file needs `sites` with at least one site");
        }
        let measurement = measurement::check(file.measurement.as_ref(), &mut report);
        let sites = site::check(file, &mut report);
        let peerings = peering::check(file, &mut report);
        let mut policies = traffic::check(file, &measurement, &mut report);
        traffic::complete_addresses(&mut policies, &sites, &peerings);
        overlap::check(file, &measurement, &peerings, &policies, &mut report);
        report.finish(PolicySet {
            sites: by_name(sites, |site: &Site| &site.name),
            peerings: by_name(peerings, |peering: &Peering| &peering.name),
            policies: by_name(policies, |policy: &Policy| &policy.name),
            measurement,
        })
    }
}

/// The entries of a mapping that may be left out.
fn entries<T>(mapping: Option<&Entries<T>>) -> &[(crate::spec::Name, T)] {
    mapping.map_or(&[], |entries| &entries.0)
}

fn by_name<T>(values: Vec<T>, name: fn(&T) -> &String) -> IndexMap<String, T> {
    values
        .into_iter()
        .map(|value| (name(&value).clone(), value))
        .collect()
}
