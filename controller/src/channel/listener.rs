//! Accepts switches and keeps the way to each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use dashmap::DashMap;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::connection::{self, Outbox, Outgoing};
use crate::event::{ConnId, Event};

/// The way to every connection: the connections' tasks enter and leave, the core's task sends.
#[derive(Debug, Default)]
pub struct Switchboard {
    outboxes: DashMap<ConnId, Outbox>,
    next: AtomicU64,
}

impl Switchboard {
    /// Queues something for a connection. One whose queue is full is cut off: it would only fall further behind.
    pub fn send(&self, conn: ConnId, outgoing: Outgoing) {
        let Some(outbox) = self.outboxes.get(&conn) else {
            return;
        };
        if outbox.try_send(outgoing).is_err() {
            drop(outbox);
            tracing::warn!(%conn, "the switch does not read what it is sent: cut off");
            // Dropping the queue's only sender ends the connection's task.
            self.outboxes.remove(&conn);
        }
    }
}

/// Listens at `address` and hands every connection's events to `events`.
pub async fn listen(
    address: SocketAddr,
    switchboard: Arc<Switchboard>,
    events: mpsc::Sender<Event>,
) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen at {address}"))?;
    let bound = listener.local_addr()?;
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let conn = ConnId(switchboard.next.fetch_add(1, Ordering::Relaxed));
                    let (switchboard, events) = (Arc::clone(&switchboard), events.clone());
                    tokio::spawn(async move {
                        let (outbox, outgoing) = mpsc::channel(OUTBOX);
                        switchboard.outboxes.insert(conn, outbox);
                        let connected = Event::Connected {
                            conn,
                            peer: peer.to_string(),
                        };
                        if events.send(connected).await.is_ok() {
                            let reason = connection::run(conn, stream, events.clone(), outgoing).await;
                            switchboard.outboxes.remove(&conn);
                            // If the core is gone there is nobody to tell.
                            let _ = events.send(Event::Disconnected { conn, reason }).await;
                        }
                    });
                }
                Err(error) => {
                    // Out of file descriptors, most likely: it may pass.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    });
    Ok(bound)
}

/// Messages queued for one switch: enough for a full programming of a large site.
const OUTBOX: usize = 65_536;
