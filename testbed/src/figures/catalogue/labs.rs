//! Figures of the CUBIC/BBR lab and of the field test.

use crate::figures::data::Quantity;
use crate::figures::figure::{AxisSpec, Figure, Kind, Lines, Panels};

pub(super) const CC_LAB: Figure = Figure {
    id: "cc-lab",
    title: "CUBIC and BBR over 100 ms with 2 % loss",
    caption: "The containerlab's path: a round trip of 100 ms, 2 % loss one way, 100 Mbit/s. The kernel's TCP by iperf3, \
              and the same congestion controls through the proxies.",
    experiments: &["cc-lab"],
    kind: Kind::Category("transport"),
    x: AxisSpec::linear(""),
    y: AxisSpec::linear("throughput (Mbit/s)").showing(&[0.0, 100.0]),
    lines: Lines::Quantities(&[("ours", Quantity::of("mbit"))]),
    panels: Panels::One(&[]),
    columns: 1,
};

pub(super) const FIELD_RETRANSMISSIONS: Figure = Figure {
    id: "field-retransmissions",
    title: "Field test: retransmissions by round trip",
    caption: "A population of connections over many paths. Median and quartiles of what was sent again.",
    experiments: &["field-test"],
    kind: Kind::Bins(MIN_RTT, &[5.0, 20.0, 40.0, 70.0, 110.0, 160.0, 220.0, 320.0]),
    x: AxisSpec::log("round trip of the path (ms)"),
    y: AxisSpec::log("retransmitted (%)"),
    lines: Lines::Labels(
        &["transport"],
        Quantity::of("retransmitted_fraction").times(100.0),
    ),
    panels: Panels::One(&[]),
    columns: 1,
};

pub(super) const FIELD_THROUGHPUT: Figure = Figure {
    id: "field-throughput",
    title: "Field test: throughput of all connections",
    caption: "For each congestion control, how many percent of its connections were slower.",
    kind: Kind::Distribution,
    x: AxisSpec::log("throughput (Mbit/s)"),
    y: AxisSpec::linear("connections (%)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(&["transport"], Quantity::of("throughput_mbit")),
    ..FIELD_RETRANSMISSIONS
};

pub(super) const FIELD_IN_FLIGHT: Figure = Figure {
    id: "field-in-flight",
    title: "Field test: in flight by round trip",
    caption: "Bytes sent and not yet acknowledged. What a congestion control puts into queues lengthens the round trip.",
    kind: Kind::Scatter(Quantity::of("rtt_ms")),
    x: AxisSpec::log("round trip (ms)"),
    y: AxisSpec::log("in flight (kB)"),
    lines: Lines::Labels(&["transport"], Quantity::of("inflight_bytes").times(0.001)),
    panels: Panels::Each("transport", "{}", &[]),
    columns: 2,
    ..FIELD_RETRANSMISSIONS
};

pub(super) const FIELD_BANDWIDTH: Figure = Figure {
    id: "field-bandwidth",
    title: "Field test: throughput by shortest round trip",
    caption: "Bands to the right are paths of the same length, bands upwards paths of the same rate; below them those \
              that the receive window or the loss holds back.",
    kind: Kind::Scatter(MIN_RTT),
    x: AxisSpec::log("shortest round trip (ms)"),
    y: AxisSpec::log("throughput (Mbit/s)"),
    lines: Lines::Labels(&["transport"], Quantity::of("throughput_mbit")),
    ..FIELD_IN_FLIGHT
};

pub(super) const FIELD_WINDOW_LIMITED: Figure = Figure {
    id: "field-window-limited",
    title: "Field test: time limited by the receive window",
    caption: "For each congestion control, how many percent of its connections were limited for less.",
    kind: Kind::Distribution,
    x: AxisSpec::linear("limited by the receive window (% of the time)").showing(&[0.0, 100.0]),
    y: AxisSpec::linear("connections (%)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(
        &["transport"],
        Quantity::of("receive_window_limited_fraction").times(100.0),
    ),
    ..FIELD_RETRANSMISSIONS
};

pub(super) const FIELD_REORDERING: Figure = Figure {
    id: "field-reordering",
    title: "Field test: reordering",
    caption: "For each congestion control, how many percent of its connections saw less reordering.",
    x: AxisSpec::linear("reordered (% of packets)").showing(&[0.0]),
    lines: Lines::Labels(&["transport"], Quantity::of("reordered_fraction").times(100.0)),
    ..FIELD_WINDOW_LIMITED
};

pub(super) const FIELD_CPU: Figure = Figure {
    id: "field-cpu",
    title: "Field test: processor time",
    caption: "Processor time of the sending proxy for a connection, by congestion control: mean, smallest, largest.",
    kind: Kind::Category("transport"),
    x: AxisSpec::linear(""),
    y: AxisSpec::linear("processor time (s)").showing(&[0.0]),
    lines: Lines::Quantities(&[("mean, smallest, largest", Quantity::of("cpu_seconds"))]),
    ..FIELD_RETRANSMISSIONS
};

const MIN_RTT: Quantity = Quantity::of("min_rtt_ms");
