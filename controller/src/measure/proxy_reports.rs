//! What proxies report of the packets that they received and of how they send, sans I/O.
//!
//! A proxy counts since it started; what is new here is the difference of two of its lines, over the time between them.
//! Lines that cannot be compared, because the proxy or its peer began anew or a line is missing, only set the base.
//!
//! Whoever reports may be wrong, or somebody else. So everything here is bounded, no time is taken from a line, and
//! nothing but display and explanation comes of it.

use std::collections::BTreeMap;
use std::time::Duration;

use policies::{JointCounts, PathIndex, PathSet, ProxyReport, ReceivedReport, SendingReport, Timestamp};

use crate::api::{CopiesView, PathCopies, SendingView};

/// Everything that proxies reported lately, and what it adds up to.
#[derive(Debug, Default)]
pub struct ProxyReports {
    reporters: BTreeMap<Reporter, Latest>,
    totals: BTreeMap<Receiving, CopiesReported>,
}

/// A proxy in its relation to one peer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reporter {
    /// The policy that carries what they send one another.
    pub policy: String,
    /// The site of the proxy.
    pub site: String,
    /// Its public key.
    pub proxy: String,
    /// Its name for the peer.
    pub peer: String,
}

/// A policy and the site that receives.
type Receiving = (String, String);

/// The latest line of a reporter.
#[derive(Debug)]
struct Latest {
    at: Timestamp,
    patience: Duration,
    /// On which paths the class was copied then.
    copied: PathSet,
    /// The most `neither` since the counts began: late packets lower it a little for a while.
    most_lost: u64,
    report: ProxyReport,
}

/// What became of packets, over all reporters of a policy at a site, since bicastd started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopiesReported {
    /// Packets, lost and rescued.
    pub counts: JointCounts,
    /// Of which more than one copy came.
    pub both: u64,
    /// By path, where paths can be told apart.
    pub paths: BTreeMap<PathIndex, PathCopies>,
}

/// What a line says beyond the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// When the line before came.
    pub from: Timestamp,
    /// The paths on which the class was copied both then and now.
    pub copied: PathSet,
    /// What was counted between.
    pub counts: JointCounts,
}

/// So many proxies report that one more cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyReporters;

impl ProxyReports {
    /// Takes a line. `copied` are the paths on which the class is certainly copied at present, `path_of` says which
    /// path a port stands for.
    ///
    /// Returns whether the reporter was silent or unknown before, and what the line says beyond the one before it.
    pub fn take(
        &mut self,
        now: Timestamp,
        reporter: Reporter,
        report: ProxyReport,
        copied: PathSet,
        path_of: impl Fn(Option<u16>) -> Option<PathIndex>,
    ) -> Result<(bool, Option<Interval>), TooManyReporters> {
        let before = self.reporters.get(&reporter);
        if before.is_none() && self.reporters.len() >= MAX_REPORTERS {
            return Err(TooManyReporters);
        }
        let fresh = before.is_none();
        let before = before.filter(|latest| continues(&latest.report, &report));
        let mut most_lost = report.received.as_ref().map_or(0, |received| received.neither);
        let mut interval = None;
        if let Some(latest) = before
            && let (Some(old), Some(new)) = (&latest.report.received, &report.received)
        {
            let lost = new.neither.saturating_sub(latest.most_lost);
            most_lost = most_lost.max(latest.most_lost);
            let receiving = (reporter.policy.clone(), reporter.site.clone());
            let total = self.totals.entry(receiving).or_default();
            let counts = total.add(old, new, lost, path_of);
            interval = Some(Interval {
                from: latest.at,
                copied: latest.copied.intersection(copied),
                counts,
            });
        }
        let patience = Duration::from_millis(report.every_ms).saturating_mul(3);
        self.reporters.insert(
            reporter,
            Latest {
                at: now,
                patience: patience.clamp(MIN_PATIENCE, MAX_PATIENCE),
                copied,
                most_lost,
                report,
            },
        );
        Ok((fresh, interval))
    }

    /// Forgets those that were silent for too long, and returns them.
    pub fn expire(&mut self, now: Timestamp) -> Vec<Reporter> {
        let silent = self
            .reporters
            .iter()
            .filter(|(_, latest)| now >= latest.at + latest.patience);
        let silent: Vec<Reporter> = silent.map(|(reporter, _)| reporter.clone()).collect();
        for reporter in &silent {
            self.reporters.remove(reporter);
        }
        silent
    }

    /// When [`ProxyReports::expire`] wants to be called.
    pub fn deadline(&self) -> Option<Timestamp> {
        let deadlines = self.reporters.values().map(|latest| latest.at + latest.patience);
        deadlines.min()
    }

    /// Forgets what is about policies, sites and paths that are no more.
    pub fn retain(&mut self, known: impl Fn(&str, &str) -> bool) {
        self.reporters
            .retain(|reporter, _| known(&reporter.policy, &reporter.site));
        self.totals.retain(|(policy, site), _| known(policy, site));
    }

