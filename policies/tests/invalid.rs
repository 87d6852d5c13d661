//! Each file in `tests/invalid` is refused with the text beside it, which is what an operator sees.

#![expect(clippy::disallowed_methods, reason = "a test reads its cases from files")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

#[test]
fn every_invalid_file_is_refused_with_a_helpful_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    cases.sort();
    assert!(cases.len() >= 20, "the cases are in {}", folder.display());

    for case in cases {
        let file_name = case.file_name().unwrap().to_str().unwrap();
        let name = case.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&case).unwrap();
        let error = policies::load(file_name, &text).expect_err(file_name);
        assert_each_problem_points_into_the_file(&error, &text, name);
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, error.to_string());
        });
    }
}

fn assert_each_problem_points_into_the_file(error: &policies::LoadError, text: &str, name: &str) {
    assert!(!error.problems().is_empty(), "{name}");
    let labels = miette::Diagnostic::labels(error).unwrap().count();
    assert_eq!(labels, error.problems().len(), "{name}");
    for problem in error.problems() {
        assert!(problem.line >= 1 && problem.column >= 1, "{name}: {problem}");
        assert!(
            text.get(problem.span.clone()).is_some(),
            "{name}: {problem} spans {:?}",
            problem.span
        );
        let before = &text[..problem.span.start];
        assert_eq!(
            before.matches('\n').count() + 1,
            problem.line,
            "{name}: {problem}"
        );
        assert_eq!(
            before.rsplit('\n').next().unwrap().chars().count() + 1,
            problem.column,
            "{name}: {problem}"
        );
    }
}
