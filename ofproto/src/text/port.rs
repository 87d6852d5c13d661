//! Text of ports.

use super::{MacText, put_bits, put_duration};
use crate::{Port, PortMod, PortReason, PortStats, PortStatus};

pub(super) fn put_port_status(out: &mut String, status: &PortStatus) {
    match status.reason {
        PortReason::Add => out.push_str(" ADD:"),
        PortReason::Delete => out.push_str(" DEL:"),
        PortReason::Modify => out.push_str(" MOD:"),
        PortReason::Unknown(number) => put!(out, " reason {number}:"),
    }
    put_port(out, &status.desc);
}

pub(super) fn put_port_mod(out: &mut String, port_mod: &PortMod) {
    put!(
        out,
        " port: {}: addr:{}\n",
        port_mod.port_no,
        MacText(port_mod.hw_addr)
    );
    out.push_str("     config: ");
    put_bits(out, (port_mod.config & port_mod.mask).bits(), CONFIG);
    out.push_str("\n     mask:   ");
    put_bits(out, port_mod.mask.bits(), CONFIG);
    out.push_str("\n     advertise: ");
    if port_mod.advertise.is_empty() {
        out.push_str("UNCHANGED");
    } else {
        put_bits(out, port_mod.advertise.bits(), FEATURES);
    }
    out.push('\n');
}

pub(super) fn put_port(out: &mut String, port: &Port) {
    put!(
        out,
        " {}({}): addr:{}\n",
        port.port_no,
        port.name,
        MacText(port.hw_addr)
    );
    out.push_str("     config:     ");
    put_bits(out, port.config.bits(), CONFIG);
    out.push_str("\n     state:      ");
    put_bits(out, port.state.bits(), STATE);
    out.push('\n');
    for (name, features) in [
        ("current:    ", port.curr),
        ("advertised: ", port.advertised),
        ("supported:  ", port.supported),
        ("peer:       ", port.peer),
    ] {
        if !features.is_empty() {
            put!(out, "     {name}");
            put_bits(out, features.bits(), FEATURES);
            out.push('\n');
        }
    }
    put!(
        out,
        "     speed: {} Mbps now, {} Mbps max\n",
        port.curr_speed / 1000,
        port.max_speed / 1000
    );
}

pub(super) fn put_port_stats(out: &mut String, stats: &PortStats) {
    put!(out, "  port {:>2}: rx ", stats.port_no.to_string());
    put_counters(
        out,
        &[
            ("pkts", stats.rx_packets),
            ("bytes", stats.rx_bytes),
            ("drop", stats.rx_dropped),
            ("errs", stats.rx_errors),
            ("frame", stats.rx_frame_err),
            ("over", stats.rx_over_err),
            ("crc", stats.rx_crc_err),
        ],
    );
    out.push_str("           tx ");
    put_counters(
        out,
        &[
            ("pkts", stats.tx_packets),
            ("bytes", stats.tx_bytes),
            ("drop", stats.tx_dropped),
            ("errs", stats.tx_errors),
            ("coll", stats.collisions),
        ],
    );
    out.push_str("           duration=");
    put_duration(out, stats.duration_sec, stats.duration_nsec);
    out.push('\n');
}

/// Counters on a line; one that the switch does not have is `?`.
fn put_counters(out: &mut String, counters: &[(&str, u64)]) {
    for (at, (name, count)) in counters.iter().enumerate() {
        put!(out, "{}{name}=", if at == 0 { "" } else { ", " });
        if *count == u64::MAX {
            out.push('?');
        } else {
            put!(out, "{count}");
        }
    }
    out.push('\n');
}

const CONFIG: &[(u32, &str)] = &[
    (1 << 0, "PORT_DOWN"),
    (1 << 2, "NO_RECV"),
    (1 << 5, "NO_FWD"),
    (1 << 6, "NO_PACKET_IN"),
];
const STATE: &[(u32, &str)] = &[(1 << 0, "LINK_DOWN"), (1 << 1, "BLOCKED"), (1 << 2, "LIVE")];
const FEATURES: &[(u32, &str)] = &[
    (1 << 0, "10MB-HD"),
    (1 << 1, "10MB-FD"),
    (1 << 2, "100MB-HD"),
    (1 << 3, "100MB-FD"),
    (1 << 4, "1GB-HD"),
    (1 << 5, "1GB-FD"),
    (1 << 6, "10GB-FD"),
    (1 << 7, "40GB-FD"),
    (1 << 8, "100GB-FD"),
    (1 << 9, "1TB-FD"),
    (1 << 10, "OTHER"),
    (1 << 11, "COPPER"),
    (1 << 12, "FIBER"),
    (1 << 13, "AUTO_NEG"),
    (1 << 14, "AUTO_PAUSE"),
    (1 << 15, "AUTO_PAUSE_ASYM"),
];
