//! `measurement:`.

use std::time::Duration;

use crate::policy::Measurement;
use crate::policy::check::mark;
use crate::policy::check::report::Report;
use crate::policy::check::values;
use crate::spec;

/// The measurement that the file asks for; a value that is wrong or left out is the default.
pub(super) fn check(spec: Option<&spec::Measurement>, report: &mut Report) -> Measurement {
    let mut measurement = Measurement::default();
    let Some(spec) = spec else { return measurement };
    let period = Duration::from_millis(100)..=Duration::from_secs(10);
    if let Some(Some(period)) =
        report.optional(spec.period.as_ref(), |text| values::duration_in(text, &period))
    {
        measurement.period = period;
    }
    if let Some(Some(sampling)) = report.optional(spec.sampling.as_ref(), sampling) {
        measurement.sampling = sampling;
    }
    let confidence = |text: &str| values::percent_in(text, 90.0, 99.9999);
    if let Some(Some(confidence)) = report.optional(spec.confidence.as_ref(), confidence) {
        measurement.confidence = confidence;
    }
    if let Some(Some(colours)) = mark::check(spec.mark.as_ref(), report) {
        measurement.colours = colours;
    }
    measurement
}

/// `sampling:`, here and in a policy.
pub(super) fn sampling(text: &str) -> Result<crate::policy::Probability, values::Fault> {
    values::percent_in(text, 0.0, 50.0)
}
