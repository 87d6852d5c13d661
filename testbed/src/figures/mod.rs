//! From samples to figures: what experiments record, and what is made of it.
//!
//! An experiment appends [`Sample`]s to a [`Store`]. Everything else here reads recordings only: no figure knows how
//! its numbers were measured.

pub mod catalogue;
pub mod compose;
pub mod data;
pub mod explanations;
pub mod figure;
pub mod goals;
pub mod paper;
pub mod plot;
pub mod progress;
pub mod record;
pub mod report;
pub mod statistics;
pub mod store;
#[cfg(test)]
pub(crate) mod testing;

pub use data::Data;
pub use progress::Progress;
pub use record::{Key, Length, Manifest, Sample};
pub use store::{Recording, Store};
