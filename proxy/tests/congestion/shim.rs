//! What the receiver sees of datagrams that were sent on two paths: each once, and later ones only a bounded
//! lead ahead of a hole, until the slower path has had its time to fill it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How much longer than the gap a hole is waited for.
const PATIENCE: Duration = Duration::from_micros(1500);

/// The receiver's end of a redundant direction.
#[derive(Debug)]
pub(crate) struct Shim {
    lead: u64,
    wait: Duration,
    /// The lowest number that is still waited for.
    next: u64,
    /// Arrival of what was handed on ahead of a hole.
    passed: BTreeMap<u64, Instant>,
    held: BTreeMap<u64, (Instant, Vec<u8>)>,
}

impl Shim {
    /// Lets `lead` datagrams pass a hole that the slower path fills after `gap`.
    pub(crate) fn new(lead: u64, gap: Duration) -> Self {
        Self {
            lead,
            wait: gap + PATIENCE,
            next: 0,
            passed: BTreeMap::new(),
            held: BTreeMap::new(),
        }
    }

    /// A copy of datagram `number` arrives: what is handed on.
    pub(crate) fn on_copy(&mut self, now: Instant, number: u64, datagram: Vec<u8>) -> Vec<Vec<u8>> {
        if number < self.next || self.passed.contains_key(&number) || self.held.contains_key(&number) {
            return Vec::new();
        }
        self.held.insert(number, (now, datagram));
        self.release()
    }

    /// Gives up the holes that were waited for long enough.
    pub(crate) fn on_timer(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut released = Vec::new();
        while self.deadline().is_some_and(|deadline| deadline <= now) {
            self.next += 1;
            released.extend(self.release());
        }
        released
    }

    /// When the hole at `next` is given up: it showed when the first datagram behind it arrived.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let passed = self.passed.first_key_value().map(|(number, at)| (*number, *at));
        let held = self
            .held
            .first_key_value()
            .map(|(number, (at, _))| (*number, *at));
        passed.into_iter().chain(held).min().map(|(_, at)| at + self.wait)
    }

    fn release(&mut self) -> Vec<Vec<u8>> {
        let mut released = Vec::new();
        loop {
            while let Some(entry) = self.held.first_entry()
                && *entry.key() <= self.next + self.lead
            {
                let (number, (at, datagram)) = entry.remove_entry();
                self.passed.insert(number, at);
                released.push(datagram);
            }
            if self.passed.remove(&self.next).is_none() {
                return released;
            }
            self.next += 1;
        }
    }
}
