//! Each file in `tests/invalid` is refused with the text beside it, which is what an operator sees; the examples and
//! what docs/proxy.md shows are good.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};

use proxy::config::{ForwardKind, Limits, Transport, parse};
use proxy::shim::ShimConfig;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && name.ends_with(".yaml")
    });
    files.sort();
    files
}

#[test]
fn every_invalid_file_is_refused_with_a_helpful_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let cases = files(&folder, "");
    assert!(cases.len() >= 10, "the cases are in {}", folder.display());
    for case in cases {
        let file_name = case.file_name().unwrap().to_str().unwrap();
        let error = parse(file_name, &std::fs::read_to_string(&case).unwrap()).expect_err(file_name);
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(case.file_stem().unwrap().to_str().unwrap(), error.to_string());
        });
    }
}

#[test]
fn the_examples_and_the_documents_files_are_good() {
    let examples = files(&root().join("examples/proxy"), "");
    assert_eq!(examples.len(), 2);
    for example in examples {
        parse(
            example.to_str().unwrap(),
            &std::fs::read_to_string(&example).unwrap(),
        )
        .unwrap_or_else(|error| panic!("{error}"));
    }
    let document = std::fs::read_to_string(root().join("docs/proxy.md")).unwrap();
    let shown: Vec<&str> = document
        .split("```yaml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert_eq!(shown.len(), 3);
    for text in shown {
        parse("docs/proxy.md", text).unwrap_or_else(|error| panic!("{error}\nin\n{text}"));
    }
}

#[test]
fn what_is_left_out_has_the_documented_value() {
    let key = proxy::PrivateKey::generate().unwrap().public();
    let text = format!(
        "key: /k\nlisten: 0.0.0.0:4433\npeers:\n  a: {{key: {key}, dial: \"a.example:7\"}}\n\
         forwards:\n  w: {{kind: tcp, listen: 127.0.0.1:1, peer: a, target: server:80}}\n"
    );
    let config = parse("test.yaml", &text).unwrap();
    assert_eq!(config.listen_datagrams.unwrap().port(), 4434);
    assert_eq!(
        config.peers[0].dial_datagrams.as_ref().unwrap().to_string(),
        "a.example:8"
    );
    assert_eq!(config.peers[0].congestion.to_string(), "bbr3");
    assert_eq!(
        (config.transport, config.limits),
        (Transport::default(), Limits::default())
    );
    assert_eq!(
        config.forwards[0].kind,
        ForwardKind::Tcp("server:80".parse().unwrap())
    );

    // The values of the table in the document are the defaults, and each key of it is one.
    let document = std::fs::read_to_string(root().join("docs/proxy.md")).unwrap();
    let every_key = document
        .split("```yaml\n")
        .nth(3)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let written = parse("docs/proxy.md", every_key).unwrap();
    assert_eq!(written.transport, Transport::default());
    assert_eq!(written.shim, ShimConfig::default());
    assert_eq!(
        Limits {
            stream_idle: None,
            ..written.limits
        },
        Limits::default()
    );
    let report = written.report.unwrap();
    assert_eq!(report.site.as_deref(), Some("vehicle"));
    assert_eq!(report.policies, [(0, "proxies".to_owned())].into());
}
