//! What is counted per peer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

/// One number that many tasks change.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Something that exists as long as this does, such as an open stream.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a Count);

impl<'a> Open<'a> {
    pub(crate) fn new(count: &'a Count) -> Open<'a> {
        count.add(1);
        Open(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// Handshakes of whoever dials us that came to nothing.
#[derive(Debug, Default)]
pub(crate) struct Handshakes {
    pub(crate) retried: Count,
    pub(crate) ignored: Count,
    pub(crate) failed: Count,
}

/// Times that the configuration was read again.
#[derive(Debug, Default)]
pub(crate) struct Reloads {
    pub(crate) done: Count,
    pub(crate) refused: Count,
}

/// The counters, and with the same names their values at one moment.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Count,)*
        }

        /// Counters of a peer at one moment.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct CounterValues {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            pub(crate) fn values(&self) -> CounterValues {
                CounterValues { $($name: self.$name.get(),)* }
            }
        }

        impl CounterValues {
            /// Each name with its value.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Connections that came to be, dialled by either side.
    connections,
    /// Times that we dialled in vain.
    dial_failures,
    /// Streams that are open now, for local applications and for the peer.
    streams_open,
    /// Streams that we opened for local applications.
    streams_opened,
    /// Streams that the peer opened and that reached their target.
    streams_accepted,
    /// Streams that one side refused: denied, unreachable, too many.
    streams_refused,
    /// Streams that ended by a reset instead of both ends' end.
    streams_aborted,
    /// Bytes of TCP that we sent to the peer.
    stream_bytes_sent,
    /// Bytes of TCP that came from the peer.
    stream_bytes_received,
    /// UDP flows that exist now.
    flows_open,
    /// UDP flows that we opened for local applications.
    flows_opened,
    /// UDP flows that the peer opened and that reached their target.
    flows_accepted,
    /// UDP flows that one side refused.
    flows_refused,
    /// Datagrams that we sent to the peer, those too big for QUIC included.
    datagrams_sent,
    /// Datagrams that came from the peer, those too big for QUIC included.
    datagrams_received,
    /// Datagrams that were too big for a QUIC packet and went over the flow's stream, in both directions.
    datagrams_too_big,
    /// Datagrams that were dropped: no flow, no room, no peer.
    datagrams_dropped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_counted_until_it_is_dropped() {
        let counters = Counters::default();
        {
            let _one = Open::new(&counters.streams_open);
            let _two = Open::new(&counters.streams_open);
            assert_eq!(counters.values().streams_open, 2);
        }
        assert_eq!(counters.values(), CounterValues::default());
    }
}
