//! The UDP socket and QUIC endpoint of one class of connections, and how connections over it behave.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use noq::{
    ClientConfig, EndpointConfig, IdleTimeout, MtuDiscoveryConfig, ServerConfig, TokioRuntime,
    TransportConfig, VarInt,
};
use noq_proto::HashedConnectionIdGenerator;
use ring::hmac;
use socket2::{Domain, Protocol, Socket, Type};

use crate::config::{Config, Identity};
use crate::current::Current;
use crate::figures::{Figures, ObservedFactory};
use crate::key::PrivateKey;
use crate::relay::Shared;
use crate::shim::header::{HEADER_LEN, Stream};
use crate::shim::{LossThresholds, Mode, PeerHandle, Shim, ShimConfig};
use crate::tls::{self, Certificates, Class};

/// Where connections of some classes come and go.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) endpoint: noq::Endpoint,
    pub(crate) shim: Shim,
    /// For whoever dials us; `None` when nobody can.
    server: Option<Current<ServerConfig>>,
}

impl Port {
    /// Binds the socket for `class`: where the configuration says, or anywhere when nobody needs to find it.
    pub(crate) fn bind(
        class: Class,
        config: &Config,
        key: &PrivateKey,
        certificates: Option<&Certificates>,
    ) -> anyhow::Result<Port> {
        let listen = match class {
            Class::Datagrams => config.listen_datagrams,
            Class::Streams | Class::Own => config.listen,
        };
        let server = listen
            .map(|_| server(class, config, key, certificates))
            .transpose()?;
        let socket = match listen {
            Some(address) => socket(address).with_context(|| format!("cannot listen at UDP {address}"))?,
            // A host without IPv6 cannot bind the first.
            None => socket((Ipv6Addr::UNSPECIFIED, 0).into())
                .or_else(|_| socket((Ipv4Addr::UNSPECIFIED, 0).into()))
                .context("cannot open a UDP socket")?,
        };
        let further = match class {
            Class::Streams | Class::Own => path_sockets(socket.local_addr()?.ip(), &config.path_ports)?,
            Class::Datagrams => Vec::new(),
        };
        let (shim, endpoint) = bind(class, (socket, further), config, key, server.clone())?;
        Ok(Port {
            endpoint,
            shim,
            server: server.map(Current::new),
        })
    }

    /// From now on those that the configuration lists may dial us.
    pub(crate) fn follow(
        &self,
        class: Class,
        config: &Config,
        key: &PrivateKey,
        certificates: Option<&Certificates>,
    ) -> anyhow::Result<()> {
        let Some(server) = &self.server else {
            return Ok(());
        };
        // The rest of it stays, and so whoever was sent back to prove its address is known when it comes again.
        let mut changed = ServerConfig::clone(&server.get());
        changed.crypto = crypto(class, config, key, certificates)?;
        self.endpoint.set_server_config(Some(changed.clone()));
        server.set(changed);
        Ok(())
    }

    /// Dials `peer` at `address`.
    pub(crate) fn dial(
        &self,
        class: Class,
        address: SocketAddr,
        peer: &Identity,
        shared: &Shared,
        transport: TransportConfig,
    ) -> anyhow::Result<noq::Connecting> {
        let certificates = shared.certificates.get();
        let (crypto, name) = tls::client(&shared.key, Option::as_ref(&certificates), peer, class)?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(transport));
        Ok(self.endpoint.connect_with(config, address, &name)?)
    }

    /// Goes on with a handshake that somebody began.
    pub(crate) fn accept(
        &self,
        incoming: noq::Incoming,
        transport: TransportConfig,
    ) -> Result<noq::Connecting, noq::ConnectionError> {
        let Some(server) = &self.server else {
            incoming.refuse();
            return Err(noq::ConnectionError::LocallyClosed);
        };
        let mut server = ServerConfig::clone(&server.get());
        server.transport_config(Arc::new(transport));
        incoming.accept_with(Arc::new(server))
    }
}

/// How a connection behaves whose figures these are. `shim` is what the shim knows of the other end, `rtt` the
/// round-trip time of earlier connections with it.
pub(crate) fn transport(
    class: Class,
    config: &Config,
    figures: &Arc<Figures>,
    shim: &PeerHandle,
    rtt: Option<Duration>,
) -> TransportConfig {
    let gap = shim.outgoing_gap();
    let measured = gap.get();
    let settings = &config.transport;
    let streams = match class {
        Class::Datagrams => config.limits.flows,
        Class::Streams | Class::Own => config.limits.streams,
    };
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(streams))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(settings.stream_window))
        .receive_window(VarInt::from_u32(settings.connection_window))
        .send_window(u64::from(settings.connection_window))
        .max_idle_timeout(IdleTimeout::try_from(settings.idle).ok())
        .keep_alive_interval(Some(settings.keep_alive))
        .datagram_receive_buffer_size((class == Class::Datagrams).then_some(DATAGRAM_BUFFER))
        .datagram_send_buffer_size(DATAGRAM_BUFFER)
        .congestion_controller_factory(Arc::new(ObservedFactory {
            figures: Arc::clone(figures),
            gap,
        }));
    if config.shim.mode != Mode::Off {
        let thresholds = LossThresholds::new(measured, rtt.unwrap_or(ASSUMED_RTT), config.shim.lead);
        thresholds.apply(&mut transport);
    }
    if let Some(folder) = &config.qlog {
        let name = format!("{class:?}").to_lowercase();
        transport.qlog_from_path(folder, &name);
    }
    match settings.mtu {
        Some(mtu) => transport
            .initial_mtu(mtu.saturating_sub(SHIM_BYTES).max(1200))
            .mtu_discovery_config(None),
        None => transport.mtu_discovery_config(Some(MtuDiscoveryConfig::default())),
    };
    transport
}

