//! Where points are measured: one lab with `bicastd`, web servers and links that change from point to point.
//!
//! ```text
//!                  ══ path a: 100 Mbit/s, RTT 10 ms ══
//!  client, proxy 1 ─ bridge                    bridge ─ proxy 2, near web server ══ RTT 10 ms ══ far web server
//!                  ══ path b: the same              ══
//! ```

use super::scheme::{Scheme, no_policy};
use crate::experiment::Context;
use crate::experiments::support::{Bench, PATIENCE, wait_for};
use crate::lab::{
    FAR_SERVER, FAR_SERVER_ADDRESS, FORWARD_PORT, HTTP_PORT, LabOptions, LinkName, LinkSpecs, Promptness,
    Proxies, ProxyPlan, Site,
};
use crate::link::{Direction, LinkSpec, LossModel};
use crate::traffic::{Download, HttpServer, download};
use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The lab of a series.
#[derive(Debug)]
pub struct Ground {
    // Dropped in this order: servers and controller live in the lab.
    _servers: [HttpServer; 2],
    pub(super) bench: Bench,
    /// Seed of the run.
    pub(super) seed: u64,
    policy: PathBuf,
    /// What the links are to do, losses included.
    links: LinkSpecs,
}

/// A way for a download to take.
#[derive(Debug)]
pub(super) struct Route {
    /// The pair that carries it; `None` is plain TCP.
    pub(super) proxies: Option<Proxies>,
}

impl Ground {
    /// Starts it. Whatever sends data by TCP does so with CUBIC unless a series says otherwise; what the kernel's default
    /// is does not matter.
    pub(super) fn start(context: &mut Context<'_>) -> Result<Ground> {
        let policy = context.folder().join("policy.yaml");
        write(&policy, &Scheme::Unicast.policy())?;
        let links = even_links(0.0, context.seed);
        let lab = context.start_lab(LabOptions {
            links: links.clone(),
            far_server: Some(FAR_RTT),
            ..LabOptions::default()
        })?;
        lab.set_local_congestion(TCP_CONGESTION)?;
        let servers = [Site::Server.host(), FAR_SERVER]
            .map(|namespace| HttpServer::start(&lab, namespace, HTTP_PORT, TCP_CONGESTION));
        let [near, far] = servers;
        let bicastd = lab.spawn_controller(&policy, &[])?;
        let ground = Ground {
            _servers: [near?, far?],
            bench: Bench { bicastd, lab },
            seed: context.seed,
            policy,
            links,
        };
        ground.bench.wait_until_ready()?;
        // Hosts become known with their first packets.
        let route = ground.route("direct", TCP_CONGESTION)?;
        wait_for("a download works", PATIENCE, || {
            let download = ground.download(&route, WARM_UP_BYTES, Duration::from_secs(2))?;
            Ok((download.bytes == WARM_UP_BYTES).then_some(()))
        })?;
        Ok(ground)
    }

    /// Makes everything ready for a point: links as they are to be but without losses, `bicastd` with the policy of the
    /// scheme and no memory of what it has measured before.
    pub(super) fn prepare(&mut self, scheme: Scheme, links: LinkSpecs) -> Result<()> {
        self.links = links;
        self.set_links(|spec| LinkSpec {
            loss: LossModel::None,
            ..spec
        })?;
        self.load_policy(&no_policy(), |modes| modes.is_empty())?;
        self.load_policy(&scheme.policy(), |modes| {
            !modes.is_empty() && modes.iter().all(|(site, mode)| mode == scheme.first_mode(*site))
        })?;
        self.bench.wait_until_ready()
    }

    /// Lets the losses begin.
    pub(super) fn impair(&self) -> Result<()> {
        self.set_links(|spec| spec)
    }

    /// A way to a web server: `direct` by TCP to that beside the far proxy, `proxies` through a pair with this congestion
    /// control to the far one.
    pub(super) fn route(&self, via: &str, congestion: &str) -> Result<Route> {
        if via == "direct" {
            return Ok(Route { proxies: None });
        }
        self.through_proxies(&ProxyPlan {
            target: FAR_SERVER_ADDRESS.to_owned(),
            ..ProxyPlan::new(congestion)
        })
    }

