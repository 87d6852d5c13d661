//! What one direction of a link does to packets, and the `key=value` form of it on the command line.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// One direction of a link. Packets meet the loss first, then the rate and its queue, then the delay,
/// as they do in the kernel's netem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Bits per second of Ethernet frames without their check sequence (what netem counts);
    /// `None` is a link that serialises nothing.
    pub rate_bps: Option<u64>,
    /// One-way delay.
    #[serde(with = "crate::moment::seconds")]
    pub delay: Duration,
    /// Each packet's delay is spread evenly over `delay ± jitter`; packets keep their order.
    #[serde(with = "crate::moment::seconds")]
    pub jitter: Duration,
    /// Which packets are lost.
    pub loss: LossModel,
    /// Bytes that may wait before the rate stage, the packet in service included.
    pub queue_bytes: u64,
    /// Seed of this direction's random numbers (loss and jitter).
    pub seed: u64,
}

/// Which packets a link loses. Probabilities are fractions, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossModel {
    /// None.
    None,
    /// Each packet with this probability, independently.
    Bernoulli(f64),
    /// Two states with a loss each, as `gemodel` in netem: the chain moves once per packet, and the
    /// packet meets the loss of the state that it found.
    GilbertElliott {
        /// From the good state to the bad one.
        p: f64,
        /// From the bad state to the good one.
        r: f64,
        /// A packet survives the bad state.
        h: f64,
        /// A packet survives the good state.
        k: f64,
    },
}

impl Default for LinkSpec {
    /// 100 Mbit/s, no delay, no loss, a queue of 125,000 bytes (10 ms at that rate).
    fn default() -> Self {
        LinkSpec {
            rate_bps: Some(100_000_000),
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: LossModel::None,
            queue_bytes: 125_000,
            seed: 1,
        }
    }
}

impl LossModel {
    /// Share of packets lost in the long run.
    pub fn mean(&self) -> f64 {
        match *self {
            LossModel::None => 0.0,
            LossModel::Bernoulli(p) => p,
            LossModel::GilbertElliott { p, r, h, k } if p + r > 0.0 => {
                (r * (1.0 - k) + p * (1.0 - h)) / (p + r)
            }
            LossModel::GilbertElliott { k, .. } => 1.0 - k,
        }
    }
}

impl LinkSpec {
    /// This spec with `key=value` changes applied, e.g. `loss=5%`, `rate=20mbit`, `delay=5ms`,
    /// `jitter=1ms`, `queue=125000`, `seed=7`, `loss=ge:1%,25%` (p, r, then h = 0 % and k = 100 %
    /// unless given).
    ///
    /// # Errors
    /// A sentence that names the change and what was expected.
    pub fn with_changes<S: AsRef<str>>(&self, changes: &[S]) -> Result<LinkSpec, String> {
        let mut spec = self.clone();
        for change in changes {
            let change = change.as_ref();
            let (key, value) = change.split_once('=').ok_or_else(|| {
                format!("`{change}`: expected key=value with a key of rate, delay, jitter, loss, queue, seed")
            })?;
            let problem = |expected: &str| format!("`{change}`: expected {expected}");
            match key {
                "rate" => spec.rate_bps = parse_rate(value).ok_or_else(|| problem(RATE))?,
                "delay" => spec.delay = parse_duration(value).ok_or_else(|| problem(DURATION))?,
                "jitter" => spec.jitter = parse_duration(value).ok_or_else(|| problem(DURATION))?,
                "loss" => spec.loss = parse_loss(value).ok_or_else(|| problem(LOSS))?,
                "queue" => spec.queue_bytes = value.parse().map_err(|_| problem("a number of bytes"))?,
                "seed" => spec.seed = value.parse().map_err(|_| problem("a whole number"))?,
                _ => return Err(problem("a key of rate, delay, jitter, loss, queue, seed")),
            }
        }
        Ok(spec)
    }
}

impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate_bps {
            Some(rate) => write!(f, "{} Mbit/s", rate as f64 / 1e6)?,
            None => write!(f, "no rate limit")?,
        }
        write!(f, ", {:?}", self.delay)?;
        if !self.jitter.is_zero() {
            write!(f, " ± {:?}", self.jitter)?;
        }
        write!(f, ", loss {}, queue {} bytes", self.loss, self.queue_bytes)
    }
}

impl fmt::Display for LossModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LossModel::None => write!(f, "none"),
            LossModel::Bernoulli(p) => write!(f, "{} %", percent(p)),
            LossModel::GilbertElliott { p, r, h, k } => write!(
                f,
                "Gilbert-Elliott p {} % r {} % h {} % k {} %",
                percent(p),
                percent(r),
                percent(h),
                percent(k)
            ),
        }
    }
}

