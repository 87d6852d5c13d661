//! What the CUBIC/BBR lab and the field test of BBRv2 state.

use super::{Better, Ours, Published, Statement, Take, Unit};
use crate::figures::data::{Labels, Quantity, Series};

/// "CUBIC vs BBR: How Your Congestion Control Choice Changes Throughput 7x on a Lossy Path" and "BBRv2 on the Edge: A
/// Field Test".
#[rustfmt::skip] // A table: a row is a line.
pub(super) const ALL: &[Statement] = &[
    lab("lab-cubic", "kernel TCP, CUBIC: throughput", 12.0, Unit::Mbit, CUBIC, MBIT, Better::Higher),
    lab("lab-bbr", "kernel TCP, BBR: throughput", 88.0, Unit::Mbit, BBR, MBIT, Better::Higher),
    relation_in_lab("lab-seven-times", "kernel TCP: throughput of BBR against CUBIC", Published::AtLeast(7.0), BBR, MBIT, Better::Neither),
    relation_in_lab("lab-proxies", "BBRv1 through the proxies against the kernel's CUBIC: throughput", Published::Words("only kernel TCP"), BBR1, MBIT, Better::Higher),
    lab("lab-rtt-cubic", "kernel TCP, CUBIC: round trip", 100.0, Unit::Ms, CUBIC, Quantity::of("rtt_ms"), Better::Neither),
    lab("lab-cwnd-cubic", "kernel TCP, CUBIC: congestion window in packets", 15.0, Unit::Count, CUBIC, CWND, Better::Neither),
    lab("lab-cwnd-bbr", "kernel TCP, BBR: congestion window in packets", 276.0, Unit::Count, BBR, CWND, Better::Neither),
    relation_in_lab("lab-retransmits", "kernel TCP: retransmissions of BBR against CUBIC", Published::About(992_040.0 / 141_720.0), BBR, Quantity::of("retransmits"), Better::Neither),
    field("field-loss-bbr1", "retransmissions of BBRv1 against BBRv2", Published::About(4.0), V1, V2, RETRANSMITTED, None),
    field("field-loss-cubic", "retransmissions of BBRv2 against CUBIC", Published::About(2.0), V2, FIELD_CUBIC, RETRANSMITTED, None),
    field("field-low", "throughput of BBRv2 against CUBIC, 10th percentile", Published::About(1.0), V2, FIELD_CUBIC, THROUGHPUT, Some(0.1)),
    field("field-lower", "the same, 25th percentile", Published::About(1.0), V2, FIELD_CUBIC, THROUGHPUT, Some(0.25)),
    field("field-higher", "throughput of BBRv2 against BBRv1, 75th percentile", Published::About(1.0), V2, V1, THROUGHPUT, Some(0.75)),
    field("field-high", "the same, 90th percentile", Published::About(1.0), V2, V1, THROUGHPUT, Some(0.9)),
    field("field-in-flight", "in flight: BBRv1 against BBRv2", Published::About(3.0), V1, V2, IN_FLIGHT, None),
    field("field-in-flight-cubic", "in flight: BBRv2 against CUBIC", Published::AtMost(1.0), V2, FIELD_CUBIC, IN_FLIGHT, None),
    field("field-rtt-bbr1", "round trip of BBRv2 against BBRv1", Published::AtMost(1.0), V2, V1, RTT, None),
    field("field-rtt-cubic", "round trip of BBRv2 against CUBIC", Published::AtLeast(1.0), V2, FIELD_CUBIC, RTT, None),
    field("field-window-bbr1", "time limited by the receive window: BBRv2 against BBRv1", Published::AtMost(1.0), V2, V1, WINDOW_LIMITED, None),
    field("field-window-cubic", "time limited by the receive window: BBRv2 against CUBIC", Published::AtMost(1.0), V2, FIELD_CUBIC, WINDOW_LIMITED, None),
    field("field-reordering", "reordering: BBRv2 against BBRv1", Published::AtMost(1.0), V2, V1, Quantity::of("reordered_fraction"), None),
    field("field-cpu", "processor time: BBRv2 against BBRv1", Published::About(1.0), V2, V1, Quantity::of("cpu_seconds"), None),
];

const fn lab(
    id: &'static str,
    says: &'static str,
    number: f64,
    unit: Unit,
    labels: Labels,
    quantity: Quantity,
    better: Better,
) -> Statement {
    Statement {
        id,
        source: LAB,
        says,
        published: Published::About(number),
        unit,
        ours: Ours::Level {
            of: in_lab(labels),
            quantity,
            losses: ANY,
            take: Take::Span,
        },
        better,
    }
}

const fn relation_in_lab(
    id: &'static str,
    says: &'static str,
    published: Published,
    of: Labels,
    quantity: Quantity,
    better: Better,
) -> Statement {
    Statement {
        id,
        source: LAB,
        says,
        published,
        unit: Unit::Times,
        ours: Ours::Relation {
            of: in_lab(of),
            to: in_lab(CUBIC),
            quantity,
            losses: ANY,
            take: Take::Span,
        },
        better,
    }
}

const fn field(
    id: &'static str,
    says: &'static str,
    published: Published,
    of: Labels,
    to: Labels,
    quantity: Quantity,
    percentile: Option<f64>,
) -> Statement {
    Statement {
        id,
        source: "field test",
        says,
        published,
        unit: Unit::Times,
        ours: Ours::Population {
            of: in_field(of),
            to: in_field(to),
            quantity,
            percentile,
        },
        // A relation between two of ours tells whether they behave as theirs, not how well.
        better: Better::Neither,
    }
}

const fn in_lab(labels: Labels) -> Series {
    Series {
        experiments: &["cc-lab"],
        labels,
    }
}

const fn in_field(labels: Labels) -> Series {
    Series {
        experiments: &["field-test"],
        labels,
    }
}

const LAB: &str = "CUBIC/BBR lab";
const ANY: (f64, f64) = (0.0, 100.0);
const CUBIC: Labels = &[("transport", "tcp-cubic")];
const BBR: Labels = &[("transport", "tcp-bbr")];
const BBR1: Labels = &[("transport", "bbr1")];
const V1: Labels = &[("congestion", "bbr1")];
const V2: Labels = &[("congestion", "bbr2")];
const FIELD_CUBIC: Labels = &[("congestion", "cubic")];
const MBIT: Quantity = Quantity::of("mbit");
const CWND: Quantity = Quantity::of("cwnd");
const RETRANSMITTED: Quantity = Quantity::of("retransmitted_fraction");
const THROUGHPUT: Quantity = Quantity::of("throughput_mbit");
const IN_FLIGHT: Quantity = Quantity::of("inflight_bytes");
const RTT: Quantity = Quantity::of("rtt_ms");
const WINDOW_LIMITED: Quantity = Quantity::of("receive_window_limited_fraction");
