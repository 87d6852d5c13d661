//! Laws that hold for every message and for every string of bytes.

mod any;

use bytes::{Bytes, BytesMut};
use ofproto::{FrameSplitter, Message, Xid};
use proptest::prelude::*;

fn encoded(message: &Message, xid: Xid) -> Bytes {
    let mut out = BytesMut::new();
    message.encode(xid, &mut out).expect("a generated message fits");
    out.freeze()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_undoes_encoding(message in any::message(), xid: u32) {
        let frame = encoded(&message, Xid(xid));
        let (header, decoded) = Message::decode(&frame).expect("what was encoded decodes");
        prop_assert_eq!(header.xid, Xid(xid));
        prop_assert_eq!(usize::from(header.length), frame.len());
        prop_assert_eq!(decoded, message);
    }

    #[test]
    fn any_bytes_give_an_error_or_a_message_that_encodes(
        type_ in 0u8..32,
        body in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => 0u8..20, 1 => any::<u8>()], 0..200),
    ) {
        let mut frame = vec![4, type_, 0, 0, 0, 0, 0, 1];
        frame.extend(body);
        let length = u16::try_from(frame.len()).expect("a short frame");
        frame[2..4].copy_from_slice(&length.to_be_bytes());
        match Message::decode(&frame.clone().into()) {
            Ok((header, message)) => {
                prop_assert!(!message.text(header.xid).to_string().is_empty());
                let once = encoded(&message, header.xid);
                let (_, again) = Message::decode(&once).expect("what was encoded decodes");
                prop_assert_eq!(encoded(&again, header.xid), once);
            }
            Err(error) => {
                prop_assert!(error.offset <= frame.len());
                prop_assert!(!error.context.is_empty());
                prop_assert!(error.error_msg(&frame).error.name().is_some());
            }
        }
    }

    #[test]
    fn a_broken_message_gives_an_error_or_a_message(
        message in any::message(),
        at: prop::sample::Index,
        value: u8,
        cut: prop::sample::Index,
    ) {
        let mut frame = encoded(&message, Xid(1)).to_vec();
        let at = at.index(frame.len());
        frame[at] = value;
        frame.truncate(8.max(cut.index(frame.len() + 1)));
        let length = u16::try_from(frame.len()).expect("a short frame");
        frame[2..4].copy_from_slice(&length.to_be_bytes());
        if let Ok((header, message)) = Message::decode(&frame.into()) {
            prop_assert!(!message.text(header.xid).to_string().is_empty());
        }
    }

    #[test]
    fn a_torn_stream_gives_its_messages_back(
        messages in prop::collection::vec(any::message(), 1..5),
        tear: prop::sample::Index,
    ) {
        let mut stream = BytesMut::new();
        for message in &messages {
            message.encode(Xid(1), &mut stream).expect("a generated message fits");
        }
        let tear = tear.index(stream.len());
        let (mut splitter, mut buf, mut got) = (FrameSplitter::new(65_535), BytesMut::new(), Vec::new());
        for part in [&stream[..tear], &stream[tear..]] {
            buf.extend_from_slice(part);
            while let Some(frame) = splitter.next(&mut buf).expect("a sound stream") {
                got.push(Message::decode(&frame).expect("a whole message").1);
            }
        }
        prop_assert_eq!(got, messages);
    }
}
