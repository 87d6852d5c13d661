//! Matches and the fields they are made of: OpenFlow Extensible Match, OpenFlow 1.3.5 §7.2.3.

mod field;
mod masked;
mod matching;
mod prerequisite;
mod raw;
#[cfg(test)]
mod tests;

pub use field::OxmField;
pub use masked::Masked;
pub use matching::{Fields, Match};
pub use raw::{OxmId, RawOxm};

/// `OFPXMC_OPENFLOW_BASIC`: the class of the fields that OpenFlow itself defines.
pub const CLASS_BASIC: u16 = 0x8000;
/// `OFPXMC_NXM_0`: compatible with Open vSwitch's older fields.
pub const CLASS_NXM_0: u16 = 0x0000;
/// `OFPXMC_NXM_1`: compatible with Open vSwitch's own fields.
pub const CLASS_NXM_1: u16 = 0x0001;
/// `OFPXMC_EXPERIMENTER`: the body begins with an experimenter id.
pub const CLASS_EXPERIMENTER: u16 = 0xffff;
/// `OFPVID_PRESENT`: the bit of `VlanVid` that says that a tag is there.
pub const VLAN_PRESENT: u16 = 0x1000;
