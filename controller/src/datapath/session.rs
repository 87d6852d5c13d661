//! One OpenFlow connection: HELLO, features, description, and whether the peer is still alive.

use std::time::Duration;

use bytes::Bytes;
use ofproto::{
    ConfigFlags, ErrorCode, ErrorMsg, FeaturesReply, Header, Hello, MAX_LEN_NO_BUFFER, Message,
    MultipartAssembler, MultipartReplyBody, MultipartRequest, MultipartRequestBody, Port, SwitchConfig,
    SwitchDesc, Xid,
};
use policies::Timestamp;

/// The sans-I/O state of one connection. Feed it messages and time; send what it returns.
#[derive(Debug)]
pub struct Session {
    peer: String,
    state: State,
    next_xid: u32,
    last_heard: Timestamp,
    echo_sent: Option<Timestamp>,
    assembler: MultipartAssembler,
}

/// What a session wants done.
#[derive(Debug)]
pub enum SessionOutput {
    /// Send this.
    Send(Xid, Message),
    /// The switch is known: from now on its messages are passed up.
    Identified(Box<Identity>),
    /// A message, or a whole multipart reply, for the layers above.
    Message(Xid, Message),
    /// A multipart reply, put together.
    Multipart(Xid, MultipartReplyBody),
    /// End the connection: why.
    Close(String),
}

/// Who the switch is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Datapath id, tables, capabilities.
    pub features: FeaturesReply,
    /// Manufacturer, software, serial number in words.
    pub description: SwitchDesc,
    /// The ports that it has.
    pub ports: Vec<Port>,
}

#[derive(Debug)]
enum State {
    AwaitHello,
    AwaitFeatures,
    AwaitDescription {
        features: FeaturesReply,
    },
    AwaitPorts {
        features: FeaturesReply,
        description: SwitchDesc,
    },
    Identified,
    Closed,
}

impl Session {
    /// A connection that was just accepted, and the HELLO to send on it.
    pub fn new(peer: String, now: Timestamp) -> (Session, Vec<SessionOutput>) {
        let mut session = Session {
            peer,
            state: State::AwaitHello,
            next_xid: 1,
            last_heard: now,
            echo_sent: None,
            assembler: MultipartAssembler::new(MAX_REPLIES, MAX_PARTS),
        };
        let hello = session.send(Message::Hello(Hello::v1_3()));
        (session, vec![hello])
    }

    /// The remote address.
    pub fn peer(&self) -> &str {
        &self.peer
    }

    /// A transaction id that this connection has not used for a long time.
    pub fn next_xid(&mut self) -> Xid {
        let xid = self.next_xid;
        self.next_xid = self.next_xid.wrapping_add(1);
        Xid(xid)
    }

    /// Takes one message in.
    pub fn message(&mut self, now: Timestamp, header: Header, message: Message) -> Vec<SessionOutput> {
        self.heard(now);
        match (&self.state, message) {
            (State::Closed, _) => vec![],
            (_, Message::EchoRequest(data)) => {
                vec![SessionOutput::Send(header.xid, Message::EchoReply(data))]
            }
            (_, Message::EchoReply(_)) => vec![],
            (State::AwaitHello, Message::Hello(hello)) => self.hello(header, &hello),
            (State::AwaitHello, Message::Error(error)) => {
                self.close(format!("the switch refused the connection: {}", error.error))
            }
            (State::AwaitHello, other) => self.close(format!("{} before OFPT_HELLO", other.name())),
            (_, Message::Hello(_)) => vec![],
            (_, Message::MultipartReply(reply)) => match self.assembler.push(header.xid, reply) {
                Ok(Some(body)) => self.multipart(header.xid, body),
                Ok(None) => vec![],
                Err(error) => self.close(format!("multipart reply: {error}")),
            },
            (State::AwaitFeatures, Message::FeaturesReply(features)) => {
                self.state = State::AwaitDescription { features };
                vec![self.request(MultipartRequestBody::Desc)]
            }
            (State::Identified, message) => vec![SessionOutput::Message(header.xid, message)],
            (_, Message::Error(error)) => self.close(format!("error during the handshake: {}", error.error)),
            // PORT_STATUS, PACKET_IN and the like may overtake the handshake; PORT_DESC will tell the state.
            (_, _) => vec![],
        }
    }

