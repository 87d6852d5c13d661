//! The statistics for Prometheus: its text format over HTTP, whatever path is asked for.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::counters::CounterValues;
use crate::relay::{Shared, after_accept_error};
use crate::stats::{ConnectionStats, Stats, stats};

/// Answers whoever asks, for ever.
pub(crate) async fn serve(listener: TcpListener, shared: &Shared) {
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                let text = render(&stats(shared));
                tokio::spawn(async move {
                    // A client that goes away has what it wanted, or nothing.
                    let _ = timeout(Duration::from_secs(5), answer(client, &text)).await;
                });
            }
            Err(error) => after_accept_error("metrics", error).await,
        }
    }
}

async fn answer(mut client: TcpStream, text: &str) -> std::io::Result<()> {
    let mut request = [0; 4096];
    let mut length = 0;
    // The head must be read, or closing resets the connection before the answer is read.
    while !request
        .get(..length)
        .unwrap_or_default()
        .windows(4)
        .any(|bytes| bytes == b"\r\n\r\n")
    {
        let Some(rest) = request.get_mut(length..).filter(|rest| !rest.is_empty()) else {
            return Ok(());
        };
        match client.read(rest).await? {
            0 => return Ok(()),
            more => length += more,
        }
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    client.write_all(head.as_bytes()).await?;
    client.write_all(text.as_bytes()).await?;
    client.shutdown().await
}

/// The text format, version 0.0.4.
pub fn render(stats: &Stats) -> String {
    let mut text = String::new();
    let handshakes = [
        ("retried", stats.handshakes.retried),
        ("ignored", stats.handshakes.ignored),
        ("failed", stats.handshakes.failed),
    ];
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "# TYPE bicast_proxy_handshakes_total counter");
    for (outcome, count) in handshakes {
        let _ = writeln!(
            text,
            "bicast_proxy_handshakes_total{{outcome=\"{outcome}\"}} {count}"
        );
    }
    let _ = writeln!(text, "# TYPE bicast_proxy_reloads_total counter");
    for (outcome, count) in [("done", stats.reloads.done), ("refused", stats.reloads.refused)] {
        let _ = writeln!(
            text,
            "bicast_proxy_reloads_total{{outcome=\"{outcome}\"}} {count}"
        );
    }
    let _ = writeln!(
        text,
        "# TYPE bicast_proxy_tasks gauge\nbicast_proxy_tasks {}",
        stats.tasks
    );
    for (name, _) in CounterValues::default().iter() {
        let (kind, suffix) = match name.ends_with("_open") {
            true => ("gauge", ""),
            false => ("counter", "_total"),
        };
        let _ = writeln!(text, "# TYPE bicast_proxy_{name}{suffix} {kind}");
        for peer in &stats.peers {
            let value = peer
                .counters
                .iter()
                .find(|(other, _)| *other == name)
                .map_or(0, |(_, value)| value);
            let _ = writeln!(
                text,
                "bicast_proxy_{name}{suffix}{{peer=\"{}\"}} {value}",
                peer.name
            );
        }
    }
    for (name, kind, value) in CONNECTION_FIGURES {
        let _ = writeln!(text, "# TYPE bicast_proxy_connection_{name} {kind}");
        for peer in &stats.peers {
            for connection in &peer.connections {
                let class = format!("{:?}", connection.class).to_lowercase();
                let _ = writeln!(
                    text,
                    "bicast_proxy_connection_{name}{{peer=\"{}\",id=\"{}\",class=\"{class}\",congestion=\"{}\"}} {}",
                    peer.name,
                    connection.id,
                    connection.congestion,
                    value(connection)
                );
            }
        }
    }
    text
}

type Figure = (&'static str, &'static str, fn(&ConnectionStats) -> f64);

const CONNECTION_FIGURES: [Figure; 9] = [
    ("rtt_seconds", "gauge", |c| c.rtt_us as f64 / 1e6),
    ("min_rtt_seconds", "gauge", |c| {
        c.min_rtt_us.map_or(f64::NAN, |us| us as f64 / 1e6)
    }),
    ("cwnd_bytes", "gauge", |c| c.cwnd as f64),
    ("in_flight_bytes", "gauge", |c| c.in_flight as f64),
    ("delivery_bits_per_second", "gauge", |c| c.delivery_bps as f64),
    ("sent_packets_total", "counter", |c| c.sent_packets as f64),
    ("sent_bytes_total", "counter", |c| c.sent_bytes as f64),
    ("lost_packets_total", "counter", |c| c.lost_packets as f64),
    ("congestion_events_total", "counter", |c| {
        c.congestion_events as f64
    }),
];
