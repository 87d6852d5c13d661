//! The MAC addresses of next hops and hosts: asked for by ARP, refreshed, and kept.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use ofproto::MacAddr;
use policies::Timestamp;

/// The neighbours of one site.
#[derive(Debug, Default)]
pub struct Neighbors {
    entries: BTreeMap<(Side, Ipv4Addr), Neighbor>,
}

/// On which side of the site a neighbour is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// A host behind the access port.
    Access,
    /// The next hop of the uplink of that name.
    Uplink(String),
}

/// An ARP request that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Where to ask.
    pub side: Side,
    /// Whom.
    pub ip: Ipv4Addr,
    /// The address that it had when it last answered: ask it alone.
    pub known: Option<MacAddr>,
}

#[derive(Debug, Clone, Default)]
struct Neighbor {
    mac: Option<MacAddr>,
    /// Configured: neither asked for nor learned.
    fixed: bool,
    /// Somebody merely sent to it: it is forgotten when it does not answer.
    passing: bool,
    ask_at: Timestamp,
    unanswered: u32,
}

impl Neighbors {
    /// Makes sure that the address is known, by ARP from now on.
    pub fn want(&mut self, now: Timestamp, side: Side, ip: Ipv4Addr) {
        let entry = self.entries.entry((side, ip)).or_insert_with(|| Neighbor {
            ask_at: now,
            ..Neighbor::default()
        });
        if entry.fixed {
            *entry = Neighbor {
                ask_at: now,
                ..Neighbor::default()
            };
        }
    }

    /// A packet is on its way to the address: finds out who has it, and forgets it if nobody does.
    pub fn ask(&mut self, now: Timestamp, side: Side, ip: Ipv4Addr) {
        let passing = Neighbor {
            ask_at: now,
            passing: true,
            ..Neighbor::default()
        };
        self.entries.entry((side, ip)).or_insert(passing);
    }

    /// The address is configured.
    pub fn fix(&mut self, side: Side, ip: Ipv4Addr, mac: MacAddr) {
        self.entries.insert(
            (side, ip),
            Neighbor {
                mac: Some(mac),
                fixed: true,
                ..Neighbor::default()
            },
        );
    }

    /// Takes over what the switch's entries say, until ARP says otherwise. Returns whether it was news.
    pub fn adopt(&mut self, now: Timestamp, side: Side, ip: Ipv4Addr, mac: MacAddr) -> bool {
        let entry = self.entries.entry((side, ip)).or_insert_with(|| Neighbor {
            ask_at: now,
            ..Neighbor::default()
        });
        let news = entry.mac.is_none();
        entry.mac.get_or_insert(mac);
        news
    }

    /// Somebody said who has `ip`. Returns whether what we knew changes by that.
    pub fn learn(&mut self, now: Timestamp, side: Side, ip: Ipv4Addr, mac: MacAddr) -> bool {
        let Some(entry) = self.entries.get_mut(&(side, ip)) else {
            return false;
        };
        if entry.fixed {
            return false;
        }
        entry.unanswered = 0;
        entry.ask_at = now + REFRESH;
        entry.mac.replace(mac) != Some(mac)
    }

    /// Keeps only the neighbours for which `keep` holds.
    pub fn retain(&mut self, keep: impl Fn(&Side, Ipv4Addr) -> bool) {
        self.entries.retain(|(side, ip), _| keep(side, *ip));
    }

    /// How many neighbours are kept track of.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The MAC address, when known.
    pub fn mac(&self, side: &Side, ip: Ipv4Addr) -> Option<MacAddr> {
        self.entries.get(&(side.clone(), ip)).and_then(|entry| entry.mac)
    }

    /// The hosts whose MAC address is known.
    pub fn hosts(&self) -> impl Iterator<Item = (Ipv4Addr, MacAddr)> {
        self.entries
            .iter()
            .filter(|((side, _), _)| *side == Side::Access)
            .filter_map(|((_, ip), entry)| entry.mac.map(|mac| (*ip, mac)))
    }

