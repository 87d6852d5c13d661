//! YAML files whose every value remembers its place, for programs that read files of their own and report every
//! mistake in them as the policy file's are: line, column, what was expected, the nearest name.

pub use crate::names::{did_you_mean, one_of};
pub use crate::policy::check::report::Report;
pub use crate::policy::check::values::{Fault, duration, duration_in, number, port};
pub use crate::spec::{Entries, Kind, Name, OneOrMany, Place, Text, read};
