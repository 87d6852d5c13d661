//! OFPMP_METER, OFPMP_METER_CONFIG, OFPMP_METER_FEATURES: meters.

use bytes::{BufMut, BytesMut};

use super::MultipartType;
use super::entries::Entry;
use crate::wire::{Fault, Fixed, Parsed, Span, count_alike, fill, fixed, length_at, part, patch_length};
use crate::{EncodeError, List, MeterBand, MeterFlags, MeterId};

/// `ofp_meter_stats`, OpenFlow 1.3.5 §7.3.5.12.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterStats {
    /// The meter.
    pub meter_id: MeterId,
    /// How many flows use it.
    pub flow_count: u32,
    /// Packets that it was given.
    pub packet_in_count: u64,
    /// Bytes that it was given.
    pub byte_in_count: u64,
    /// How long it has been there, whole seconds.
    pub duration_sec: u32,
    /// How long it has been there, nanoseconds beyond the seconds.
    pub duration_nsec: u32,
    /// The counters of each band, in order.
    pub band_stats: List<MeterBandStats, 2>,
}

/// `ofp_meter_band_stats`, OpenFlow 1.3.5 §7.3.5.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterBandStats {
    /// Packets that the band applied to.
    pub packet_band_count: u64,
    /// Bytes that the band applied to.
    pub byte_band_count: u64,
}

/// `ofp_meter_config`, OpenFlow 1.3.5 §7.3.5.13.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// What the rates count, and whether the meter is counted itself.
    pub flags: MeterFlags,
    /// The meter.
    pub meter_id: MeterId,
    /// Its bands.
    pub bands: Vec<MeterBand>,
}

/// `ofp_meter_features`, OpenFlow 1.3.5 §7.3.5.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterFeatures {
    /// How many meters there can be.
    pub max_meter: u32,
    /// The band types that the switch has: a bit per type, at the number of its
    /// [`MeterBandType`](crate::MeterBandType).
    pub band_types: u32,
    /// The [`MeterFlags`] that the switch has.
    pub capabilities: u32,
    /// How many bands a meter can have.
    pub max_bands: u8,
    /// The highest colour.
    pub max_color: u8,
}

impl MeterStats {
    /// One that begins with these bytes.
    #[inline]
    fn of<const N: usize>(head: &Fixed<'_, N>, band_stats: List<MeterBandStats, 2>) -> Self {
        Self {
            meter_id: MeterId(head.u32::<0>()),
            flow_count: head.u32::<12>(),
            packet_in_count: head.u64::<16>(),
            byte_in_count: head.u64::<24>(),
            duration_sec: head.u32::<32>(),
            duration_nsec: head.u32::<36>(),
            band_stats,
        }
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u32(self.meter_id.0);
        out.put_bytes(0, 8);
        out.put_u32(self.flow_count);
        out.put_u64(self.packet_in_count);
        out.put_u64(self.byte_in_count);
        out.put_u32(self.duration_sec);
        out.put_u32(self.duration_nsec);
        for band in &self.band_stats {
            out.put_u64(band.packet_band_count);
            out.put_u64(band.byte_band_count);
        }
        patch_length(out, start, 4, "ofp_meter_stats")
    }
}

impl Entry for MeterStats {
    const TYPE: MultipartType = MultipartType::Meter;

    #[inline]
    fn count(i: Span<'_>) -> usize {
        count_alike(i, length_at::<4, STATS_HEADER_LEN>)
    }