    /// A frame arrived that was no valid message: proof of life all the same.
    pub fn heard(&mut self, now: Timestamp) {
        self.last_heard = now;
        self.echo_sent = None;
    }

    /// Called when [`Session::deadline`] has come.
    pub fn tick(&mut self, now: Timestamp) -> Vec<SessionOutput> {
        let silence = now.saturating_since(self.last_heard);
        if matches!(self.state, State::Closed) {
            vec![]
        } else if silence >= DEAD_PEER {
            self.close(format!("nothing heard for {:.1} s", silence.as_secs_f64()))
        } else if silence >= PROBE_AFTER && self.echo_sent.is_none() {
            self.echo_sent = Some(now);
            vec![self.send(Message::EchoRequest(Bytes::from_static(b"bicastd")))]
        } else {
            vec![]
        }
    }

    /// When [`Session::tick`] wants to be called.
    pub fn deadline(&self) -> Timestamp {
        self.last_heard
            + if self.echo_sent.is_some() {
                DEAD_PEER
            } else {
                PROBE_AFTER
            }
    }

    fn hello(&mut self, header: Header, hello: &Hello) -> Vec<SessionOutput> {
        let offered = hello.versions(header.version);
        // Without a bitmap the lower of the two header versions is spoken (OpenFlow 1.3.5 §6.3.1).
        let agreed = offered.contains(&OFP13) || (hello.bitmap.is_none() && header.version > OFP13);
        if !agreed {
            let names: Vec<String> = offered.iter().map(|version| version_name(*version)).collect();
            let text = format!(
                "bicastd speaks OpenFlow 1.3 only, the switch offered {}",
                names.join(", ")
            );
            let error = ErrorMsg {
                error: ErrorCode::HELLO_FAILED_INCOMPATIBLE,
                data: Bytes::from(text.clone().into_bytes()),
            };
            let mut outputs = vec![SessionOutput::Send(header.xid, Message::Error(error))];
            outputs.extend(self.close(text));
            return outputs;
        }
        self.state = State::AwaitFeatures;
        let config = SwitchConfig {
            flags: ConfigFlags::empty(),
            miss_send_len: MAX_LEN_NO_BUFFER,
        };
        vec![
            self.send(Message::SetConfig(config)),
            self.send(Message::FeaturesRequest),
        ]
    }

    fn multipart(&mut self, xid: Xid, body: MultipartReplyBody) -> Vec<SessionOutput> {
        match (std::mem::replace(&mut self.state, State::Closed), body) {
            (State::AwaitDescription { features }, MultipartReplyBody::Desc(description)) => {
                self.state = State::AwaitPorts {
                    features,
                    description,
                };
                vec![self.request(MultipartRequestBody::PortDesc)]
            }
            (
                State::AwaitPorts {
                    features,
                    description,
                },
                MultipartReplyBody::PortDesc(ports),
            ) => {
                self.state = State::Identified;
                vec![SessionOutput::Identified(Box::new(Identity {
                    features,
                    description,
                    ports,
                }))]
            }
            (State::Identified, body) => {
                self.state = State::Identified;
                vec![SessionOutput::Multipart(xid, body)]
            }
            (state, _) => {
                self.state = state;
                vec![]
            }
        }
    }

    fn request(&mut self, body: MultipartRequestBody) -> SessionOutput {
        self.send(Message::MultipartRequest(MultipartRequest { more: false, body }))
    }

    fn send(&mut self, message: Message) -> SessionOutput {
        SessionOutput::Send(self.next_xid(), message)
    }

    fn close(&mut self, reason: String) -> Vec<SessionOutput> {
        self.state = State::Closed;
        vec![SessionOutput::Close(reason)]
    }
}

fn version_name(version: u8) -> String {
    match version {
        0 => "an unknown version".to_owned(),
        version => format!("OpenFlow 1.{} (0x{version:02x})", version - 1),
    }
}

/// OpenFlow 1.3 on the wire.
const OFP13: u8 = 0x04;
/// Multipart replies that may be incomplete at a time; we ask for four.
const MAX_REPLIES: usize = 16;
/// Messages that they may have in sum: a dump of a million flow entries.
const MAX_PARTS: usize = 4096;
/// Silence after which we ask whether the peer is alive.
const PROBE_AFTER: Duration = Duration::from_secs(1);
/// Silence after which a peer is dead. Open vSwitch itself needs 10 s to notice the same of us.
const DEAD_PEER: Duration = Duration::from_secs(3);
