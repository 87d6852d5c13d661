//! Any bytes from a SOCKS5 application: a parser needs few of them, says the same of a beginning as of the whole, and
//! what it understands it can say itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proxy::relay::socks5::{datagram_header, parse_command, parse_datagram, parse_greeting};

fuzz_target!(|input: &[u8]| {
    let rest = whole_or_longer(input, 257, parse_greeting).unwrap_or(input);
    whole_or_longer(rest, 262, parse_command);
    if let Some((target, payload)) = parse_datagram(input) {
        let again = [&datagram_header(&target)[..], payload].concat();
        assert_eq!(parse_datagram(&again), Some((target, payload)));
    }
});

/// Gives what follows what was parsed.
fn whole_or_longer<T: PartialEq + std::fmt::Debug, E: PartialEq + std::fmt::Debug>(
    input: &[u8],
    most: usize,
    parse: fn(&[u8]) -> Result<Option<(T, usize)>, E>,
) -> Option<&[u8]> {
    let whole = parse(input);
    if whole == Ok(None) {
        assert!(input.len() < most, "it cannot go on for ever");
    }
    for length in 0..input.len().min(most) {
        let part = parse(&input[..length]);
        assert!(part == Ok(None) || part == whole, "{part:?} of {whole:?}");
    }
    whole.ok().flatten().map(|(_, length)| &input[length..])
}
