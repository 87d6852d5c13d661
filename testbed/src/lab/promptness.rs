//! How long a thread of ordinary priority waits for a processor. Emulator and traffic endpoints run under real-time
//! priority and do not notice a busy machine; proxies, bridges and web servers do.

use crate::link::Lateness;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A thread that sleeps again and again, and sees how late it wakes up. Dropping it ends it.
#[derive(Debug)]
pub struct Promptness {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Lateness>>,
}

impl Promptness {
    /// Begins to watch.
    pub fn watch() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut lateness = Lateness::default();
            while !stopped.load(Relaxed) {
                let due = Instant::now() + NAP;
                std::thread::sleep(NAP);
                lateness.record(due.elapsed());
            }
            lateness
        });
        Promptness {
            stop,
            thread: Some(thread),
        }
    }

    /// Ends the watch. A sentence when an ordinary thread had to wait too long for a processor to be trusted with
    /// packets.
    pub fn problem(mut self) -> Option<String> {
        self.stop.store(true, Relaxed);
        let lateness = self.thread.take()?.join().ok()?.summary();
        (lateness.p99 > LIMIT).then(|| {
            format!(
                "the processors were saturated: ordinary threads waited up to {:.1?} in 99 % of cases",
                lateness.p99
            )
        })
    }
}

impl Drop for Promptness {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

const NAP: Duration = Duration::from_millis(5);
/// Half of the round trip of the usual paths.
const LIMIT: Duration = Duration::from_millis(5);
