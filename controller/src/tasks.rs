//! The tasks of `bicastd`, and the channels between them.
//!
//! ```text
//!  switches                                                              API clients
//!     │ TCP                                                                   │ Unix socket
//!  ┌──▼───────────────┐ Event  ┌───────────────────────┐ Event  ┌─────────────▼──┐
//!  │ connection       ├───────▶│ core: the only owner  │◀───────┤ client         │
//!  │ 1 per switch     │        │ of Core; 1 task       │        │ 1 per client   │
//!  │                  │◀───────┤                       ├───────▶│                │
//!  └──────────────────┘ Outbox └──────▲────────────────┘ oneshot└────────────────┘
//!                               Event │   ▲ Event         answers; notices: broadcast, a slow one misses some
//!                      ┌──────────────┴┐ ┌┴──────────────────┐
//!                      │ policy file   │ │ reports: 1 per    │ Unix socket, TCP: proxies
//!                      └───────────────┘ │ reporting proxy   │
//!             SIGHUP, or a look at it    └───────────────────┘
//!             each second                 at most 256; each line waits until the one before it is answered
//!  events: bounded, EVENTS; full: senders wait, so TCP pushes back on the switches
//!  outbox: bounded, 65,536 messages per switch; full: the switch is cut off
//! ```

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use policies::{PolicySet, Timestamp};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::api::{Api, serve, serve_reports};
use crate::channel::{Outgoing, Switchboard, listen};
use crate::core::Core;
use crate::event::{Effect, Event};
use crate::policy_file;

/// How `bicastd` runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The policy file.
    pub policy_file: PathBuf,
    /// Where switches connect.
    pub listen: SocketAddr,
    /// Where API clients connect.
    pub socket: PathBuf,
    /// Where proxies on this machine report.
    pub report_socket: PathBuf,
    /// Where proxies elsewhere report, if they may.
    pub report_listen: Option<SocketAddr>,
}

/// Runs until SIGINT or SIGTERM.
pub async fn run(options: Options, policies: PolicySet) -> anyhow::Result<()> {
    let (events, mut inbox) = mpsc::channel(EVENTS);
    let switchboard = Arc::new(Switchboard::default());
    let api = Arc::new(Api::default());
    serve(&options.socket, Arc::clone(&api), events.clone()).await?;
    serve_reports(
        &options.report_socket,
        options.report_listen,
        Arc::clone(&api),
        events.clone(),
    )
    .await?;
    let bound = listen(options.listen, Arc::clone(&switchboard), events.clone()).await?;
    tracing::info!(listen = %bound, socket = %options.socket.display(), "bicastd is ready");
    tokio::spawn(policy_file::watch(options.policy_file.clone(), events));

    let origin = Instant::now();
    let mut shell = Shell {
        core: Core::new(unix_ms()),
        origin,
        switchboard,
        api,
        effects: vec![],
    };
    shell.handle(Event::Policies(Arc::new(policies)));
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    loop {
        let deadline = shell.core.next_deadline().map(|at| origin + at.as_duration());
        let event = tokio::select! {
            Some(event) = inbox.recv() => event,
            () = sleep_until(deadline) => Event::Deadline,
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        };
        shell.handle(event);
    }
    // Sockets close with the process; the switches keep forwarding as they were told (fail_mode=secure).
    tracing::info!("bicastd stops; the switches go on as they are");
    for socket in [&options.socket, &options.report_socket] {
        let _ = std::fs::remove_file(socket);
    }
    Ok(())
}

/// The core and the ways out of it.
struct Shell {
    core: Core,
    origin: Instant,
    switchboard: Arc<Switchboard>,
    api: Arc<Api>,
    effects: Vec<Effect>,
}

impl Shell {
    fn handle(&mut self, event: Event) {
        self.core
            .handle(Timestamp::ZERO + self.origin.elapsed(), event, &mut self.effects);
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Send { conn, xid, message } => {
                    self.switchboard.send(conn, Outgoing::Message(xid, message))
                }
                Effect::Close { conn, reason } => {
                    tracing::debug!(%conn, reason, "closing");
                    self.switchboard.send(conn, Outgoing::Close);
                }
                Effect::Reply { id, response } => self.api.reply(id, response),
                Effect::Publish(notice) => self.api.publish(notice),
            }
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Events that wait for the core.
const EVENTS: usize = 4096;
