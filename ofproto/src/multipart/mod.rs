//! Multipart messages: statistics and descriptions, OpenFlow 1.3.5 §7.3.5.
//!
//! A reply may come in several messages with the same transaction id; [`MultipartAssembler`] joins them. One that is a
//! list can be read entry by entry: [`MultipartEntries`].

mod assemble;
mod desc;
mod entries;
mod flow;
mod group;
mod meter;
mod port;
mod queue;
mod reply;
mod request;
mod table;
mod table_features;

pub use assemble::{AssembleError, MultipartAssembler};
pub use desc::SwitchDesc;
pub use entries::{MultipartEntries, MultipartEntry};
pub use flow::{AggregateStats, FlowStats, FlowStatsRequest};
pub use group::{BucketCounter, GroupCapabilities, GroupDesc, GroupFeatures, GroupStats};
pub use meter::{MeterBandStats, MeterConfig, MeterFeatures, MeterStats};
pub use port::PortStats;
pub use queue::QueueStats;
pub use reply::{MultipartReply, MultipartReplyBody};
pub use request::{MultipartRequest, MultipartRequestBody};
pub use table::TableStats;
pub use table_features::{FeatureId, TableFeatureProperty, TableFeatures};

use crate::macros::open_enum;

open_enum! {
    /// `ofp_multipart_type`, OpenFlow 1.3.5 §7.3.5.
    MultipartType(u16) {
        /// Description of the switch
        Desc = 0, "OFPMP_DESC";
        /// Flows and their counters
        Flow = 1, "OFPMP_FLOW";
        /// Sum of the counters of flows
        Aggregate = 2, "OFPMP_AGGREGATE";
        /// Counters of tables
        Table = 3, "OFPMP_TABLE";
        /// Counters of ports
        PortStats = 4, "OFPMP_PORT_STATS";
        /// Counters of queues
        Queue = 5, "OFPMP_QUEUE";
        /// Counters of groups
        Group = 6, "OFPMP_GROUP";
        /// Groups and their buckets
        GroupDesc = 7, "OFPMP_GROUP_DESC";
        /// What groups can do
        GroupFeatures = 8, "OFPMP_GROUP_FEATURES";
        /// Counters of meters
        Meter = 9, "OFPMP_METER";
        /// Meters and their bands
        MeterConfig = 10, "OFPMP_METER_CONFIG";
        /// What meters can do
        MeterFeatures = 11, "OFPMP_METER_FEATURES";
        /// What tables can do
        TableFeatures = 12, "OFPMP_TABLE_FEATURES";
        /// Ports
        PortDesc = 13, "OFPMP_PORT_DESC";
        /// What others define
        Experimenter = 0xffff, "OFPMP_EXPERIMENTER";
    }
}

/// `OFPMPF_REQ_MORE` and `OFPMPF_REPLY_MORE`: more messages of the same request or reply follow.
const FLAG_MORE: u16 = 1;
