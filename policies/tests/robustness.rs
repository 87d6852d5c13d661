//! Whatever a file holds, loading it ends with a policy set or with problems that point into it.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the example that it mutilates"
)]

use std::path::Path;

use policies::load;

/// Splices that have broken parsers before.
const SPLICES: [&str; 20] = [
    "",
    "\t",
    "\n",
    "\r\n",
    " ",
    ":",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "&x ",
    "*x",
    "!!binary ",
    "ä",
    "\u{0}",
    "%",
    "|\n",
];

#[test]
fn mutilated_files_are_refused_without_panic() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("examples/two-uplinks.yaml");
    let example = std::fs::read_to_string(path).unwrap();
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    let mut refused = 0;
    for round in 0..1_000 {
        let mut text = example.clone();
        for _ in 0..=below(3) {
            let boundary = |text: &str, mut at: usize| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let start = boundary(&text, below(text.len()));
            let end = boundary(&text, (start + below(12)).min(text.len()));
            text.replace_range(start..end.max(start), SPLICES[below(SPLICES.len())]);
        }
        if let Err(error) = load("mutilated.yaml", &text) {
            refused += 1;
            assert!(!error.problems().is_empty());
            for problem in error.problems() {
                assert!(
                    text.get(problem.span.clone()).is_some(),
                    "round {round}: {problem} {:?}",
                    problem.span
                );
                assert!(
                    problem.line >= 1 && problem.column >= 1,
                    "round {round}: {problem}"
                );
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn a_file_that_expands_beyond_measure_is_refused() {
    let mut text = String::from("sites: &a0 {x: {default: y}}\n");
    for level in 1..40 {
        text.push_str(&format!(
            "peerings: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}]\n",
            level - 1
        ));
    }
    assert!(load("bomb.yaml", &text).is_err());
    let deep = format!("sites: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(load("deep.yaml", &deep).is_err());
}
