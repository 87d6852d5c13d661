//! Whatever decodes has a text, and any text is read or refused.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use ofproto::Message;
use ofproto::text::{parse_flow_mod, parse_group_mod, parse_meter_mod};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = (parse_flow_mod(text), parse_group_mod(text), parse_meter_mod(text));
    }
    let mut frame = bytes.to_vec();
    let (Ok(length), Some(field)) = (u16::try_from(bytes.len()), frame.get_mut(2..4)) else {
        return;
    };
    field.copy_from_slice(&length.to_be_bytes());
    if let Ok((header, message)) = Message::decode(&Bytes::from(frame)) {
        let text = message.text(header.xid).at_version(header.version).to_string();
        assert!(!text.is_empty());
    }
});
