//! What single texts mean: durations, percentages, thresholds, numbers, words.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::names::{did_you_mean, one_of};
use crate::policy::{ModePolicy, Probability};

/// Why a text does not mean anything, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong and what was expected.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault { message, help: None }
    }
}

impl Fault {
    /// A fault and what to do about it.
    pub fn with_help(message: String, help: impl Into<String>) -> Fault {
        Fault {
            message,
            help: Some(help.into()),
        }
    }
}

/// `250ms`, `2s`, `1.5m`, `1h`.
pub fn duration(text: &str) -> Result<Duration, Fault> {
    let unknown =
        || format!("`{text}` is not a duration, expected a number and a unit such as `250ms`, `2s`, `1m`");
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| unknown())?;
    let seconds = match text[end..].trim_start() {
        "ms" => number / 1000.0,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "" => return Err(Fault::with_help(unknown(), format!("did you mean `{text}s`?"))),
        _ => return Err(unknown().into()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| Fault::from(unknown()))
}

/// A duration within a range.
pub fn duration_in(text: &str, range: &RangeInclusive<Duration>) -> Result<Duration, Fault> {
    let value = duration(text)?;
    if range.contains(&value) {
        return Ok(value);
    }
    let (low, high) = (in_units(*range.start()), in_units(*range.end()));
    Err(format!("`{text}` is out of range, expected {low} to {high}").into())
}

/// A duration as the file would say it.
fn in_units(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms != 0 && ms % 3_600_000 == 0 => format!("{}h", ms / 3_600_000),
        ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    }
}

/// `2%`, `0.5 %`.
pub(super) fn percent(text: &str) -> Result<Probability, Fault> {
    let unknown =
        || format!("`{text}` is not a percentage, expected a number with a percent sign such as `2%`");
    let number = |digits: &str| {
        let plain = digits
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
        digits.parse::<f64>().ok().filter(|_| plain)
    };
    let Some(digits) = text.strip_suffix('%') else {
        return Err(match number(text) {
            Some(_) => Fault::with_help(unknown(), format!("did you mean `{text}%`?")),
            None => unknown().into(),
        });
    };
    let value = number(digits.trim_end()).ok_or_else(unknown)?;
    Probability::from_percent(value)
        .ok_or_else(|| format!("the percentage `{text}` is out of range, expected 0% to 100%").into())
}

/// A percentage within a range, both ends included.
pub(super) fn percent_in(text: &str, low: f64, high: f64) -> Result<Probability, Fault> {
    let value = percent(text)?;
    if (low / 100.0..=high / 100.0).contains(&value.fraction()) {
        return Ok(value);
    }
    Err(format!("the percentage `{text}` is out of range, expected {low}% to {high}%").into())
}

/// `5% for 2s`, or `5%` alone: the loss and, if given, the time.
pub(super) fn threshold(text: &str) -> Result<(Probability, Option<Duration>), Fault> {
    let mut words = text.splitn(2, " for ");
    let loss = percent(words.next().unwrap_or_default().trim());
    let loss = loss.map_err(|fault| {
        if text.contains('%') && !fault.message.contains("out of range") {
            Fault::from(format!(
                "`{text}` is not a threshold, expected a percentage and a time such as `5% for 2s`"
            ))
        } else {
            fault
        }
    })?;
    if loss == Probability::ZERO || loss == Probability::ONE {
        return Err(format!(
            "the loss in `{text}` is out of range, expected more than 0% and less than 100%"
        )
        .into());
    }
    let hold = words.next().map(|time| duration(time.trim())).transpose()?;
    Ok((loss, hold))
}

/// A whole number within a range. `what` names it in messages.
pub fn number<T>(text: &str, what: &str, range: &RangeInclusive<T>) -> Result<T, Fault>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let (low, high) = (range.start(), range.end());
    match text.parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is not a {what}, expected a number from {low} to {high}").into()),
    }
}

/// A TCP, UDP or SCTP port.
pub fn port(text: &str) -> Result<u16, Fault> {
    number(text, "port number", &(1..=u16::MAX))
}

/// A differentiated services code point.
pub(super) fn dscp(text: &str) -> Result<u8, Fault> {
    number(text, "DSCP", &(0..=63))
}

/// `udp`, `tcp`, `sctp`, `icmp`, or the number.
pub(super) fn protocol(text: &str) -> Result<u8, Fault> {
    match text {
        "icmp" => Ok(1),
        "tcp" => Ok(6),
        "udp" => Ok(17),
        "sctp" => Ok(132),
        _ => text.parse().map_err(|_| Fault {
            message: format!(
                "unknown protocol `{text}`, expected {} or a number from 0 to 255",
                one_of(&PROTOCOLS)
            ),
            help: did_you_mean(text, &PROTOCOLS),
        }),
    }
}

/// `unicast`, `bicast`, `adaptive`.
pub(super) fn mode(text: &str) -> Result<ModePolicy, Fault> {
    let modes = [ModePolicy::Unicast, ModePolicy::Bicast, ModePolicy::Adaptive];
    modes
        .into_iter()
        .find(|mode| mode.to_string() == text)
        .ok_or_else(|| {
            let names = modes.map(|mode| mode.to_string());
            Fault {
                message: format!("unknown mode `{text}`, expected {}", one_of(&names)),
                help: did_you_mean(text, &names),
            }
        })
}

const PROTOCOLS: [&str; 4] = ["udp", "tcp", "sctp", "icmp"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2 s"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("10").unwrap_err().help.unwrap(), "did you mean `10s`?");
        for wrong in [
            "",
            "s",
            "-1s",
            "1.2.3s",
            "2 sec",
            "1e3s",
            "99999999999999999999999h",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentages_need_a_percent_sign() {
        assert_eq!(percent("0.5 %"), Ok(Probability::new(0.005).unwrap()));
        assert_eq!(percent("2").unwrap_err().help.unwrap(), "did you mean `2%`?");
        for wrong in ["120%", "-1%", "nan%", "inf%", "1e1%", "%", "two"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn thresholds_have_a_loss_and_perhaps_a_time() {
        let five = Probability::from_percent(5.0).unwrap();
        assert_eq!(threshold("5% for 2s"), Ok((five, Some(Duration::from_secs(2)))));
        assert_eq!(threshold("5 %"), Ok((five, None)));
        for wrong in [
            "0%",
            "100% for 1s",
            "5% during 2s",
            "5% for",
            "5% for ever",
            "for 2s",
        ] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_of_modes_and_protocols_are_suggested() {
        assert_eq!(
            mode("adaptve").unwrap_err().help.unwrap(),
            "did you mean `adaptive`?"
        );
        assert_eq!(protocol("17"), Ok(17));
        assert_eq!(protocol("upd").unwrap_err().help.unwrap(), "did you mean `udp`?");
        assert!(port("0").is_err() && port("65536").is_err() && dscp("64").is_err());
    }
}
