//! Any bytes from the other proxy: requests, answers, datagrams.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proxy::relay::wire::{
    MAX_REQUEST, Request, decode_answer, decode_datagram, encode_answer, encode_datagram,
};

fuzz_target!(|input: &[u8]| {
    if let Ok(request) = Request::decode(input) {
        let bytes = request.encode();
        let (length, body) = bytes.split_at(2);
        assert_eq!(usize::from(u16::from_be_bytes([length[0], length[1]])), body.len());
        assert!(body.len() <= MAX_REQUEST && body.len() <= input.len());
        assert_eq!(Request::decode(body), Ok(request));
    }
    if let Some(bytes) = input.first_chunk()
        && let Ok(answer) = decode_answer(*bytes)
    {
        assert_eq!(decode_answer(encode_answer(answer)), Ok(answer));
    }
    if let Ok((flow, payload)) = decode_datagram(input.to_vec().into()) {
        assert!(flow < 1 << 62);
        let again = encode_datagram(flow, &payload);
        assert!(again.len() <= input.len());
        assert_eq!(decode_datagram(again), Ok((flow, payload)));
    }
});
