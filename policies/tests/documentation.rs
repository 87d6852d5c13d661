//! What docs/policy.md shows is true: its files load, its mistakes are reported as it says, and its sentence is one.

#![expect(clippy::disallowed_methods, reason = "a test reads the document")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;
use std::time::Duration;

use policies::estimate::kl::{lower, upper};
use policies::{
    Decision, Direction, Evidence, JointCounts, Mode, PathIndex, PathSet, Probability, Timestamp, load,
};

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("docs/policy.md");
    std::fs::read_to_string(path).unwrap()
}

/// The fenced blocks: what follows the fence, and the content.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = document.split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    inside.map(|block| block.split_once('\n').unwrap()).collect()
}

/// The sections of a file: each top-level key with its lines.
fn sections(text: &str) -> Vec<(&str, String)> {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        if !line.starts_with(' ') {
            sections.push((line.split(':').next().unwrap(), String::new()));
        }
        let section = &mut sections.last_mut().unwrap().1;
        section.push_str(line);
        section.push('\n');
    }
    sections
}

#[test]
fn every_file_in_the_document_loads() {
    let document = document();
    let files: Vec<&str> = blocks(&document)
        .into_iter()
        .filter(|(kind, _)| *kind == "yaml")
        .map(|(_, text)| text)
        .collect();
    assert!(files.len() >= 4);
    let complete = sections(files[0]);
    for text in files {
        // A block without some sections has them from the complete file at the beginning.
        let own = sections(text);
        let borrowed = complete
            .iter()
            .filter(|(key, _)| own.iter().all(|(other, _)| other != key));
        let file: String = own
            .iter()
            .chain(borrowed)
            .map(|(_, lines)| lines.as_str())
            .collect();
        let result = load("policy.md", &file);
        assert!(result.is_ok(), "{}\n{file}", result.unwrap_err());
    }
}

#[test]
fn mistakes_are_reported_as_the_document_says() {
    let document = document();
    let blocks = blocks(&document);
    let position = blocks
        .iter()
        .position(|(kind, _)| *kind == "yaml mistaken")
        .unwrap();
    let error = load("van.yaml", blocks[position].1).unwrap_err();
    assert_eq!(error.to_string(), blocks[position + 1].1.trim_end());
}

#[test]
fn the_sentences_in_the_document_are_some() {
    let percent = |percent| Probability::from_percent(percent).unwrap();
    let (unicast, bicast) = (Mode::Unicast(PathIndex(0)), Mode::Bicast(PathSet::all(2)));
    let begin = Decision {
        at: Timestamp::ZERO,
        direction: Direction::Forward,
        from: unicast,
        to: bicast,
        evidence: Evidence::LossAbove {
            path: PathIndex(0),
            lost: 149,
            sent: 4812,
            span: Duration::from_millis(600),
            bound: Probability::saturating(lower(149, 4812, 1e-4)),
            confidence: percent(99.99),
            threshold: percent(2.0),
        },
        joint: None,
    };
    let end = Decision {
        from: bicast,
        to: unicast,
        evidence: Evidence::LossBelow {
            path: PathIndex(0),
            lost: 0,
            sent: 20_000,
            span: Duration::from_secs(10),
            bound: Probability::saturating(upper(0, 20_000, 1e-4)),
            confidence: percent(99.99),
            threshold: percent(0.5),
        },
        joint: Some(JointCounts {
            packets: 9_800,
            lost: 12,
            rescued: 310,
        }),
        ..begin.clone()
    };
    for decision in [begin, end] {
        let sentence = decision.sentence(&["a".to_owned(), "b".to_owned()]);
        assert!(
            blocks(&document())
                .iter()
                .any(|(_, text)| text.trim_end() == sentence),
            "{sentence}"
        );
    }
}
