//! Two QUIC endpoints over shims, with the network between them.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use noq::{
    AsyncUdpSocket, ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig, TransportConfig,
};
use proxy::shim::{Shim, ShimConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::network::{Network, Path};

/// One end: two ports, a shim, an endpoint.
pub(crate) struct Site {
    pub(crate) shim: Shim,
    pub(crate) endpoint: Endpoint,
    pub(crate) ports: Vec<SocketAddr>,
}

/// A client and a server that it is connected to.
pub(crate) struct Pair {
    pub(crate) client: Site,
    pub(crate) server: Site,
    pub(crate) network: Network,
    pub(crate) outgoing: Connection,
    pub(crate) incoming: Connection,
}

impl Site {
    pub(crate) fn new(config: ShimConfig, server: Option<ServerConfig>) -> Self {
        let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("loopback has ports"));
        let ports = sockets
            .iter()
            .map(|socket| socket.local_addr().expect("it is bound"))
            .collect();
        let [base, further] = sockets;
        let (shim, socket) = Shim::with_paths(base, vec![further], config).expect("a runtime runs");
        Self {
            shim,
            endpoint: endpoint(Box::new(socket), server),
            ports,
        }
    }
}

impl Pair {
    /// Connects over `paths`, with the same transport at both ends.
    pub(crate) async fn connect(
        client: ShimConfig,
        server: ShimConfig,
        paths: &[Path],
        transport: TransportConfig,
    ) -> Self {
        let transport = Arc::new(transport);
        let server = Site::new(server, Some(server_config(transport.clone())));
        let client = Site::new(client, None);
        let network =
            Network::new(client.ports.clone(), server.ports.clone(), paths, 1).expect("loopback has ports");
        let connecting = client
            .endpoint
            .connect_with(client_config(transport), network.front, "localhost");
        let (outgoing, incoming) = tokio::join!(
            async {
                connecting
                    .expect("the configuration is sound")
                    .await
                    .expect("the server answers")
            },
            async {
                let incoming = server.endpoint.accept().await.expect("the endpoint is open");
                incoming.await.expect("the client goes on")
            },
        );
        Self {
            client,
            server,
            network,
            outgoing,
            incoming,
        }
    }

    /// Carries `len` bytes from the client to the server, and checks each.
    pub(crate) async fn transfer(&self, len: usize) {
        transfer(&self.outgoing, &self.incoming, len).await;
    }

    /// Carries `len` bytes from the server to the client, and checks each.
    pub(crate) async fn transfer_back(&self, len: usize) {
        transfer(&self.incoming, &self.outgoing, len).await;
    }
}

async fn transfer(from: &Connection, to: &Connection, len: usize) {
    let data: Vec<u8> = (0..len)
        .map(|at| (at ^ (at >> 8) ^ (at >> 16)).to_le_bytes()[0])
        .collect();
    let (sent, received) = tokio::join!(
        async {
            let mut stream = from.open_uni().await.expect("streams are allowed");
            stream.write_all(&data).await.expect("the other end reads");
            stream.finish().expect("nobody finished it");
        },
        async {
            let mut stream = to.accept_uni().await.expect("the connection lives");
            stream.read_to_end(len).await.expect("no more than was sent")
        },
    );
    let () = sent;
    assert!(received == data, "{len} bytes came as {}", received.len());
}

pub(crate) fn endpoint(socket: Box<dyn AsyncUdpSocket>, server: Option<ServerConfig>) -> Endpoint {
    let mut config = EndpointConfig::default();
    config.grease_quic_bit(false);
    let runtime = noq::default_runtime().expect("a runtime runs");
    Endpoint::new_with_abstract_socket(config, server, socket, runtime).expect("the socket is bound")
}

pub(crate) fn server_config(transport: Arc<TransportConfig>) -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(&include_bytes!("fixture/key.der")[..]));
    let mut config = ServerConfig::with_single_cert(vec![certificate()], key).expect("the key fits");
    config.transport_config(transport);
    config
}

pub(crate) fn client_config(transport: Arc<TransportConfig>) -> ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate()).expect("it is a certificate");
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).expect("the roots are sound");
    config.transport_config(transport);
    config
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from(&include_bytes!("fixture/cert.der")[..])
}
