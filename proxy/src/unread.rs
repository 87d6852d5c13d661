//! Streams that nobody reads must not use up what all streams of a connection may have under way together: while one is
//! not read, the others get its share besides.

use std::sync::{Mutex, MutexGuard, PoisonError};

use noq::VarInt;

use crate::config::Transport;

/// The window of one connection.
#[derive(Debug)]
pub(crate) struct Window {
    connection: noq::Connection,
    /// Bytes for all streams together, and for one.
    together: u64,
    one: u64,
    unread: Mutex<u64>,
}

/// A stream that is not read as long as this exists.
#[derive(Debug)]
pub(crate) struct Unread<'a>(&'a Window);

impl Window {
    pub(crate) fn new(connection: noq::Connection, transport: &Transport) -> Window {
        Window {
            connection,
            together: u64::from(transport.connection_window),
            one: u64::from(transport.stream_window),
            unread: Mutex::new(0),
        }
    }

    pub(crate) fn unread(&self) -> Unread<'_> {
        let mut unread = self.lock();
        *unread += 1;
        self.set(*unread);
        Unread(self)
    }

    fn set(&self, unread: u64) {
        self.connection
            .set_receive_window(window(self.together, self.one, unread));
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        // A number is whole whatever happened to whoever held the lock.
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        let mut unread = self.0.lock();
        *unread = unread.saturating_sub(1);
        self.0.set(*unread);
    }
}

fn window(together: u64, one: u64, unread: u64) -> VarInt {
    let besides = unread
        .saturating_mul(one)
        .min(together.saturating_mul(MOST_BESIDES));
    VarInt::from_u64(together.saturating_add(besides)).unwrap_or(VarInt::MAX)
}

/// Memory has its bound: so many times the window is given besides, at most.
const MOST_BESIDES: u64 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_keep_the_whole_window_until_memory_has_its_bound() {
        for (unread, expected) in [(0, 1000), (1, 1100), (70, 8000), (71, 8000), (u64::MAX, 8000)] {
            assert_eq!(window(1000, 100, unread).into_inner(), expected);
        }
    }
}
