//! What became of numbered packets: the pure accounting behind sequenced UDP.

use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the receiver knows: one record per sequence number.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    records: Vec<Record>,
    highest: Option<u64>,
    reordered: u64,
    strangers: u64,
}

/// The arrivals of one packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record {
    /// How many copies arrived.
    pub copies: u32,
    /// When it was sent; zero while no copy has arrived.
    pub sent_at: Moment,
    /// When the first copy arrived.
    pub first_at: Moment,
    /// When the second copy arrived.
    pub second_at: Moment,
}

impl Ledger {
    /// Enters the arrival of one copy.
    pub fn arrival(&mut self, sequence: u64, sent_at: Moment, now: Moment) {
        let Some(index) = usize::try_from(sequence).ok().filter(|index| *index < LONGEST) else {
            self.strangers += 1;
            return;
        };
        if self.records.len() <= index {
            self.records.resize(index + 1, Record::default());
        }
        let record = &mut self.records[index];
        record.copies += 1;
        match record.copies {
            1 => {
                record.sent_at = sent_at;
                record.first_at = now;
                if self.highest.is_some_and(|highest| sequence < highest) {
                    self.reordered += 1;
                }
                self.highest = self.highest.max(Some(sequence));
            }
            2 => record.second_at = now,
            _ => {}
        }
    }

    /// Enters a datagram that is none of ours.
    pub fn stranger(&mut self) {
        self.strangers += 1;
    }

    /// The records so far; packets behind the last have not arrived.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Closes the account: `sent_at` are the moments at which the packets left, by sequence number.
    pub fn close(mut self, sent_at: &[Moment]) -> Report {
        self.records
            .resize(self.records.len().max(sent_at.len()), Record::default());
        for (record, sent_at) in self.records.iter_mut().zip(sent_at) {
            record.sent_at = *sent_at;
        }
        let arrived = || self.records.iter().filter(|record| record.copies > 0);
        let twice = || self.records.iter().filter(|record| record.copies > 1);
        let first_delays = arrived().map(|record| record.first_at.saturating_since(record.sent_at));
        let second_delays = twice().map(|record| record.second_at.saturating_since(record.sent_at));
        let unique = arrived().count() as u64;
        Report {
            sent: sent_at.len() as u64,
            unique,
            lost: sent_at.len() as u64 - unique,
            duplicated: twice().count() as u64,
            copies: arrived().map(|record| u64::from(record.copies)).sum(),
            max_copies: arrived().map(|record| record.copies).max().unwrap_or(0),
            reordered: self.reordered,
            strangers: self.strangers,
            first_duplicate_at: twice().map(|record| record.second_at).min(),
            first_copy_delay: DelaySummary::of(first_delays.collect()),
            second_copy_delay: DelaySummary::of(second_delays.collect()),
            sender_late: Duration::ZERO,
            send_errors: 0,
            cpu: Duration::ZERO,
            records: self.records,
        }
    }
}

/// What became of all packets of a flow.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Report {
    /// Packets sent.
    pub sent: u64,
    /// Packets of which at least one copy arrived.
    pub unique: u64,
    /// Packets of which none arrived.
    pub lost: u64,
    /// Packets that arrived more than once.
    pub duplicated: u64,
    /// Copies that arrived, in all.
    pub copies: u64,
    /// The most copies of one packet.
    pub max_copies: u32,
    /// Packets whose first copy arrived behind that of a later packet.
    pub reordered: u64,
    /// Datagrams on the port that were not of this flow.
    pub strangers: u64,
    /// When the second copy of a packet arrived for the first time.
    pub first_duplicate_at: Option<Moment>,
    /// One-way delay of first copies.
    pub first_copy_delay: DelaySummary,
    /// One-way delay of second copies.
    pub second_copy_delay: DelaySummary,
    /// How late the sender was at worst behind its schedule.
    #[serde(with = "crate::moment::seconds")]
    pub sender_late: Duration,
    /// Packets that the sender's kernel refused.
    pub send_errors: u64,
    /// Processor time of sender and receiver.
    #[serde(with = "crate::moment::seconds")]
    pub cpu: Duration,
    /// Every packet, by sequence number.
    #[serde(skip)]
    pub records: Vec<Record>,
}