    #[inline]
    fn begin(i: Span<'_>) -> Parsed<'_, (Self, Span<'_>)> {
        let (after, head) = fixed::<STATS_HEADER_LEN>(i, "ofp_meter_stats")?;
        let length = usize::from(head.u16::<4>());
        let Some(bands) = length.checked_sub(STATS_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 40", "ofp_meter_stats.len"));
        };
        let (after, bands) = part(after, bands, "ofp_meter_stats.len")?;
        Ok((after, (Self::of(&head, List::new()), bands)))
    }

    #[inline]
    fn fill(&mut self, bands: Span<'_>) -> Result<(), nom::Err<Fault>> {
        fill(
            &mut self.band_stats,
            bands,
            |_| Some(BAND_STATS_LEN),
            |i, bands| {
                let (i, band) = MeterBandStats::parse(i)?;
                bands.push(band);
                Ok((i, ()))
            },
        )
    }

    /// One of a single band, as Open vSwitch's meters have it: the next begins where everybody expects it, the processor
    /// included, which need not wait for the length.
    #[inline]
    fn usual(i: Span<'_>) -> Option<(Span<'_>, Self)> {
        let (after, entry) = Fixed::<USUAL_STATS_LEN>::split(i)?;
        if usize::from(entry.u16::<4>()) != USUAL_STATS_LEN {
            return None;
        }
        let band = MeterBandStats {
            packet_band_count: entry.u64::<40>(),
            byte_band_count: entry.u64::<48>(),
        };
        Some((after, Self::of(&entry, List::one(band))))
    }
}

impl MeterBandStats {
    #[inline]
    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, head) = fixed::<BAND_STATS_LEN>(i, "ofp_meter_band_stats")?;
        let stats = Self {
            packet_band_count: head.u64::<0>(),
            byte_band_count: head.u64::<8>(),
        };
        Ok((i, stats))
    }
}

impl MeterConfig {
    #[inline]
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, head) = fixed::<CONFIG_HEADER_LEN>(i, "ofp_meter_config")?;
        let length = usize::from(head.u16::<0>());
        let Some(bands) = length.checked_sub(CONFIG_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 8", "ofp_meter_config.length"));
        };
        let (after, bands) = part(after, bands, "ofp_meter_config.length")?;
        let (_, bands) = MeterBand::parse_list(bands)?;
        let config = Self {
            flags: MeterFlags::from_bits_retain(head.u16::<2>()),
            meter_id: MeterId(head.u32::<4>()),
            bands,
        };
        Ok((after, config))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(0);
        out.put_u16(self.flags.bits());
        out.put_u32(self.meter_id.0);
        MeterBand::put_list(&self.bands, out)?;
        patch_length(out, start, 0, "ofp_meter_config")
    }
}

impl MeterFeatures {
    #[inline]
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, head) = fixed::<16>(i, "ofp_meter_features")?;
        let features = Self {
            max_meter: head.u32::<0>(),
            band_types: head.u32::<4>(),
            capabilities: head.u32::<8>(),
            max_bands: head.u8::<12>(),
            max_color: head.u8::<13>(),
        };
        Ok((i, features))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.max_meter);
        out.put_u32(self.band_types);
        out.put_u32(self.capabilities);
        out.put_u8(self.max_bands);
        out.put_u8(self.max_color);
        out.put_u16(0);
    }
}

const STATS_HEADER_LEN: usize = 40;
const BAND_STATS_LEN: usize = 16;
/// A meter with one band.
const USUAL_STATS_LEN: usize = STATS_HEADER_LEN + BAND_STATS_LEN;
const CONFIG_HEADER_LEN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MultipartReplyBody;
    use crate::vector::{check, reply};

    #[test]
    fn meter_vectors() {
        check(&[
            (
                "04 13 0048 00000002 0009 0000 00000000
                 00000001 0038 000000000000 00000002                  # meter 1, two flows
                 0000000000000003 0000000000000004 00000005 00000006
                 0000000000000007 0000000000000008                    # band 0",
                reply(MultipartReplyBody::Meter(vec![MeterStats {
                    meter_id: MeterId(1),
                    flow_count: 2,
                    packet_in_count: 3,
                    byte_in_count: 4,
                    duration_sec: 5,
                    duration_nsec: 6,
                    band_stats: list![MeterBandStats {
                        packet_band_count: 7,
                        byte_band_count: 8,
                    }],
                }])),
            ),
            (
                "04 13 0028 00000002 000a 0000 00000000
                 0018 000a 00000001  0001 0010 ee6b2800 00000000 00000000",
                reply(MultipartReplyBody::MeterConfig(vec![MeterConfig {
                    flags: MeterFlags::PKTPS | MeterFlags::STATS,
                    meter_id: MeterId(1),
                    bands: vec![MeterBand::Drop {
                        rate: 4_000_000_000,
                        burst_size: 0,
                    }],
                }])),
            ),
            (
                "04 13 0020 00000002 000b 0000 00000000 00040000 00000002 0000000f 08 00 0000",
                reply(MultipartReplyBody::MeterFeatures(MeterFeatures {
                    max_meter: 262_144,
                    band_types: 2,
                    capabilities: 15,
                    max_bands: 8,
                    max_color: 0,
                })),
            ),
        ]);
    }
}
