//! The one clock of the lab: `CLOCK_MONOTONIC`.

use crate::moment::Moment;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

/// The present moment.
pub fn now() -> Moment {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC exists on every Linux");
    let seconds = u64::try_from(time.tv_sec()).expect("CLOCK_MONOTONIC is never negative");
    let nanos = u64::try_from(time.tv_nsec()).expect("a timespec's nanoseconds are 0..1e9");
    Moment::from_nanos(seconds * NANOS_PER_SECOND + nanos)
}

/// Sleeps until `moment`; returns at once when it has passed.
pub fn sleep_until(moment: Moment) {
    let seconds = i64::try_from(moment.as_nanos() / NANOS_PER_SECOND).unwrap_or(i64::MAX);
    let nanos = i64::try_from(moment.as_nanos() % NANOS_PER_SECOND).unwrap_or(0);
    let until = TimeSpec::new(seconds, nanos);
    // A signal cuts the sleep short; the deadline is absolute, so it is simply taken up again.
    while clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &until,
    ) == Err(nix::errno::Errno::EINTR)
    {}
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;
