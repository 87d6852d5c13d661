//! Pieces of a text that know where they are in it, and how it falls into keys and values.

use std::borrow::Cow;

use super::Fault;

/// A part of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// Bytes before it.
    pub(super) at: usize,
}

/// A key, and its value if there is one: `key`, `key=value`, `key:value`, `key(value)` or `key(value)->field`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) key: Piece<'a>,
    pub(super) value: Option<Piece<'a>>,
}

impl<'a> Piece<'a> {
    pub(super) const fn whole(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn fault(self, expected: impl Into<Cow<'static, str>>) -> Fault {
        Fault {
            at: self.at,
            found: self.text.to_owned(),
            expected: expected.into(),
        }
    }

    pub(super) fn split_once(self, separator: &str) -> Option<(Self, Self)> {
        let middle = self.text.find(separator)?;
        Some((self.to(middle), self.from(middle + separator.len())))
    }

    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut at = 0;
        self.text.split(separator).map(move |part| {
            let piece = self.from(at).to(part.len());
            at += part.len() + separator.len_utf8();
            piece
        })
    }

    /// The parts between any of these characters that are not empty.
    pub(super) fn words(self, separators: &[char]) -> impl Iterator<Item = Self> {
        let mut left = self;
        std::iter::from_fn(move || {
            left = left.from(left.text.len() - left.text.trim_start_matches(separators).len());
            let word = left.to(left.text.find(separators).unwrap_or(left.text.len()));
            left = left.from(word.text.len());
            (!word.text.is_empty()).then_some(word)
        })
    }

    /// The first word, if it is one of these or the beginning of one, and what follows it.
    pub(super) fn command<T: Copy>(self, commands: &[(&str, T)]) -> (Option<T>, Self) {
        let trimmed = self.skip_separators();
        let end = trimmed.text.find(SEPARATORS).unwrap_or(trimmed.text.len());
        let word = trimmed.to(end);
        let is_meant = |name: &str| !word.text.is_empty() && name.starts_with(word.text);
        match commands.iter().find(|(name, _)| is_meant(name)) {
            Some((_, command)) => (Some(*command), trimmed.from(end)),
            None => (None, self),
        }
    }

    pub(super) const fn pairs(self) -> Pairs<'a> {
        Pairs { left: self }
    }

    /// Without the first `bytes`.
    pub(super) fn from(self, bytes: usize) -> Self {
        Self {
            text: self.text.get(bytes..).unwrap_or_default(),
            at: self.at + bytes,
        }
    }

    /// Only the first `bytes`.
    pub(super) fn to(self, bytes: usize) -> Self {
        Self {
            text: self.text.get(..bytes).unwrap_or(self.text),
            at: self.at,
        }
    }

    pub(super) fn skip_separators(self) -> Self {
        self.from(self.text.len() - self.text.trim_start_matches(SEPARATORS).len())
    }

    pub(super) fn is_empty(self) -> bool {
        self.skip_separators().text.is_empty()
    }
}

/// What is left of a list of pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs<'a> {
    pub(super) left: Piece<'a>,
}

impl<'a> Pairs<'a> {
    pub(super) fn next(&mut self) -> Result<Option<Pair<'a>>, Fault> {
        let text = self.left.skip_separators();
        if text.text.is_empty() {
            self.left = text;
            return Ok(None);
        }
        let is_end_of_key = |c: char| SEPARATORS.contains(&c) || matches!(c, '=' | ':' | '(');
        let end = text.text.find(is_end_of_key).unwrap_or(text.text.len());
        let key = text.to(end);
        if key.text.is_empty() {
            return Err(text.fault("a name"));
        }
        let rest = text.from(end);
        let (value, left) = match rest.text.chars().next() {
            Some('=' | ':') => {
                let value = rest.from(1);
                let end = end_of_value(value)?;
                (Some(value.to(end)), value.from(end))
            }
            Some('(') => {
                let end = matching_parenthesis(rest)?;
                let left = rest.from(end + 1);
                if left.text.starts_with("->") {
                    // `(value)->field`: the value is all that follows the first parenthesis.
                    let value = rest.from(1);
                    let end = left.text.find(SEPARATORS).unwrap_or(left.text.len()) + left.at - value.at;
                    self.left = value.from(end);
                    return Ok(Some(Pair {
                        key,
                        value: Some(value.to(end)),
                    }));
                }
                if !left.text.is_empty() && !left.text.starts_with(SEPARATORS) {
                    return Err(left.fault("`,` or the end"));
                }
                (Some(rest.to(end).from(1)), left)
            }
            _ => (None, rest),
        };
        self.left = left;
        Ok(Some(Pair { key, value }))
    }
}

impl<'a> Pair<'a> {
    pub(super) fn value(self, expected: &'static str) -> Result<Piece<'a>, Fault> {
        match self.value {
            Some(value) => Ok(value),
            None => Err(self
                .key
                .from(self.key.text.len())
                .fault(format!("`=` and {expected}"))),
        }
    }

    /// Refuses a value where none belongs.
    pub(super) fn bare(self) -> Result<(), Fault> {
        match self.value {
            Some(value) if !value.text.is_empty() => {
                Err(value.fault(format!("nothing after `{}`", self.key.text)))
            }
            _ => Ok(()),
        }
    }
}

/// Where a value ends: at the first separator outside parentheses.
fn end_of_value(value: Piece<'_>) -> Result<usize, Fault> {
    let mut at = 0;
    while let Some(c) = value.text.get(at..).and_then(|rest| rest.chars().next()) {
        if SEPARATORS.contains(&c) {
            break;
        }
        at = if c == '(' {
            at + matching_parenthesis(value.from(at))? + 1
        } else {
            at + c.len_utf8()
        };
    }
    Ok(at)
}

/// Where the parenthesis is closed that the text begins with.
fn matching_parenthesis(text: Piece<'_>) -> Result<usize, Fault> {
    let mut depth = 0usize;
    for (at, c) in text.text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Ok(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    Err(text.from(text.text.len()).fault("`)`"))
}

pub(super) const SEPARATORS: [char; 5] = [',', ' ', '\t', '\r', '\n'];