    /// A way through proxies.
    pub(super) fn through_proxies(&self, plan: &ProxyPlan) -> Result<Route> {
        Ok(Route {
            proxies: Some(self.bench.lab.spawn_proxies(plan)?),
        })
    }

    /// Downloads so many bytes, or what comes within `cap`.
    pub(super) fn download(&self, route: &Route, bytes: u64, cap: Duration) -> Result<Download> {
        let url = match route.proxies {
            Some(_) => format!("http://127.0.0.1:{FORWARD_PORT}/{bytes}"),
            None => format!("http://{}:{HTTP_PORT}/{bytes}", Site::Server.host_address()),
        };
        download(&self.bench.lab, Site::Client.host(), &url, cap)
    }

    /// Bytes that each site has put on its uplinks.
    pub(super) fn uplink_bytes(&self) -> Result<[u64; 2]> {
        let [client, server] = Site::ALL.map(|site| self.bench.lab.uplink_bytes(site));
        Ok([client?, server?])
    }

    /// Does something and tells what the lab did wrong meanwhile.
    pub(super) fn observe<T>(
        &mut self,
        work: impl FnOnce(&mut Ground) -> Result<T>,
    ) -> Result<(T, Vec<String>)> {
        self.bench.lab.reset_self_check()?;
        let promptness = Promptness::watch();
        let result = work(self)?;
        let mut faults = self.bench.doubts()?;
        faults.extend(promptness.problem());
        Ok((result, faults))
    }

    fn set_links(&self, change: impl Fn(LinkSpec) -> LinkSpec) -> Result<()> {
        for link in LinkName::ALL {
            for direction in Direction::ALL {
                let spec = self.links[link.index()][direction.index()].clone();
                self.bench.lab.link(link.as_str(), direction)?.set(change(spec))?;
            }
        }
        Ok(())
    }

    /// Has `bicastd` read a policy file and waits until the modes in force satisfy `ready`.
    fn load_policy(&self, text: &str, ready: impl Fn(&[(Site, String)]) -> bool) -> Result<()> {
        write(&self.policy, text)?;
        let bicastd = self.bench.bicastd.pid().context("bicastd does not run")?;
        kill(Pid::from_raw(i32::try_from(bicastd)?), Signal::SIGHUP)?;
        let mut api = self.bench.api()?;
        wait_for("the policy file is in force", PATIENCE, || {
            self.bench.bicastd.check_running()?;
            Ok(ready(&api.all_modes()?).then_some(()))
        })
    }
}

/// Both paths alike: 100 Mbit/s, a round trip of 10 ms, this loss each way.
pub(super) fn even_links(loss_percent: f64, seed: u64) -> LinkSpecs {
    LinkName::ALL.map(|link| {
        Direction::ALL.map(|direction| LinkSpec {
            delay: DELAY,
            loss: loss(loss_percent),
            seed: link_seed(seed, link, direction),
            ..LinkSpec::default()
        })
    })
}

/// Independent losses of so many percent.
pub(super) fn loss(percent: f64) -> LossModel {
    if percent > 0.0 {
        LossModel::Bernoulli(percent / 100.0)
    } else {
        LossModel::None
    }
}

/// The seed of a direction of a link.
pub(super) fn link_seed(seed: u64, link: LinkName, direction: Direction) -> u64 {
    seed.wrapping_mul(4)
        .wrapping_add((2 * link.index() + direction.index()) as u64)
}

/// Written aside and renamed: `bicastd` looks at the file by itself, too.
fn write(file: &Path, text: &str) -> Result<()> {
    let aside = file.with_extension("new");
    std::fs::write(&aside, text)
        .and_then(|()| std::fs::rename(&aside, file))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// One-way delay of both paths.
pub(super) const DELAY: Duration = Duration::from_millis(5);
/// Round trip between the far proxy and the far web server.
pub(super) const FAR_RTT: Duration = Duration::from_millis(10);
/// Congestion control of all TCP connections of the lab: those of applications with the proxies, and direct ones.
pub(super) const TCP_CONGESTION: &str = "cubic";
const WARM_UP_BYTES: u64 = 10_000;
