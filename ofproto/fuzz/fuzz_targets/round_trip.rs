//! What was decoded encodes; and what was encoded is a fixed point: the same bytes ever after.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use ofproto::{Header, Message};

fuzz_target!(|bytes: &[u8]| {
    let mut frame = bytes.to_vec();
    let (Ok(length), Some(field)) = (u16::try_from(bytes.len()), frame.get_mut(2..4)) else {
        return;
    };
    field.copy_from_slice(&length.to_be_bytes());
    let Ok((header, message)) = Message::decode(&Bytes::from(frame)) else {
        return;
    };
    let canonical = encode(&header, &message);
    let (header, again) = Message::decode(&canonical).expect("what was encoded decodes");
    assert_eq!(encode(&header, &again), canonical);
    let (_, third) = Message::decode(&canonical).expect("what was encoded decodes");
    assert_eq!(third, again);
});

fn encode(header: &Header, message: &Message) -> Bytes {
    let mut out = BytesMut::new();
    message
        .encode(header.xid, &mut out)
        .expect("what was decoded has a form on the wire");
    out.freeze()
}
