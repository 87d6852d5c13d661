//! Any text as a configuration file: it is good, or every problem has its place in it, and can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = proxy::config::parse("proxy.yaml", text) {
        assert!(error.to_string().lines().all(|line| !line.is_empty()));
        assert!(!format!("{:?}", miette::Report::new(error)).is_empty());
    }
});