impl Report {
    /// The arrival of the first second copy among packets sent at or after `moment`.
    pub fn first_duplicate_of_packets_sent_after(&self, moment: Moment) -> Option<Moment> {
        let sent_after = self.records.iter().filter(|record| record.sent_at >= moment);
        sent_after
            .filter(|record| record.copies > 1)
            .map(|record| record.second_at)
            .min()
    }

    /// Packets sent in `[from, until)`: how many, and how many of these were lost.
    pub fn lost_between(&self, from: Moment, until: Moment) -> (u64, u64) {
        let sent = self
            .records
            .iter()
            .filter(|record| (from..until).contains(&record.sent_at));
        sent.fold((0, 0), |(sent, lost), record| {
            (sent + 1, lost + u64::from(record.copies == 0))
        })
    }
}

/// Delays in a few numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelaySummary {
    /// The shortest.
    #[serde(with = "crate::moment::seconds")]
    pub min: Duration,
    /// The mean.
    #[serde(with = "crate::moment::seconds")]
    pub mean: Duration,
    /// 99th percentile.
    #[serde(with = "crate::moment::seconds")]
    pub p99: Duration,
    /// The longest.
    #[serde(with = "crate::moment::seconds")]
    pub max: Duration,
    /// Mean absolute deviation from the mean.
    #[serde(with = "crate::moment::seconds")]
    pub mdev: Duration,
}

impl DelaySummary {
    /// Sums up; all zero when there are none.
    pub fn of(mut delays: Vec<Duration>) -> Self {
        delays.sort_unstable();
        let (Some(min), Some(max)) = (delays.first().copied(), delays.last().copied()) else {
            return DelaySummary::default();
        };
        let count = u32::try_from(delays.len()).unwrap_or(u32::MAX);
        let mean = delays.iter().sum::<Duration>() / count;
        let mdev = delays.iter().map(|delay| delay.abs_diff(mean)).sum::<Duration>() / count;
        let p99 = delays[(delays.len() * 99 / 100).min(delays.len() - 1)];
        DelaySummary {
            min,
            mean,
            p99,
            max,
            mdev,
        }
    }
}

/// A day at 5,000 packets a second is 432 million; this bounds what a corrupt number can allocate.
const LONGEST: usize = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::from_millis(millis)
    }

    #[test]
    fn copies_losses_and_order_are_told_apart() {
        let mut ledger = Ledger::default();
        ledger.arrival(0, at(0), at(10));
        ledger.arrival(2, at(2), at(12));
        ledger.arrival(1, at(1), at(13)); // reordered
        ledger.arrival(0, at(0), at(14)); // second copy
        ledger.arrival(0, at(0), at(15)); // third copy
        let report = ledger.close(&[at(0), at(1), at(2), at(3), at(4)]);
        assert_eq!((report.sent, report.unique, report.lost), (5, 3, 2));
        assert_eq!((report.duplicated, report.copies, report.max_copies), (1, 5, 3));
        assert_eq!(report.reordered, 1);
        assert_eq!(report.first_duplicate_at, Some(at(14)));
        assert_eq!(report.first_copy_delay.max, Duration::from_millis(12));
        assert_eq!(report.second_copy_delay.min, Duration::from_millis(14));
        assert_eq!(report.lost_between(at(2), at(4)), (2, 1));
        assert_eq!(report.first_duplicate_of_packets_sent_after(at(1)), None);
    }

    #[test]
    fn nothing_sent_and_nothing_received_is_a_report_too() {
        let report = Ledger::default().close(&[]);
        assert_eq!((report.sent, report.lost, report.max_copies), (0, 0, 0));
        assert_eq!(report.first_copy_delay, DelaySummary::default());
    }

    #[test]
    fn a_corrupt_number_allocates_nothing() {
        let mut ledger = Ledger::default();
        ledger.arrival(u64::MAX, at(0), at(1));
        assert_eq!(ledger.records().len(), 0);
        assert_eq!(ledger.close(&[]).strangers, 1);
    }

    #[test]
    fn delays_are_summed_up() {
        let delays = (1..=100).map(Duration::from_millis).collect();
        let summary = DelaySummary::of(delays);
        assert_eq!(
            (summary.min, summary.max),
            (Duration::from_millis(1), Duration::from_millis(100))
        );
        assert_eq!(summary.mean, Duration::from_micros(50_500));
        assert_eq!(summary.p99, Duration::from_millis(100));
        assert_eq!(summary.mdev, Duration::from_millis(25));
    }
}
