//! Questions, answers and notices of the API: one JSON object a line, over a Unix socket.

use serde::{Deserialize, Serialize};

/// What a client can ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// The daemon itself: version, policy file in force, last problem with it.
    Status,
    /// Every switch that is configured or connected.
    Switches,
    /// Every policy's paths with what was measured on them.
    Paths,
    /// Every policy and direction with its mode.
    Policies,
    /// The latest decisions, oldest first.
    Decisions {
        /// At most so many.
        limit: usize,
    },
    /// All about one policy.
    Policy {
        /// Its name in the file.
        name: String,
    },
    /// Pin the mode of what `from` sends, or give it back to the policy.
    SetMode {
        /// The policy.
        policy: String,
        /// The sending site.
        from: String,
        /// The mode to hold.
        mode: ModeRequest,
    },
    /// Keep the connection open and send every notice from now on.
    Watch,
}

/// The mode that an operator asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModeRequest {
    /// What the policy says.
    Auto,
    /// One path: the named one, or the most preferred that is usable.
    Unicast {
        /// The path's name.
        path: Option<String>,
    },
    /// The two most preferred usable paths.
    Bicast,
}

/// What a client is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "response", content = "value", rename_all = "kebab-case")]
pub enum Response {
    /// To [`Request::Status`].
    Status(Status),
    /// To [`Request::Switches`].
    Switches(Vec<SwitchView>),
    /// To [`Request::Paths`].
    Paths(Vec<PathView>),
    /// To [`Request::Policies`].
    Policies(Vec<DirectionView>),
    /// To [`Request::Decisions`].
    Decisions(Vec<DecisionView>),
    /// To [`Request::Policy`].
    Policy(Box<PolicyView>),
    /// Done, to a request that changes something; or from now on notices follow.
    Done,
    /// It cannot be done: why.
    Error(String),
}

/// One line of a [`Request::Watch`] stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "kebab-case")]
pub enum Notice {
    /// A mode changed, and why.
    Decision(DecisionView),
    /// A switch came, went, or is programmed.
    Switch {
        /// The site, where the datapath id is configured.
        site: Option<String>,
        /// 16 hex digits.
        datapath_id: String,
        /// What it is now.
        state: SwitchState,
    },
    /// The policy file was read.
    Policies {
        /// None: in force. Some: refused, with these problems; the old one stays in force.
        problems: Option<String>,
    },
    /// A proxy began to report, or stopped.
    Reports {
        /// The policy.
        policy: String,
        /// The proxy's site.
        site: String,
        /// The proxy's name for the peer that it reports of.
        peer: String,
        /// Whether its reports come.
        fresh: bool,
    },
    /// The client reads too slowly: so many notices were left out.
    Missed {
        /// How many.
        count: u64,
    },
}

/// How far a switch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchState {
    /// Configured, not connected.
    Disconnected,
    /// Connected, version and features not agreed yet.
    Handshake,
    /// What it holds is being read.
    Reading,
    /// It holds what it should.
    Programmed,
    /// Connected, and no site of the policy file has its datapath id.
    Unconfigured,
}

/// The daemon itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of `bicastd`.
    pub version: String,
    /// Milliseconds since the daemon started.
    pub uptime_ms: u64,
    /// Sites, peerings and policies in force.
    pub sites: usize,
    /// Policies in force.
    pub policies: usize,
    /// What was wrong with the policy file when it was last read, if anything.
    pub policy_problems: Option<String>,
}

/// One switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SwitchView {
    /// The site, where the datapath id is configured.
    pub site: Option<String>,
    /// 16 hex digits.
    pub datapath_id: String,
    /// How far it is.
    pub state: SwitchState,
    /// Remote address of its connection.
    pub peer: Option<String>,
    /// Software as the switch describes itself.
    pub software: Option<String>,
    /// Ports that the policy file names.
    pub ports: Vec<PortView>,
    /// Entries of ours that it holds.
    pub flows: usize,
    /// Groups of ours that it holds.
    pub groups: usize,
    /// Meters of ours that it holds.
    pub meters: usize,
    /// Messages sent to it since it connected.
    pub sent: SentCounts,
    /// What keeps it from doing its job.
    pub problems: Vec<String>,
}

/// Changes sent to a switch since its present connection began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentCounts {
    /// OFPT_FLOW_MOD.
    pub flow_mods: u64,
    /// OFPT_GROUP_MOD.
    pub group_mods: u64,
    /// OFPT_METER_MOD.
    pub meter_mods: u64,
    /// OFPT_ERROR received.
    pub errors: u64,
}

/// One port that the policy file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortView {
    /// What it is for: "access" or the uplink's name.
    pub role: String,
    /// Interface name.
    pub name: String,
    /// OpenFlow port number, when the switch has it.
    pub number: Option<u32>,
    /// Whether it can carry traffic.
    pub up: bool,
    /// MAC address of the next hop, for uplinks, when known.
    pub next_hop_mac: Option<String>,
}

