//! What Open vSwitch accepts and refuses, and what we do: the same messages to a real bridge and to our own validation.
//!
//! Our validation is, in this order: the decoder, whose error names the OFPT_ERROR to answer with; and for what can
//! be decoded the fake datapath, which knows what exists and what a switch makes of it. The encoder must not refuse
//! what Open vSwitch takes.
//!
//! It makes namespaces and has a `main` of its own, for that must be done before there are threads.

mod cases;
mod known;
mod pieces;

use anyhow::{Context, Result, bail, ensure};
use bytes::{Bytes, BytesMut};
use cases::Case;
use controller::testing::FakeDatapath;
use known::KNOWN;
use ofproto::text::{parse_flow_mod, parse_group_mod, parse_meter_mod};
use ofproto::{DatapathId, EncodeError, ErrorCode, Message, Xid};
use policies::Timestamp;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use testbed::netns::Netns;
use testbed::openflow::Client;
use testbed::sandbox::{Lifetime, Sandbox};
use testbed::switch::{Datapath, Switch, SwitchPlan};
use testbed::veth::{self, End};

fn main() -> Result<()> {
    let seed = std::env::var("BICAST_SEED").map_or(Ok(DEFAULT_SEED), |seed| seed.parse())?;
    let (_sandbox, ()) = Sandbox::enter(Lifetime::Attached, ())?;
    let switch = start_switch()?;
    let mut both = Both {
        bridge: Client::connect(&switch.folder().join("br0.mgmt"))?,
        fake: FakeDatapath::new(DatapathId(1), &["p1", "p2"]),
        beginning: beginning()?,
    };

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let chance = (0..BY_CHANCE).map(|_| cases::by_chance(&mut rng));
    let all: Vec<Case> = cases::one_by_one().into_iter().chain(chance).collect();
    let mut tally: BTreeMap<String, u32> = BTreeMap::new();
    let mut used = vec![false; KNOWN.len()];
    let mut differences = BTreeMap::new();
    for case in &all {
        let (theirs, ours) = (both.theirs(case)?, both.ours(case));
        *tally.entry(theirs.clone()).or_default() += 1;
        let known = KNOWN
            .iter()
            .position(|known| known.explains(&case.name, &ours, &theirs));
        match known {
            Some(index) => used[index] = true,
            None if ours == theirs => {}
            None => {
                differences.insert(&case.name, format!("we: {ours}, Open vSwitch: {theirs}"));
            }
        }
    }

    println!("{} cases; Open vSwitch's verdicts: {tally:?}", all.len());
    for (name, difference) in &differences {
        println!("{name}: {difference}");
    }
    ensure!(
        differences.is_empty(),
        "seed {seed}: {} differences",
        differences.len()
    );
    for (known, used) in KNOWN.iter().zip(used) {
        ensure!(used || seed != DEFAULT_SEED, "no case shows {known:?} any more");
    }
    ensure!(tally.len() > 20, "verdicts of many kinds");
    Ok(())
}

/// A real bridge and our validation, in the same state.
struct Both {
    bridge: Client,
    fake: FakeDatapath,
    /// What puts them there.
    beginning: Vec<Message>,
}

impl Both {
    fn theirs(&mut self, case: &Case) -> Result<String> {
        for message in &self.beginning {
            self.bridge.send(message)?;
        }
        let answers = self.bridge.ask_bytes(&case.frame)?;
        let errors = answers.iter().filter_map(|(header, message)| match message {
            Message::Error(error) => Some((header, error)),
            _ => None,
        });
        match errors.collect::<Vec<_>>().as_slice() {
            [] => Ok(ACCEPTED.to_owned()),
            [(_, error)] => Ok(error.error.to_string()),
            several => bail!("{}: several errors {several:?}", case.name),
        }
    }

    fn ours(&mut self, case: &Case) -> String {
        for message in &self.beginning {
            let answers = self.fake.message(Timestamp::ZERO, Xid(0), message.clone());
            assert!(answers.is_empty(), "{message:?}: {answers:?}");
        }
        let message = match Message::decode(&Bytes::copy_from_slice(&case.frame)) {
            Ok((_, message)) => message,
            Err(error) => return error.answer.to_string(),
        };
        let invalid = refusal(&message);
        let encoded = message.encode(Xid(0), &mut BytesMut::new());
        let answers = self.fake.message(Timestamp::ZERO, Xid(0), message);
        match (answers.as_slice(), encoded) {
            ([], Ok(())) => invalid.unwrap_or_else(|| ACCEPTED.to_owned()),
            ([], Err(error)) => format!("not encoded: {error}"),
            ([(_, Message::Error(error))], _) => error.error.to_string(),
            (other, _) => format!("{other:?}"),
        }
    }
}

/// What a switch should answer to a message that is not valid by itself.
fn refusal(message: &Message) -> Option<String> {
    let error = message.validate().err()?;
    let answer = match (error, message) {
        (EncodeError::MissingPrerequisite { .. }, Message::FlowMod(flow_mod)) => {
            match flow_mod.match_.check_prerequisites() {
                Ok(()) => ErrorCode::BAD_ACTION_MATCH_INCONSISTENT,
                Err(_) => ErrorCode::BAD_MATCH_BAD_PREREQ,
            }
        }
        (error, _) => return Some(error.to_string()),
    };
    Some(answer.to_string())
}

/// Nothing but two groups, a meter and a flow.
fn beginning() -> Result<Vec<Message>> {
    Ok(vec![
        Message::FlowMod(parse_flow_mod("delete")?),
        Message::GroupMod(parse_group_mod("delete")?),
        Message::MeterMod(parse_meter_mod("delete meter=all")?),
        Message::GroupMod(parse_group_mod("group_id=1,type=all,bucket=output:1")?),
        Message::GroupMod(parse_group_mod("group_id=2,type=all,bucket=group:1")?),
        Message::MeterMod(parse_meter_mod("meter=1,kbps,band=type=drop,rate=1000")?),
        Message::FlowMod(parse_flow_mod("priority=10,udp,tp_dst=5001,actions=output:1")?),
    ])
}

fn start_switch() -> Result<Switch> {
    let netns = Netns::create("agreement")?;
    let ends = ["p1", "p2"].map(|device| End {
        netns: &netns,
        device,
        mac: if device == "p1" {
            "02:00:00:00:00:01"
        } else {
            "02:00:00:00:00:02"
        },
    });
    veth::connect(ends[0], ends[1])?;
    let plan = SwitchPlan {
        bridge: "br0".to_owned(),
        datapath_id: "0000000000000001".to_owned(),
        ports: vec!["p1".to_owned(), "p2".to_owned()],
        controller: None,
    };
    Switch::start(&netns, plan, Datapath::Netdev).context("no bridge to compare with")
}

const ACCEPTED: &str = "accepted";
const DEFAULT_SEED: u64 = 1;
const BY_CHANCE: usize = 300;
