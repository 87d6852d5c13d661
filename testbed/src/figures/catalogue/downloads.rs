//! Figures of downloads: the paper's Figures 6 to 12, and ours beside them.

use super::{BBR1, BBR3, BYTES, CLIENT_BYTES, SERVER_BYTES, WIDE_LOSS, panel, panel_of};
use crate::figures::data::Quantity;
use crate::figures::figure::{AxisSpec, Figure, Kind, Lines, Panels};

pub(super) const DOWNLOAD_TIME_UNICAST: Figure = Figure {
    id: "download-time-unicast",
    title: "Download time: data on one path",
    caption: "The paper's Figure 6: a download over HTTP by TCP CUBIC end to end and through the proxies. The loss is \
              the same on both paths and in both directions. Open markers: the changes that the paper states, applied to \
              our TCP at the same loss.",
    experiments: &["download-time"],
    kind: Kind::Curve("loss_percent"),
    x: WIDE_LOSS,
    y: AxisSpec::log("download time (s)"),
    lines: Lines::Labels(&["transport", "scheme"], Quantity::of("seconds")),
    panels: Panels::One(&[PAPERS, ("scheme", &["unicast", "client-side"])]),
    columns: 1,
};

pub(super) const DOWNLOAD_TIME_BICAST: Figure = Figure {
    id: "download-time-bicast",
    title: "Download time: data on both paths",
    caption: "The paper's Figure 7: the same downloads, with every packet of the server on both paths.",
    panels: Panels::One(&[PAPERS, ("scheme", &["server-side", "bidirectional"])]),
    ..DOWNLOAD_TIME_UNICAST
};

pub(super) const ADAPTIVE_GOODPUT: Figure = Figure {
    id: "download-adaptive",
    title: "What adaptive adds: goodput by loss",
    caption: "The same downloads as goodput: each static scheme, and adaptive, which decides for each direction by the \
              loss that it measures.",
    y: AxisSpec::linear("goodput (Mbit/s)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(&["scheme"], Quantity::of("goodput_mbit")),
    panels: Panels::Of(&[
        panel("(a) TCP CUBIC, end to end", &[("transport", &["tcp-cubic"])]),
        panel("(b) CUBIC through the proxies", &[("transport", &["cubic"])]),
        panel("(c) BBRv1", &[("transport", &["bbr1"])]),
        panel("(d) BBRv3", &[("transport", &["bbr3"])]),
    ]),
    columns: 2,
    ..DOWNLOAD_TIME_UNICAST
};

pub(super) const CONGESTION_CONTROLS: Figure = Figure {
    id: "download-congestion",
    title: "Congestion controls: goodput by loss",
    caption: "All congestion controls of the proxies, and TCP CUBIC end to end, in each scheme.",
    lines: Lines::Labels(&["transport"], Quantity::of("goodput_mbit")),
    panels: Panels::Each("scheme", "{}", &[]),
    ..ADAPTIVE_GOODPUT
};

pub(super) const CWND: Figure = Figure {
    id: "cwnd",
    title: "Congestion window of BBRv3",
    caption: "The paper's Figures 8 to 11: the sender's congestion window over the time of one download (the first \
              repetition).",
    experiments: &["cwnd"],
    kind: Kind::Trace("cwnd_bytes"),
    x: AxisSpec::linear("time (s)").showing(&[0.0]),
    y: AxisSpec::linear("congestion window (kB)").showing(&[0.0]),
    lines: Lines::Labels(&["transport"], Quantity::of("cwnd_bytes").times(0.001)),
    panels: Panels::Of(&[
        panel(
            "(a) unicast, 10 % loss",
            &[BBR3, ("scheme", &["unicast"]), ("loss_percent", &["10"])],
        ),
        panel(
            "(b) client-side, 10 % loss",
            &[BBR3, ("scheme", &["client-side"]), ("loss_percent", &["10"])],
        ),
        panel(
            "(c) server-side, 20 % loss",
            &[BBR3, ("scheme", &["server-side"]), ("loss_percent", &["20"])],
        ),
        panel(
            "(d) bidirectional, 20 % loss",
            &[BBR3, ("scheme", &["bidirectional"]), ("loss_percent", &["20"])],
        ),
    ]),
    columns: 2,
};

pub(super) const TRANSMITTED_BYTES: Figure = Figure {
    id: "transmitted-bytes",
    title: "Bytes on the uplinks for 100 MB of payload",
    caption: "The paper's Figure 12: what each side puts on both of its uplinks together, as the bridges count it.",
    experiments: BYTES,
    y: AxisSpec::linear("sent (MB per 100 MB)").showing(&[0.0]),
    lines: Lines::Labels(&["scheme"], SERVER_BYTES),
    panels: Panels::Of(&[
        panel_of("(a) BBRv1, client", &[BBR1], CLIENT_BYTES),
        panel_of("(b) BBRv1, server", &[BBR1], SERVER_BYTES),
        panel_of("(c) BBRv3, client", &[BBR3], CLIENT_BYTES),
        panel_of("(d) BBRv3, server", &[BBR3], SERVER_BYTES),
    ]),
    columns: 2,
    ..DOWNLOAD_TIME_UNICAST
};

pub(super) const PEERS: Figure = Figure {
    id: "peers",
    title: "Peers on the same links",
    caption: "The same download by whatever else uses two paths, as far as it could be had.",
    experiments: &["peers"],
    y: AxisSpec::linear("goodput (Mbit/s)").showing(&[0.0, 100.0]),
    lines: Lines::Labels(&["peer"], Quantity::of("goodput_mbit")),
    panels: Panels::One(&[]),
    ..DOWNLOAD_TIME_UNICAST
};

/// The lines of the paper's figures; BBRv2 and CUBIC through the proxies have figures of their own.
const PAPERS: (&str, &[&str]) = ("transport", &["tcp-cubic", "bbr1", "bbr3"]);
