//! Text of meters.

use super::{put_bits, put_duration};
use crate::{
    MeterBand, MeterBandType, MeterFeatures, MeterFlags, MeterId, MeterMod, MeterModCommand, MeterStats,
};

pub(super) fn put_meter_mod(out: &mut String, meter_mod: &MeterMod) {
    match meter_mod.command {
        MeterModCommand::Add => out.push_str(" ADD "),
        MeterModCommand::Modify => out.push_str(" MOD "),
        MeterModCommand::Delete => out.push_str(" DEL "),
        MeterModCommand::Unknown(number) => put!(out, " cmd:{number} "),
    }
    if meter_mod.command == MeterModCommand::Delete {
        // Flags and bands of a meter to remove mean nothing.
        put_meter(out, meter_mod.meter_id, MeterFlags::empty(), &[]);
    } else {
        put_meter(out, meter_mod.meter_id, meter_mod.flags, &meter_mod.bands);
    }
}

/// A meter and its bands, each of them on a line.
pub(super) fn put_meter(out: &mut String, meter_id: MeterId, flags: MeterFlags, bands: &[MeterBand]) {
    put!(out, "meter={meter_id} ");
    if !flags.is_empty() {
        put_bits(out, flags.bits().into(), FLAGS);
        out.push(' ');
    }
    out.push_str("bands=\n");
    for band in bands {
        match band.band_type() {
            MeterBandType::Drop => out.push_str("type=drop"),
            MeterBandType::DscpRemark => out.push_str("type=dscp_remark"),
            other => put!(out, "type={}", other.to_wire()),
        }
        put!(out, " rate={}", band.rate());
        if flags.contains(MeterFlags::BURST) {
            put!(out, " burst_size={}", band.burst_size());
        }
        if let MeterBand::DscpRemark { prec_level, .. } = band {
            put!(out, " prec_level={prec_level}");
        }
        out.push('\n');
    }
}

pub(super) fn put_meter_stats(out: &mut String, stats: &MeterStats) {
    put!(out, "meter:{} flow_count:{}", stats.meter_id, stats.flow_count);
    put!(
        out,
        " packet_in_count:{} byte_in_count:{} duration:",
        stats.packet_in_count,
        stats.byte_in_count
    );
    put_duration(out, stats.duration_sec, stats.duration_nsec);
    out.push_str(" bands:\n");
    for (at, band) in stats.band_stats.iter().enumerate() {
        put!(
            out,
            "{at}: packet_count:{} byte_count:{}\n",
            band.packet_band_count,
            band.byte_band_count
        );
    }
}

pub(super) fn put_meter_features(out: &mut String, features: &MeterFeatures) {
    put!(
        out,
        "\nmax_meter:{} max_bands:{}",
        features.max_meter,
        features.max_bands
    );
    put!(out, " max_color:{}\nband_types: ", features.max_color);
    put_bits(
        out,
        features.band_types,
        &[(1 << 1, "drop"), (1 << 2, "dscp_remark")],
    );
    out.push_str("\ncapabilities: ");
    put_bits(out, features.capabilities, FLAGS);
}

const FLAGS: &[(u32, &str)] = &[
    (1 << 0, "kbps"),
    (1 << 1, "pktps"),
    (1 << 2, "burst"),
    (1 << 3, "stats"),
];