/// The endpoint over a socket, with the shim between the two. Datagrams are not held back to be put in order.
fn bind(
    class: Class,
    (socket, further): (UdpSocket, Vec<UdpSocket>),
    config: &Config,
    key: &PrivateKey,
    server: Option<ServerConfig>,
) -> io::Result<(Shim, noq::Endpoint)> {
    let stream = match class {
        Class::Streams | Class::Own => Stream::Ordered,
        Class::Datagrams => Stream::Unordered,
    };
    let settings = ShimConfig {
        stream,
        ..config.shim
    };
    let (shim, socket) = Shim::with_paths(socket, further, settings)?;
    let mut settings = endpoint(stream, key);
    // The shim tells its header from QUIC's by this bit.
    settings.grease_quic_bit(false);
    let runtime = Arc::new(TokioRuntime);
    let endpoint = noq::Endpoint::new_with_abstract_socket(settings, server, Box::new(socket), runtime)?;
    Ok((shim, endpoint))
}

/// After a restart we know our connection ids of before and can reset those connections (RFC 9000 §10.3), so that the
/// other side need not wait until they are silent for too long. A socket's secrets are of no use at another: whoever
/// sends the ids of one there learns nothing (§21.11).
fn endpoint(stream: Stream, key: &PrivateKey) -> EndpointConfig {
    let secret = |purpose: &str| key.derive(&format!("{purpose} {stream:?}"));
    let [a, b, c, d, e, f, g, h, ..] = secret("connection ids");
    let ids = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let mut settings = EndpointConfig::new(Arc::new(hmac::Key::new(
        hmac::HMAC_SHA256,
        &secret("stateless resets"),
    )));
    settings.cid_generator(Arc::new(move || {
        Box::new(HashedConnectionIdGenerator::from_key(ids))
    }));
    settings
}

fn server(
    class: Class,
    config: &Config,
    key: &PrivateKey,
    certificates: Option<&Certificates>,
) -> anyhow::Result<ServerConfig> {
    let mut server = ServerConfig::with_crypto(crypto(class, config, key, certificates)?);
    server
        .max_incoming(MAX_INCOMING)
        .incoming_buffer_size(INCOMING_BUFFER)
        .incoming_buffer_size_total(INCOMING_BUFFER.saturating_mul(u64::from(config.limits.handshakes)));
    Ok(server)
}

fn crypto(
    class: Class,
    config: &Config,
    key: &PrivateKey,
    certificates: Option<&Certificates>,
) -> anyhow::Result<Arc<dyn noq::crypto::ServerConfig>> {
    let peers: Vec<&Identity> = config.peers.iter().map(|peer| &peer.identity).collect();
    tls::server(key, certificates, &peers, class)
}

/// Where packets arrive that came by further paths.
fn path_sockets(ip: IpAddr, ports: &[u16]) -> anyhow::Result<Vec<UdpSocket>> {
    let bind = |port: &u16| {
        let address = SocketAddr::new(ip, *port);
        socket(address).with_context(|| format!("cannot take UDP {address} of `shim.path_ports`"))
    };
    ports.iter().map(bind).collect()
}

/// A UDP socket with room for bursts, as far as the system allows; `[::]` takes IPv4 too.
fn socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        socket.set_only_v6(false)?;
    }
    // Smaller buffers than asked for only cost packets in bursts.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Handshakes that nobody has looked at yet; looking at one takes no time.
const MAX_INCOMING: usize = 1024;
/// Until there has been a connection: as short as between gateways of one city. The copy of the slower path must not be
/// given up before it can come; where the round trip is longer, losses at the end of a burst are found by the probe
/// timeout first.
const ASSUMED_RTT: Duration = Duration::from_millis(10);
/// What the shim takes of each UDP payload.
const SHIM_BYTES: u16 = {
    assert!(HEADER_LEN == 8);
    8
};
const SOCKET_BUFFER: usize = 4 << 20;
/// Datagrams that wait to be sent or read, in bytes. More would only make them old.
const DATAGRAM_BUFFER: usize = 256 << 10;
/// What is kept of one handshake that nobody has looked at yet; without 0-RTT there is little to keep.
const INCOMING_BUFFER: u64 = 16 << 10;
