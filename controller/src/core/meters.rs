//! Reading meters: one request at a time to each switch, for everyone who waits.

use std::collections::{BTreeSet, HashMap};

use ofproto::{Message, MeterId, MeterStats, MultipartRequest, MultipartRequestBody};
use policies::{PathIndex, Timestamp};

use super::Core;
use super::site::{MeterReads, Role};
use crate::event::Effect;
use crate::pipeline::Colour;
use crate::steering::SteeringKey;

impl Core {
    pub(super) fn want_meters(&mut self, site: &str, key: &SteeringKey, role: Role) {
        if let Some(switch) = self.sites.get_mut(site).and_then(|site| site.switch.as_mut()) {
            switch.meters.wanted.insert((key.clone(), role));
            self.metered.insert(site.to_owned());
        }
    }

    /// Asks each switch whose meters are wanted, once for all who want them. One that has not answered yet is asked
    /// again when it has.
    pub(super) fn read_meters(&mut self, effects: &mut Vec<Effect>) {
        for name in std::mem::take(&mut self.metered) {
            let Some(switch) = self.sites.get_mut(&name).and_then(|site| site.switch.as_mut()) else {
                continue;
            };
            let MeterReads { wanted, in_flight } = &mut switch.meters;
            if wanted.is_empty() || in_flight.is_some() {
                continue;
            }
            let Some(session) = self.sessions.get_mut(&switch.conn) else {
                continue;
            };
            let xid = session.next_xid();
            *in_flight = Some((xid, std::mem::take(wanted)));
            let body = MultipartRequestBody::Meter(MeterId::ALL);
            let message = Message::MultipartRequest(MultipartRequest { more: false, body });
            effects.push(Effect::Send {
                conn: switch.conn,
                xid,
                message,
            });
        }
    }

    pub(super) fn meters_read(
        &mut self,
        now: Timestamp,
        readers: &BTreeSet<(SteeringKey, Role)>,
        stats: &[MeterStats],
        effects: &mut Vec<Effect>,
    ) {
        let counts: HashMap<MeterId, u64> = stats
            .iter()
            .map(|meter| (meter.meter_id, meter.packet_in_count))
            .collect();
        let count = |meter: MeterId| counts.get(&meter).copied();
        for (key, role) in readers {
            let Some(steering) = self.steerings.get_mut(key) else {
                continue;
            };
            let slot = steering.slot();
            let outputs = match role {
                Role::Sender => {
                    let reading = Colour::ALL.map(|colour| count(slot.sender_meter(colour)));
                    let [Some(zero), Some(one)] = reading else {
                        continue;
                    };
                    steering.sender_reading(now, [zero, one])
                }
                Role::Receiver => {
                    let paths = (0_u8..).map(PathIndex).take(steering.path_names().len());
                    let reading: Option<Vec<[u64; 2]>> = paths
                        .map(|path| {
                            let [zero, one] =
                                Colour::ALL.map(|colour| count(slot.receiver_meter(path, colour)));
                            Some([zero?, one?])
                        })
                        .collect();
                    let Some(reading) = reading else { continue };
                    steering.receiver_reading(now, reading)
                }
            };
            self.steering_outputs(now, key, outputs, effects);
        }
    }
}
