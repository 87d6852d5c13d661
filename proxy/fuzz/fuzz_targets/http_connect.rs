//! Any bytes from an application that should speak HTTP CONNECT, in any two pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proxy::relay::http_connect::{MAX_HEAD, parse};
use proxy::target::Target;

fuzz_target!(|input: &[u8]| {
    let whole = parse(input);
    for length in 0..input.len() {
        let part = parse(&input[..length]);
        assert!(part == Ok(None) || part == whole, "{part:?} of {whole:?}");
    }
    match whole {
        Ok(None) => assert!(input.len() < MAX_HEAD),
        Ok(Some((target, length))) => {
            assert!(input[..length].ends_with(b"\r\n\r\n"));
            assert_eq!(target.to_string().parse::<Target>(), Ok(target));
        }
        Err(_) => {}
    }
});
