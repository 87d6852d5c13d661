//! From samples to figures: what experiments record, and what is made of it.
//!
//! An experiment appends [`Sample`]s to a [`Store`]. Everything else here reads recordings only: no figure knows how
//! its numbers were measured.

pub mod progress;
pub mod record;
pub mod store;

pub use progress::Progress;
pub use record::{Key, Length, Manifest, Sample};
pub use store::{Recording, Store};
