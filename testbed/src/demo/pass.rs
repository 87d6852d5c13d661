//! One pass of the demo: traffic and a loss profile under one mode, and what came of it.

use super::view::View;
use crate::clock;
use crate::lab::{Controller, Copies, FORWARD_PORT, HTTP_PORT, Lab, LinkName, ProxyPlan, Site};
use crate::link::{Direction, Tally};
use crate::moment::Moment;
use crate::process::{self, Usage};
use crate::traffic::{Download, HttpServer, Iperf, IperfReport, Report, SequencedUdp, download};
use anyhow::{Context, Result, ensure};
use controller::api::{Client, PathView, Request, Response, SwitchState};
use std::path::Path;
use std::time::{Duration, Instant};

/// The mode of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One copy, always.
    Unicast,
    /// Two copies, always.
    Bicast,
    /// By measured loss.
    Adaptive,
}

/// What came of a pass.
#[derive(Debug)]
pub struct PassReport {
    /// The mode.
    pub mode: Mode,
    /// The UDP flows: client to server, server to client.
    pub udp: [Report; 2],
    /// The TCP download.
    pub tcp: IperfReport,
    /// Bytes put on each link, both directions.
    pub link_bytes: [u64; 2],
    /// Bytes that the hosts sent.
    pub host_bytes: u64,
    /// Drops of the classes by the links, and by the measurement.
    pub dropped: [u64; 2],
    /// From the first dropped packet to where packets arrive twice.
    pub reaction: Option<Duration>,
    /// Mode changes.
    pub decisions: Vec<String>,
    /// bicastd's processor time and memory, and the wall-clock time of the pass.
    pub usage: (Usage, Duration),
    /// Downloads over HTTP afterwards, with loss on both paths: by TCP itself (CUBIC), and through the proxies
    /// (BBRv3).
    pub downloads: [Download; 2],
    /// The copies of the packets that carried the second.
    pub copies: Copies,
    /// Why the pass is no evidence; empty when it is.
    pub problems: Vec<String>,
}

impl Mode {
    /// In the order of the demo.
    pub const ALL: [Mode; 3] = [Mode::Unicast, Mode::Bicast, Mode::Adaptive];

    /// As the policy file has it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Unicast => "unicast",
            Mode::Bicast => "bicast",
            Mode::Adaptive => "adaptive",
        }
    }

    /// A headline.
    pub fn title(self) -> &'static str {
        match self {
            Mode::Unicast => "pass 1 of 3, always unicast",
            Mode::Bicast => "pass 2 of 3, always bicast",
            Mode::Adaptive => "pass 3 of 3, adaptive",
        }
    }
}

/// Runs one pass.
pub(super) fn run(mut lab: Lab, folder: &Path, mode: Mode) -> Result<PassReport> {
    let policy = folder.join("demo.yaml");
    std::fs::write(&policy, POLICY.replace("MODE", mode.name()))?;
    let bicastd = lab.spawn_controller(&policy, &[])?;
    let mut api = connect(&bicastd)?;
    warm_up(&lab)?;
    wait_until_closed(&mut api)?;
    lab.reset_self_check()?;

    let start = Instant::now();
    let cpu_before = bicastd.usage()?.cpu;
    let counted_before = Counted::read(&lab, &mut api)?;
    let flows = [
        flow("client-host", "server-host", 0, UDP_PORT),
        flow("server-host", "client-host", BACK_PORT, SINK),
    ];
    let [up, down] = [flows[0].start(&lab)?, flows[1].start(&lab)?];
    let tcp = Iperf {
        from: "server-host".to_owned(),
        to: "client-host".to_owned(),
        port: TCP_PORT,
        warm_up: Duration::ZERO,
        duration: PHASES.iter().map(|(_, duration)| *duration).sum(),
        congestion: None,
        limit_bps: Some(TCP_BPS),
    }
    .start(&lab)?;
    let mut view = View::new(mode);
    let mut lossy_from = None;
    for (loss, duration) in PHASES {
        for direction in Direction::ALL {
            lab.link("a", direction)?.change(&[format!("loss={loss}")])?;
        }
        let begin = clock::now();
        if loss != "none" {
            lossy_from = Some(begin);
        }
        while clock::now().saturating_since(begin) < duration {
            std::thread::sleep(REDRAW);
            view.draw(&mut api, loss, [up.progress(), down.progress()])?;
        }
    }
    let tcp = tcp.finish()?;
    up.stop_sending();
    down.stop_sending();
    let udp = [up.stop()?, down.stop()?];
    wait_until_closed(&mut api)?;
    view.end();

    let counted = Counted::read(&lab, &mut api)?.since(&counted_before);
    let Response::Decisions(decisions) = api.ask(&Request::Decisions { limit: 100 })? else {
        anyhow::bail!("bicastd did not answer with decisions");
    };
    let mut usage = bicastd.usage()?;
    usage.cpu -= cpu_before;
    let problems = lab.self_check()?.problems();
    let (downloads, copies) = downloads(&lab)?;
    Ok(PassReport {
        mode,
        reaction: lossy_from.and_then(|from| reaction(&udp, from)),
        udp,
        tcp,
        link_bytes: counted.link_bytes,
        host_bytes: counted.host_bytes,
        dropped: [counted.dropped, counted.measured],
        decisions: decisions
            .into_iter()
            .map(|decision| format!("{}: {}", decision.from, decision.sentence))
            .collect(),
        usage: (usage, start.elapsed()),
        problems,
        downloads,
        copies,
    })
}

