//! MULTIPART_REQUEST.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::combinator::map;
use nom::error::context;

use super::{FLAG_MORE, FlowStatsRequest, MultipartType, TableFeatures};
use crate::wire::{Parsed, Span, answering, be_u16, be_u32, list, pad, rest};
use crate::{EncodeError, ErrorCode, Experimenter, GroupId, MeterId, PortNo, QueueId};

/// `ofp_multipart_request`, OpenFlow 1.3.5 §7.3.5.
///
/// ```text
///  0       2       4       8
/// +-------+-------+-------+------+
/// | type  | flags | zeros | body |
/// +-------+-------+-------+------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipartRequest {
    /// More messages of this request follow (`OFPMPF_REQ_MORE`).
    pub more: bool,
    /// What is asked for.
    pub body: MultipartRequestBody,
}

/// What a multipart request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MultipartRequestBody {
    /// `OFPMP_DESC`: description of the switch.
    Desc,
    /// `OFPMP_FLOW`: flows and their counters.
    Flow(FlowStatsRequest),
    /// `OFPMP_AGGREGATE`: sum of the counters of flows.
    Aggregate(FlowStatsRequest),
    /// `OFPMP_TABLE`: counters of tables.
    Table,
    /// `OFPMP_PORT_STATS`: counters of a port; of all with `ANY`.
    PortStats(PortNo),
    /// `OFPMP_QUEUE`: counters of queues.
    Queue {
        /// The port; `ANY` for all.
        port_no: PortNo,
        /// The queue; `ALL` for every one.
        queue_id: QueueId,
    },
    /// `OFPMP_GROUP`: counters of a group; of every one with `ALL`.
    Group(GroupId),
    /// `OFPMP_GROUP_DESC`: groups and their buckets.
    GroupDesc,
    /// `OFPMP_GROUP_FEATURES`: what groups can do.
    GroupFeatures,
    /// `OFPMP_METER`: counters of a meter; of every one with `ALL`.
    Meter(MeterId),
    /// `OFPMP_METER_CONFIG`: a meter and its bands; every one with `ALL`.
    MeterConfig(MeterId),
    /// `OFPMP_METER_FEATURES`: what meters can do.
    MeterFeatures,
    /// `OFPMP_TABLE_FEATURES`: what tables can do; not empty: configure them so.
    TableFeatures(Vec<TableFeatures>),
    /// `OFPMP_PORT_DESC`: ports.
    PortDesc,
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

