//! Figures that the paper has not: a slower second path, and adaptive while links change.

use super::panel_of;
use crate::figures::data::Quantity;
use crate::figures::figure::{AxisSpec, Figure, Kind, Lines, Panels};

pub(super) const DELAY_GAP_LOST: Figure = Figure {
    id: "delay-gap-lost",
    title: "A slower second path: what is taken for lost",
    caption: "Packets that QUIC declares lost for each packet of which neither copy came: 1 is the truth.",
    experiments: &["delay-gap"],
    kind: Kind::Curve("gap_ms"),
    x: AxisSpec::linear("path b later by (ms)"),
    y: AxisSpec::log("declared lost / really lost").showing(&[1.0]),
    lines: Lines::Labels(
        &["congestion", "resequencing"],
        Quantity::of("declared_lost").per("really_lost"),
    ),
    panels: Panels::Each("loss_percent", "{} % loss of each path", &[]),
    columns: 2,
};

pub(super) const DELAY_GAP_GOODPUT: Figure = Figure {
    id: "delay-gap-goodput",
    title: "A slower second path: goodput",
    caption: "Downloads through the proxies with every packet on both paths, with and without the shim's resequencing.",
    y: AxisSpec::linear("goodput (Mbit/s)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(&["congestion", "resequencing"], Quantity::of("mbit")),
    ..DELAY_GAP_LOST
};

pub(super) const ADAPTIVE_STORIES: Figure = Figure {
    id: "adaptive-stories",
    title: "Stories: unicast, bicast and adaptive",
    caption: "A step of loss, bursts, a handover, the blackout of either uplink, a flapping link: the same links for \
              each scheme. Mean, smallest, largest.",
    experiments: &["adaptive"],
    kind: Kind::Category("story"),
    x: AxisSpec::linear(""),
    y: AxisSpec::linear("").showing(&[0.0]),
    lines: Lines::Labels(&["scheme"], Quantity::of("goodput_mbit")),
    panels: Panels::Of(&[
        panel_of("(a) goodput (Mbit/s)", &[], Quantity::of("goodput_mbit")),
        panel_of(
            "(b) residual loss (%)",
            &[],
            Quantity::of("residual_loss_percent"),
        ),
        panel_of(
            "(c) 99th percentile of delay (ms)",
            &[],
            Quantity::of("p99_delay_ms"),
        ),
        panel_of(
            "(d) sent by the server (MB)",
            &[],
            Quantity::of("uplink_bytes_server").times(1e-6),
        ),
        panel_of("(e) reaction (ms)", &[], Quantity::of("reaction_ms")),
    ]),
    columns: 1,
};

pub(super) const ADAPTIVE_DECISIONS: Figure = Figure {
    id: "adaptive-decisions",
    title: "Decisions over time",
    caption: "The modes of adaptive for what the server sends, in the first repetition of each story.",
    kind: Kind::Steps("decisions"),
    x: AxisSpec::linear("time (s)").showing(&[0.0]),
    y: AxisSpec::names("", &["unicast", "bicast"]),
    lines: Lines::Labels(&["scheme"], Quantity::of("decisions")),
    panels: Panels::Each("story", "{}", &[("scheme", &["adaptive"])]),
    columns: 2,
    ..ADAPTIVE_STORIES
};
