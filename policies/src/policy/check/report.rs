//! Collects what is wrong.

use crate::error::Problem;
use crate::names::{did_you_mean, one_of};
use crate::policy::check::values::Fault;
use crate::spec::{Name, OneOrMany, Place, Text};

/// The problems found so far.
#[derive(Debug, Default)]
pub struct Report {
    problems: Vec<Problem>,
}

impl Report {
    /// Adds a problem. A value that serves both directions is checked for each, but reported once.
    pub fn fault(&mut self, place: Place, fault: impl Into<Fault>) {
        let Fault { message, help } = fault.into();
        let problem = Problem {
            line: place.line,
            column: place.column,
            message,
            help,
            span: place.span(),
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Adds a problem of the file as a whole.
    pub fn fault_at_start(&mut self, message: &str) {
        self.fault(Place::new(1, 1, 0..0), message.to_owned());
    }

    /// A key that must be there: reports its absence at the name of its owner.
    pub fn required<'a, T>(&mut self, value: Option<&'a T>, owner: &Name, key: &str) -> Option<&'a T> {
        if value.is_none() {
            self.fault(owner.place, format!("`{}` needs the key `{key}`", owner.text));
        }
        value
    }

    /// What a text means, by `parse`.
    pub fn value<T>(&mut self, text: &Text, parse: impl Fn(&str) -> Result<T, Fault>) -> Option<T> {
        parse(&text.text)
            .map_err(|fault| self.fault(text.place, fault))
            .ok()
    }

    /// The same for a text that may be left out: `Some(None)` when it is.
    pub fn optional<T>(
        &mut self,
        text: Option<&Text>,
        parse: impl Fn(&str) -> Result<T, Fault>,
    ) -> Option<Option<T>> {
        match text {
            None => Some(None),
            Some(text) => self.value(text, parse).map(Some),
        }
    }

    /// What each text of a list means. An entry that is there twice is reported.
    pub fn list<T: PartialEq>(
        &mut self,
        list: &OneOrMany,
        parse: impl Fn(&str) -> Result<T, Fault>,
    ) -> Option<Vec<T>> {
        let mut values = Vec::with_capacity(list.values.len());
        let mut complete = true;
        for text in &list.values {
            match self.value(text, &parse) {
                Some(value) if values.contains(&value) => {
                    self.fault(text.place, format!("`{}` is listed twice", text.text));
                    complete = false;
                }
                Some(value) => values.push(value),
                None => complete = false,
            }
        }
        complete.then_some(values)
    }

    /// The place of `name` among `known`; reports a name that is not there with the nearest one. `what` says what it
    /// should name: "an uplink of site `client`".
    pub fn lookup(&mut self, name: &Text, what: &str, known: &[&str]) -> Option<usize> {
        let found = known.iter().position(|known| *known == name.text);
        if found.is_none() {
            let message = format!("`{}` is not {what}, expected {}", name.text, one_of(known));
            self.fault(
                name.place,
                Fault {
                    message,
                    help: did_you_mean(&name.text, known),
                },
            );
        }
        found
    }

    /// A name of the operator's choice, which must be short and plain: it appears in messages such as `bicast a+b`.
    pub fn name(&mut self, name: &Name) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.text.is_empty() || name.text.len() > 63 || !name.text.chars().all(plain) {
            self.fault(
                name.place,
                format!(
                    "`{}` is not a name: expected 1 to 63 letters, digits, `-`, `_` or `.`",
                    name.text
                ),
            );
        }
    }

    /// `value` when nothing is wrong, else the problems in the order of the file.
    pub fn finish<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        self.problems
            .sort_by_key(|problem| (problem.line, problem.column));
        Err(self.problems)
    }
}
