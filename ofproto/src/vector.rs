//! Known answers: annotated hexadecimal and the message that it is.

use bytes::{Bytes, BytesMut};

use crate::{Message, MultipartReply, MultipartReplyBody, MultipartRequest, MultipartRequestBody};

/// Checks that each text is the message beside it, that the message encodes to it, and that no prefix of it and no
/// flipped bit in it makes decoding panic.
pub(crate) fn check(table: &[(&str, Message)]) {
    for (text, expected) in table {
        let frame = Bytes::from(bytes(text));
        let (header, decoded) = Message::decode(&frame).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(&decoded, expected, "{text}");
        let mut encoded = BytesMut::from(&b"before"[..]);
        decoded.encode(header.xid, &mut encoded).unwrap();
        assert_eq!(
            format!("{:02x?}", &encoded[6..]),
            format!("{:02x?}", &frame[..]),
            "{text}"
        );
        tear(&frame);
    }
}

/// A whole request.
pub(crate) fn request(body: MultipartRequestBody) -> Message {
    Message::MultipartRequest(MultipartRequest { more: false, body })
}

/// A whole reply.
pub(crate) fn reply(body: MultipartReplyBody) -> Message {
    Message::MultipartReply(MultipartReply { more: false, body })
}

/// The bytes of a hexadecimal text. Spaces mean nothing, `#` begins a remark that ends with the line.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text
        .lines()
        .flat_map(|line| line.split('#').next())
        .flat_map(str::split_whitespace)
        .collect();
    assert!(digits.len().is_multiple_of(2), "half a byte: {text}");
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

fn tear(frame: &[u8]) {
    for end in 0..frame.len() {
        let mut prefix = frame[..end].to_vec();
        assert!(
            Message::decode(&prefix.clone().into()).is_err(),
            "a prefix of {end} bytes is no message"
        );
        // With a length that fits, decoding gets further.
        if let Some(field) = prefix.get_mut(2..4) {
            field.copy_from_slice(&u16::try_from(end).unwrap().to_be_bytes());
            let _ = Message::decode(&prefix.into());
        }
    }
    let mut flipped = frame.to_vec();
    for bit in 0..frame.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = Message::decode(&Bytes::copy_from_slice(&flipped));
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}
