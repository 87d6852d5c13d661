//! What the experiments with `bicastd` have in common: a lab under its control, its API, traffic both ways.

use crate::clock;
use crate::experiment::Context;
use crate::lab::{Backend, Controller, Lab, LabOptions, LinkName, Site, default_links};
use crate::link::{ClassKey, Direction, LossModel, Tally};
use crate::moment::Moment;
use crate::traffic::{Report, Running, SequencedUdp};
use anyhow::{Context as _, Result, bail};
use controller::api::{
    Client, DirectionView, ModeRequest, Notice, PathView, Request, Response, SwitchState, SwitchView,
};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A lab with `bicastd` in charge of both bridges.
#[derive(Debug)]
pub(super) struct Bench {
    // Dropped in this order: the controller lives in the lab.
    pub(super) bicastd: Controller,
    pub(super) lab: Lab,
}

impl Bench {
    /// Starts a lab and `bicastd` with a policy file, waits until both bridges are programmed and every path can be
    /// used, sends a little traffic both ways so that hosts are known and every colour has been counted once, and
    /// waits until nothing is left to count.
    pub(super) fn start(context: &mut Context<'_>, policy: &str) -> Result<Bench> {
        let file = context.folder().join("policy.yaml");
        std::fs::write(&file, policy).with_context(|| format!("cannot write {}", file.display()))?;
        let lab = context.start_lab(LabOptions {
            links: default_links(context.seed),
            ..LabOptions::default()
        })?;
        // What an earlier run left there is not this run's.
        std::fs::write(lab.folder().join("bicastd.log"), "")?;
        if lab.backend() == Backend::Emulator {
            for direction in Direction::ALL {
                lab.count_class(class(direction))?;
            }
        }
        let bicastd = lab.spawn_controller(&file, &[])?;
        let mut bench = Bench { bicastd, lab };
        bench.wait_until_ready()?;
        bench.warm_up()?;
        bench.lab.reset_self_check()?;
        Ok(bench)
    }

    /// The API of the `bicastd` that runs.
    pub(super) fn api(&self) -> Result<Api> {
        Api::connect(self.bicastd.socket())
    }

    /// Waits until `bicastd` answers, both bridges are programmed and all paths can be used.
    pub(super) fn wait_until_ready(&self) -> Result<()> {
        wait_for("bicastd has programmed both bridges", PATIENCE, || {
            self.bicastd.check_running()?;
            let Ok(mut api) = self.api() else {
                return Ok(None);
            };
            let switches = api.switches()?;
            let programmed = switches
                .iter()
                .filter(|switch| switch.state == SwitchState::Programmed && switch.problems.is_empty())
                .count();
            let paths = api.paths()?;
            let usable = !paths.is_empty() && paths.iter().all(|path| path.usable);
            Ok((programmed == Site::ALL.len() && usable).then_some(()))
        })
    }

    /// Waits until the counts of closed colour periods have stood still for two seconds. To be called when no
    /// traffic flows: every period is closed then.
    pub(super) fn wait_until_counted(&self) -> Result<()> {
        let mut api = self.api()?;
        let mut last = api.paths()?;
        let mut since = Instant::now();
        wait_for("every colour period is closed", PATIENCE, || {
            std::thread::sleep(Duration::from_millis(80));
            let now = api.paths()?;
            let still = now.iter().zip(&last).all(|(now, last)| now.total == last.total);
            if !still {
                since = Instant::now();
            }
            last = now;
            Ok((since.elapsed() >= QUIET).then_some(()))
        })
    }

    /// What an emulated link has done to the class.
    pub(super) fn tally(&self, link: LinkName, direction: Direction) -> Result<Tally> {
        let counters = self.lab.link(link.as_str(), direction)?.counters()?;
        Ok(counters
            .class(class(direction))
            .context("the class is counted from the start on")?
            .total)
    }

    /// Gives a link a loss in both directions.
    pub(super) fn set_loss(&self, link: LinkName, loss: LossModel) -> Result<()> {
        for direction in Direction::ALL {
            let handle = self.lab.link(link.as_str(), direction)?;
            let mut spec = handle.spec()?;
            spec.loss = loss;
            handle.set(spec)?;
        }
        Ok(())
    }

    /// What puts the run into doubt since the last reset of the lab's self-check.
    pub(super) fn doubts(&self) -> Result<Vec<String>> {
        Ok(self.lab.self_check()?.problems())
    }

    /// Sends until both hosts are known and both colours of every path in use have a base.
    fn warm_up(&self) -> Result<()> {
        let mut api = self.api()?;
        let traffic = Traffic::start(&self.lab, WARM_UP_PPS)?;
        wait_for("traffic flows and is counted both ways", PATIENCE, || {
            let paths = api.paths()?;
            let mut in_use = paths.iter().filter(|path| path.in_use);
            let counted = in_use.all(|path| path.total.periods >= WARM_UP_PERIODS);
            let arrives = traffic.flows.iter().all(|flow| flow.progress().unique > 0);
            Ok((counted && arrives).then_some(()))
        })?;
        traffic.stop()?;
        self.wait_until_counted()
    }
}

