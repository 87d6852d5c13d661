//! All figures. To add one: a constant in a file of this folder and a line in [`ALL`].

mod downloads;
mod fairness;
mod labs;
mod ours;

use super::data::Quantity;
use super::figure::{AxisSpec, Figure, Filter, PanelSpec};

/// All figures, in the order of the report.
pub const ALL: &[Figure] = &[
    downloads::DOWNLOAD_TIME_UNICAST,
    downloads::DOWNLOAD_TIME_BICAST,
    downloads::ADAPTIVE_GOODPUT,
    downloads::CONGESTION_CONTROLS,
    downloads::CWND,
    downloads::TRANSMITTED_BYTES,
    fairness::FAIRNESS_BBR1,
    fairness::FAIRNESS_BBR3,
    fairness::UTILISATION_BBR1,
    fairness::UTILISATION_BBR3,
    fairness::COMBINED,
    fairness::JAIN,
    labs::CC_LAB,
    labs::FIELD_RETRANSMISSIONS,
    labs::FIELD_THROUGHPUT,
    labs::FIELD_IN_FLIGHT,
    labs::FIELD_BANDWIDTH,
    labs::FIELD_WINDOW_LIMITED,
    labs::FIELD_REORDERING,
    labs::FIELD_CPU,
    ours::DELAY_GAP_LOST,
    ours::DELAY_GAP_GOODPUT,
    ours::ADAPTIVE_STORIES,
    ours::ADAPTIVE_DECISIONS,
    downloads::PEERS,
];

/// A panel of these samples.
const fn panel(title: &'static str, only: Filter) -> PanelSpec {
    PanelSpec {
        title,
        only,
        quantity: None,
    }
}

/// A panel of another quantity than that of the figure's lines.
const fn panel_of(title: &'static str, only: Filter, quantity: Quantity) -> PanelSpec {
    PanelSpec {
        title,
        only,
        quantity: Some(quantity),
    }
}

const LOSS: AxisSpec = AxisSpec::linear("loss of each path and direction (%)").showing(&[0.0]);

/// For losses that reach from a tenth of a percent to forty.
const WIDE_LOSS: AxisSpec = AxisSpec::root("loss of each path and direction (%, √ scale)").showing(&[0.0]);

const BBR1: (&str, &[&str]) = ("congestion", &["bbr1"]);

const BBR3: (&str, &[&str]) = ("congestion", &["bbr3"]);

/// `transmitted-bytes` may be left to the downloads of `download-time`.
pub(in crate::figures) const BYTES: &[&str] = &["transmitted-bytes", "download-time"];

pub(in crate::figures) const CLIENT_BYTES: Quantity = Quantity::of("uplink_bytes_client")
    .per("payload_bytes")
    .times(100.0);

pub(in crate::figures) const SERVER_BYTES: Quantity = Quantity::of("uplink_bytes_server")
    .per("payload_bytes")
    .times(100.0);

pub(in crate::figures) const UTILISATION1: Quantity = Quantity::of("utilisation1").times(100.0);

pub(in crate::figures) const UTILISATION2: Quantity = Quantity::of("utilisation2").times(100.0);

pub(in crate::figures) const QUIC: Quantity = Quantity::of("quic_mbit");
