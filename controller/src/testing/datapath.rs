//! The fake switch: what the controller says to it, and what it says and does.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use ofproto::{
    BufferId, Capabilities, ConfigFlags, DatapathId, ErrorCode, ErrorMsg, FeaturesReply, Hello, Match,
    Message, MessageType, MeterId, MultipartReply, MultipartReplyBody, MultipartRequest,
    MultipartRequestBody, OxmField, PacketIn, PacketOut, PortNo, PortStatus, SwitchConfig, SwitchDesc,
    VERSION, Xid,
};
use policies::Timestamp;

use super::cache::Cache;
use super::forwarding::{Punt, Rules, Step};
use super::groups::Groups;
use super::meters::Meters;
use super::packet::Packet;
use super::ports::SwitchPorts;
use super::tables::{Entry, N_TABLES, References, Tables};

/// An OpenFlow 1.3 switch in memory, without sockets and clocks, that behaves as Open vSwitch does.
///
/// It takes messages and packets one at a time. Answers come back from [`message`](Self::message); what it says
/// unasked (PACKET_IN, FLOW_REMOVED, PORT_STATUS) waits for [`take_messages`](Self::take_messages), and what the
/// controller's PACKET_OUTs put on the wire for [`take_packets`](Self::take_packets).
///
/// Not there: roles, bundles, queues, time-outs of flow entries, counters but for those of meters, every statistic
/// that the controller does not ask for.
#[derive(Debug)]
pub struct FakeDatapath {
    datapath_id: DatapathId,
    config: SwitchConfig,
    tables: Tables,
    groups: Groups,
    meters: Meters,
    ports: SwitchPorts,
    cache: Cache,
    refused: Option<(MessageType, ErrorCode)>,
    unasked: Vec<(Xid, Message)>,
    sent_out: Vec<(PortNo, Packet)>,
}

impl FakeDatapath {
    /// A switch with these ports, numbered from 1, and nothing in its tables.
    pub fn new(datapath_id: DatapathId, ports: &[&str]) -> FakeDatapath {
        FakeDatapath {
            datapath_id,
            config: SwitchConfig {
                flags: ConfigFlags::empty(),
                miss_send_len: 128,
            },
            tables: Tables::default(),
            groups: Groups::default(),
            meters: Meters::default(),
            ports: SwitchPorts::new(datapath_id, ports),
            cache: Cache::new(datapath_id.0),
            refused: None,
            unasked: vec![],
            sent_out: vec![],
        }
    }

    /// Who it is.
    pub fn datapath_id(&self) -> DatapathId {
        self.datapath_id
    }

    /// Its ports.
    pub fn ports(&self) -> &SwitchPorts {
        &self.ports
    }

    /// Its flow entries.
    pub fn flows(&self) -> &[Entry] {
        self.tables.entries()
    }

    /// Its groups.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Its meters.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// How late the datapath follows a change of its rules, at most; 0 at first. Each flow follows at its own moment.
    pub fn set_lag(&mut self, lag: Duration) {
        self.cache.set_lag(lag);
    }

    /// Refuses every message of this type with this error from now on, or none any more.
    pub fn refuse(&mut self, refused: Option<(MessageType, ErrorCode)>) {
        self.refused = refused;
    }

    /// What it sends first on a new connection.
    pub fn connect(&mut self) -> Vec<(Xid, Message)> {
        self.unasked.clear();
        vec![(Xid(1), Message::Hello(Hello::v1_3()))]
    }

    /// Takes a message; returns the answers to it.
    pub fn message(&mut self, now: Timestamp, xid: Xid, message: Message) -> Vec<(Xid, Message)> {
        let request = message.clone();
        let answered = match self.refused {
            Some((refused, error)) if refused == message.message_type() => Err(error),
            _ => self.answer(now, message),
        };
        match answered {
            Ok(answers) => answers.into_iter().map(|answer| (xid, answer)).collect(),
            Err(error) => {
                let data = beginning(xid, &request);
                vec![(xid, Message::Error(ErrorMsg { error, data }))]
            }
        }
    }

    /// A packet comes in by a port; returns what leaves, by which port.
    pub fn receive(&mut self, now: Timestamp, in_port: PortNo, packet: Packet) -> Vec<(PortNo, Packet)> {
        if !self.ports.is_live(in_port) {
            return vec![];
        }
        let rules = Rules {
            tables: &self.tables,
            groups: &self.groups,
            ports: &self.ports,
        };
        let steps = self.cache.steps(now, in_port, packet, rules);
        let mut out = vec![];
        take_steps(now, steps, packet, &mut self.meters, &mut self.unasked, &mut out);
        out
    }

