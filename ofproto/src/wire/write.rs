//! Writing padding, lengths and texts of a fixed size.

use bytes::{BufMut, BytesMut};

use crate::EncodeError;

/// Appends a text in a field of fixed size, filled up with NUL.
pub(crate) fn put_text(
    out: &mut BytesMut,
    text: &str,
    size: usize,
    context: &'static str,
) -> Result<(), EncodeError> {
    if text.len() > size {
        return Err(EncodeError::TooLong {
            context,
            length: text.len(),
            limit: size,
        });
    }
    if text.contains('\0') {
        return Err(EncodeError::NulInText { context });
    }
    out.put_slice(text.as_bytes());
    out.put_bytes(0, size - text.len());
    Ok(())
}

/// Fills up with zeros to a multiple of eight bytes, counted from `start`.
pub(crate) fn put_pad8(out: &mut BytesMut, start: usize) {
    let used = out.len() - start;
    out.put_bytes(0, used.next_multiple_of(8) - used);
}

/// Writes the length of what begins at `start` into the 16-bit field `field` bytes after it.
pub(crate) fn patch_length(
    out: &mut BytesMut,
    start: usize,
    field: usize,
    context: &'static str,
) -> Result<(), EncodeError> {
    let length = out.len() - start;
    let Ok(short) = u16::try_from(length) else {
        return Err(EncodeError::TooLong {
            context,
            length,
            limit: usize::from(u16::MAX),
        });
    };
    out[start + field..start + field + 2].copy_from_slice(&short.to_be_bytes());
    Ok(())
}