/// The same download twice while both paths lose packets.
fn downloads(lab: &Lab) -> Result<([Download; 2], Copies)> {
    let _server = HttpServer::start(lab, "server-host", HTTP_PORT, "cubic")?;
    let proxies = lab.spawn_proxies(&ProxyPlan::new("bbr3"))?;
    for link in LinkName::ALL {
        for direction in Direction::ALL {
            lab.link(link.as_str(), direction)?.change(&["loss=5%"])?;
        }
    }
    let direct = format!("http://{}:{HTTP_PORT}/", Site::Server.host_address());
    let proxied = format!("http://127.0.0.1:{FORWARD_PORT}/");
    let [direct, proxied] = [direct, proxied].map(|url| download(lab, "client-host", &url, DOWNLOAD));
    Ok(([direct?, proxied?], proxies.copies_to_client()?))
}

/// Counters at one moment.
struct Counted {
    link_bytes: [u64; 2],
    host_bytes: u64,
    /// By the links, of the classes.
    dropped: u64,
    /// By bicastd.
    measured: u64,
}

impl Counted {
    fn read(lab: &Lab, api: &mut Client) -> Result<Counted> {
        let mut link_bytes = [0; 2];
        let mut dropped = 0;
        for link in LinkName::ALL {
            for direction in Direction::ALL {
                let counters = lab.link(link.as_str(), direction)?.counters()?;
                link_bytes[link.index()] += counters.total.received_bytes;
                let drops = |tally: &Tally| tally.lost + tally.overflowed;
                dropped += counters
                    .classes
                    .iter()
                    .map(|class| drops(&class.total))
                    .sum::<u64>();
            }
        }
        let host_bytes = ["client", "server"]
            .iter()
            .map(|site| bytes_from_host(lab, site))
            .sum::<Result<u64>>()?;
        let measured = paths(api)?
            .iter()
            .map(|path| path.total.sent - path.total.received)
            .sum();
        Ok(Counted {
            link_bytes,
            host_bytes,
            dropped,
            measured,
        })
    }

    fn since(&self, before: &Counted) -> Counted {
        Counted {
            link_bytes: [0, 1].map(|link| self.link_bytes[link] - before.link_bytes[link]),
            host_bytes: self.host_bytes - before.host_bytes,
            dropped: self.dropped - before.dropped,
            measured: self.measured - before.measured,
        }
    }
}

/// Bytes of Ethernet frames that came to a site's bridge from its host.
fn bytes_from_host(lab: &Lab, site: &str) -> Result<u64> {
    let mut command = lab.ns(site)?.command("ip");
    let text = process::run(command.args(["-json", "-statistics", "link", "show", "dev", "host"]))?;
    let devices: serde_json::Value = serde_json::from_str(&text)?;
    devices[0]["stats64"]["rx"]["bytes"]
        .as_u64()
        .context("ip shows no received bytes")
}

