//! The API's listener: each client's questions become events, answers and notices go back as lines.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use dashmap::DashMap;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::{Notice, Request, Response};
use crate::event::{Event, RequestId};

/// What the API's tasks share with the task of the core.
#[derive(Debug)]
pub struct Api {
    /// Clients that wait for an answer.
    waiting: DashMap<RequestId, oneshot::Sender<Response>>,
    /// Everyone who watches; a slow one misses notices and is told how many.
    notices: broadcast::Sender<Notice>,
    next_id: AtomicU64,
}

impl Default for Api {
    fn default() -> Api {
        Api {
            waiting: DashMap::new(),
            notices: broadcast::channel(NOTICES_KEPT).0,
            next_id: AtomicU64::new(0),
        }
    }
}

impl Api {
    /// Hands an answer to the client that waits for it, if it still does.
    pub fn reply(&self, id: RequestId, response: Response) {
        if let Some((_, client)) = self.waiting.remove(&id) {
            // The client may be gone by now; nobody else wants its answer.
            let _ = client.send(response);
        }
    }

    /// Has the core handle an event that it answers.
    pub(super) async fn ask(
        &self,
        events: &mpsc::Sender<Event>,
        event: impl FnOnce(RequestId) -> Event,
    ) -> anyhow::Result<Response> {
        let id = RequestId(self.next_id.fetch_add(1, Ordering::Relaxed));
        let (answer, answered) = oneshot::channel();
        self.waiting.insert(id, answer);
        events.send(event(id)).await?;
        Ok(answered.await?)
    }

    /// Tells everyone who watches.
    pub fn publish(&self, notice: Notice) {
        // An error means that nobody watches.
        let _ = self.notices.send(notice);
    }
}

/// Binds the socket. One that nobody listens on any more is replaced; a live one is an error.
pub(super) fn bind(path: &Path) -> anyhow::Result<UnixListener> {
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        anyhow::bail!("another bicastd already listens at {}", path.display());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let _ = std::fs::remove_file(path);
    UnixListener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))
}

/// Serves clients for ever.
pub async fn serve(path: &Path, api: Arc<Api>, events: mpsc::Sender<Event>) -> anyhow::Result<()> {
    let listener = bind(path)?;
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (api, events) = (Arc::clone(&api), events.clone());
                    tokio::spawn(async move {
                        if let Err(error) = client(stream, &api, &events).await {
                            tracing::debug!(%error, "API client");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept an API client");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
            }
        }
    });
    Ok(())
}

async fn client(stream: UnixStream, api: &Api, events: &mpsc::Sender<Event>) -> anyhow::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(tokio::io::AsyncReadExt::take(reader, MAX_CLIENT_BYTES)).lines();
    while let Some(line) = lines.next_line().await? {
        let request = match serde_json::from_str::<Request>(&line) {
            Ok(request) => request,
            Err(error) => {
                send(&mut writer, &Response::Error(format!("not a request: {error}"))).await?;
                continue;
            }
        };
        let watch = request == Request::Watch;
        let notices = api.notices.subscribe();
        let response = api.ask(events, |id| Event::Request { id, request }).await?;
        send(&mut writer, &response).await?;
        if watch {
            return forward(notices, &mut writer).await;
        }
    }
    Ok(())
}

async fn forward(
    mut notices: broadcast::Receiver<Notice>,
    writer: &mut OwnedWriteHalf,
) -> anyhow::Result<()> {
    loop {
        let notice = match notices.recv().await {
            Ok(notice) => notice,
            Err(broadcast::error::RecvError::Lagged(count)) => Notice::Missed { count },
            Err(broadcast::error::RecvError::Closed) => return Ok(()),
        };
        send(writer, &notice).await?;
    }
}

async fn send<T: serde::Serialize>(writer: &mut OwnedWriteHalf, value: &T) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(writer.write_all(&line).await?)
}

/// Notices that a slow watcher may lag behind.
const NOTICES_KEPT: usize = 1024;
/// What one client may say in one connection; requests are short.
const MAX_CLIENT_BYTES: u64 = 64 << 20;
