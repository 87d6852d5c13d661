//! One file per subcommand.

pub(crate) mod clean;
pub(crate) mod demo;
pub(crate) mod lab;
pub(crate) mod record_vectors;
pub(crate) mod report;
pub(crate) mod run;
