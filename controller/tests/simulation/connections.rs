//! Peers that are no good switches, and switches that fall silent.

use std::time::Duration;

use bytes::Bytes;
use controller::core::Core;
use controller::event::{ConnId, Effect, Event};
use ofproto::{ErrorCode, ErrorMsg, Header, Hello, Message, VERSION, VersionBitmap, Xid};
use policies::Timestamp;

use crate::common::*;

const CONN: ConnId = ConnId(1);

#[test]
fn a_peer_of_openflow_1_0_is_told_so_and_let_go() {
    let mut peer = Peer::connected();
    assert!(matches!(peer.messages().as_slice(), [Message::Hello(_)]));
    let hello = Hello {
        header_version: 1,
        bitmap: None,
        other: vec![],
    };
    peer.say_at(1, Message::Hello(hello));
    let messages = peer.messages();
    let [Message::Error(error)] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert_eq!(error.error, ErrorCode::HELLO_FAILED_INCOMPATIBLE);
    assert!(String::from_utf8_lossy(&error.data).contains("OpenFlow 1.0"));
    assert!(peer.closed);
    assert_eq!(peer.core.next_deadline(), None, "nothing is left to wait for");
}

#[test]
fn a_newer_peer_without_a_bitmap_speaks_1_3_with_us() {
    let mut peer = Peer::connected();
    let hello = Hello {
        header_version: 6,
        bitmap: None,
        other: vec![],
    };
    peer.say_at(6, Message::Hello(hello));
    assert!(matches!(
        peer.messages().as_slice(),
        [Message::Hello(_), Message::SetConfig(_), Message::FeaturesRequest]
    ));
}

#[test]
fn a_newer_peer_whose_bitmap_leaves_out_1_3_is_refused() {
    let mut peer = Peer::connected();
    let hello = Hello {
        header_version: 6,
        bitmap: Some(VersionBitmap::of(&[5, 6])),
        other: vec![],
    };
    peer.say_at(6, Message::Hello(hello));
    assert!(matches!(
        peer.messages().as_slice(),
        [Message::Hello(_), Message::Error(_)]
    ));
    assert!(peer.closed);
}

#[test]
fn a_silent_peer_is_asked_after_one_second_and_closed_after_three() {
    let mut peer = Peer::connected();
    peer.say(Message::Hello(Hello::v1_3()));
    peer.messages();
    peer.wait_until(ms(999));
    assert_eq!(peer.messages(), []);
    peer.wait_until(ms(1_000));
    assert!(matches!(peer.messages().as_slice(), [Message::EchoRequest(_)]));
    peer.wait_until(ms(2_999));
    assert!(peer.messages().is_empty() && !peer.closed);
    peer.wait_until(ms(3_000));
    assert!(peer.closed);
}

#[test]
fn a_peer_that_says_nothing_at_all_is_closed_too() {
    let mut peer = Peer::connected();
    peer.wait_until(secs(4));
    assert!(peer.closed);
}

#[test]
fn an_answered_echo_keeps_the_connection() {
    let mut peer = Peer::connected();
    peer.say(Message::Hello(Hello::v1_3()));
    for second in 1..60 {
        peer.wait_until(secs(second));
        for message in peer.messages() {
            if let Message::EchoRequest(data) = message {
                peer.say(Message::EchoReply(data));
            }
        }
        assert!(!peer.closed, "after {second} s");
    }
}

#[test]
fn an_echo_request_is_answered_with_its_own_bytes() {
    let mut peer = Peer::connected();
    peer.say(Message::Hello(Hello::v1_3()));
    peer.messages();
    peer.say(Message::EchoRequest(Bytes::from_static(b"ping")));
    assert_eq!(peer.messages(), [Message::EchoReply(Bytes::from_static(b"ping"))]);
}

#[test]
fn a_malformed_message_is_answered_and_the_connection_goes_on() {
    let mut peer = Peer::connected();
    peer.say(Message::Hello(Hello::v1_3()));
    peer.messages();
    let answer = ErrorMsg {
        error: ErrorCode::BAD_REQUEST_BAD_LEN,
        data: Bytes::new(),
    };
    peer.handle(Event::Malformed {
        conn: CONN,
        xid: Xid(9),
        answer: answer.clone(),
        problem: "too short".to_owned(),
    });
    assert_eq!(peer.messages(), [Message::Error(answer)]);
    assert!(!peer.closed);
}

#[test]
fn a_peer_that_does_not_begin_with_hello_is_closed() {
    let mut peer = Peer::connected();
    peer.say(Message::BarrierReply);
    assert!(peer.closed);
}

#[test]
fn what_comes_of_a_closed_connection_is_ignored() {
    let mut peer = Peer::connected();
    peer.say(Message::BarrierReply);
    peer.messages();
    peer.say(Message::Hello(Hello::v1_3()));
    peer.handle(Event::Disconnected {
        conn: CONN,
        reason: "gone".to_owned(),
    });
    assert_eq!(peer.messages(), []);
}

#[test]
fn a_switch_that_hangs_is_let_go_and_taken_back() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    world.control_latency("client", secs(5));
    let gone = world.run_until(secs(8), |world| {
        world.switch_view("client").state == controller::api::SwitchState::Disconnected
    });
    assert!(gone.is_some());
    world.control_latency("client", ms(1));
    world.run(secs(10));
    assert_eq!(
        world.switch_view("client").state,
        controller::api::SwitchState::Programmed
    );
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn a_switch_that_connects_twice_is_served_on_the_new_connection() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(1));
    let since = world.sent().len();
    for _ in 0..5 {
        world.connect_again("client");
        world.run(ms(700));
    }
    world.run(secs(2));
    assert_eq!(
        world.switch_view("client").state,
        controller::api::SwitchState::Programmed
    );
    assert_eq!(changes(&world, "client", since), []);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

/// The other end of one connection of a core without policies.
struct Peer {
    core: Core,
    now: Timestamp,
    heard: Vec<Message>,
    closed: bool,
}

impl Peer {
    fn connected() -> Peer {
        let mut peer = Peer {
            core: Core::new(0),
            now: Timestamp::ZERO,
            heard: vec![],
            closed: false,
        };
        peer.handle(Event::Connected {
            conn: CONN,
            peer: "192.0.2.1:50000".to_owned(),
        });
        peer
    }

    fn say(&mut self, message: Message) {
        self.say_at(VERSION, message);
    }

    fn say_at(&mut self, version: u8, message: Message) {
        let header = Header {
            version,
            type_: message.message_type().to_wire(),
            length: 8,
            xid: Xid(77),
        };
        self.handle(Event::Message {
            conn: CONN,
            header,
            message,
        });
    }

    /// Lets time pass, with every deadline of the core on the way.
    fn wait_until(&mut self, time: Duration) {
        let end = Timestamp::from(time);
        while let Some(at) = self.core.next_deadline().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.handle(Event::Deadline);
        }
        self.now = end;
    }

    fn messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.heard)
    }

    fn handle(&mut self, event: Event) {
        let mut effects = vec![];
        self.core.handle(self.now, event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { message, .. } => {
                    assert!(!self.closed, "nothing is sent after the end");
                    self.heard.push(message);
                }
                Effect::Close { .. } => self.closed = true,
                _ => {}
            }
        }
    }
}
