//! METER_MOD: add, change and remove meters.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::combinator::map;
use nom::error::context;

use crate::macros::{flags, open_enum};
use crate::wire::{
    Parsed, Span, be_u8, be_u16, be_u32, counted, end, length_at, pad, part, patch_length, rest,
};
use crate::{EncodeError, MeterId};

/// `ofp_meter_mod`, OpenFlow 1.3.5 §7.3.4.4.
///
/// ```text
///  0        2       4          8
/// +--------+-------+----------+-------+
/// | command| flags | meter_id | bands |
/// +--------+-------+----------+-------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterMod {
    /// What to do.
    pub command: MeterModCommand,
    /// What the rates count, and whether the meter is counted itself.
    pub flags: MeterFlags,
    /// The meter.
    pub meter_id: MeterId,
    /// Its bands: the one with the highest rate that is exceeded applies.
    pub bands: Vec<MeterBand>,
}

open_enum! {
    /// `ofp_meter_mod_command`, OpenFlow 1.3.5 §7.3.4.4.
    MeterModCommand(u16) {
        /// Add a meter that does not exist
        Add = 0, "OFPMC_ADD";
        /// Change a meter that exists
        Modify = 1, "OFPMC_MODIFY";
        /// Remove a meter and the flows that use it
        Delete = 2, "OFPMC_DELETE";
    }
}

flags! {
    /// `ofp_meter_flags`, OpenFlow 1.3.5 §7.3.4.4.
    MeterFlags(u16) {
        /// `OFPMF_KBPS`: rates in kbit/s.
        KBPS = 1 << 0;
        /// `OFPMF_PKTPS`: rates in packets per second.
        PKTPS = 1 << 1;
        /// `OFPMF_BURST`: burst sizes are given.
        BURST = 1 << 2;
        /// `OFPMF_STATS`: collect statistics.
        STATS = 1 << 3;
    }
}

/// `ofp_meter_band_header` and what follows it, OpenFlow 1.3.5 §7.3.4.4.
///
/// Rates are in kbit/s or packets per second as the meter's flags say, burst sizes in kbit or packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeterBand {
    /// `OFPMBT_DROP`: drop what exceeds the rate.
    Drop {
        /// The rate from which on the band applies.
        rate: u32,
        /// How far it may be exceeded for a while.
        burst_size: u32,
    },
    /// `OFPMBT_DSCP_REMARK`: raise the drop precedence of what exceeds the rate.
    DscpRemark {
        /// The rate from which on the band applies.
        rate: u32,
        /// How far it may be exceeded for a while.
        burst_size: u32,
        /// Steps to raise the drop precedence by.
        prec_level: u8,
    },
    /// `OFPMBT_EXPERIMENTER`: an experimenter's own band.
    Experimenter {
        /// The rate from which on the band applies.
        rate: u32,
        /// How far it may be exceeded for a while.
        burst_size: u32,
        /// The experimenter.
        experimenter: u32,
        /// What follows its id.
        data: Bytes,
    },
    /// A type that is not listed.
    Unknown {
        /// The type.
        type_: u16,
        /// The rate from which on the band applies.
        rate: u32,
        /// How far it may be exceeded for a while.
        burst_size: u32,
        /// What follows the twelve bytes that all bands have.
        data: Bytes,
    },
}

open_enum! {
    /// `ofp_meter_band_type`, OpenFlow 1.3.5 §7.3.4.4.
    MeterBandType(u16) {
        /// Drop
        Drop = 1, "OFPMBT_DROP";
        /// Raise the drop precedence
        DscpRemark = 2, "OFPMBT_DSCP_REMARK";
        /// An experimenter's own band
        Experimenter = 0xffff, "OFPMBT_EXPERIMENTER";
    }
}

impl MeterMod {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (command, flags, meter_id)) = context("ofp_meter_mod", (be_u16, be_u16, be_u32)).parse(i)?;
        let (i, bands) = MeterBand::parse_list(i)?;
        let meter_mod = Self {
            command: MeterModCommand::from_wire(command),
            flags: MeterFlags::from_bits_retain(flags),
            meter_id: MeterId(meter_id),
            bands,
        };
        Ok((i, meter_mod))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u16(self.command.to_wire());
        out.put_u16(self.flags.bits());
        out.put_u32(self.meter_id.0);
        MeterBand::put_list(&self.bands, out)
    }
}

impl MeterBand {
    /// The type of the band.
    #[must_use]
    pub const fn band_type(&self) -> MeterBandType {
        match self {
            Self::Drop { .. } => MeterBandType::Drop,
            Self::DscpRemark { .. } => MeterBandType::DscpRemark,
            Self::Experimenter { .. } => MeterBandType::Experimenter,
            Self::Unknown { type_, .. } => MeterBandType::from_wire(*type_),
        }
    }

