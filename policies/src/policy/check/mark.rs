//! `mark:`, under `measurement` and in a policy.

use std::collections::{BTreeSet, HashMap};

use crate::policy::check::report::Report;
use crate::policy::check::values;
use crate::policy::{Measurement, Policy};
use crate::spec;

/// The two colours that the file asks for: `Some(None)` when it does not, `None` when they are wrong.
pub(super) fn check(spec: Option<&spec::Mark>, report: &mut Report) -> Option<Option<[u8; 2]>> {
    let Some(list) = spec.and_then(|mark| mark.dscp.as_ref()) else {
        return Some(None);
    };
    let colour = |text: &str| values::number(text, "DSCP for a colour", &(1..=63));
    let colours = <[u8; 2]>::try_from(report.list(list, colour)?);
    if colours.is_err() {
        report.fault(
            list.place,
            "expected two different DSCP values for the two colours, as `[3, 7]`".to_owned(),
        );
    }
    colours.ok().map(Some)
}

/// Marks to propose to policies that need one of their own.
pub(super) struct FreeMarks<'a> {
    /// DSCP values for local use that the file does not mention, the highest first.
    free: Vec<u8>,
    proposed: HashMap<&'a str, [u8; 2]>,
}

impl<'a> FreeMarks<'a> {
    /// What the file leaves of pool 2 of RFC 2474 §6, the values that end in the bits 11.
    pub(super) fn new(measurement: &Measurement, policies: &[Policy]) -> FreeMarks<'a> {
        let mut taken = BTreeSet::from(measurement.colours);
        for policy in policies {
            taken.extend(policy.colours);
            taken.extend(policy.class.dscp);
        }
        FreeMarks {
            free: (0..64)
                .rev()
                .filter(|dscp| dscp & 0b11 == 0b11 && !taken.contains(dscp))
                .collect(),
            proposed: HashMap::new(),
        }
    }

    /// A mark for `policy`: the same each time, and another than for every other policy, so that the operator can
    /// follow all proposals at once. `None` when too few values are left.
    pub(super) fn propose(&mut self, policy: &'a str) -> Option<[u8; 2]> {
        if !self.proposed.contains_key(policy) {
            let mark = [self.free.pop()?, self.free.pop()?];
            self.proposed.insert(policy, mark);
        }
        self.proposed.get(policy).copied()
    }
}
