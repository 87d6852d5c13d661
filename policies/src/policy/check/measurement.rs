//! `measurement:`.

use std::time::Duration;

use crate::policy::Measurement;
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
    if let Some(list) = spec.mark.as_ref().and_then(|mark| mark.dscp.as_ref()) {
        let colour = |text: &str| values::number(text, "DSCP for a colour", &(1..=63));
        match report.list(list, colour).map(<[u8; 2]>::try_from) {
            Some(Ok(colours)) => measurement.colours = colours,
            Some(Err(_)) => report.fault(
                list.place,
                "expected two different DSCP values for the two colours, as `[3, 7]`".to_owned(),
            ),
            None => {}
        }
    }
    measurement
}

/// `sampling:`, here and in a policy.
pub(super) fn sampling(text: &str) -> Result<crate::policy::Probability, values::Fault> {
    values::percent_in(text, 0.0, 50.0)
}