/// A fraction in percent, rounded so that 0.07 prints as 7 and not as 7.000000000000001.
fn percent(fraction: f64) -> f64 {
    (fraction * 1e8).round() / 1e6
}

fn parse_rate(text: &str) -> Option<Option<u64>> {
    if text == "unlimited" {
        return Some(None);
    }
    let units = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];
    let bits = parse_with_unit(text, &units)?;
    // Rates are far below 2^53: the float holds them exactly.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be within 1 and 10^15"
    )]
    (1.0..=1e15).contains(&bits).then_some(Some(bits as u64))
}

fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1.0)];
    Duration::try_from_secs_f64(parse_with_unit(text, &units)?).ok()
}

fn parse_loss(text: &str) -> Option<LossModel> {
    if text == "none" {
        return Some(LossModel::None);
    }
    if let Some(list) = text.strip_prefix("ge:") {
        let values = list.split(',').map(parse_percent).collect::<Option<Vec<f64>>>()?;
        if !(2..=4).contains(&values.len()) {
            return None;
        }
        let (h, k) = (
            values.get(2).copied().unwrap_or(0.0),
            values.get(3).copied().unwrap_or(1.0),
        );
        return Some(LossModel::GilbertElliott {
            p: values[0],
            r: values[1],
            h,
            k,
        });
    }
    let p = parse_percent(text)?;
    Some(if p == 0.0 {
        LossModel::None
    } else {
        LossModel::Bernoulli(p)
    })
}

fn parse_percent(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

fn parse_with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text[..text.len() - unit.len()].trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * factor)
}

const RATE: &str = "a rate such as 100mbit, or unlimited";
const DURATION: &str = "a time such as 5ms, 200us or 1s";
const LOSS: &str = "none, a percentage such as 5%, or ge:P%,R%[,H%[,K%]]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_replace_what_they_name_and_keep_the_rest() {
        let spec = LinkSpec::default()
            .with_changes(&[
                "rate=20mbit",
                "delay=5ms",
                "jitter=200us",
                "loss=2.5%",
                "queue=64000",
                "seed=9",
            ])
            .unwrap();
        assert_eq!(
            spec,
            LinkSpec {
                rate_bps: Some(20_000_000),
                delay: Duration::from_millis(5),
                jitter: Duration::from_micros(200),
                loss: LossModel::Bernoulli(0.025),
                queue_bytes: 64_000,
                seed: 9,
            }
        );
        assert_eq!(
            spec.with_changes(&["loss=none", "rate=unlimited"])
                .unwrap()
                .rate_bps,
            None
        );
    }

    #[test]
    fn gilbert_elliott_takes_two_to_four_percentages() {
        let spec = LinkSpec::default().with_changes(&["loss=ge:1%,25%"]).unwrap();
        assert_eq!(
            spec.loss,
            LossModel::GilbertElliott {
                p: 0.01,
                r: 0.25,
                h: 0.0,
                k: 1.0
            }
        );
        let spec = spec.with_changes(&["loss=ge:1%,25%,50%,99%"]).unwrap();
        assert_eq!(
            spec.loss,
            LossModel::GilbertElliott {
                p: 0.01,
                r: 0.25,
                h: 0.5,
                k: 0.99
            }
        );
    }

    #[test]
    fn errors_name_the_change_and_what_was_expected() {
        let refused = |change: &str| LinkSpec::default().with_changes(&[change]).unwrap_err();
        assert_eq!(
            refused("loss=5"),
            "`loss=5`: expected none, a percentage such as 5%, or ge:P%,R%[,H%[,K%]]"
        );
        assert_eq!(
            refused("loss=101%"),
            "`loss=101%`: expected none, a percentage such as 5%, or ge:P%,R%[,H%[,K%]]"
        );
        assert_eq!(
            refused("delay=-5ms"),
            "`delay=-5ms`: expected a time such as 5ms, 200us or 1s"
        );
        assert!(refused("speed=3").contains("expected a key of rate, delay"));
        assert!(refused("loss").contains("expected key=value"));
    }

    #[test]
    fn mean_loss_of_gilbert_elliott_is_the_stationary_one() {
        let model = LossModel::GilbertElliott {
            p: 0.01,
            r: 0.24,
            h: 0.5,
            k: 1.0,
        };
        assert!((model.mean() - 0.02).abs() < 1e-12);
    }
}
