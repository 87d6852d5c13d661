//! Any bytes are a message or an error that points into them and knows its answer.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use ofproto::Message;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // With a length that fits, decoding gets further.
    let mut fixed = bytes.to_vec();
    if let (Ok(length), Some(field)) = (u16::try_from(bytes.len()), fixed.get_mut(2..4)) {
        field.copy_from_slice(&length.to_be_bytes());
        check(&fixed);
    }
});

fn check(bytes: &[u8]) {
    if let Err(error) = Message::decode(&Bytes::copy_from_slice(bytes)) {
        assert!(error.offset <= bytes.len(), "{error}");
        assert!(!error.context.is_empty(), "{error}");
        let answer = error.error_msg(bytes);
        assert!(answer.error.name().is_some(), "{error}");
        assert!(answer.data.len() <= 64, "{error}");
    }
}
