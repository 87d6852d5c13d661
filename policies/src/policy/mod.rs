//! The checked truth about what the operator wants.
//!
//! Values of these types are built only from a file by [`load`]; whoever holds a [`PolicySet`] need not check again
//! that names resolve, thresholds are in order, or two policies do not claim the same packets.

pub(crate) mod check;
mod measurement;
mod site;
mod traffic;

pub use measurement::Measurement;
pub use site::{Access, DefaultRoute, Path, Peering, Site, Uplink};
pub use traffic::{DirectionPolicy, ModePolicy, Policy, Threshold};

pub use crate::class::{Class, ClassMatch};
pub use crate::probability::Probability;

use indexmap::IndexMap;

use crate::error::LoadError;
use crate::spec;

/// Everything that a policy file says, checked. Maps keep the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicySet {
    /// The gateways, by name.
    pub sites: IndexMap<String, Site>,
    /// The pairs of sites that talk to each other, by name.
    pub peerings: IndexMap<String, Peering>,
    /// The policies, by name.
    pub policies: IndexMap<String, Policy>,
    /// How loss is measured.
    pub measurement: Measurement,
}

/// Reads a policy file. `file_name` appears in error messages only; `text` is the content.
///
/// # Errors
/// A [`LoadError`] with every problem found, each with its line and column, what was expected, and the nearest name
/// where one is near. Faults of syntax or shape hide what comes after them, so of those only the first is reported.
pub fn load(file_name: &str, text: &str) -> Result<PolicySet, LoadError> {
    let file: spec::PolicyFile =
        spec::read(text, &spec::KIND).map_err(|problem| LoadError::new(file_name, text, vec![problem]))?;
    PolicySet::try_from(&file).map_err(|problems| LoadError::new(file_name, text, problems))
}
