//! Statistics for people, in the manner of `ss -ti`.

use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::stats::{ConnectionStats, PeerStats, Stats};

/// All of it as text: a table of peers, and one of connections.
pub fn render(stats: &Stats) -> String {
    let uptime = Duration::from_secs(stats.uptime_ms / 1000);
    format!(
        "bicast-proxy {}, up {uptime:?}, handshakes: {} retried, {} ignored, {} failed\n\n{}\n\n{}\n\n{}",
        stats.version,
        stats.handshakes.retried,
        stats.handshakes.ignored,
        stats.handshakes.failed,
        peers(&stats.peers),
        connections(&stats.peers),
        shims(&stats.peers)
    )
}

fn peers(peers: &[PeerStats]) -> Table {
    let mut table = new_table(
        [
            "PEER",
            "STREAMS",
            "OPENED",
            "ACCEPTED",
            "REFUSED",
            "ABORTED",
            "SENT",
            "RECEIVED",
            "FLOWS",
            "DATAGRAMS SENT",
            "RECEIVED",
            "TOO BIG",
            "DROPPED",
        ],
        1,
    );
    for PeerStats { name, counters, .. } in peers {
        table.add_row([
            name.clone(),
            counters.streams_open.to_string(),
            counters.streams_opened.to_string(),
            counters.streams_accepted.to_string(),
            counters.streams_refused.to_string(),
            counters.streams_aborted.to_string(),
            bytes(counters.stream_bytes_sent),
            bytes(counters.stream_bytes_received),
            counters.flows_open.to_string(),
            counters.datagrams_sent.to_string(),
            counters.datagrams_received.to_string(),
            counters.datagrams_too_big.to_string(),
            counters.datagrams_dropped.to_string(),
        ]);
    }
    table
}

fn connections(peers: &[PeerStats]) -> Table {
    let mut table = new_table(
        [
            "PEER",
            "CLASS",
            "REMOTE",
            "CONGESTION",
            "RTT",
            "MIN RTT",
            "CWND",
            "SSTHRESH",
            "IN FLIGHT",
            "PACING",
            "DELIVERY",
            "MTU",
            "SENT",
            "LOST",
            "EVENTS",
            "SPURIOUS",
        ],
        4,
    );
    for (peer, connection) in peers
        .iter()
        .flat_map(|peer| peer.connections.iter().map(move |c| (peer, c)))
    {
        let ConnectionStats {
            sent_packets,
            lost_packets,
            ..
        } = *connection;
        let limited = if connection.app_limited { " (app)" } else { "" };
        table.add_row([
            peer.name.clone(),
            format!("{:?}", connection.class).to_lowercase(),
            connection.remote.clone(),
            connection.congestion.to_string(),
            millis(Some(connection.rtt_us)),
            millis(connection.min_rtt_us),
            bytes(connection.cwnd),
            connection.ssthresh.map_or("-".to_owned(), bytes),
            bytes(connection.in_flight),
            rate(connection.pacing_bps),
            format!("{}{limited}", rate(Some(connection.delivery_bps))),
            connection.mtu.to_string(),
            sent_packets.to_string(),
            format!(
                "{lost_packets} ({:.2} %)",
                lost_packets as f64 * 100.0 / sent_packets.max(1) as f64
            ),
            connection.congestion_events.to_string(),
            connection.spurious_congestion_events.to_string(),
        ]);
    }
    table
}

/// What happened to copies of packets.
fn shims(peers: &[PeerStats]) -> Table {
    let mut table = new_table(
        [
            "PEER",
            "CLASS",
            "HEADER",
            "GAP",
            "OUT GAP",
            "HOLD",
            "HELD",
            "BOTH",
            "NEITHER",
            "RESCUED",
            "ONLY BY PATH",
        ],
        3,
    );
    for (peer, connection) in peers
        .iter()
        .flat_map(|peer| peer.connections.iter().map(move |c| (peer, c)))
    {
        let Some(shim) = &connection.shim else { continue };
        let only: Vec<String> = shim.paths.iter().map(|path| path.only.to_string()).collect();
        table.add_row([
            peer.name.clone(),
            format!("{:?}", connection.class).to_lowercase(),
            shim.header
                .map_or("-", |header| if header { "yes" } else { "no" })
                .to_owned(),
            millis(Some(shim.gap_us)),
            millis(Some(shim.outgoing_gap_us)),
            millis(Some(shim.hold_us)),
            shim.held.to_string(),
            shim.both.to_string(),
            shim.neither.to_string(),
            shim.paths
                .iter()
                .map(|path| path.rescued)
                .sum::<u64>()
                .to_string(),
            only.join(" "),
        ]);
    }
    table
}

/// A table whose columns from `numbers` on hold numbers.
fn new_table<const N: usize>(header: [&str; N], numbers: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for column in numbers..N {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn millis(micros: Option<u64>) -> String {
    micros.map_or("-".to_owned(), |us| format!("{:.1} ms", us as f64 / 1000.0))
}

fn bytes(bytes: u64) -> String {
    scaled(bytes, ["B", "kB", "MB", "GB"])
}

fn rate(bits: Option<u64>) -> String {
    bits.map_or("-".to_owned(), |bits| {
        scaled(bits, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"])
    })
}

fn scaled(value: u64, units: [&str; 4]) -> String {
    let mut scaled = value as f64;
    let mut unit = units[0];
    for larger in units.into_iter().skip(1) {
        if scaled < 1000.0 {
            break;
        }
        scaled /= 1000.0;
        unit = larger;
    }
    match unit == units[0] {
        true => format!("{value} {unit}"),
        false => format!("{scaled:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_250_000), "1.2 MB");
        assert_eq!(rate(Some(98_765_432_100)), "98.8 Gbit/s");
        assert_eq!(millis(Some(10_250)), "10.2 ms");
    }
}
