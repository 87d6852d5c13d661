//! Flows, groups and meters read from text in the syntax of `ovs-ofctl`.
//!
//! What [`Text`](super::Text) prints of a FLOW_MOD, GROUP_MOD or METER_MOD after its heading is read as well.

mod actions;
mod field;
mod flags;
mod flow;
mod group;
mod matching;
mod meter;
mod nicira;
mod option;
mod piece;
mod subfield;
mod value;

use std::borrow::Cow;

use thiserror::Error;

use self::piece::Piece;
use crate::{FlowMod, GroupMod, Match, MeterMod};

/// A text that is not what it should be, with the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: expected {expected}, found {}", Found(.found))]
pub struct ParseTextError {
    /// Where the text is wrong: the character, counted from 1.
    pub column: usize,
    /// What is there; empty at the end of the text.
    pub found: String,
    /// What should be there instead.
    pub expected: Cow<'static, str>,
}

/// Reads a flow: `table=0,priority=10,udp,tp_dst=5001,actions=meter:1,group:1`.
///
/// The first word may be a command: `add` (as is meant without one), `modify`, `modify_strict`, `delete` or
/// `delete_strict`, or its beginning. Without a table flows are added and modified in table 0 and deleted in all of
/// them, and the priority is 32768. In the manner of Open vSwitch `ip`, `tcp`, `udp6`, … stand for Ethernet type and IP protocol,
/// and `tp_src`, `tp_dst` for the ports of that protocol.
///
/// # Errors
///
/// When the text is not a flow, or one that OpenFlow 1.3 cannot express.
///
/// ```
/// let flow = ofproto::text::parse_flow_mod("priority=10,udp,tp_dst=5001,actions=meter:1,group:1")?;
/// assert_eq!(flow.match_.to_string(), "udp,tp_dst=5001");
///
/// let error = ofproto::text::parse_flow_mod("udp,tp_dts=5001,actions=group:1").unwrap_err();
/// assert!(error.to_string().starts_with("column 5: expected a field to match"));
/// # Ok::<(), ofproto::text::ParseTextError>(())
/// ```
pub fn parse_flow_mod(text: &str) -> Result<FlowMod, ParseTextError> {
    flow::parse(Piece::whole(text)).map_err(|fault| fault.in_text(text))
}

/// Reads a group: `group_id=1,type=all,bucket=actions=output:1,bucket=actions=output:2`.
///
/// The first word may be a command: `add` (as is meant without one), `modify`, `add_or_mod`, `delete`, or what Open
/// vSwitch has of OpenFlow 1.5 in this version: `insert_bucket` and `remove_bucket`, without the ids of buckets.
///
/// # Errors
///
/// When the text is not a group.
///
/// ```
/// let group = ofproto::text::parse_group_mod("group_id=1,type=all,bucket=output:1,bucket=output:2")?;
/// assert_eq!(group.buckets.len(), 2);
/// # Ok::<(), ofproto::text::ParseTextError>(())
/// ```
pub fn parse_group_mod(text: &str) -> Result<GroupMod, ParseTextError> {
    group::parse(Piece::whole(text)).map_err(|fault| fault.in_text(text))
}

/// Reads a meter: `meter=1,pktps,stats,bands=type=drop,rate=1000`.
///
/// The first word may be a command: `add` (as is meant without one), `modify` or `delete`.
///
/// # Errors
///
/// When the text is not a meter.
///
/// ```
/// let meter = ofproto::text::parse_meter_mod("meter=1,pktps,stats,bands=type=drop,rate=1000")?;
/// assert_eq!(meter.bands[0].rate(), 1000);
/// # Ok::<(), ofproto::text::ParseTextError>(())
/// ```
pub fn parse_meter_mod(text: &str) -> Result<MeterMod, ParseTextError> {
    meter::parse(Piece::whole(text)).map_err(|fault| fault.in_text(text))
}

/// Reads a match: `udp,in_port=1,nw_dst=10.0.0.0/24`.
///
/// # Errors
///
/// When the text is not a match.
pub fn parse_match(text: &str) -> Result<Match, ParseTextError> {
    matching::parse(Piece::whole(text)).map_err(|fault| fault.in_text(text))
}

/// What is wrong with a piece of text.
#[derive(Debug)]
struct Fault {
    /// Bytes before the place.
    at: usize,
    found: String,
    expected: Cow<'static, str>,
}

impl Fault {
    fn in_text(self, text: &str) -> ParseTextError {
        ParseTextError {
            column: text.get(..self.at).unwrap_or(text).chars().count() + 1,
            found: self.found,
            expected: self.expected,
        }
    }
}

/// What is found, between quotes.
struct Found<'a>(&'a str);

impl std::fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            f.write_str("nothing")
        } else {
            write!(f, "`{}`", self.0)
        }
    }
}
