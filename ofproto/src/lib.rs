//! OpenFlow 1.3.5 wire codec: no I/O, no clock.
//!
//! Bytes come in through a [`FrameSplitter`], which finds where each message ends; [`Message::decode`] turns
//! one whole frame into a value and [`Message::encode`] turns a value into bytes:
//!
//! ```
//! use bytes::BytesMut;
//! use ofproto::{FrameSplitter, Hello, Message, Xid};
//!
//! let mut buffer = BytesMut::new();
//! Message::Hello(Hello::v1_3()).encode(Xid(7), &mut buffer)?;
//!
//! let frame = FrameSplitter::new(65_535).next(&mut buffer)?.expect("one whole message was written");
//! let (header, message) = Message::decode(&frame)?;
//! assert_eq!(header.xid, Xid(7));
//! assert_eq!(message.name(), "OFPT_HELLO");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rules that hold for every message:
//!
//! - An unlisted code point is a value (`Unknown(…)`), not an error, and is written back as it came.
//! - Any byte string decodes to a message or to a [`DecodeError`] that names structure and byte, and knows the
//!   `OFPT_ERROR` to answer with. Nothing is allocated beyond a small multiple of the frame's own length.
//! - Payloads are slices of the frame, not copies.
//! - What is encoded is canonical: lengths are right, padding is zero, value bits outside a mask are cleared.

#[macro_use]
mod list;
mod macros;
mod wire;

mod action;
mod async_config;
mod bucket;
pub mod bundle;
#[cfg(feature = "tokio")]
mod codec;
mod config;
mod error;
mod error_code;
mod error_msg;
mod experimenter;
mod features;
mod flow_mod;
mod flow_removed;
mod frame;
mod group_mod;
mod header;
mod hello;
mod instruction;
mod message;
mod meter_mod;
pub mod multipart;
pub mod oxm;
mod packet_in;
mod packet_out;
mod port;
mod port_mod;
mod port_status;
mod queue_config;
mod role;
mod table_mod;
pub mod text;
mod types;
#[cfg(test)]
mod vector;

pub use action::{Action, ActionType, Actions, MAX_LEN_NO_BUFFER};
pub use async_config::AsyncConfig;
pub use bucket::Bucket;
#[cfg(feature = "tokio")]
pub use codec::{Codec, CodecError, Refused};
pub use config::{ConfigFlags, SwitchConfig};
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use error_code::ErrorCode;
pub use error_msg::ErrorMsg;
pub use experimenter::{Experimenter, ExperimenterId};
pub use features::{Capabilities, FeaturesReply};
pub use flow_mod::{FlowMod, FlowModCommand, FlowModFlags};
pub use flow_removed::{FlowRemoved, FlowRemovedReason};
pub use frame::{ForeignProtocol, FrameError, FrameSplitter};
pub use group_mod::{GroupMod, GroupModCommand, GroupType};
pub use header::{HEADER_LEN, Header, MessageType, VERSION};
pub use hello::{Hello, HelloElement, VersionBitmap};
pub use instruction::{Instruction, InstructionType, Instructions};
pub use list::List;
pub use message::Message;
pub use meter_mod::{MeterBand, MeterBandType, MeterFlags, MeterMod, MeterModCommand};
pub use multipart::{
    AggregateStats, AssembleError, BucketCounter, FlowStats, FlowStatsRequest, GroupDesc, GroupFeatures,
    GroupStats, MeterBandStats, MeterConfig, MeterFeatures, MeterStats, MultipartAssembler, MultipartEntries,
    MultipartEntry, MultipartReply, MultipartReplyBody, MultipartRequest, MultipartRequestBody,
    MultipartType, PortStats, QueueStats, SwitchDesc, TableFeatures, TableStats,
};
pub use oxm::{Fields, Masked, Match, OxmField, OxmId, RawOxm};
pub use packet_in::{PacketIn, PacketInReason};
pub use packet_out::PacketOut;
pub use port::{Port, PortConfig, PortFeatures, PortState};
pub use port_mod::PortMod;
pub use port_status::{PortReason, PortStatus};
pub use queue_config::{PacketQueue, QueueGetConfigReply, QueueGetConfigRequest, QueueProperty};
pub use role::{ControllerRole, Role};
pub use table_mod::TableMod;
pub use text::Text;
pub use types::{
    BufferId, Cookie, DatapathId, GroupId, MacAddr, MeterId, ParseDatapathIdError, PortNo, QueueId, TableId,
    Xid,
};
