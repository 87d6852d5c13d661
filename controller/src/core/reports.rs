//! What proxies report finds its policy.
//!
//! A line can be shown, and told with a decision. It touches no steering and makes no site dirty: with it and without
//! it, switches are sent the same.

use policies::document::{did_you_mean, one_of};
use policies::{Direction, JointSample, ProxyReport, Timestamp};

use super::{Core, Key};
use crate::api::{DirectionView, Notice, PathView, Response};
use crate::event::Effect;
use crate::measure::{Reporter, TooManyReporters};
use crate::steering::{Steering, SteeringKey};

impl Core {
    pub(super) fn report(
        &mut self,
        now: Timestamp,
        report: ProxyReport,
        effects: &mut Vec<Effect>,
    ) -> Response {
        match self.take_report(now, report, effects) {
            Ok(()) => Response::Done,
            Err(problem) => Response::Error(problem),
        }
    }

    fn take_report(
        &mut self,
        now: Timestamp,
        report: ProxyReport,
        effects: &mut Vec<Effect>,
    ) -> Result<(), String> {
        let (key, reporter) = self.reporter(&report)?;
        let Some(steering) = self.steerings.get_mut(&key) else {
            return Err(format!(
                "nothing is sent to site `{}` by that policy",
                reporter.site
            ));
        };
        let taken = self
            .reports
            .take(now, reporter.clone(), report, steering.copied(), |port| {
                steering.path_of_udp_port(port)
            });
        let (begins, interval) = taken.map_err(|TooManyReporters| "too many proxies report".to_owned())?;
        if let Some(interval) = interval {
            steering.observe_joint(&JointSample {
                paths: interval.copied,
                direction: key.direction,
                from: interval.from,
                until: now,
                counts: interval.counts,
            });
        }
        self.touched.insert(Key::Reports);
        if begins {
            effects.push(Effect::Publish(notice(reporter, true)));
        }
        Ok(())
    }

    /// Who reports, and the direction in which the packets came that it received.
    fn reporter(&self, report: &ProxyReport) -> Result<(SteeringKey, Reporter), String> {
        let (Some(policy), Some(site)) = (&report.policy, &report.site) else {
            return Err(format!(
                "the line about peer `{}` names no policy and site: give bicast-proxy `report.site` and, under \
                 `report.policies`, the policy of `{0}`",
                report.peer
            ));
        };
        let Some(found) = self.policies.policies.get(policy) else {
            let names: Vec<&str> = self.policies.policies.keys().map(String::as_str).collect();
            return Err(unknown("a policy", policy, &names));
        };
        let Some(peering) = self.policies.peerings.get(&found.peering) else {
            return Err(format!("policy `{policy}` has no peering"));
        };
        let sites = peering.sites.each_ref().map(String::as_str);
        let direction = Direction::ALL
            .into_iter()
            .find(|direction| peering.receiver(*direction) == site)
            .ok_or_else(|| unknown(&format!("a site of policy `{policy}`"), site, &sites))?;
        let key = SteeringKey {
            policy: policy.as_str().into(),
            direction,
        };
        let reporter = Reporter {
            policy: policy.clone(),
            site: site.clone(),
            proxy: report.from.clone(),
            peer: report.peer.clone(),
        };
        Ok((key, reporter))
    }

    /// Forgets who was silent for too long.
    pub(super) fn tick_reports(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        for reporter in self.reports.expire(now) {
            effects.push(Effect::Publish(notice(reporter, false)));
        }
    }

    /// Forgets what is about policies and paths that are no more.
    pub(super) fn reload_reports(&mut self, gone: &[SteeringKey]) {
        let policies = &self.policies;
        self.reports.retain(|policy, site| {
            let found = policies.policies.get(policy);
            let peering = found.and_then(|policy| policies.peerings.get(&policy.peering));
            peering.is_some_and(|peering| peering.sites.iter().any(|name| name == site))
                && gone.iter().all(|key| *key.policy != *policy)
        });
        self.touched.insert(Key::Reports);
    }

    /// A direction with what proxies report of it.
    pub(super) fn direction_view(&self, now: Timestamp, steering: &Steering) -> DirectionView {
        let mut view = steering.view();
        let copies = self.reports.copies(now, &view.policy, &view.to);
        view.copies = copies.map(|(view, _)| view);
        view.sending = self.reports.sending(now, &view.policy, &view.from);
        if let (Some(joint), None) = (&mut view.joint, view.copies) {
            joint.measured = None;
        }
        view
    }

    /// The paths of a direction with what proxies report of them.
    pub(super) fn path_views(&self, now: Timestamp, steering: &Steering) -> Vec<PathView> {
        let mut views = steering.path_views();
        let Some((_, total)) = views
            .first()
            .and_then(|view| self.reports.copies(now, &view.policy, &view.to))
        else {
            return views;
        };
        for (path, view) in (0_u8..).zip(&mut views) {
            view.copies = total.paths.get(&policies::PathIndex(path)).copied();
        }
        views
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let nearest = did_you_mean(name, known).map_or(String::new(), |nearest| format!("; {nearest}"));
    format!("`{name}` is not {what}, expected {}{nearest}", one_of(known))
}

fn notice(reporter: Reporter, fresh: bool) -> Notice {
    let Reporter {
        policy, site, peer, ..
    } = reporter;
    Notice::Reports {
        policy,
        site,
        peer,
        fresh,
    }
}
