//! OFPMP_METER, OFPMP_METER_CONFIG, OFPMP_METER_FEATURES: meters.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, array_of, be_u8, be_u16, be_u32, be_u64, pad, patch_length, span};
use crate::{EncodeError, MeterBand, MeterFlags, MeterId};

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
    pub band_stats: Vec<MeterBandStats>,
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
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (meter_id, length, ())) =
            context("ofp_meter_stats", (be_u32, be_u16, pad(6))).parse(i)?;
        let (after, (flow_count, packet_in_count, byte_in_count, duration_sec, duration_nsec)) =
            context("ofp_meter_stats", (be_u32, be_u64, be_u64, be_u32, be_u32)).parse(after)?;
        let length = usize::from(length);
        let Some(bands) = length.checked_sub(STATS_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 40", "ofp_meter_stats.len"));
        };
        let (after, bands) = context("ofp_meter_stats.len", |i| span(i, bands)).parse(after)?;
        let (_, band_stats) = array_of(BAND_STATS_LEN, MeterBandStats::parse)(bands)?;
        let stats = Self {
            meter_id: MeterId(meter_id),
            flow_count,
            packet_in_count,
            byte_in_count,
            duration_sec,
            duration_nsec,
            band_stats,
        };
        Ok((after, stats))
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

impl MeterBandStats {
    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (packet_band_count, byte_band_count)) =
            context("ofp_meter_band_stats", (be_u64, be_u64)).parse(i)?;
        Ok((
            i,
            Self {
                packet_band_count,
                byte_band_count,
            },
        ))
    }
}

impl MeterConfig {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (length, flags, meter_id)) =
            context("ofp_meter_config", (be_u16, be_u16, be_u32)).parse(i)?;
        let length = usize::from(length);
        let Some(bands) = length.checked_sub(CONFIG_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 8", "ofp_meter_config.length"));
        };
        let (after, bands) = context("ofp_meter_config.length", |i| span(i, bands)).parse(after)?;
        let (_, bands) = MeterBand::parse_list(bands)?;
        Ok((
            after,
            Self {
                flags: MeterFlags::from_bits_retain(flags),
                meter_id: MeterId(meter_id),
                bands,
            },
        ))
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
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (max_meter, band_types, capabilities, max_bands, max_color, ())) = context(
            "ofp_meter_features",
            (be_u32, be_u32, be_u32, be_u8, be_u8, pad(2)),
        )
        .parse(i)?;
        Ok((
            i,
            Self {
                max_meter,
                band_types,
                capabilities,
                max_bands,
                max_color,
            },
        ))
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
const CONFIG_HEADER_LEN: usize = 8;
