//! Priorities: real-time threads for the emulator and the traffic endpoints, nice -20 for Open vSwitch,
//! and an autogroup of its own for the lab.

use std::io;

/// Real-time priority of the emulator: above the endpoints, because a late link makes every packet late.
pub const EMULATOR_PRIORITY: i32 = 30;
/// Real-time priority of receivers: above the senders, so that a socket buffer is emptied before it is filled.
pub const RECEIVER_PRIORITY: i32 = 20;
/// Real-time priority of senders.
pub const SENDER_PRIORITY: i32 = 10;

/// Puts the calling thread under `SCHED_FIFO`.
///
/// # Errors
/// The system's, e.g. where real-time scheduling is not permitted.
pub fn realtime(priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the parameter is a valid sched_param that outlives the call; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Gives the calling process this nice value.
///
/// # Errors
/// The system's.
pub fn nice(value: i32) -> io::Result<()> {
    // SAFETY: setpriority takes plain numbers; 0 is the calling process.
    let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Gives the session of the calling process the highest weight among the kernel's autogroups. Where
/// autogroups are on, a nice value counts only against processes of the same session, and a compiler
/// in another terminal would take half of the machine from a switch at nice -20.
///
/// A kernel without autogroups has no such file, and needs nothing.
pub fn raise_autogroup() {
    // A best effort: without it the lab still runs, and `self_check` reports what it cost.
    let _ = std::fs::write("/proc/self/autogroup", "-20");
}