/// From the first packet lost after `from` to the first second in which at least half of the packets came twice. A
/// sampled period is a quarter of a second and does not count.
fn reaction(flows: &[Report; 2], from: Moment) -> Option<Duration> {
    let of_flow = |report: &Report| {
        let since: Vec<_> = report
            .records
            .iter()
            .filter(|record| record.sent_at >= from)
            .collect();
        let first_lost = since.iter().find(|record| record.copies == 0)?.sent_at;
        let window = usize::try_from(PPS).ok()?;
        let twice = since.windows(window).find(|packets| {
            packets[0].copies > 1 && packets.iter().filter(|packet| packet.copies > 1).count() * 2 > window
        })?;
        Some(twice[0].second_at.saturating_since(first_lost))
    };
    flows.iter().filter_map(of_flow).max()
}

fn flow(from: &str, to: &str, source_port: u16, port: u16) -> SequencedUdp {
    SequencedUdp {
        from: from.to_owned(),
        to: to.to_owned(),
        source_port,
        port,
        pps: PPS,
        payload: PAYLOAD,
    }
}

fn connect(bicastd: &Controller) -> Result<Client> {
    let patience = Instant::now() + PATIENCE;
    loop {
        bicastd.check_running()?;
        if let Ok(mut api) = Client::connect(bicastd.socket()) {
            api.set_timeout(Some(PATIENCE))?;
            let ready = matches!(api.ask(&Request::Switches)?, Response::Switches(switches)
                if switches.iter().all(|switch| switch.state == SwitchState::Programmed));
            let started = paths(&mut api)?.iter().all(|path| path.usable);
            if ready && started {
                return Ok(api);
            }
        }
        ensure!(
            Instant::now() < patience,
            "the switches were not programmed in time; see {}",
            bicastd.log().display()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A second of traffic both ways: hosts are known and both colours have been counted once before the pass begins.
fn warm_up(lab: &Lab) -> Result<()> {
    let flows = [
        flow("client-host", "server-host", 0, UDP_PORT).start(lab)?,
        flow("server-host", "client-host", BACK_PORT, SINK).start(lab)?,
    ];
    std::thread::sleep(Duration::from_secs(2));
    for flow in flows {
        flow.stop()?;
    }
    let tcp = Iperf {
        from: "server-host".to_owned(),
        to: "client-host".to_owned(),
        port: TCP_PORT,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(2),
        congestion: None,
        limit_bps: Some(TCP_BPS / 10),
    };
    tcp.start(lab)?.finish().map(drop)
}

/// Waits until every period that carried something is closed: no count moves any more.
fn wait_until_closed(api: &mut Client) -> Result<()> {
    let counts =
        |api: &mut Client| -> Result<Vec<_>> { Ok(paths(api)?.iter().map(|path| path.total).collect()) };
    let patience = Instant::now() + PATIENCE;
    let (mut last, mut since) = (counts(api)?, Instant::now());
    while since.elapsed() < STILL {
        std::thread::sleep(Duration::from_millis(100));
        let now = counts(api)?;
        if now != last {
            (last, since) = (now, Instant::now());
        }
        ensure!(
            Instant::now() < patience,
            "colour periods do not close although the traffic has ended"
        );
    }
    Ok(())
}

pub(super) fn paths(api: &mut Client) -> Result<Vec<PathView>> {
    match api.ask(&Request::Paths)? {
        Response::Paths(paths) => Ok(paths),
        other => anyhow::bail!("bicastd answered {other:?} to a question for paths"),
    }
}

/// Port at which the server's host takes the client's flow.
pub(super) const UDP_PORT: u16 = 5001;
/// Port from which the server's host sends its own.
pub(super) const BACK_PORT: u16 = 5003;
/// Port of the download at the server.
pub(super) const TCP_PORT: u16 = 5201;
const DOWNLOAD: Duration = Duration::from_secs(8);
/// Port at which the client's host takes the server's flow.
const SINK: u16 = 5002;
const PPS: u32 = 2_000;
const PAYLOAD: usize = 200;
const TCP_BPS: u64 = 20_000_000;
const PHASES: [(&str, Duration); 3] = [
    ("none", Duration::from_secs(8)),
    ("5%", Duration::from_secs(14)),
    ("none", Duration::from_secs(14)),
];
const REDRAW: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(30);
const STILL: Duration = Duration::from_secs(2);
const POLICY: &str = include_str!("policy.yaml");
