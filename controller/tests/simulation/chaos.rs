//! Whatever happens in whatever order: what is counted happened, and in the end everything is as it should be.

use controller::api::ModeRequest;
use controller::testing::{Chance, World, seed};
use ofproto::{
    ErrorCode, FlowMod, FlowModCommand, GroupId, GroupMod, GroupModCommand, GroupType, Message, MessageType,
    TableId,
};

use crate::audit::{Audit, watch};
use crate::common::*;

#[test]
fn everything_recovers_from_anything() {
    let stories = std::env::var("BICAST_STORIES")
        .ok()
        .map_or(6, |text| text.parse().expect("a number"));
    for story in 0..stories {
        Story::new(seed() * 1_000_003 + story).play();
    }
}

struct Story {
    chance: Chance,
    world: World,
    events: Vec<String>,
    /// One path is always up.
    down: Option<&'static str>,
}

impl Story {
    fn new(seed: u64) -> Story {
        Story {
            chance: Chance::new(seed),
            world: World::settled(&video("mode: adaptive, sampling: 10%")),
            events: vec![format!("story {seed}")],
            down: None,
        }
    }

    fn play(mut self) {
        self.world.datapath_lag(ms(13));
        let stream = self.world.traffic("video", Forward, 300);
        let answers = self.world.traffic("video", Reverse, 100);
        let mut audits = [
            Audit::new("video", Forward, stream),
            Audit::new("video", Reverse, answers),
        ];
        for _ in 0..25 {
            self.something_happens(&mut audits);
            let pause = ms(100 + self.chance.draw() % 3_000);
            watch(&mut audits, &mut self.world, pause);
        }
        self.calm();
        // As long as the controller may wait before it looks at a switch again that refused something.
        watch(&mut audits, &mut self.world, secs(130));
        for audit in audits {
            assert_eq!(audit.wrong, Vec::<String>::new(), "{:#?}", self.events);
        }

        let missing = self.world.delivery(stream).missing;
        self.world.run(secs(10));
        drain(&mut self.world, stream);
        assert!(
            self.world.delivery(stream).missing <= missing,
            "{:#?}",
            self.events
        );
        let since = self.world.sent().len();
        self.world.restart_core();
        self.world.run(secs(5));
        for site in ["client", "server"] {
            assert_eq!(
                changes(&self.world, site, since),
                [],
                "{site}: {:#?}",
                self.events
            );
        }
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let count = choices.len() as u64;
        let index = usize::try_from(self.chance.draw() % count).expect("below a length");
        choices[index].clone()
    }

    fn something_happens(&mut self, audits: &mut [Audit]) {
        let (site, path) = (self.pick(&["client", "server"]), self.pick(&["a", "b"]));
        let what = match self.chance.draw() % 15 {
            0..3 => {
                let loss = self.pick(&[0.0, 0.01, 0.05, 0.3, 1.0]);
                let direction = self.pick(&[Forward, Reverse]);
                self.world.loss(path, direction, loss);
                format!("{path} loses {loss} {direction}")
            }
            3..5 => {
                let up = self.pick(&[true, false]) || self.down.is_some_and(|down| down != path);
                self.down = Some(path).filter(|_| !up).or(self.down);
                self.world.port_up(site, path, up);
                format!("{path} of {site} is up: {up}")
            }
            5 => {
                let delay = self.pick(&[1, 10, 40, 120]);
                self.world.delay(path, Forward, ms(delay));
                format!("{path} takes {delay} ms")
            }
            6 => {
                self.world.disconnect(site);
                format!("{site} disconnects")
            }
            7 => {
                self.world.wipe(site);
                format!("{site} is wiped")
            }
            8 => {
                self.world.restart_core();
                audits.iter_mut().for_each(Audit::starts_over);
                "the controller restarts".to_owned()
            }
            9 => {
                let path = Some(path.to_owned());
                let mode = self.pick(&[
                    ModeRequest::Auto,
                    ModeRequest::Bicast,
                    ModeRequest::Unicast { path },
                ]);
                self.world.set_mode("video", "client", mode.clone());
                format!("the operator wants {mode:?}")
            }
            10 => {
                let table = TableId(self.pick(&[0, 1, 2, 3]));
                self.world.meddle(site, delete_flows(table));
                format!("somebody empties table {} of {site}", table.0)
            }
            11 => {
                self.world.meddle(site, delete_groups());
                format!("somebody deletes the groups of {site}")
            }
            12 => {
                let latency = self.pick(&[0, 1, 20, 80]);
                self.world.control_latency(site, ms(latency));
                format!("the control channel of {site} takes {latency} ms")
            }
            13 => {
                let refused = self.pick(&[
                    None,
                    Some((MessageType::MultipartRequest, ErrorCode::BAD_REQUEST_EPERM)),
                ]);
                self.world.at_switch(site, |switch| switch.refuse(refused));
                format!("{site} refuses {refused:?}")
            }
            _ => {
                let policy = self.pick(&["mode: bicast", "mode: unicast, prefer: b", BASE]);
                assert!(self.world.reload(&video(policy)));
                format!("the policy becomes {policy}")
            }
        };
        self.events
            .push(format!("{:?}: {what}", self.world.now().as_duration()));
    }

    fn calm(&mut self) {
        for path in ["a", "b"] {
            for direction in [Forward, Reverse] {
                self.world.loss(path, direction, 0.0);
                self.world.delay(path, direction, ms(10));
            }
            for site in ["client", "server"] {
                self.world.port_up(site, path, true);
                self.world.control_latency(site, ms(1));
                self.world.at_switch(site, |switch| switch.refuse(None));
            }
        }
        self.world.set_mode("video", "client", ModeRequest::Auto);
        assert!(self.world.reload(&video(BASE)));
        self.events
            .push(format!("{:?}: calm", self.world.now().as_duration()));
    }
}

fn delete_flows(table: TableId) -> Message {
    Message::FlowMod(FlowMod {
        table_id: table,
        command: FlowModCommand::Delete,
        ..FlowMod::default()
    })
}

fn delete_groups() -> Message {
    Message::GroupMod(GroupMod {
        command: GroupModCommand::Delete,
        type_: GroupType::All,
        group_id: GroupId::ALL,
        buckets: vec![],
    })
}

const BASE: &str = "mode: adaptive, sampling: 10%";
