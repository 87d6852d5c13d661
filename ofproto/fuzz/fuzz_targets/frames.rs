//! A stream gives the same frames however it is torn, and loses no byte of it.
//!
//! The last byte of the input says how long the pieces are in which the rest arrives.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use ofproto::{FrameError, FrameSplitter};

const MAX_LEN: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let Some((piece, stream)) = bytes.split_last() else {
        return;
    };
    let (whole, whole_end, left) = cut(stream, stream.len());
    let (torn, torn_end, _) = cut(stream, usize::from(*piece));
    // In pieces a foreign greeting may be seen as an impossible length before it is whole.
    if !matches!(whole_end, Some(FrameError::Foreign { .. })) {
        assert_eq!((&torn, torn_end), (&whole, whole_end));
    }
    for frame in &whole {
        assert!((8..=MAX_LEN).contains(&frame.len()));
        assert_eq!(usize::from(u16::from_be_bytes([frame[2], frame[3]])), frame.len());
    }
    let mut all = whole.concat();
    all.extend(left);
    assert_eq!(all, stream);
});

fn cut(stream: &[u8], piece: usize) -> (Vec<Bytes>, Option<FrameError>, BytesMut) {
    let (mut splitter, mut buf, mut frames) = (FrameSplitter::new(MAX_LEN), BytesMut::new(), Vec::new());
    for part in stream.chunks(piece.max(1)) {
        buf.extend_from_slice(part);
        loop {
            match splitter.next(&mut buf) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error), buf),
            }
        }
    }
    (frames, None, buf)
}
