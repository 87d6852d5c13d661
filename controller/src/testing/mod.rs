//! A fake OpenFlow switch for tests and simulations.
