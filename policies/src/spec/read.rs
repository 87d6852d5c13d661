//! From YAML to the shapes, and from the parser's complaints to ours.

use serde::de::DeserializeOwned;
use serde_saphyr::{Error, Location, Options, budget, options};

use crate::error::Problem;
use crate::names::{did_you_mean, one_of};
use crate::spec::Place;

/// What the messages about one kind of file say.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What the file is called: `a policy file`.
    pub name: &'static str,
    /// What an empty file lacks.
    pub expected: &'static str,
    /// How the mapping under a key is written, if it is known.
    pub example: fn(key: &str) -> Option<&'static str>,
}

/// Reads the shapes. Faults of syntax and shape hide what comes after them, so only the first is known.
pub fn read<T: DeserializeOwned>(source: &str, kind: &Kind) -> Result<T, Problem> {
    if source.len() > MAX_BYTES {
        return Err(problem(
            Place::default(),
            format!("the file is larger than {MAX_BYTES} bytes"),
            None,
        ));
    }
    if !source
        .lines()
        .any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let message = format!("the file is empty, expected {}", kind.expected);
        return Err(problem(Place::new(1, 1, 0..0), message, None));
    }
    serde_saphyr::from_str_with_options(source, limits()).map_err(|error| explain(&error, source, kind))
}

/// Limits far above any sensible file, so that a hostile or broken one cannot take memory or time.
fn limits() -> Options {
    options! {
        with_snippet: false,
        budget: budget! {
            max_depth: 16,
            max_nodes: 2_000_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
        },
    }
}

/// Says in the operator's words what the parser found.
fn explain(error: &Error, source: &str, kind: &Kind) -> Problem {
    let place = error
        .location()
        .map_or(Place::new(1, 1, 0..0), |location| place_in(source, location));
    if let Some(tab) = tab_indentation(source, place.line) {
        return problem(
            tab,
            "a tab indents this line, YAML allows only spaces".to_owned(),
            None,
        );
    }
    match error {
        Error::SerdeUnknownField { field, expected, .. } => problem(
            place,
            format!("unknown key `{field}`, expected {}", one_of(expected)),
            did_you_mean(field, expected),
        ),
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().map_or_else(String::new, |key| format!("`{key}` "));
            problem(
                place,
                format!("the key {key}is given twice in the same mapping"),
                None,
            )
        }
        Error::Unexpected { expected, .. } => wrong_shape(place, source, expected, kind),
        Error::SerdeInvalidType { expected, .. } | Error::SerdeInvalidValue { expected, .. } => {
            wrong_shape(place, source, expected, kind)
        }
        Error::NullIntoString { .. } => problem(place, "a value is missing here".to_owned(), None),
        Error::MultipleDocuments { .. } => problem(
            place,
            "a second YAML document begins here, expected only one".to_owned(),
            None,
        ),
        Error::UnknownAnchor { .. } => problem(
            place,
            "this alias refers to an anchor that is not defined above it".to_owned(),
            None,
        ),
        Error::Budget { .. } => problem(
            place,
            format!("the file is too large or too deeply nested for {}", kind.name),
            None,
        ),
        Error::AliasError { error, locations, .. } => {
            let place = locations
                .primary_location()
                .map_or(place, |location| place_in(source, location));
            Problem {
                line: place.line,
                column: place.column,
                span: place.span(),
                ..explain(error, source, kind)
            }
        }
        Error::ExternalMessage { msg, .. } => {
            let help = msg
                .contains("illegal")
                .then(|| "is a bracket, a brace or a quote before it left open?".into());
            problem(place, format!("not valid YAML: {msg}"), help)
        }
        other => problem(
            place,
            format!("not valid YAML: {}", without_position(&other.to_string())),
            None,
        ),
    }
}

/// A mapping, a list or a single value stands where another of the three belongs.
fn wrong_shape(place: Place, source: &str, expected: &str, kind: &Kind) -> Problem {
    let expected = match expected {
        "mapping start" | "a mapping of names" => "a mapping",
        "sequence start" => "a list",
        "string scalar" => "a single value",
        other => other,
    };
    let found = match source
        .get(place.span().start..)
        .and_then(|rest| rest.lines().next())
    {
        Some(rest) if rest.starts_with('[') || rest.starts_with("- ") => "a list".to_owned(),
        Some(rest) if rest.starts_with('{') => "a mapping".to_owned(),
        Some(_) if expected == "a mapping" => match source.get(place.span()).map(str::trim) {
            Some(value) if !value.is_empty() => format!("`{value}`"),
            _ => "nothing".to_owned(),
        },
        _ => "a mapping".to_owned(),
    };
    let key = key_before(source, place);
    let subject = key.map_or_else(String::new, |key| format!("`{key}`: "));
    let help = key
        .filter(|_| expected == "a mapping")
        .and_then(kind.example)
        .map(|form| format!("write {form}"));
    problem(
        place,
        format!("{subject}expected {expected}, found {found}"),
        help,
    )
}

/// The key whose value begins at `place`: before it in its line, or at the end of the line above.
fn key_before(source: &str, place: Place) -> Option<&str> {
    let before = source.get(..place.span().start)?;
    let line = before.trim_end().rsplit('\n').next()?.strip_suffix(':')?;
    let key = line
        .rsplit([' ', '{', ',', '['])
        .next()?
        .trim_matches(['"', '\'']);
    (!key.is_empty()).then_some(key)
}

/// The first line, no further than one below `line`, whose indentation holds a tab. The parser complains about the
/// value before it, which does not help.
fn tab_indentation(source: &str, line: usize) -> Option<Place> {
    let mut start = 0;
    for (index, content) in source.split_inclusive('\n').take(line + 1).enumerate() {
        let indentation = content.len() - content.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = content[..indentation]
            .find('\t')
            .filter(|_| !content.trim().is_empty())
        {
            return Some(Place::new(index + 1, tab + 1, start + tab..start + tab + 1));
        }
        start += content.len();
    }
    None
}

/// The parser's text without its own position, which comes before it in our form.
fn without_position(message: &str) -> &str {
    message.rfind(" at line ").map_or(message, |end| &message[..end])
}

fn problem(place: Place, message: String, help: Option<String>) -> Problem {
    Problem {
        line: place.line,
        column: place.column,
        message,
        help,
        span: place.span(),
    }
}

/// The place of an error. Errors of the parser itself have no byte offsets, so these are counted; and the end of the
/// file is where its last line ends.
fn place_in(source: &str, location: Location) -> Place {
    let place = Place::from(location);
    if location.span().byte_offset().is_some() && source.get(place.span()).is_some() {
        return place;
    }
    let mut start = 0;
    for (index, content) in source.split_inclusive('\n').enumerate() {
        if index + 1 == place.line {
            let column = content.char_indices().nth(place.column.saturating_sub(1));
            let offset = column.map_or(content.trim_end().len(), |(offset, _)| offset);
            let column = content[..offset].chars().count() + 1;
            return Place::new(place.line, column, start + offset..start + offset);
        }
        start += content.len();
    }
    let last = source.lines().last().unwrap_or_default();
    let end = source.trim_end_matches(['\n', '\r']).len();
    Place::new(source.lines().count().max(1), last.chars().count() + 1, end..end)
}

impl From<Location> for Place {
    fn from(location: Location) -> Place {
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let start = number(location.span().byte_offset().unwrap_or(0));
        let len = number(location.span().byte_len().unwrap_or(0));
        Place::new(
            number(location.line()),
            number(location.column()),
            start..start.saturating_add(len),
        )
    }
}

/// A file for ten thousand sites has about 4 MB.
const MAX_BYTES: usize = 64 << 20;
