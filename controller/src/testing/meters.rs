//! The meter table: exact packet counts, and drop bands as token buckets.

use std::collections::BTreeMap;

use ofproto::{
    ErrorCode, MeterBand, MeterBandStats, MeterConfig, MeterFlags, MeterId, MeterMod, MeterModCommand,
    MeterStats,
};
use policies::Timestamp;

/// The meters.
#[derive(Debug, Clone, Default)]
pub struct Meters {
    meters: BTreeMap<MeterId, Meter>,
}

#[derive(Debug, Clone)]
struct Meter {
    flags: MeterFlags,
    bands: Vec<MeterBand>,
    added: Timestamp,
    packets: u64,
    buckets: Vec<TokenBucket>,
}

/// What a band still lets pass.
#[derive(Debug, Clone)]
struct TokenBucket {
    packets_per_second: u32,
    burst: u32,
    /// Thousandths of a packet.
    level: u128,
    filled: Timestamp,
    dropped: u64,
}

impl Meters {
    /// Whether the meter exists.
    pub fn contains(&self, id: MeterId) -> bool {
        self.meters.contains_key(&id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.meters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.meters.is_empty()
    }

    /// The packets that came to a meter.
    pub fn packets(&self, id: MeterId) -> Option<u64> {
        self.meters.get(&id).map(|meter| meter.packets)
    }

    /// A packet comes to a meter: counts it, and says whether it may go on. A meter that does not exist lets
    /// everything pass.
    pub fn pass(&mut self, now: Timestamp, id: MeterId) -> bool {
        let Some(meter) = self.meters.get_mut(&id) else {
            return true;
        };
        meter.packets += 1;
        meter.buckets.iter_mut().all(|bucket| bucket.pass(now))
    }

    /// Carries out a METER_MOD (§6.6). Returns the meters that were deleted.
    pub fn meter_mod(&mut self, now: Timestamp, meter_mod: MeterMod) -> Result<Vec<MeterId>, ErrorCode> {
        let MeterMod {
            command,
            flags,
            meter_id,
            bands,
        } = meter_mod;
        let exists = self.contains(meter_id);
        match command {
            MeterModCommand::Add if exists => Err(ErrorCode::METER_MOD_FAILED_METER_EXISTS),
            MeterModCommand::Modify if !exists => Err(ErrorCode::METER_MOD_FAILED_UNKNOWN_METER),
            MeterModCommand::Add | MeterModCommand::Modify => {
                if meter_id.0 == 0 || meter_id > MeterId::MAX {
                    return Err(ErrorCode::METER_MOD_FAILED_INVALID_METER);
                }
                if !exists && self.meters.len() >= MAX_METERS {
                    return Err(ErrorCode::METER_MOD_FAILED_OUT_OF_METERS);
                }
                let has_one_unit = flags.contains(MeterFlags::KBPS) != flags.contains(MeterFlags::PKTPS);
                if !has_one_unit || flags.bits() > LISTED_FLAGS {
                    return Err(ErrorCode::METER_MOD_FAILED_BAD_FLAGS);
                }
                // The kernel datapath takes exactly one.
                if bands.len() != 1 {
                    return Err(ErrorCode::METER_MOD_FAILED_OUT_OF_BANDS);
                }
                if bands.iter().any(|band| !matches!(band, MeterBand::Drop { .. })) {
                    return Err(ErrorCode::METER_MOD_FAILED_BAD_BAND);
                }
                if bands.iter().any(|band| band.rate() == 0) {
                    return Err(ErrorCode::METER_MOD_FAILED_BAD_RATE);
                }
                // A modified meter starts from zero too.
                self.meters.insert(meter_id, Meter::new(now, flags, bands));
                Ok(vec![])
            }
            MeterModCommand::Delete if meter_id == MeterId::ALL => {
                Ok(std::mem::take(&mut self.meters).into_keys().collect())
            }
            // A meter that is not there is deleted already.
            MeterModCommand::Delete => Ok(self
                .meters
                .remove(&meter_id)
                .map(|_| meter_id)
                .into_iter()
                .collect()),
            MeterModCommand::Unknown(_) => Err(ErrorCode::METER_MOD_FAILED_BAD_COMMAND),
        }
    }

    /// What OFPMP_METER lists of one meter, or of all.
    pub fn stats(&self, now: Timestamp, wanted: MeterId) -> Result<Vec<MeterStats>, ErrorCode> {
        let stats = self.wanted(wanted)?.map(|(id, meter)| {
            let age = now.saturating_since(meter.added);
            let bands = meter.buckets.iter().map(|bucket| MeterBandStats {
                packet_band_count: bucket.dropped,
                byte_band_count: 0,
            });
            MeterStats {
                meter_id: *id,
                flow_count: 0,
                packet_in_count: meter.packets,
                byte_in_count: 0,
                duration_sec: u32::try_from(age.as_secs()).unwrap_or(u32::MAX),
                duration_nsec: age.subsec_nanos(),
                band_stats: bands.collect(),
            }
        });
        Ok(stats.collect())
    }

    /// What OFPMP_METER_CONFIG lists of one meter, or of all.
    pub fn configs(&self, wanted: MeterId) -> Result<Vec<MeterConfig>, ErrorCode> {
        let configs = self.wanted(wanted)?.map(|(id, meter)| MeterConfig {
            flags: meter.flags,
            meter_id: *id,
            bands: meter.bands.clone(),
        });
        Ok(configs.collect())
    }

    fn wanted(&self, wanted: MeterId) -> Result<impl Iterator<Item = (&MeterId, &Meter)>, ErrorCode> {
        if wanted != MeterId::ALL && !self.contains(wanted) {
            return Err(ErrorCode::METER_MOD_FAILED_UNKNOWN_METER);
        }
        let all = self.meters.iter();
        Ok(all.filter(move |(id, _)| wanted == MeterId::ALL || **id == wanted))
    }
}

impl Meter {
    fn new(now: Timestamp, flags: MeterFlags, bands: Vec<MeterBand>) -> Meter {
        let buckets = bands.iter().map(|band| TokenBucket::full(now, band)).collect();
        Meter {
            flags,
            bands,
            added: now,
            packets: 0,
            buckets,
        }
    }
}

impl TokenBucket {
    /// A band without a burst size takes one second's worth.
    fn full(now: Timestamp, band: &MeterBand) -> TokenBucket {
        let burst = if band.burst_size() == 0 {
            band.rate()
        } else {
            band.burst_size()
        };
        TokenBucket {
            packets_per_second: band.rate(),
            burst,
            level: u128::from(burst) * 1000,
            filled: now,
            dropped: 0,
        }
    }