    /// The questions that are due. A host that did not answer for long is forgotten (`true` in the pair); a next
    /// hop keeps its last address, since the loss of its path tells more than its silence.
    pub fn due(&mut self, now: Timestamp) -> (Vec<Question>, bool) {
        let silent = |entry: &Neighbor| entry.ask_at <= now && entry.unanswered >= FORGET_AFTER;
        self.entries
            .retain(|_, entry| !(entry.passing && entry.mac.is_none() && silent(entry)));
        let mut questions = vec![];
        let mut forgotten = false;
        for ((side, ip), entry) in &mut self.entries {
            if entry.fixed || entry.ask_at > now {
                continue;
            }
            if *side == Side::Access && entry.unanswered >= FORGET_AFTER && entry.mac.take().is_some() {
                forgotten = true;
            }
            // The first retries ask the known address alone, then everyone: it may have moved.
            let known = entry.mac.filter(|_| entry.unanswered < 2);
            questions.push(Question {
                side: side.clone(),
                ip: *ip,
                known,
            });
            entry.unanswered += 1;
            entry.ask_at = now
                + if entry.unanswered <= FORGET_AFTER {
                    RETRY
                } else {
                    RETRY_SLOWLY
                };
        }
        (questions, forgotten)
    }

    /// When [`Neighbors::due`] wants to be called.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.entries
            .values()
            .filter(|entry| !entry.fixed)
            .map(|entry| entry.ask_at)
            .min()
    }

    /// Ask for everything at once: the switch is new.
    pub fn ask_all(&mut self, now: Timestamp) {
        for entry in self.entries.values_mut() {
            entry.ask_at = now;
            entry.unanswered = 0;
        }
    }
}

/// A known address is confirmed so often.
const REFRESH: Duration = Duration::from_secs(30);
/// An unanswered question is repeated after this.
const RETRY: Duration = Duration::from_secs(1);
/// And after many, after this.
const RETRY_SLOWLY: Duration = Duration::from_secs(10);
/// Unanswered questions after which a host is taken to be gone.
const FORGET_AFTER: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const IP: Ipv4Addr = Ipv4Addr::new(10, 11, 0, 1);
    const MAC: MacAddr = MacAddr::new(2, 0, 0, 0, 0, 1);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn uplink() -> Side {
        Side::Uplink("a".to_owned())
    }

    #[test]
    fn a_known_next_hop_is_asked_again_alone_and_then_everyone_is() {
        let mut neighbors = Neighbors::default();
        neighbors.want(at(0), uplink(), IP);
        assert_eq!(
            neighbors.due(at(0)).0,
            [Question {
                side: uplink(),
                ip: IP,
                known: None
            }]
        );
        assert!(neighbors.learn(at(0), uplink(), IP, MAC));
        assert_eq!(neighbors.deadline(), Some(at(30)));
        assert_eq!(neighbors.due(at(30)).0[0].known, Some(MAC));
        assert_eq!(neighbors.due(at(31)).0[0].known, Some(MAC));
        assert_eq!(neighbors.due(at(32)).0[0].known, None);
        assert_eq!(
            neighbors.mac(&uplink(), IP),
            Some(MAC),
            "a silent next hop keeps its address"
        );
    }

    #[test]
    fn a_silent_host_is_forgotten() {
        let mut neighbors = Neighbors::default();
        neighbors.want(at(0), Side::Access, IP);
        neighbors.learn(at(0), Side::Access, IP, MAC);
        let forgotten: Vec<bool> = (30..40).map(|second| neighbors.due(at(second)).1).collect();
        assert_eq!(forgotten.iter().filter(|gone| **gone).count(), 1);
        assert_eq!(neighbors.mac(&Side::Access, IP), None);
    }

    #[test]
    fn an_address_that_nobody_has_is_not_asked_for_for_ever() {
        let mut neighbors = Neighbors::default();
        neighbors.ask(at(0), Side::Access, IP);
        let questions: usize = (0..60).map(|second| neighbors.due(at(second)).0.len()).sum();
        assert_eq!(questions, 5);
        assert!(neighbors.is_empty());
    }

    #[test]
    fn what_was_not_asked_for_is_not_learned() {
        let mut neighbors = Neighbors::default();
        assert!(!neighbors.learn(at(0), Side::Access, IP, MAC));
        assert_eq!(neighbors.mac(&Side::Access, IP), None);
    }

    #[test]
    fn a_configured_address_is_not_overruled() {
        let mut neighbors = Neighbors::default();
        neighbors.fix(uplink(), IP, MAC);
        assert!(!neighbors.learn(at(0), uplink(), IP, MacAddr::new(2, 0, 0, 0, 0, 9)));
        assert_eq!(neighbors.mac(&uplink(), IP), Some(MAC));
        assert_eq!(neighbors.deadline(), None);
    }
}