/// Questions to `bicastd`, typed.
#[derive(Debug)]
pub(super) struct Api(Client);

impl Api {
    fn connect(socket: &Path) -> Result<Api> {
        let client = Client::connect(socket)?;
        client.set_timeout(Some(Duration::from_secs(5)))?;
        Ok(Api(client))
    }

    pub(super) fn switches(&mut self) -> Result<Vec<SwitchView>> {
        match self.0.ask(&Request::Switches)? {
            Response::Switches(switches) => Ok(switches),
            other => unexpected(&other),
        }
    }

    /// The switches of the two sites, in the order of [`Site::ALL`].
    pub(super) fn sites(&mut self) -> Result<[SwitchView; 2]> {
        let switches = self.switches()?;
        let of = |site: Site| {
            let found = switches
                .iter()
                .find(|switch| switch.site.as_deref() == Some(site.name()));
            found
                .cloned()
                .with_context(|| format!("bicastd knows no site `{}`", site.name()))
        };
        Ok([of(Site::Client)?, of(Site::Server)?])
    }

    pub(super) fn paths(&mut self) -> Result<Vec<PathView>> {
        match self.0.ask(&Request::Paths)? {
            Response::Paths(paths) => Ok(paths),
            other => unexpected(&other),
        }
    }

    /// One path in one direction.
    pub(super) fn path(&mut self, link: LinkName, direction: Direction) -> Result<PathView> {
        let paths = self.paths()?;
        let found = paths
            .into_iter()
            .find(|path| path.path == link.as_str() && path.from == sender(direction).name());
        found.with_context(|| format!("bicastd knows no path {} {direction}", link.as_str()))
    }

    /// The policy in both directions, in the order of [`Direction::ALL`].
    pub(super) fn directions(&mut self) -> Result<[DirectionView; 2]> {
        let Response::Policies(views) = self.0.ask(&Request::Policies)? else {
            bail!("bicastd answered something else than policies");
        };
        let of = |direction: Direction| {
            let found = views.iter().find(|view| view.from == sender(direction).name());
            found
                .cloned()
                .with_context(|| format!("bicastd knows nothing of {direction}"))
        };
        Ok([of(Direction::ClientToServer)?, of(Direction::ServerToClient)?])
    }

    /// What a site sends under a policy.
    pub(super) fn policy(&mut self, policy: &str, from: Site) -> Result<DirectionView> {
        let Response::Policies(views) = self.0.ask(&Request::Policies)? else {
            bail!("bicastd answered something else than policies");
        };
        let found = views
            .into_iter()
            .find(|view| view.policy == policy && view.from == from.name());
        found.with_context(|| {
            format!(
                "bicastd knows no policy `{policy}` of which {} sends",
                from.name()
            )
        })
    }

    /// The mode in force for what each site sends, for every policy.
    pub(super) fn all_modes(&mut self) -> Result<Vec<(Site, String)>> {
        let Response::Policies(views) = self.0.ask(&Request::Policies)? else {
            bail!("bicastd answered something else than policies");
        };
        let mode = |view: DirectionView| Some((Site::named(&view.from)?, view.mode));
        Ok(views.into_iter().filter_map(mode).collect())
    }

    /// The modes in force, in the order of [`Direction::ALL`].
    pub(super) fn modes(&mut self) -> Result<[String; 2]> {
        Ok(self.directions()?.map(|view| view.mode))
    }

    /// Pins the mode of one direction.
    pub(super) fn set_mode(&mut self, direction: Direction, mode: ModeRequest) -> Result<()> {
        let request = Request::SetMode {
            policy: POLICY.to_owned(),
            from: sender(direction).name().to_owned(),
            mode,
        };
        match self.0.ask(&request)? {
            Response::Done => Ok(()),
            other => unexpected(&other),
        }
    }
}

/// Traffic of the policy's class in both directions.
#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) flows: [Running; 2],
}

impl Traffic {
    /// Starts to send `pps` packets a second each way.
    pub(super) fn start(lab: &Lab, pps: u32) -> Result<Traffic> {
        let [up, down] = Direction::ALL.map(|direction| flow(direction, pps).start(lab));
        Ok(Traffic { flows: [up?, down?] })
    }

    /// Stops sending, waits for what is under way, and reports in the order of [`Direction::ALL`].
    pub(super) fn stop(self) -> Result<[Report; 2]> {
        self.flows.iter().for_each(Running::stop_sending);
        let [up, down] = self.flows.map(Running::stop);
        Ok([up?, down?])
    }
}

/// Notices of `bicastd`, each with the moment at which it came.
#[derive(Debug)]
pub(super) struct Watch {
    notices: Arc<Mutex<Vec<(Moment, Notice)>>>,
}