/// One path of one direction of one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathView {
    /// The policy.
    pub policy: String,
    /// The sending site.
    pub from: String,
    /// The receiving site.
    pub to: String,
    /// The path.
    pub path: String,
    /// Whether both uplinks are up and their next hops known.
    pub usable: bool,
    /// Whether the mode in force sends on it.
    pub in_use: bool,
    /// The recent loss.
    pub loss: Option<LossView>,
    /// Everything counted over closed colour periods.
    pub total: TotalView,
    /// What the proxy at the receiving site reports of copies that came by it; none without a fresh report, or when the
    /// policy does not deliver the path to a port of its own.
    #[serde(default)]
    pub copies: Option<PathCopies>,
}

/// A loss with its certainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LossView {
    /// Packets sent on the path.
    pub sent: u64,
    /// Packets of them that did not arrive.
    pub lost: u64,
    /// Over so many milliseconds.
    pub span_ms: u64,
    /// The true loss is at least this fraction, at the configured confidence.
    pub lower: f64,
    /// The true loss is at most this fraction, at the configured confidence.
    pub upper: f64,
}

/// Counts over all closed colour periods in which the path carried every packet of the class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalView {
    /// Colour periods.
    pub periods: u64,
    /// Of them, sampled ones: the path was on standby.
    pub sampled_periods: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub received: u64,
}

/// One direction of one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionView {
    /// The policy.
    pub policy: String,
    /// The sending site.
    pub from: String,
    /// The receiving site.
    pub to: String,
    /// What the file says: unicast, bicast or adaptive.
    pub policy_mode: String,
    /// The mode in force: "unicast a", "bicast a+b".
    pub mode: String,
    /// Whether an operator holds it.
    pub pinned: bool,
    /// Packets sent, over all closed colour periods.
    pub sent: u64,
    /// Mode changes since the daemon started.
    pub changes: u64,
    /// The latest decision's evidence.
    pub reason: Option<String>,
    /// In bicast: what both paths lose together.
    #[serde(default)]
    pub joint: Option<JointView>,
    /// What the proxy at the receiving site reports, if it lately did.
    #[serde(default)]
    pub copies: Option<CopiesView>,
    /// What the proxy at the sending site reports, if it lately did.
    #[serde(default)]
    pub sending: Option<SendingView>,
}

/// The loss of packets that were sent on several paths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JointView {
    /// As the proxy at the receiving site reports it.
    pub measured: Option<LossView>,
    /// What it would be, 0 to 1, if the paths lost packets independently of one another.
    pub if_independent: Option<f64>,
}

/// Packets by what became of their copies, reported since bicastd started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesView {
    /// Since the latest report.
    pub age_ms: u64,
    /// Packets of which a copy came, or none although others behind it did.
    pub packets: u64,
    /// Of which more than one copy came.
    pub both: u64,
    /// Of which no copy came: lost.
    pub neither: u64,
    /// That came in time only because another path carried a copy.
    pub rescued: u64,
    /// How much later second copies come, microseconds.
    pub gap_us: u64,
    /// How long the proxy waits for a missing packet, microseconds.
    pub hold_us: u64,
}

/// Copies that came by one path, reported since bicastd started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCopies {
    /// Packets whose first copy came by it.
    pub first_arrivals: u64,
    /// Copies of packets that had come by another path.
    pub second_copies: u64,
    /// First arrivals that filled a hole which a packet by another path had shown.
    pub rescued: u64,
    /// Packets that came by no other path.
    pub only: u64,
}

/// How the proxy at a sending site fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendingView {
    /// Since the latest report.
    pub age_ms: u64,
    /// QUIC connections for streams.
    pub connections: u64,
    /// The smoothed round-trip time of the busiest, microseconds.
    pub rtt_us: u64,
    /// The congestion windows of all, bytes.
    pub cwnd: u64,
    /// What was acknowledged lately on all, bits per second.
    pub delivery_bps: u64,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionView {
    /// Milliseconds since the Unix epoch.
    pub at_unix_ms: u64,
    /// The policy.
    pub policy: String,
    /// The sending site.
    pub from: String,
    /// The receiving site.
    pub to: String,
    /// The mode before.
    pub before: String,
    /// The mode after.
    pub after: String,
    /// The evidence in one sentence, counts included.
    pub sentence: String,
}

/// All about one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyView {
    /// Its name.
    pub name: String,
    /// The peering that it belongs to.
    pub peering: String,
    /// Higher wins.
    pub priority: u16,
    /// What it applies to, as the first site of its peering sends it.
    pub class: String,
    /// Both directions.
    pub directions: Vec<DirectionView>,
    /// Paths of both directions.
    pub paths: Vec<PathView>,
    /// Its latest decisions, oldest first.
    pub decisions: Vec<DecisionView>,
}
