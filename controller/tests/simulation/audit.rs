//! Compares what is measured with what happened, period by period.

use std::time::Duration;

use controller::testing::{Run, StreamId, World};
use policies::Direction;

use crate::common::*;

/// Watches the totals of a class, and looks for each period that is added among the runs of packets of one colour that
/// the link really took, in their order.
#[derive(Debug)]
pub(crate) struct Audit {
    policy: &'static str,
    direction: Direction,
    stream: StreamId,
    totals: [Total; 2],
    next_run: [usize; 2],
    /// Packets that were taken for lost at first, and have to be credited when they come.
    late: [u64; 2],
    /// By path: how many periods were counted.
    pub(crate) periods: [u64; 2],
    /// What was counted and did not happen.
    pub(crate) wrong: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Total {
    periods: u64,
    sent: u64,
    received: u64,
}

impl Audit {
    pub(crate) fn new(policy: &'static str, direction: Direction, stream: StreamId) -> Audit {
        Audit {
            policy,
            direction,
            stream,
            totals: [Total::default(); 2],
            next_run: [0; 2],
            late: [0; 2],
            periods: [0; 2],
            wrong: vec![],
        }
    }

    /// Lets time pass, and watches.
    pub(crate) fn run(&mut self, world: &mut World, time: Duration) {
        watch(std::slice::from_mut(self), world, time);
    }

    /// The controller that counted is gone, or begins to count anew.
    pub(crate) fn starts_over(&mut self) {
        self.totals = [Total::default(); 2];
        self.late = [0; 2];
    }

    fn look(&mut self, world: &mut World, index: usize, path: &str) {
        let from = ["client", "server"][self.direction.sender()];
        let total = world.path(self.policy, from, path).total;
        let total = Total {
            periods: total.periods,
            sent: total.sent,
            received: total.received,
        };
        let before = std::mem::replace(&mut self.totals[index], total);
        let sent = total.sent - before.sent;
        let received = total.received - before.received;
        let Some(lost) = sent.checked_sub(received) else {
            // Only packets that came late can be received without being sent.
            match self.late[index].checked_sub(received - sent) {
                Some(rest) => self.late[index] = rest,
                None => self.note(world, path, "more came late than was missing"),
            }
            return;
        };
        if sent == 0 {
            return;
        }
        let runs = world.link(path, self.direction).truth(self.stream).runs;
        let later = &runs[self.next_run[index]..];
        if let Some((used, dropped)) = found(later, sent, lost) {
            self.next_run[index] += used;
            self.late[index] += lost - dropped;
            self.periods[index] += 1;
        } else {
            let added = total.periods - before.periods;
            let latest = &runs[runs.len().saturating_sub(4)..];
            self.note(
                world,
                path,
                &format!("{added} periods with {lost} of {sent} lost; the link had {latest:?}"),
            );
        }
    }

    fn note(&mut self, world: &World, path: &str, what: &str) {
        let note = format!("at {:?} on {path}: {what}", world.now().as_duration());
        self.wrong.push(note);
    }
}

/// Lets time pass, and watches with each of the audits.
pub(crate) fn watch(audits: &mut [Audit], world: &mut World, time: Duration) {
    let end = world.now() + time;
    while world.now() < end {
        world.run(ms(20));
        for audit in &mut *audits {
            for (index, path) in ["a", "b"].into_iter().enumerate() {
                audit.look(world, index, path);
            }
        }
    }
}

/// The first run of `sent` packets with no more than `lost` of them dropped, or runs that something interrupted and that
/// are as much together: how many runs are behind us then, and what was dropped.
fn found(runs: &[Run], sent: u64, lost: u64) -> Option<(usize, u64)> {
    (0..runs.len()).find_map(|first| {
        let same = runs[first..]
            .iter()
            .take_while(|run| run.dscp == runs[first].dscp);
        let sums = same.enumerate().scan((0, 0), |sum, (more, run)| {
            *sum = (sum.0 + run.entered, sum.1 + run.dropped);
            Some((first + more + 1, *sum))
        });
        let mut sums = sums.filter(|(_, (entered, dropped))| *entered == sent && *dropped <= lost);
        sums.next().map(|(used, (_, dropped))| (used, dropped))
    })
}
