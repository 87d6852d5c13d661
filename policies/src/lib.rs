//! Policy model, loss estimators and decision engine: pure, no I/O, no clock.
