//! Bytes as text.

/// Sixteen bytes a line, with their offset before and their characters after them.
pub(super) fn put_hex_dump(out: &mut String, bytes: &[u8]) {
    for (at, line) in bytes.chunks(16).enumerate() {
        put!(out, "{:08x} ", at * 16);
        for (column, byte) in line.iter().enumerate() {
            // A byte may open the second half of the line, or the next one: the dash is there in both cases.
            out.push(if column == 8 { '-' } else { ' ' });
            put!(out, "{byte:02x}");
        }
        if line.len() == 8 {
            out.push('-');
        }
        for column in line.len()..16 {
            out.push_str(if column == 8 && line.len() == 8 {
                "  "
            } else {
                "   "
            });
        }
        out.push_str(" |");
        out.extend(line.iter().map(|byte| {
            if (0x20..0x7f).contains(byte) {
                char::from(*byte)
            } else {
                '.'
            }
        }));
        out.extend((line.len()..16).map(|_| ' '));
        out.push_str("|\n");
    }
}

/// Text with what cannot be printed as escape sequences.
pub(super) fn put_printable(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        if (0x20..0x7f).contains(byte) && !matches!(byte, b'\\' | b'"') {
            out.push(char::from(*byte));
        } else {
            put!(out, "\\{byte:03o}");
        }
    }
}

/// Bytes without blanks.
pub(super) fn put_hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        put!(out, "{byte:02x}");
    }
}

/// Bytes as one number in hexadecimal; zero has no prefix.
pub(super) fn put_number(out: &mut String, bytes: &[u8]) {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    match &bytes[zeros..] {
        [] => out.push('0'),
        [first, rest @ ..] => {
            put!(out, "{first:#x}");
            put_hex(out, rest);
        }
    }
}
