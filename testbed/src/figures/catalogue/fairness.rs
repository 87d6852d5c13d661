//! Figures of a download beside TCP: the paper's Figures 14 and 15 and Tables 6 and 7.

use super::{BBR1, BBR3, LOSS, QUIC, UTILISATION1, UTILISATION2, panel, panel_of};
use crate::figures::data::Quantity;
use crate::figures::figure::{AxisSpec, Figure, Kind, Lines, Panels};

pub(super) const FAIRNESS_BBR1: Figure = Figure {
    id: "fairness-bbr1",
    title: "Throughput beside TCP: BBRv1",
    caption: "The paper's Figure 14: a download through the proxies beside one TCP CUBIC flow on each path. TCP alone is \
              the first of them without the download.",
    experiments: &["fairness"],
    kind: Kind::Curve("loss_percent"),
    x: LOSS,
    y: AxisSpec::linear("throughput (Mbit/s)").showing(&[0.0, 100.0]),
    lines: Lines::Quantities(&[
        ("TCP alone", Quantity::of("tcp1_alone_mbit")),
        ("QUIC", QUIC),
        ("TCP1", Quantity::of("tcp1_mbit")),
        ("TCP2", Quantity::of("tcp2_mbit")),
    ]),
    panels: Panels::Of(&[
        panel("(a) unicast", &[BBR1, ("scheme", &["unicast"])]),
        panel("(b) client-side", &[BBR1, ("scheme", &["client-side"])]),
        panel("(c) server-side", &[BBR1, ("scheme", &["server-side"])]),
        panel("(d) bidirectional", &[BBR1, ("scheme", &["bidirectional"])]),
        panel("(e) adaptive (ours)", &[BBR1, ("scheme", &["adaptive"])]),
    ]),
    columns: 2,
};

pub(super) const FAIRNESS_BBR3: Figure = Figure {
    id: "fairness-bbr3",
    title: "Throughput beside TCP: BBRv3",
    caption: "The paper's Figure 15: the same with BBRv3.",
    panels: Panels::Of(&[
        panel("(a) unicast", &[BBR3, ("scheme", &["unicast"])]),
        panel("(b) client-side", &[BBR3, ("scheme", &["client-side"])]),
        panel("(c) server-side", &[BBR3, ("scheme", &["server-side"])]),
        panel("(d) bidirectional", &[BBR3, ("scheme", &["bidirectional"])]),
        panel("(e) adaptive (ours)", &[BBR3, ("scheme", &["adaptive"])]),
    ]),
    ..FAIRNESS_BBR1
};

pub(super) const UTILISATION_BBR1: Figure = Figure {
    id: "utilisation-bbr1",
    title: "What TCP keeps of its throughput: BBRv1",
    caption: "The paper's Table 6: throughput of TCP1 and TCP2 beside QUIC, in percent of what they have alone.",
    y: AxisSpec::linear("utilisation (%)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(&["scheme"], UTILISATION1),
    panels: Panels::Of(&[
        panel_of("(a) TCP1", &[BBR1], UTILISATION1),
        panel_of("(b) TCP2", &[BBR1], UTILISATION2),
    ]),
    ..FAIRNESS_BBR1
};

pub(super) const UTILISATION_BBR3: Figure = Figure {
    id: "utilisation-bbr3",
    title: "What TCP keeps of its throughput: BBRv3",
    caption: "The paper's Table 7: the same with BBRv3.",
    panels: Panels::Of(&[
        panel_of("(a) TCP1", &[BBR3], UTILISATION1),
        panel_of("(b) TCP2", &[BBR3], UTILISATION2),
    ]),
    ..UTILISATION_BBR1
};

pub(super) const COMBINED: Figure = Figure {
    id: "combined-throughput",
    title: "How much of the bottleneck is used",
    caption: "QUIC and TCP1 together, by scheme.",
    y: AxisSpec::linear("combined throughput (Mbit/s)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(&["scheme"], Quantity::of("combined_mbit")),
    panels: Panels::Of(&[panel("(a) BBRv1", &[BBR1]), panel("(b) BBRv3", &[BBR3])]),
    ..FAIRNESS_BBR1
};

pub(super) const JAIN: Figure = Figure {
    id: "jain",
    title: "Jain's index of fairness",
    caption: "Over the flows that share a bottleneck: 1 when each has the same, 1/n when one has everything.",
    y: AxisSpec::linear("Jain's index").showing(&[0.4, 1.0]),
    lines: Lines::Labels(&["scheme"], Quantity::of("jain")),
    ..COMBINED
};
