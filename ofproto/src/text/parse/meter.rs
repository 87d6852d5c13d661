//! Meters.

use super::Fault;
use super::piece::{Pair, Pairs, Piece, SEPARATORS};
use crate::{MeterBand, MeterFlags, MeterId, MeterMod, MeterModCommand};

pub(super) fn parse(text: Piece<'_>) -> Result<MeterMod, Fault> {
    let (command, rest) = text.command(COMMANDS);
    let command = command.unwrap_or(MeterModCommand::Add);
    let (mut meter_id, mut flags, mut bands) = (None, MeterFlags::empty(), None);
    let mut pairs = rest.pairs();
    while let Some(pair) = pairs.next()? {
        if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == pair.key.text) {
            pair.bare()?;
            flags |= *flag;
            continue;
        }
        match pair.key.text {
            "meter" => meter_id = Some(parse_meter_id(pair.value("a meter")?)?),
            "bands" | "band" => {
                let value = pair.value("bands")?;
                bands = Some(rest.from(value.at - rest.at));
                break;
            }
            _ => {
                return Err(pair
                    .key
                    .fault("`meter`, `kbps`, `pktps`, `burst`, `stats` or `bands`"));
            }
        }
    }
    let end = rest.from(rest.text.trim_end_matches(SEPARATORS).len()).to(0);
    let meter_id = meter_id.ok_or_else(|| end.fault("`meter=`"))?;
    if command == MeterModCommand::Delete {
        return Ok(MeterMod {
            command,
            flags: MeterFlags::empty(),
            meter_id,
            bands: vec![],
        });
    }
    let bands = bands.ok_or_else(|| end.fault("`bands=`"))?;
    if !flags.intersects(MeterFlags::KBPS | MeterFlags::PKTPS) {
        return Err(end.fault("`kbps` or `pktps`"));
    }
    Ok(MeterMod {
        command,
        flags,
        meter_id,
        bands: parse_bands(bands.pairs(), flags.contains(MeterFlags::BURST))?,
    })
}

fn parse_meter_id(value: Piece<'_>) -> Result<MeterId, Fault> {
    Ok(match value.text {
        "all" => MeterId::ALL,
        "controller" => MeterId::CONTROLLER,
        "slowpath" => MeterId::SLOWPATH,
        _ => match value.u32()? {
            id if (1..=MeterId::MAX.0).contains(&id) => MeterId(id),
            _ => return Err(value.fault("a meter from 1 to 4294901760")),
        },
    })
}

fn parse_bands(mut pairs: Pairs<'_>, has_burst: bool) -> Result<Vec<MeterBand>, Fault> {
    let mut bands = Vec::new();
    let mut band: Option<Band<'_>> = None;
    while let Some(pair) = pairs.next()? {
        if pair.key.text == "type" {
            if let Some(band) = band.take() {
                bands.push(band.finish(has_burst)?);
            }
            band = Some(Band {
                type_: pair.value("a band type")?,
                rate: None,
                burst_size: None,
                prec_level: None,
            });
        } else if let Some(band) = &mut band {
            band.add(pair)?;
        } else {
            return Err(pair.key.fault("`type=`"));
        }
    }
    if let Some(band) = band.take() {
        bands.push(band.finish(has_burst)?);
    }
    Ok(bands)
}

/// A band while its parts are read.
struct Band<'a> {
    type_: Piece<'a>,
    rate: Option<u32>,
    burst_size: Option<u32>,
    prec_level: Option<u8>,
}

impl Band<'_> {
    fn add(&mut self, pair: Pair<'_>) -> Result<(), Fault> {
        let number = || pair.value("a number");
        match pair.key.text {
            "rate" => self.rate = Some(number()?.u32()?),
            "burst_size" => self.burst_size = Some(number()?.u32()?),
            "prec_level" => self.prec_level = Some(number()?.u8()?),
            _ => return Err(pair.key.fault("`rate`, `burst_size`, `prec_level` or `type`")),
        }
        Ok(())
    }

    fn finish(self, has_burst: bool) -> Result<MeterBand, Fault> {
        let rate = self.rate.ok_or_else(|| self.type_.fault("a band with `rate=`"))?;
        if self.burst_size.is_some() != has_burst {
            return Err(self
                .type_
                .fault("`burst` and a `burst_size` in each band, or neither"));
        }
        let burst_size = self.burst_size.unwrap_or(0);
        match (self.type_.text, self.prec_level) {
            ("drop", None) => Ok(MeterBand::Drop { rate, burst_size }),
            ("drop", Some(_)) => Err(self.type_.fault("no `prec_level` in a band of type drop")),
            ("dscp_remark", Some(prec_level)) => Ok(MeterBand::DscpRemark {
                rate,
                burst_size,
                prec_level,
            }),
            ("dscp_remark", None) => Err(self.type_.fault("a band with `prec_level=`")),
            _ => Err(self.type_.fault("`drop` or `dscp_remark`")),
        }
    }
}

const COMMANDS: &[(&str, MeterModCommand)] = &[
    ("add", MeterModCommand::Add),
    ("modify", MeterModCommand::Modify),
    ("delete", MeterModCommand::Delete),
    ("ADD", MeterModCommand::Add),
    ("MOD", MeterModCommand::Modify),
    ("DEL", MeterModCommand::Delete),
];
const FLAGS: &[(&str, MeterFlags)] = &[
    ("kbps", MeterFlags::KBPS),
    ("pktps", MeterFlags::PKTPS),
    ("burst", MeterFlags::BURST),
    ("stats", MeterFlags::STATS),
];
