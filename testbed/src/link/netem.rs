//! Links by the kernel's netem, where it has one: a veth pair between the routers with a qdisc at each end.
//!
//! What differs from the emulator: netem does not tell its loss from its overflow (both are `lost` here),
//! counts no classes, takes no seed on kernels before 6.6, and with jitter it may reorder.

use super::counters::{Counters, Tally};
use super::spec::{LinkSpec, LossModel};
use crate::netns::Netns;
use crate::process;
use anyhow::{Context, Result};
use serde_json::Value;
use std::sync::Mutex;

/// One direction of a link: the device from which its packets leave, and what it does.
#[derive(Debug)]
pub struct NetemDirection {
    netns: Netns,
    device: String,
    spec: Mutex<LinkSpec>,
}

impl NetemDirection {
    /// Puts a netem qdisc on the device.
    ///
    /// # Errors
    /// When `tc` refuses it.
    pub fn start(netns: &Netns, device: &str, spec: LinkSpec) -> Result<Self> {
        let direction = NetemDirection {
            netns: netns.clone(),
            device: device.to_owned(),
            spec: Mutex::new(spec),
        };
        direction.tc("add", &direction.spec())?;
        Ok(direction)
    }

    /// Changes what it does; packets on the link stay.
    ///
    /// # Errors
    /// When `tc` refuses it.
    pub fn set(&self, spec: LinkSpec) -> Result<()> {
        self.tc("change", &spec)?;
        *self
            .spec
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = spec;
        Ok(())
    }

    /// What it does at present.
    pub fn spec(&self) -> LinkSpec {
        self.spec
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    /// Total counters of the qdisc.
    ///
    /// # Errors
    /// When `tc` fails or prints an unknown form.
    pub fn counters(&self) -> Result<Counters> {
        let mut command = self.netns.command("tc");
        let text = process::run(command.args(["-s", "-j", "qdisc", "show", "dev", &self.device]))?;
        parse_counters(&text).context("`tc -s -j qdisc` printed an unknown form")
    }

    fn tc(&self, verb: &str, spec: &LinkSpec) -> Result<()> {
        let mut command = self.netns.command("tc");
        command.args([
            "qdisc",
            verb,
            "dev",
            &self.device,
            "root",
            "handle",
            "1:",
            "netem",
        ]);
        process::run(command.args(arguments(spec)))?;
        Ok(())
    }
}

/// Whether this kernel has netem: tries one in a namespace made for it.
///
/// # Errors
/// When the namespace cannot be made.
pub fn usable() -> Result<bool> {
    let netns = Netns::create("netem-check")?;
    let mut command = netns.command("tc");
    let works =
        process::run(command.args(["qdisc", "add", "dev", "lo", "root", "netem", "limit", "10"])).is_ok();
    process::run(process::command("ip").args(["netns", "delete", "netem-check"]))?;
    Ok(works)
}

/// The words behind `netem` that do what the spec says. Pure.
pub fn arguments(spec: &LinkSpec) -> Vec<String> {
    let mut words = vec!["limit".to_owned(), limit(spec).to_string()];
    words.extend(["delay".to_owned(), format!("{}us", spec.delay.as_micros())]);
    if !spec.jitter.is_zero() {
        words.push(format!("{}us", spec.jitter.as_micros()));
    }
    let percent = |fraction: f64| format!("{}%", fraction * 100.0);
    match spec.loss {
        // Said as a loss of nothing, because `change` keeps what it is not told.
        LossModel::None => words.extend(["loss".to_owned(), "random".to_owned(), "0%".to_owned()]),
        LossModel::Bernoulli(p) => words.extend(["loss".to_owned(), "random".to_owned(), percent(p)]),
        LossModel::GilbertElliott { p, r, h, k } => {
            words.extend(["loss".to_owned(), "gemodel".to_owned()]);
            words.extend([p, r, 1.0 - h, 1.0 - k].map(percent));
        }
    }
    words.extend([
        "rate".to_owned(),
        format!("{}bit", spec.rate_bps.unwrap_or(UNLIMITED_BPS)),
    ]);
    words
}

/// netem counts packets, those in its delay line included: the queue's worth of full packets plus what the
/// rate puts on the line.
fn limit(spec: &LinkSpec) -> u64 {
    let Some(rate) = spec.rate_bps else { return 100_000 };
    let delay_micros = u64::try_from((spec.delay + spec.jitter).as_micros()).unwrap_or(u64::MAX);
    let on_the_line = rate.saturating_mul(delay_micros) / 8_000_000;
    (spec.queue_bytes.saturating_add(on_the_line) / FULL_PACKET_BYTES).max(1)
}

fn parse_counters(json: &str) -> Option<Counters> {
    let qdiscs: Vec<Value> = serde_json::from_str(json).ok()?;
    let netem = qdiscs.iter().find(|qdisc| qdisc["kind"] == "netem")?;
    let number = |key: &str| netem[key].as_u64();
    let (forwarded, dropped, waiting) = (number("packets")?, number("drops")?, number("qlen")?);
    let total = Tally {
        received: forwarded + dropped + waiting,
        forwarded,
        lost: dropped,
        overflowed: 0,
        received_bytes: number("bytes")? + number("backlog")?,
        forwarded_bytes: number("bytes")?,
    };
    Some(Counters {
        total,
        ..Counters::default()
    })
}

const FULL_PACKET_BYTES: u64 = 1500;
/// netem has no word for "no rate limit" in a `change`.
const UNLIMITED_BPS: u64 = 100_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(changes: &[&str]) -> String {
        arguments(&LinkSpec::default().with_changes(changes).unwrap()).join(" ")
    }

    #[test]
    fn a_lossless_link() {
        // 125,000 bytes of queue and 100 Mbit/s · 5 ms = 62,500 bytes on the line are 125 full packets.
        assert_eq!(
            words(&["delay=5ms"]),
            "limit 125 delay 5000us loss random 0% rate 100000000bit"
        );
    }

    #[test]
    fn losses_and_jitter() {
        assert_eq!(
            words(&[
                "rate=20mbit",
                "delay=10ms",
                "jitter=2ms",
                "loss=5%",
                "queue=30000"
            ]),
            "limit 40 delay 10000us 2000us loss random 5% rate 20000000bit"
        );
        assert_eq!(
            words(&["delay=5ms", "loss=ge:1%,25%,50%,100%"]),
            "limit 125 delay 5000us loss gemodel 1% 25% 50% 0% rate 100000000bit"
        );
    }

    #[test]
    fn statistics_of_tc_become_a_tally() {
        let json = r#"[{"kind":"netem","handle":"1:","root":true,"options":{"limit":125},
            "bytes":1000,"packets":10,"drops":3,"overlimits":0,"requeues":0,"backlog":200,"qlen":2}]"#;
        let total = parse_counters(json).unwrap().total;
        assert_eq!(
            (total.received, total.forwarded, total.lost, total.in_flight()),
            (15, 10, 3, 2)
        );
        assert_eq!(parse_counters("[]"), None);
    }
}