    /// What it says unasked.
    pub fn take_messages(&mut self) -> Vec<(Xid, Message)> {
        std::mem::take(&mut self.unasked)
    }

    /// What PACKET_OUTs put on the wire.
    pub fn take_packets(&mut self) -> Vec<(PortNo, Packet)> {
        std::mem::take(&mut self.sent_out)
    }

    /// The link of a port goes up or down.
    pub fn set_port_up(&mut self, now: Timestamp, name: &str, up: bool) {
        let news = self.ports.set_up(name, up);
        self.port_changed(now, news);
    }

    /// A port leaves the switch.
    pub fn remove_port(&mut self, now: Timestamp, name: &str) {
        let news = self.ports.remove(name);
        self.port_changed(now, news);
    }

    /// A port joins the switch.
    pub fn add_port(&mut self, now: Timestamp, number: PortNo, name: &str) {
        let news = self.ports.add(self.datapath_id, number, name);
        self.port_changed(now, Some(news));
    }

    /// Loses flows, groups and meters without a word, as when vswitchd starts again.
    pub fn wipe(&mut self) {
        self.tables = Tables::default();
        self.groups = Groups::default();
        self.meters = Meters::default();
        self.cache.clear();
        self.unasked.clear();
    }

    fn answer(&mut self, now: Timestamp, message: Message) -> Result<Vec<Message>, ErrorCode> {
        match message {
            Message::Hello(hello) if hello.accepts(VERSION) => Ok(vec![]),
            Message::Hello(_) => Err(ErrorCode::HELLO_FAILED_INCOMPATIBLE),
            Message::EchoRequest(data) => Ok(vec![Message::EchoReply(data)]),
            Message::EchoReply(_) | Message::Error(_) => Ok(vec![]),
            Message::FeaturesRequest => Ok(vec![Message::FeaturesReply(self.features())]),
            Message::GetConfigRequest => Ok(vec![Message::GetConfigReply(self.config.clone())]),
            Message::SetConfig(config) => {
                self.config = config;
                Ok(vec![])
            }
            Message::BarrierRequest => Ok(vec![Message::BarrierReply]),
            Message::FlowMod(flow_mod) => {
                let references = Present {
                    groups: &self.groups,
                    meters: &self.meters,
                };
                let removed = self.tables.flow_mod(now, flow_mod, &references)?;
                self.rules_changed(now, removed);
                Ok(vec![])
            }
            Message::GroupMod(group_mod) => {
                let gone = self.groups.group_mod(group_mod)?;
                let removed = gone.into_iter().flat_map(|id| self.tables.group_deleted(now, id));
                let removed = removed.collect();
                self.rules_changed(now, removed);
                Ok(vec![])
            }
            Message::MeterMod(meter_mod) => {
                let gone = self.meters.meter_mod(now, meter_mod)?;
                let removed = gone.into_iter().flat_map(|id| self.tables.meter_deleted(now, id));
                let removed = removed.collect();
                self.rules_changed(now, removed);
                Ok(vec![])
            }
            Message::PacketOut(packet_out) => {
                self.packet_out(now, &packet_out)?;
                Ok(vec![])
            }
            Message::MultipartRequest(request) => self.multipart(now, request),
            Message::Experimenter(_) => Err(ErrorCode::BAD_REQUEST_BAD_EXPERIMENTER),
            _ => Err(ErrorCode::BAD_REQUEST_BAD_TYPE),
        }
    }

    fn multipart(&self, now: Timestamp, request: MultipartRequest) -> Result<Vec<Message>, ErrorCode> {
        use MultipartReplyBody as Reply;
        use MultipartRequestBody as Request;
        let bodies = match request.body {
            Request::Desc => vec![Reply::Desc(description())],
            Request::PortDesc => vec![Reply::PortDesc(self.ports.all().to_vec())],
            Request::Flow(request) => in_parts(self.tables.stats(now, &request), Reply::Flow),
            Request::GroupDesc => in_parts(self.groups.descriptions(), Reply::GroupDesc),
            Request::Meter(wanted) => in_parts(self.meters.stats(now, wanted)?, Reply::Meter),
            Request::MeterConfig(wanted) => in_parts(self.meters.configs(wanted)?, Reply::MeterConfig),
            _ => return Err(ErrorCode::BAD_REQUEST_BAD_MULTIPART),
        };
        let last = bodies.len() - 1;
        let parts = bodies.into_iter().enumerate();
        Ok(parts
            .map(|(index, body)| {
                Message::MultipartReply(MultipartReply {
                    more: index < last,
                    body,
                })
            })
            .collect())
    }