impl MultipartRequest {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (type_, flags, ())) = context("ofp_multipart_request", (be_u16, be_u16, pad(4))).parse(i)?;
        let (i, body) = MultipartRequestBody::parse(MultipartType::from_wire(type_), i)?;
        Ok((
            i,
            Self {
                more: flags & FLAG_MORE != 0,
                body,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u16(self.body.multipart_type().to_wire());
        out.put_u16(if self.more { FLAG_MORE } else { 0 });
        out.put_u32(0);
        self.body.put(out)
    }
}

impl MultipartRequestBody {
    /// The type of the request.
    #[must_use]
    pub const fn multipart_type(&self) -> MultipartType {
        match self {
            Self::Desc => MultipartType::Desc,
            Self::Flow(_) => MultipartType::Flow,
            Self::Aggregate(_) => MultipartType::Aggregate,
            Self::Table => MultipartType::Table,
            Self::PortStats(_) => MultipartType::PortStats,
            Self::Queue { .. } => MultipartType::Queue,
            Self::Group(_) => MultipartType::Group,
            Self::GroupDesc => MultipartType::GroupDesc,
            Self::GroupFeatures => MultipartType::GroupFeatures,
            Self::Meter(_) => MultipartType::Meter,
            Self::MeterConfig(_) => MultipartType::MeterConfig,
            Self::MeterFeatures => MultipartType::MeterFeatures,
            Self::TableFeatures(_) => MultipartType::TableFeatures,
            Self::PortDesc => MultipartType::PortDesc,
            Self::Experimenter(_) => MultipartType::Experimenter,
            Self::Unknown { type_, .. } => MultipartType::from_wire(*type_),
        }
    }

    fn parse(type_: MultipartType, i: Span<'_>) -> Parsed<'_, Self> {
        match type_ {
            MultipartType::Desc => Ok((i, Self::Desc)),
            MultipartType::Flow => map(FlowStatsRequest::parse, Self::Flow).parse(i),
            MultipartType::Aggregate => map(FlowStatsRequest::parse, Self::Aggregate).parse(i),
            MultipartType::Table => Ok((i, Self::Table)),
            MultipartType::PortStats => context(
                "ofp_port_stats_request",
                map((be_u32, pad(4)), |(port, ())| Self::PortStats(PortNo(port))),
            )
            .parse(i),
            MultipartType::Queue => context(
                "ofp_queue_stats_request",
                map((be_u32, be_u32), |(port, queue)| Self::Queue {
                    port_no: PortNo(port),
                    queue_id: QueueId(queue),
                }),
            )
            .parse(i),
            MultipartType::Group => context(
                "ofp_group_stats_request",
                map((be_u32, pad(4)), |(group, ())| Self::Group(GroupId(group))),
            )
            .parse(i),
            MultipartType::GroupDesc => Ok((i, Self::GroupDesc)),
            MultipartType::GroupFeatures => Ok((i, Self::GroupFeatures)),
            MultipartType::Meter => context(
                "ofp_meter_multipart_request",
                map((be_u32, pad(4)), |(meter, ())| Self::Meter(MeterId(meter))),
            )
            .parse(i),
            MultipartType::MeterConfig => context(
                "ofp_meter_multipart_request",
                map((be_u32, pad(4)), |(meter, ())| Self::MeterConfig(MeterId(meter))),
            )
            .parse(i),
            MultipartType::MeterFeatures => Ok((i, Self::MeterFeatures)),
            MultipartType::TableFeatures => map(
                answering(
                    ErrorCode::TABLE_FEATURES_FAILED_BAD_LEN,
                    list(TableFeatures::parse),
                ),
                Self::TableFeatures,
            )
            .parse(i),
            MultipartType::PortDesc => Ok((i, Self::PortDesc)),
            MultipartType::Experimenter => map(Experimenter::parse, Self::Experimenter).parse(i),
            MultipartType::Unknown(type_) => map(rest, |data| Self::Unknown { type_, data }).parse(i),
        }
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            Self::Desc
            | Self::Table
            | Self::GroupDesc
            | Self::GroupFeatures
            | Self::MeterFeatures
            | Self::PortDesc => {}
            Self::Flow(request) | Self::Aggregate(request) => return request.put(out),
            Self::PortStats(port) => put_number(port.0, out),
            Self::Queue { port_no, queue_id } => {
                out.put_u32(port_no.0);
                out.put_u32(queue_id.0);
            }
            Self::Group(group) => put_number(group.0, out),
            Self::Meter(meter) | Self::MeterConfig(meter) => put_number(meter.0, out),
            Self::TableFeatures(tables) => return tables.iter().try_for_each(|table| table.put(out)),
            Self::Experimenter(experimenter) => experimenter.put(out),
            Self::Unknown { data, .. } => out.put_slice(data),
        }
        Ok(())
    }
}

/// A number and four bytes of padding: the form of most requests.
fn put_number(number: u32, out: &mut BytesMut) {
    out.put_u32(number);
    out.put_u32(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{check, request};
    use crate::{Cookie, Match, Message, OxmField, TableId};

    #[test]
    fn request_vectors() {
        check(&[
            (
                "04 12 0010 00000002 0000 0000 00000000",
                request(MultipartRequestBody::Desc),
            ),
            (
                "04 12 0040 00000002 0001 0000 00000000           # header, flow
                 05 000000 00000002 ffffffff 00000000              # table 5, out_port 2
                 b1ca000000000000 ffff000000000000                 # cookie, mask
                 0001 000c 80000004 00000001 00000000              # in_port 1",
                request(MultipartRequestBody::Flow(FlowStatsRequest {
                    table_id: TableId(5),
                    out_port: PortNo(2),
                    cookie: Cookie(0xb1ca_0000_0000_0000),
                    cookie_mask: 0xffff_0000_0000_0000,
                    match_: Match::new().with(OxmField::InPort(PortNo(1))),
                    ..FlowStatsRequest::default()
                })),
            ),
            (
                "04 12 0038 00000002 0002 0000 00000000           # header, aggregate
                 ff 000000 ffffffff ffffffff 00000000
                 0000000000000000 0000000000000000 0001 0004 00000000",
                request(MultipartRequestBody::Aggregate(FlowStatsRequest::default())),
            ),
            (
                "04 12 0010 00000002 0003 0000 00000000",
                request(MultipartRequestBody::Table),
            ),
            (
                "04 12 0018 00000002 0004 0000 00000000 ffffffff 00000000",
                request(MultipartRequestBody::PortStats(PortNo::ANY)),
            ),
            (
                "04 12 0018 00000002 0005 0000 00000000 00000001 ffffffff",
                request(MultipartRequestBody::Queue {
                    port_no: PortNo(1),
                    queue_id: QueueId::ALL,
                }),
            ),
            (
                "04 12 0018 00000002 0006 0000 00000000 fffffffc 00000000",
                request(MultipartRequestBody::Group(GroupId::ALL)),
            ),
            (
                "04 12 0010 00000002 0007 0000 00000000",
                request(MultipartRequestBody::GroupDesc),
            ),
            (
                "04 12 0010 00000002 0008 0000 00000000",
                request(MultipartRequestBody::GroupFeatures),
            ),
            (
                "04 12 0018 00000002 0009 0000 00000000 00000007 00000000",
                request(MultipartRequestBody::Meter(MeterId(7))),
            ),
            (
                "04 12 0018 00000002 000a 0000 00000000 ffffffff 00000000",
                request(MultipartRequestBody::MeterConfig(MeterId::ALL)),
            ),
            (
                "04 12 0010 00000002 000b 0000 00000000",
                request(MultipartRequestBody::MeterFeatures),
            ),
            (
                "04 12 0010 00000002 000c 0000 00000000",
                request(MultipartRequestBody::TableFeatures(vec![])),
            ),
            (
                "04 12 0010 00000002 000d 0000 00000000",
                request(MultipartRequestBody::PortDesc),
            ),
            (
                "04 12 001a 00000002 ffff 0001 00000000 00002320 00000003 abcd",
                Message::MultipartRequest(MultipartRequest {
                    more: true,
                    body: MultipartRequestBody::Experimenter(Experimenter {
                        experimenter: 0x2320,
                        exp_type: 3,
                        data: Bytes::from_static(&[0xab, 0xcd]),
                    }),
                }),
            ),
            (
                "04 12 0011 00000002 1234 0000 00000000 ee",
                request(MultipartRequestBody::Unknown {
                    type_: 0x1234,
                    data: Bytes::from_static(&[0xee]),
                }),
            ),
        ]);
    }
}