    /// What became of the packets of a policy that a site receives, if a proxy there reports.
    pub fn copies(&self, now: Timestamp, policy: &str, site: &str) -> Option<(CopiesView, &CopiesReported)> {
        let (latest, received) = self.latest(policy, site, |report| report.received.as_ref())?;
        let total = self
            .totals
            .get(&(policy.to_owned(), site.to_owned()))
            .unwrap_or(&NOTHING_REPORTED);
        let view = CopiesView {
            age_ms: age_ms(now, latest),
            packets: total.counts.packets,
            both: total.both,
            neither: total.counts.lost,
            rescued: total.counts.rescued,
            gap_us: received.gap_us,
            hold_us: received.hold_us,
        };
        Some((view, total))
    }

    /// How what a site sends of a policy fares, if a proxy there reports.
    pub fn sending(&self, now: Timestamp, policy: &str, site: &str) -> Option<SendingView> {
        let (latest, sending) = self.latest(policy, site, |report| report.sending.as_ref())?;
        let SendingReport {
            connections,
            rtt_us,
            cwnd,
            delivery_bps,
        } = *sending;
        Some(SendingView {
            age_ms: age_ms(now, latest),
            connections,
            rtt_us,
            cwnd,
            delivery_bps,
        })
    }

    /// The latest line of a policy at a site that has what is asked for.
    fn latest<T>(
        &self,
        policy: &str,
        site: &str,
        part: impl Fn(&ProxyReport) -> Option<&T>,
    ) -> Option<(&Latest, &T)> {
        let lines = self
            .reporters
            .iter()
            .filter(|(reporter, _)| reporter.policy == policy && reporter.site == site);
        let parts = lines.filter_map(|(_, latest)| Some((latest, part(&latest.report)?)));
        parts.max_by_key(|(latest, _)| latest.at)
    }
}

impl CopiesReported {
    fn add(
        &mut self,
        old: &ReceivedReport,
        new: &ReceivedReport,
        lost: u64,
        path_of: impl Fn(Option<u16>) -> Option<PathIndex>,
    ) -> JointCounts {
        let arrived = new.arrived().saturating_sub(old.arrived());
        let counts = JointCounts {
            packets: arrived.saturating_add(lost),
            lost,
            rescued: new.rescued().saturating_sub(old.rescued()),
        };
        self.counts.add(counts);
        add(&mut self.both, old.both, new.both);
        for (old, new) in old.paths.iter().zip(&new.paths) {
            if let Some(path) = path_of(new.port) {
                let total = self.paths.entry(path).or_default();
                add(&mut total.first_arrivals, old.first_arrivals, new.first_arrivals);
                add(&mut total.second_copies, old.second_copies, new.second_copies);
                add(&mut total.rescued, old.rescued, new.rescued);
                add(&mut total.only, old.only, new.only);
            }
        }
        counts
    }
}

fn add(total: &mut u64, old: u64, new: u64) {
    *total = total.saturating_add(new.saturating_sub(old));
}

/// Whether the counts of `new` go on from those of `old`.
fn continues(old: &ProxyReport, new: &ProxyReport) -> bool {
    let (Some(a), Some(b)) = (&old.received, &new.received) else {
        return false;
    };
    let paths_grow = a.paths.iter().zip(&b.paths).all(|(a, b)| {
        a.port == b.port
            && a.first_arrivals <= b.first_arrivals
            && a.second_copies <= b.second_copies
            && a.rescued <= b.rescued
            && a.only <= b.only
    });
    old.started_unix_ms == new.started_unix_ms
        && a.remote == b.remote
        && a.both <= b.both
        && a.paths.len() == b.paths.len()
        && paths_grow
}

fn age_ms(now: Timestamp, latest: &Latest) -> u64 {
    u64::try_from(now.saturating_since(latest.at).as_millis()).unwrap_or(u64::MAX)
}

/// Before the second line.
static NOTHING_REPORTED: CopiesReported = CopiesReported {
    counts: JointCounts {
        packets: 0,
        lost: 0,
        rescued: 0,
    },
    both: 0,
    paths: BTreeMap::new(),
};

/// A line is kept for three times of what it promises, but at least and at most so long.
const MIN_PATIENCE: Duration = Duration::from_secs(5);
const MAX_PATIENCE: Duration = Duration::from_secs(3 * 3600);
/// Proxies and peers of which a line is kept: 1,000 lines of the longest are 64 MB.
const MAX_REPORTERS: usize = 1_000;

#[cfg(test)]
mod tests {
    use policies::ReceivedByPort;

    use super::*;

    const A: PathIndex = PathIndex(0);
    const B: PathIndex = PathIndex(1);

    fn reporter(proxy: &str) -> Reporter {
        Reporter {
            policy: "proxies".to_owned(),
            site: "vehicle".to_owned(),
            proxy: proxy.to_owned(),
            peer: "hq".to_owned(),
        }
    }