    fn packet_out(&mut self, now: Timestamp, packet_out: &PacketOut) -> Result<(), ErrorCode> {
        if packet_out.buffer_id != BufferId::NO_BUFFER {
            return Err(ErrorCode::BAD_REQUEST_BUFFER_UNKNOWN);
        }
        let packet = Packet::from_bytes(&packet_out.data).ok_or(ErrorCode::BAD_REQUEST_BAD_PACKET)?;
        let rules = Rules {
            tables: &self.tables,
            groups: &self.groups,
            ports: &self.ports,
        };
        let steps = rules.packet_out(packet_out.in_port, packet, &packet_out.actions);
        let (meters, unasked) = (&mut self.meters, &mut self.unasked);
        take_steps(now, &steps, packet, meters, unasked, &mut self.sent_out);
        Ok(())
    }

    fn features(&self) -> FeaturesReply {
        FeaturesReply {
            datapath_id: self.datapath_id,
            n_buffers: 0,
            n_tables: N_TABLES,
            auxiliary_id: 0,
            capabilities: Capabilities::FLOW_STATS | Capabilities::TABLE_STATS | Capabilities::PORT_STATS,
        }
    }

    fn rules_changed(&mut self, now: Timestamp, removed: Vec<ofproto::FlowRemoved>) {
        self.cache.rules_changed(now);
        let removed = removed.into_iter().map(Message::FlowRemoved);
        self.unasked.extend(removed.map(|message| (UNASKED, message)));
    }

    fn port_changed(&mut self, now: Timestamp, news: Option<PortStatus>) {
        self.cache.rules_changed(now);
        let news = news.map(|status| (UNASKED, Message::PortStatus(status)));
        self.unasked.extend(news);
    }
}

struct Present<'a> {
    groups: &'a Groups,
    meters: &'a Meters,
}

impl References for Present<'_> {
    fn has_group(&self, group: ofproto::GroupId) -> bool {
        self.groups.contains(group)
    }

    fn has_meter(&self, meter: MeterId) -> bool {
        self.meters.contains(meter)
    }
}

/// Takes one packet along a way. It stops at a meter that does not let it pass.
fn take_steps(
    now: Timestamp,
    steps: &[Step],
    packet: Packet,
    meters: &mut Meters,
    unasked: &mut Vec<(Xid, Message)>,
    out: &mut Vec<(PortNo, Packet)>,
) {
    let payload = packet.payload();
    for step in steps {
        match step {
            Step::Meter(meter) => {
                if !meters.pass(now, *meter) {
                    return;
                }
            }
            Step::Output(port, packet) => out.push((*port, packet.with_payload(payload))),
            Step::ToController(punt) => {
                let packet = punt.flight.packet.with_payload(payload);
                unasked.push((UNASKED, Message::PacketIn(packet_in(punt, &packet))));
            }
        }
    }
}

fn packet_in(punt: &Punt, packet: &Packet) -> PacketIn {
    let data = packet.to_bytes();
    let mut match_ = Match::new().with(OxmField::InPort(punt.flight.in_port));
    if punt.flight.metadata != 0 {
        match_ = match_.with(OxmField::Metadata(punt.flight.metadata.into()));
    }
    PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: u16::try_from(data.len()).unwrap_or(u16::MAX),
        reason: punt.reason,
        table_id: punt.table,
        cookie: punt.cookie,
        match_,
        data,
    }
}

/// A list in messages of a few entries each, at least one message.
fn in_parts<T: Clone>(list: Vec<T>, body: fn(Vec<T>) -> MultipartReplyBody) -> Vec<MultipartReplyBody> {
    if list.is_empty() {
        return vec![body(list)];
    }
    list.chunks(ENTRIES_PER_PART)
        .map(|part| body(part.to_vec()))
        .collect()
}

/// What an error says of the message that caused it: its first 64 bytes.
fn beginning(xid: Xid, message: &Message) -> Bytes {
    let mut frame = BytesMut::new();
    match message.encode(xid, &mut frame) {
        Ok(()) => {
            frame.truncate(64);
            frame.freeze()
        }
        Err(_) => Bytes::new(),
    }
}

fn description() -> SwitchDesc {
    SwitchDesc {
        mfr_desc: "bicast".to_owned(),
        hw_desc: "none".to_owned(),
        sw_desc: "fake datapath".to_owned(),
        serial_num: "None".to_owned(),
        dp_desc: "None".to_owned(),
    }
}

/// Open vSwitch sends what nobody asked for with this transaction id.
const UNASKED: Xid = Xid(0);
/// Small, so that replies in several messages are the rule.
const ENTRIES_PER_PART: usize = 20;
