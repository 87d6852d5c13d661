//! MULTIPART_REPLY.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::combinator::map;

use super::entries::all;
use super::{
    AggregateStats, FLAG_MORE, FlowStats, GroupDesc, GroupFeatures, GroupStats, MeterConfig, MeterFeatures,
    MeterStats, MultipartType, PortStats, QueueStats, SwitchDesc, TableFeatures, TableStats,
};
use crate::wire::{Parsed, Span, fixed, rest};
use crate::{EncodeError, Experimenter, Port};

/// `ofp_multipart_reply`, OpenFlow 1.3.5 §7.3.5.
///
/// ```text
///  0       2       4       8
/// +-------+-------+-------+------+
/// | type  | flags | zeros | body |
/// +-------+-------+-------+------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipartReply {
    /// More messages of this reply follow (`OFPMPF_REPLY_MORE`).
    pub more: bool,
    /// What was asked for, or a part of it.
    pub body: MultipartReplyBody,
}

/// What a multipart reply says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MultipartReplyBody {
    /// `OFPMP_DESC`: description of the switch.
    Desc(SwitchDesc),
    /// `OFPMP_FLOW`: flows and their counters.
    Flow(Vec<FlowStats>),
    /// `OFPMP_AGGREGATE`: sum of the counters of flows.
    Aggregate(AggregateStats),
    /// `OFPMP_TABLE`: counters of tables.
    Table(Vec<TableStats>),
    /// `OFPMP_PORT_STATS`: counters of ports.
    PortStats(Vec<PortStats>),
    /// `OFPMP_QUEUE`: counters of queues.
    Queue(Vec<QueueStats>),
    /// `OFPMP_GROUP`: counters of groups.
    Group(Vec<GroupStats>),
    /// `OFPMP_GROUP_DESC`: groups and their buckets.
    GroupDesc(Vec<GroupDesc>),
    /// `OFPMP_GROUP_FEATURES`: what groups can do.
    GroupFeatures(GroupFeatures),
    /// `OFPMP_METER`: counters of meters.
    Meter(Vec<MeterStats>),
    /// `OFPMP_METER_CONFIG`: meters and their bands.
    MeterConfig(Vec<MeterConfig>),
    /// `OFPMP_METER_FEATURES`: what meters can do.
    MeterFeatures(MeterFeatures),
    /// `OFPMP_TABLE_FEATURES`: what tables can do.
    TableFeatures(Vec<TableFeatures>),
    /// `OFPMP_PORT_DESC`: ports.
    PortDesc(Vec<Port>),
    /// `OFPMP_EXPERIMENTER`: what others define.
    Experimenter(Experimenter),
    /// A type that is not listed.
    Unknown {
        /// The type.
        type_: u16,
        /// The body.
        data: Bytes,
    },
}

impl MultipartReply {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (type_, more)) = Self::parse_head(i)?;
        let (i, body) = MultipartReplyBody::parse(type_, i)?;
        Ok((i, Self { more, body }))
    }

    /// What is before the body: its type, and whether more messages follow.
    #[inline]
    pub(super) fn parse_head(i: Span<'_>) -> Parsed<'_, (MultipartType, bool)> {
        let (i, head) = fixed::<8>(i, "ofp_multipart_reply")?;
        let type_ = MultipartType::from_wire(head.u16::<0>());
        Ok((i, (type_, head.u16::<2>() & FLAG_MORE != 0)))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u16(self.body.multipart_type().to_wire());
        out.put_u16(if self.more { FLAG_MORE } else { 0 });
        out.put_u32(0);
        self.body.put(out)
    }
}

impl MultipartReplyBody {
    /// The type of the reply.
    #[must_use]
    pub const fn multipart_type(&self) -> MultipartType {
        match self {
            Self::Desc(_) => MultipartType::Desc,
            Self::Flow(_) => MultipartType::Flow,
            Self::Aggregate(_) => MultipartType::Aggregate,
            Self::Table(_) => MultipartType::Table,
            Self::PortStats(_) => MultipartType::PortStats,
            Self::Queue(_) => MultipartType::Queue,
            Self::Group(_) => MultipartType::Group,
            Self::GroupDesc(_) => MultipartType::GroupDesc,
            Self::GroupFeatures(_) => MultipartType::GroupFeatures,
            Self::Meter(_) => MultipartType::Meter,
            Self::MeterConfig(_) => MultipartType::MeterConfig,
            Self::MeterFeatures(_) => MultipartType::MeterFeatures,
            Self::TableFeatures(_) => MultipartType::TableFeatures,
            Self::PortDesc(_) => MultipartType::PortDesc,
            Self::Experimenter(_) => MultipartType::Experimenter,
            Self::Unknown { type_, .. } => MultipartType::from_wire(*type_),
        }
    }