    fn pass(&mut self, now: Timestamp) -> bool {
        let millis = now.saturating_since(self.filled).as_millis();
        if millis > 0 {
            self.filled = now;
            self.level += millis * u128::from(self.packets_per_second);
            self.level = self.level.min(u128::from(self.burst) * 1000);
        }
        let passes = self.level >= 1000;
        if passes {
            self.level -= 1000;
        } else {
            self.dropped += 1;
        }
        passes
    }
}

/// The flags that OpenFlow 1.3 lists, from the lowest bit on.
const LISTED_FLAGS: u16 = 0xf;
/// As the userspace datapath has them.
const MAX_METERS: usize = 262_144;

#[cfg(test)]
mod tests {
    use super::*;

    const ID: MeterId = MeterId(1);

    fn meter_mod(command: MeterModCommand, rate: u32) -> MeterMod {
        MeterMod {
            command,
            flags: MeterFlags::PKTPS | MeterFlags::STATS,
            meter_id: ID,
            bands: vec![MeterBand::Drop { rate, burst_size: 0 }],
        }
    }

    #[test]
    fn a_meter_counts_every_packet_and_lets_its_rate_pass() {
        let mut meters = Meters::default();
        meters
            .meter_mod(Timestamp::ZERO, meter_mod(MeterModCommand::Add, 100))
            .unwrap();
        // Two seconds at 1,000 packets per second: one second's worth in the bucket, and two that flow in.
        let passed = (0..2000)
            .filter(|ms| meters.pass(Timestamp::from_millis(*ms), ID))
            .count();
        assert_eq!(meters.packets(ID), Some(2000));
        assert!((298..=300).contains(&passed), "{passed}");
        assert!(meters.pass(Timestamp::ZERO, MeterId(9)), "no meter, no limit");
    }

    #[test]
    fn meters_are_added_once_and_need_one_drop_band() {
        let mut meters = Meters::default();
        let mut change = |meter_mod| meters.meter_mod(Timestamp::ZERO, meter_mod);
        assert_eq!(
            change(meter_mod(MeterModCommand::Modify, 1)),
            Err(ErrorCode::METER_MOD_FAILED_UNKNOWN_METER)
        );
        let bandless = MeterMod {
            bands: vec![],
            ..meter_mod(MeterModCommand::Add, 1)
        };
        assert_eq!(change(bandless), Err(ErrorCode::METER_MOD_FAILED_OUT_OF_BANDS));
        assert_eq!(change(meter_mod(MeterModCommand::Add, 1)), Ok(vec![]));
        assert_eq!(
            change(meter_mod(MeterModCommand::Add, 1)),
            Err(ErrorCode::METER_MOD_FAILED_METER_EXISTS)
        );
        assert_eq!(change(meter_mod(MeterModCommand::Delete, 1)), Ok(vec![ID]));
    }
}