    /// `arrived` packets by a, `rescued` ones by b, `neither` lost.
    fn line(arrived: u64, rescued: u64, neither: u64) -> ProxyReport {
        let path = |port, first_arrivals, rescued| ReceivedByPort {
            port,
            first_arrivals,
            rescued,
            only: rescued,
            ..Default::default()
        };
        ProxyReport {
            every_ms: 1_000,
            received: Some(ReceivedReport {
                remote: "192.0.2.1:4433".to_owned(),
                neither,
                paths: vec![path(None, arrived, 0), path(Some(4443), rescued, rescued)],
                ..Default::default()
            }),
            sending: Some(SendingReport::default()),
            ..Default::default()
        }
    }

    fn path_of(port: Option<u16>) -> Option<PathIndex> {
        match port {
            None => Some(A),
            Some(4443) => Some(B),
            Some(_) => None,
        }
    }

    fn take(reports: &mut ProxyReports, second: u64, proxy: &str, line: ProxyReport) -> Option<JointCounts> {
        let at = Timestamp::from_millis(second * 1_000);
        let taken = reports.take(at, reporter(proxy), line, PathSet::all(2), path_of);
        taken.unwrap().1.map(|interval| interval.counts)
    }

    #[test]
    fn the_difference_of_two_lines_counts_and_the_first_one_does_not() {
        let mut reports = ProxyReports::default();
        assert_eq!(take(&mut reports, 0, "p", line(500, 50, 5)), None);
        let first = take(&mut reports, 1, "p", line(1_400, 140, 14));
        let expected = JointCounts {
            packets: 999,
            lost: 9,
            rescued: 90,
        };
        assert_eq!(first, Some(expected));
        let (view, total) = reports
            .copies(Timestamp::from_millis(1_250), "proxies", "vehicle")
            .unwrap();
        assert_eq!((view.packets, view.rescued, view.age_ms), (999, 90, 250));
        assert_eq!(
            (total.paths[&A].first_arrivals, total.paths[&B].rescued),
            (900, 90)
        );
    }

    #[test]
    fn late_packets_are_not_lost_twice() {
        let mut reports = ProxyReports::default();
        let lost: u64 = [0, 10, 7, 9, 12]
            .into_iter()
            .zip(0..)
            .filter_map(|(neither, second)| take(&mut reports, second, "p", line(100 * second, 0, neither)))
            .map(|counts| counts.lost)
            .sum();
        assert_eq!(lost, 12);
    }

    #[test]
    fn what_cannot_be_compared_only_sets_the_base() {
        let restarted = ProxyReport {
            started_unix_ms: 7,
            ..line(2_000, 0, 0)
        };
        let mut moved = line(2_000, 0, 0);
        moved.received.as_mut().unwrap().remote = "192.0.2.2:4433".to_owned();
        let mut other_ports = line(2_000, 0, 0);
        other_ports.received.as_mut().unwrap().paths.pop();
        let gone = ProxyReport {
            received: None,
            ..line(0, 0, 0)
        };
        for next in [restarted, moved, other_ports, gone, line(999, 0, 0)] {
            let mut reports = ProxyReports::default();
            take(&mut reports, 0, "p", line(1_000, 0, 0));
            assert_eq!(take(&mut reports, 1, "p", next.clone()), None, "{next:?}");
            assert_eq!(reports.totals, BTreeMap::new());
        }
    }

    #[test]
    fn a_silent_reporter_is_forgotten_and_begins_anew() {
        let mut reports = ProxyReports::default();
        take(&mut reports, 0, "p", line(1_000, 0, 0));
        assert_eq!(reports.deadline(), Some(Timestamp::from_millis(5_000)));
        assert_eq!(reports.expire(Timestamp::from_millis(4_999)), []);
        assert_eq!(reports.expire(Timestamp::from_millis(5_000)), [reporter("p")]);
        assert_eq!(reports.copies(Timestamp::ZERO, "proxies", "vehicle"), None);
        assert_eq!(reports.sending(Timestamp::ZERO, "proxies", "vehicle"), None);
        assert_eq!(take(&mut reports, 6, "p", line(9_000, 0, 0)), None);
    }

    #[test]
    fn memory_is_bounded_and_counts_do_not_overflow() {
        let mut reports = ProxyReports::default();
        for number in 0..MAX_REPORTERS {
            take(&mut reports, 0, &number.to_string(), line(0, 0, 0));
        }
        let more = reports.take(
            Timestamp::ZERO,
            reporter("more"),
            line(0, 0, 0),
            PathSet::EMPTY,
            path_of,
        );
        assert_eq!(more, Err(TooManyReporters));
        for number in 0..3 {
            let number = number.to_string();
            take(&mut reports, 1, &number, line(u64::MAX, u64::MAX, u64::MAX));
        }
        reports.retain(|_, site| site != "vehicle");
        assert_eq!((reports.reporters.len(), reports.totals.len()), (0, 0));
    }
}