    /// The rate from which on the band applies, in kbit/s or packets per second.
    #[must_use]
    pub const fn rate(&self) -> u32 {
        match self {
            Self::Drop { rate, .. }
            | Self::DscpRemark { rate, .. }
            | Self::Experimenter { rate, .. }
            | Self::Unknown { rate, .. } => *rate,
        }
    }

    /// How far the rate may be exceeded for a while, in kbit or packets.
    #[must_use]
    pub const fn burst_size(&self) -> u32 {
        match self {
            Self::Drop { burst_size, .. }
            | Self::DscpRemark { burst_size, .. }
            | Self::Experimenter { burst_size, .. }
            | Self::Unknown { burst_size, .. } => *burst_size,
        }
    }

    pub(crate) fn parse_list(i: Span<'_>) -> Parsed<'_, Vec<Self>> {
        counted(length_at::<2, HEADER_LEN>, Self::parse)(i)
    }

    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (type_, length, rate, burst_size)) =
            context("ofp_meter_band_header", (be_u16, be_u16, be_u32, be_u32)).parse(i)?;
        let length = usize::from(length);
        let Some(body) = length.checked_sub(HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 12", "ofp_meter_band_header.len"));
        };
        let (after, body) = part(after, body, "ofp_meter_band_header.len")?;
        let (left, band) = match MeterBandType::from_wire(type_) {
            MeterBandType::Drop => context(
                "ofp_meter_band_drop",
                map(pad(4), |()| Self::Drop { rate, burst_size }),
            )
            .parse(body)?,
            MeterBandType::DscpRemark => context(
                "ofp_meter_band_dscp_remark",
                map((be_u8, pad(3)), |(prec_level, ())| Self::DscpRemark {
                    rate,
                    burst_size,
                    prec_level,
                }),
            )
            .parse(body)?,
            MeterBandType::Experimenter => context(
                "ofp_meter_band_experimenter",
                map((be_u32, rest), |(experimenter, data)| Self::Experimenter {
                    rate,
                    burst_size,
                    experimenter,
                    data,
                }),
            )
            .parse(body)?,
            MeterBandType::Unknown(type_) => map(rest, |data| Self::Unknown {
                type_,
                rate,
                burst_size,
                data,
            })
            .parse(body)?,
        };
        end(left, "ofp_meter_band_header.len")?;
        Ok((after, band))
    }

    pub(crate) fn put_list(bands: &[Self], out: &mut BytesMut) -> Result<(), EncodeError> {
        bands.iter().try_for_each(|band| band.put(out))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(self.band_type().to_wire());
        out.put_u16(0);
        out.put_u32(self.rate());
        out.put_u32(self.burst_size());
        match self {
            Self::Drop { .. } => out.put_u32(0),
            Self::DscpRemark { prec_level, .. } => {
                out.put_u8(*prec_level);
                out.put_bytes(0, 3);
            }
            Self::Experimenter {
                experimenter, data, ..
            } => {
                out.put_u32(*experimenter);
                out.put_slice(data);
            }
            Self::Unknown { data, .. } => out.put_slice(data),
        }
        patch_length(out, start, 2, "ofp_meter_band_header")
    }
}

const HEADER_LEN: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn meter_mod_vectors() {
        check(&[(
            "04 1d 0052 00000002                      # header
             0000 000e 00000001                       # add, packets per second, burst, statistics; meter 1
             0001 0010 000003e8 00000064 00000000     # drop above 1000, burst 100
             0002 0010 000007d0 00000000 02 000000    # remark above 2000 by 2
             ffff 0014 00000001 00000002 00002320 01020304  # an experimenter's
             1234 000e 00000003 00000004 abcd         # unknown",
            Message::MeterMod(MeterMod {
                command: MeterModCommand::Add,
                flags: MeterFlags::PKTPS | MeterFlags::BURST | MeterFlags::STATS,
                meter_id: MeterId(1),
                bands: vec![
                    MeterBand::Drop {
                        rate: 1000,
                        burst_size: 100,
                    },
                    MeterBand::DscpRemark {
                        rate: 2000,
                        burst_size: 0,
                        prec_level: 2,
                    },
                    MeterBand::Experimenter {
                        rate: 1,
                        burst_size: 2,
                        experimenter: 0x2320,
                        data: Bytes::from_static(&[1, 2, 3, 4]),
                    },
                    MeterBand::Unknown {
                        type_: 0x1234,
                        rate: 3,
                        burst_size: 4,
                        data: Bytes::from_static(&[0xab, 0xcd]),
                    },
                ],
            }),
        )]);
    }
}