    fn parse(type_: MultipartType, i: Span<'_>) -> Parsed<'_, Self> {
        match type_ {
            MultipartType::Desc => map(SwitchDesc::parse, Self::Desc).parse(i),
            MultipartType::Flow => map(all, Self::Flow).parse(i),
            MultipartType::Aggregate => map(AggregateStats::parse, Self::Aggregate).parse(i),
            MultipartType::Table => map(all, Self::Table).parse(i),
            MultipartType::PortStats => map(all, Self::PortStats).parse(i),
            MultipartType::Queue => map(all, Self::Queue).parse(i),
            MultipartType::Group => map(all, Self::Group).parse(i),
            MultipartType::GroupDesc => map(all, Self::GroupDesc).parse(i),
            MultipartType::GroupFeatures => map(GroupFeatures::parse, Self::GroupFeatures).parse(i),
            MultipartType::Meter => map(all, Self::Meter).parse(i),
            MultipartType::MeterConfig => map(all, Self::MeterConfig).parse(i),
            MultipartType::MeterFeatures => map(MeterFeatures::parse, Self::MeterFeatures).parse(i),
            MultipartType::TableFeatures => map(all, Self::TableFeatures).parse(i),
            MultipartType::PortDesc => map(all, Self::PortDesc).parse(i),
            MultipartType::Experimenter => map(Experimenter::parse, Self::Experimenter).parse(i),
            MultipartType::Unknown(type_) => map(rest, |data| Self::Unknown { type_, data }).parse(i),
        }
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            Self::Desc(desc) => desc.put(out),
            Self::Flow(flows) => flows.iter().try_for_each(|flow| flow.put(out)),
            Self::Aggregate(stats) => {
                stats.put(out);
                Ok(())
            }
            Self::Table(tables) => {
                tables.iter().for_each(|table| table.put(out));
                Ok(())
            }
            Self::PortStats(ports) => {
                ports.iter().for_each(|port| port.put(out));
                Ok(())
            }
            Self::Queue(queues) => {
                queues.iter().for_each(|queue| queue.put(out));
                Ok(())
            }
            Self::Group(groups) => groups.iter().try_for_each(|group| group.put(out)),
            Self::GroupDesc(groups) => groups.iter().try_for_each(|group| group.put(out)),
            Self::GroupFeatures(features) => {
                features.put(out);
                Ok(())
            }
            Self::Meter(meters) => meters.iter().try_for_each(|meter| meter.put(out)),
            Self::MeterConfig(meters) => meters.iter().try_for_each(|meter| meter.put(out)),
            Self::MeterFeatures(features) => {
                features.put(out);
                Ok(())
            }
            Self::TableFeatures(tables) => tables.iter().try_for_each(|table| table.put(out)),
            Self::PortDesc(ports) => ports.iter().try_for_each(|port| port.put(out)),
            Self::Experimenter(experimenter) => {
                experimenter.put(out);
                Ok(())
            }
            Self::Unknown { data, .. } => {
                out.put_slice(data);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Message;
    use crate::vector::bytes;

    #[test]
    fn lengths_inside_a_reply_are_checked() {
        for (body, said) in [
            (
                "0001 0000 00000000 0037 0000
                 00000000 00000000 0000 0000 0000 0000 00000000 0000000000000000 0000000000000000 0000000000000000",
                "ofp_flow_stats.length at byte 16: length is 55, expected at least 56",
            ),
            (
                "0001 0000 00000000 0068 02 00",
                "ofp_flow_stats at byte 20: ends too early, 44 more bytes expected",
            ),
            (
                "0001 0000 00000000 0068 0000
                 00000000 00000000 0000 0000 0000 0000 00000000 0000000000000000 0000000000000000 0000000000000000",
                "ofp_flow_stats.length at byte 64: ends too early, 56 more bytes expected",
            ),
            (
                "0007 0000 00000000 0007 0000 00000001",
                "ofp_group_desc.length at byte 16: length is 7, expected at least 8",
            ),
            (
                "0004 0000 00000000 00000001",
                "ofp_port_stats at byte 20: ends too early, 4 more bytes expected",
            ),
        ] {
            let body = bytes(body);
            let mut frame = bytes("04 13 0000 00000002");
            frame.extend(body);
            frame[3] = u8::try_from(frame.len()).unwrap();
            let error = Message::decode(&frame.into()).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
