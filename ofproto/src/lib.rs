//! OpenFlow 1.3.5 wire codec: no I/O, no clock.
