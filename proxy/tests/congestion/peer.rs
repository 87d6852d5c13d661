//! One end of a connection: noq's own endpoint and connection, driven in virtual time.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    FourTuple, PathId, PathStats, ServerConfig, StreamEvent, StreamId, TransportConfig,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A key and a certificate whose sizes never change, so that runs are equal to the bit.
const KEY: &[u8] = include_bytes!("fixture/key.der");
const CERTIFICATE: &[u8] = include_bytes!("fixture/cert.der");
/// Datagrams handed to the network at once.
const GSO_SEGMENTS: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// The sender of a bulk transfer, or its receiver.
pub(crate) struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The stream that is written, or read.
    stream: Option<StreamId>,
    is_client: bool,
    /// Bytes read off the stream.
    pub(crate) received: u64,
    /// When the connection wants to be woken.
    pub(crate) timer: Option<Instant>,
    chunk: Bytes,
}

impl Peer {
    /// Connects and writes as much as the connection takes.
    pub(crate) fn sender(transport: TransportConfig, seed: u8, now: Instant) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
        config.transport_config(Arc::new(transport));
        let mut peer = Self::new(None, seed, true);
        peer.connection = Some(peer.endpoint.connect(now, config, address(), "peer").unwrap());
        peer
    }

    /// Accepts a connection and reads.
    pub(crate) fn receiver(transport: TransportConfig, seed: u8) -> Self {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
            .unwrap();
        let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
        config.transport_config(Arc::new(transport));
        Self::new(Some(Arc::new(config)), seed, false)
    }

    fn new(server: Option<Arc<ServerConfig>>, seed: u8, is_client: bool) -> Self {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([seed; 32]));
        Self {
            endpoint: Endpoint::new(Arc::new(config), server, true),
            connection: None,
            stream: None,
            is_client,
            received: 0,
            timer: None,
            chunk: Bytes::from(vec![0; 64 * 1024]),
        }
    }

    pub(crate) fn on_datagram(&mut self, now: Instant, data: &[u8]) {
        let path = FourTuple::new(address(), None);
        let mut answer = Vec::new();
        match self
            .endpoint
            .handle(now, path, None, BytesMut::from(data), &mut answer)
        {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        self.timer = None;
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    /// Lets application, endpoint and connection do what they can, and gives each datagram to `send`.
    pub(crate) fn drive(&mut self, now: Instant, mut send: impl FnMut(&[u8])) {
        let Some((handle, mut connection)) = self.connection.take() else {
            return;
        };
        loop {
            while let Some(event) = connection.poll() {
                self.on_event(&mut connection, event);
            }
            self.run_application(&mut connection);
            let mut is_quiet = true;
            while let Some(event) = connection.poll_endpoint_events() {
                is_quiet = false;
                if let Some(event) = self.endpoint.handle_event(handle, event) {
                    connection.handle_event(event);
                }
            }
            if is_quiet {
                break;
            }
        }
        let mut buffer = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, GSO_SEGMENTS, &mut buffer) {
            for datagram in buffer.chunks(transmit.segment_size.unwrap_or(transmit.size)) {
                send(datagram);
            }
            buffer.clear();
        }
        // A timer may be due already: it fires at once then.
        self.timer = connection.poll_timeout().map(|at| at.max(now));
        self.connection = Some((handle, connection));
    }

    fn on_event(&mut self, connection: &mut Connection, event: Event) {
        match event {
            Event::Connected if self.is_client => self.stream = connection.streams().open(Dir::Uni),
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                self.stream = connection.streams().accept(Dir::Uni);
            }
            Event::ConnectionLost { reason } => panic!("the connection broke: {reason}"),
            _ => {}
        }
    }

    fn run_application(&mut self, connection: &mut Connection) {
        let Some(stream) = self.stream else { return };
        if self.is_client {
            while connection
                .send_stream(stream)
                .write_chunks(&mut &mut [self.chunk.clone()][..])
                .is_ok()
            {}
        } else {
            let mut recv = connection.recv_stream(stream);
            let Ok(mut chunks) = recv.read(true) else { return };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.received += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
    }

    /// What noq counts of the path.
    pub(crate) fn stats(&mut self) -> PathStats {
        self.connection
            .as_mut()
            .and_then(|(_, connection)| connection.path_stats(PathId::ZERO))
            .unwrap()
    }
}

fn address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 4433))
}
