//! Single values, lists and mappings that remember where they were written.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A single value as it was written, and where.
#[derive(Clone, Debug)]
pub struct Text {
    /// What was written, without quotes.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// The name of an entry of a mapping.
pub type Name = Text;

/// A mapping with names of the operator's choice, in the order of the file.
#[derive(Debug)]
pub struct Entries<T>(
    /// Each name with what belongs to it.
    pub Vec<(Name, T)>,
);

/// `a` or `[a, b]`: a list of single values whose brackets may be left out when there is only one.
#[derive(Debug)]
pub struct OneOrMany {
    /// The values, at least one unless the list is written as `[]`.
    pub values: Vec<Text>,
    /// Where the list begins.
    pub place: Place,
}

/// A place in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The first byte.
    start: usize,
    /// The number of bytes.
    len: usize,
}

impl Place {
    /// The bytes of the file.
    pub fn span(self) -> Range<usize> {
        self.start..self.start.saturating_add(self.len)
    }

    /// The place `line`:`column` with the bytes `span`.
    pub fn new(line: usize, column: usize, span: Range<usize>) -> Place {
        Place {
            line,
            column,
            start: span.start,
            len: span.len(),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        let spanned = Spanned::<String>::deserialize(deserializer)?;
        Ok(Text {
            text: spanned.value,
            place: spanned.defined.into(),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<T>, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OneOrMany, D::Error> {
        let spanned = Spanned::<Values>::deserialize(deserializer)?;
        let place = Place::from(spanned.defined);
        let values = match spanned.value {
            Values::One(text) => vec![Text { text, place }],
            Values::Many(values) => values,
        };
        Ok(OneOrMany { values, place })
    }
}

/// What [`OneOrMany`] is written as. A hand-written visitor, because serde's untagged enums lose the places.
enum Values {
    One(String),
    Many(Vec<Text>),
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        struct ValuesVisitor;

        impl<'de> Visitor<'de> for ValuesVisitor {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a single value or a list of values")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Values, E> {
                Ok(Values::One(text.to_owned()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Values, E> {
                Ok(Values::One(number.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Values, E> {
                Ok(Values::One(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Values, E> {
                Ok(Values::One(number.to_string()))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Values, E> {
                Ok(Values::One(value.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Values::Many(values))
            }
        }

        deserializer.deserialize_any(ValuesVisitor)
    }
}
