//! What is wrong with a policy file or another file read the same way, and where.

use std::fmt::{self, Write as _};
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, SourceCode};

/// A file that cannot be used: one or several problems.
///
/// Its `Display` is one line per problem, `file.yaml:12:5: what is wrong; what to do`, and needs no other renderer.
/// As a [`miette::Diagnostic`] it carries the source text and a labelled span for each problem.
#[derive(Clone, Debug)]
pub struct LoadError {
    file_name: String,
    source: String,
    problems: Vec<Problem>,
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
    /// What to do about it, such as the nearest name.
    pub help: Option<String>,
    /// The bytes of the file that it is about.
    pub span: Range<usize>,
}

impl LoadError {
    /// What is wrong with the text `source` of the file `file_name`: at least one problem, in the order of the file.
    pub fn new(file_name: &str, source: &str, problems: Vec<Problem>) -> LoadError {
        LoadError {
            file_name: file_name.to_owned(),
            source: source.to_owned(),
            problems,
        }
    }

    /// The problems in the order of the file; at least one.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The name that the file was loaded by.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(
                f,
                "{}:{}:{}: {problem}",
                self.file_name, problem.line, problem.column
            )?;
        }
        Ok(())
    }
}

/// Without the position: `message; help`. It stays one line whatever it quotes from the file.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let help = self.help.iter().flat_map(|help| ["; ", help.as_str()]);
        let text = std::iter::once(self.message.as_str()).chain(help);
        text.flat_map(str::chars).try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_default()),
            false => f.write_char(c),
        })
    }
}

impl std::error::Error for LoadError {}

impl Diagnostic for LoadError {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.problems.iter().map(|problem| {
            let label = problem.help.clone().unwrap_or_else(|| "here".to_owned());
            LabeledSpan::new(Some(label), problem.span.start, problem.span.len())
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_line_whatever_it_quotes() {
        let problem = Problem {
            line: 1,
            column: 1,
            message: "found `a\n\u{1b}[2J`".to_owned(),
            help: Some("é\r".to_owned()),
            span: 0..0,
        };
        assert_eq!(problem.to_string(), r"found `a\n\u{1b}[2J`; é\r");
    }
}