impl Watch {
    /// Collects notices from now on until `bicastd` ends.
    pub(super) fn start(bench: &Bench) -> Result<Watch> {
        let mut client = Client::connect(bench.bicastd.socket())?;
        client.ask(&Request::Watch)?;
        let notices: Arc<Mutex<Vec<(Moment, Notice)>>> = Arc::default();
        let collected = Arc::clone(&notices);
        std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                while let Ok(notice) = client.notice() {
                    collected
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((clock::now(), notice));
                }
            })?;
        Ok(Watch { notices })
    }

    /// The modes that were decided for what a site sends by a policy, each with the seconds since `start`.
    pub(super) fn modes_of(&self, wanted: &str, sender: Site, start: Moment) -> Vec<(f64, String)> {
        let notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let mode = |(at, notice): &(Moment, Notice)| match notice {
            Notice::Decision(decision)
                if *at >= start && decision.policy == wanted && decision.from == sender.name() =>
            {
                Some((at.saturating_since(start).as_secs_f64(), decision.after.clone()))
            }
            _ => None,
        };
        notices.iter().filter_map(mode).collect()
    }

    /// When a site's switch was first in `state` at or after `moment`, if it was.
    pub(super) fn switch_was(&self, wanted: Site, in_state: SwitchState, moment: Moment) -> Option<Moment> {
        let notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let found = notices.iter().find(|(at, notice)| {
            let Notice::Switch { site, state, .. } = notice else {
                return false;
            };
            *at >= moment && *state == in_state && site.as_deref() == Some(wanted.name())
        });
        found.map(|(at, _)| *at)
    }
}

/// Looks every few milliseconds until there is something to see.
pub(super) fn wait_for<T>(
    what: &str,
    patience: Duration,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(seen) = look()? {
            return Ok(seen);
        }
        if start.elapsed() > patience {
            bail!("waited {patience:?} until {what}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The site that sends in a direction.
pub(super) fn sender(direction: Direction) -> Site {
    match direction {
        Direction::ClientToServer => Site::Client,
        Direction::ServerToClient => Site::Server,
    }
}

/// How the links tell the packets of the policy's class in a direction.
pub(super) fn class(direction: Direction) -> ClassKey {
    match direction {
        Direction::ClientToServer => ClassKey::udp_to(SERVER_PORT),
        Direction::ServerToClient => ClassKey::udp_from(SERVER_SOURCE_PORT),
    }
}

/// A policy file for the lab with one policy, `video`, for the class of [`Traffic`]. `policy` are its keys other
/// than `match`, each on a line of four blanks; `recovery` is that of both uplinks of both sites.
pub(super) fn policy_file(measurement: &str, recovery: &str, policy: &str) -> String {
    let mut text = format!("measurement: {measurement}\nsites:\n");
    for (number, site) in [(1, Site::Client), (2, Site::Server)] {
        text += &format!(
            "  {}:\n    datapath: \"{number:016x}\"\n    access: {{port: host, gateway: 10.{number}.0.1/24}}\n    \
             uplinks:\n",
            site.name()
        );
        for link in LinkName::ALL {
            text += &format!(
                "      {name}: {{port: {name}, next_hop: {}, address: {}/24, recovery: {recovery}}}\n",
                site.next_hop(link),
                site.uplink_address(link),
                name = link.as_str(),
            );
        }
        text += "    default: a\n";
    }
    text += "peerings:\n  client-server:\n    sites: [client, server]\n    paths:\n      \
             a: {client: a, server: a}\n      b: {client: b, server: b}\n";
    text += &format!(
        "policies:\n  {POLICY}:\n    match: {{protocol: udp, port: {{server: [{SERVER_PORT}, {SERVER_SOURCE_PORT}]}}}}\n    \
         prefer: [a, b]\n{policy}"
    );
    text
}

fn flow(direction: Direction, pps: u32) -> SequencedUdp {
    let from = sender(direction);
    let (source_port, port) = match direction {
        Direction::ClientToServer => (0, SERVER_PORT),
        Direction::ServerToClient => (SERVER_SOURCE_PORT, CLIENT_PORT),
    };
    SequencedUdp {
        from: from.host().to_owned(),
        to: from.peer().host().to_owned(),
        source_port,
        port,
        pps,
        payload: PAYLOAD,
    }
}

fn unexpected<T>(response: &Response) -> Result<T> {
    bail!("bicastd answered {response:?}")
}

/// The policy of [`policy_file`].
pub(super) const POLICY: &str = "video";
/// Long enough for everything that is waited for, on a busy machine too.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Port of the server's host that the client's packets go to.
const SERVER_PORT: u16 = 5001;
/// Port of the server's host that its own packets come from.
const SERVER_SOURCE_PORT: u16 = 5002;
/// Port of the client's host that these go to.
const CLIENT_PORT: u16 = 6002;
const PAYLOAD: usize = 200;
const QUIET: Duration = Duration::from_secs(2);
const WARM_UP_PPS: u32 = 500;
/// Both colours have a base before the first is counted; some more for good measure.
const WARM_UP_PERIODS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_file_is_good() {
        let text = policy_file("{period: 500ms, sampling: 0%}", "3s", "    mode: bicast\n");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("policy.yaml");
        std::fs::write(&file, text).unwrap();
        let policies = controller::policy_file::load(&file).unwrap();
        assert_eq!(policies.policies.len(), 1);
    }
}
