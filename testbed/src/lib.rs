//! Labs in network namespaces with real Open vSwitch, a link emulator, traffic and experiments.
//!
//! Only `sandbox`, `netns`, `veth`, `tap`, `packet_socket`, `sched`, `process`, `switch` and the two backends
//! of `link` touch the kernel; the emulator itself (`link::emulator` and what it is made of) is pure.

pub mod clean;
pub mod clock;
pub mod demo;
pub mod experiment;
pub mod experiments;
pub mod figures;
pub mod lab;
pub mod link;
pub mod machine;
pub mod moment;
pub mod netns;
pub mod openflow;
pub mod packet_socket;
pub mod process;
pub mod record;
pub mod sandbox;
pub mod sched;
pub mod switch;
pub mod tap;
pub mod traffic;
pub mod vectors;
pub mod veth;
