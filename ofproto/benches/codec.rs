//! What a message costs: nanoseconds, messages per second, and instructions, which do not depend on what else the
//! machine is doing.
//!
//! - `codec`: the table. With `OVS_CODEC` naming the driver built by `benches/ovs/build.sh`, Open vSwitch's own C
//!   is measured on the same messages, in turns with ours; with `OS_KEN` naming a Python that has os-ken, that too.
//! - `codec frames FOLDER`: writes the messages to files, for that driver.
//! - `codec run NAME COUNT`: one case so many times, for valgrind.

use std::env;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use ofproto::oxm::VLAN_PRESENT;
use ofproto::{
    Action, Bucket, BufferId, Cookie, FlowMod, FlowModFlags, FlowStats, GroupId, GroupMod, GroupModCommand,
    GroupType, Instruction, Instructions, MacAddr, Masked, Match, Message, MeterBandStats, MeterId,
    MeterStats, MultipartEntries, MultipartEntry, MultipartReply, MultipartReplyBody, OxmField, PacketIn,
    PacketInReason, PacketOut, PortNo, TableId, Xid, list,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<_> = env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["frames", folder] => write_frames(Path::new(folder)),
        ["run", name, count] => run_one(name, count.parse()?),
        _ => table(),
    }
}

/// A message, and what is measured on it.
struct Case {
    name: &'static str,
    /// The name that others know it by.
    theirs: &'static str,
    message: Message,
    work: Work,
}

/// What is measured.
#[derive(Clone, Copy)]
enum Work {
    Decode,
    /// Entry by entry, as Open vSwitch does it; `Decode` makes a list of them.
    FlowEntries,
    /// The same of meters.
    MeterEntries,
    Encode,
}

impl Case {
    fn run(&self, count: u64) -> Outcome<Duration> {
        let mut out = BytesMut::with_capacity(1 << 16);
        self.message.encode(Xid(1), &mut out)?;
        if let Work::Encode = self.work {
            let start = Instant::now();
            for _ in 0..count {
                out.clear();
                black_box(&self.message).encode(Xid(1), &mut out)?;
                black_box(&out);
            }
            return Ok(start.elapsed());
        }
        // Parts of a receive buffer: counted references, as behind a FrameSplitter.
        let frame: Bytes = out.split().freeze();
        let start = Instant::now();
        for _ in 0..count {
            let frame = black_box(&frame);
            match self.work {
                Work::FlowEntries => assert_eq!(entries::<FlowStats>(frame)?, FLOWS.into()),
                Work::MeterEntries => assert_eq!(entries::<MeterStats>(frame)?, METERS),
                Work::Decode | Work::Encode => {
                    if let Err(error) = black_box(&Message::decode(frame)) {
                        return Err(error.clone().into());
                    }
                }
            }
        }
        Ok(start.elapsed())
    }
}

fn entries<T: MultipartEntry>(frame: &Bytes) -> Outcome<u32> {
    let mut entries = MultipartEntries::<T>::decode(frame)?.ok_or("another message")?;
    let (mut place, mut count) = (None, 0);
    while let Some(entry) = entries.pull(&mut place)? {
        black_box(entry);
        count += 1;
    }
    Ok(count)
}

fn table() -> Outcome<()> {
    let folder = env::temp_dir().join(format!("ofproto-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    write_frames(&folder)?;
    let (ovs, os_ken) = (Rival::ovs(&folder), Rival::os_ken(&folder));
    println!(
        "{:<20} {:>10} {:>12} {:>12} {:>10} {:>8} {:>12} {:>8} {:>12} {:>8}",
        "",
        "ns",
        "per second",
        "instructions",
        "OVS: ns",
        "times",
        "instructions",
        "times",
        "os-ken: ns",
        "times"
    );
    for case in cases() {
        row(&case, ovs.as_ref(), os_ken.as_ref())?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn row(case: &Case, ovs: Option<&Rival>, os_ken: Option<&Rival>) -> Outcome<()> {
    let ours = |count| Ok(case.run(count)?.as_nanos() as f64);
    let count = calibrated(ours)?;
    let (mut best, mut best_ovs) = (f64::MAX, None);
    for _ in 0..RUNS {
        best = best.min(ours(count)? / count as f64);
        if let Some(ovs) = ovs {
            let took = ovs.run(case.theirs, count)? / count as f64;
            best_ovs = Some(took.min(best_ovs.unwrap_or(f64::MAX)));
        }
    }
    let us = env::current_exe()?;
    let ours = instructions(&|count| {
        let mut command = Command::new(&us);
        command.args(["run", case.name, &count.to_string()]);
        command
    });
    let theirs = ovs.and_then(|ovs| instructions(&|count| ovs.command(case.theirs, count)));
    // It does not decode all of them, and is so slow that few are enough.
    let best_os_ken = os_ken.and_then(|rival| Some(rival.run(case.theirs, FEW).ok()? / FEW as f64));
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"));
    let times = |theirs: Option<f64>, ours: Option<f64>| {
        theirs.zip(ours).map_or_else(
            || "-".to_owned(),
            |(theirs, ours)| format!("{:.2}", theirs / ours),
        )
    };
    println!(
        "{:<20} {best:>10.1} {:>12.0} {:>12} {:>10} {:>8} {:>12} {:>8} {:>12} {:>8}",
        case.name,
        1e9 / best,
        number(ours),
        number(best_ovs),
        times(best_ovs, Some(best)),
        number(theirs),
        times(theirs, ours),
        number(best_os_ken),
        times(best_os_ken, Some(best)),
    );
    Ok(())
}

/// Another codec: a program that takes a case, a count and the file of the message, and prints nanoseconds.
struct Rival {
    program: Vec<String>,
    folder: PathBuf,
}

impl Rival {
    fn ovs(folder: &Path) -> Option<Self> {
        let program = vec![env::var("OVS_CODEC").ok()?];
        let folder = folder.to_owned();
        Some(Self { program, folder })
    }

    fn os_ken(folder: &Path) -> Option<Self> {
        let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/os-ken/driver.py");
        let program = vec![env::var("OS_KEN").ok()?, driver.to_owned()];
        let folder = folder.to_owned();
        Some(Self { program, folder })
    }

    fn command(&self, case: &str, count: u64) -> Command {
        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]).args([case, &count.to_string()]);
        command.arg(self.folder.join(case));
        command
    }

    fn run(&self, case: &str, count: u64) -> Outcome<f64> {
        let output = self.command(case, count).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }
}

/// So many runs that one takes about a twentieth of a second.
fn calibrated(run: impl Fn(u64) -> Outcome<f64>) -> Outcome<u64> {
    let mut count = 16;
    while run(count)? < 50e6 {
        count *= 2;
    }
    Ok(count)
}

/// Instructions for one message, counted by valgrind: the difference between two counts, so that what is done once
/// drops out. `None` without valgrind.
fn instructions(program: &dyn Fn(u64) -> Command) -> Option<f64> {
    let total = |count| {
        let program = program(count);
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(program.get_program())
            .args(program.get_args())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let (_, number) = text.split_once("Collected : ")?;
        number.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some((total(MANY)? - total(FEW)?) / (MANY - FEW) as f64)
}

fn run_one(name: &str, count: u64) -> Outcome<()> {
    let case = cases().into_iter().find(|case| case.name == name);
    let took = case.ok_or("no such case")?.run(count)?;
    println!("{}", took.as_nanos());
    Ok(())
}

fn write_frames(folder: &Path) -> Outcome<()> {
    for case in cases() {
        let mut out = BytesMut::new();
        case.message.encode(Xid(1), &mut out)?;
        fs::write(folder.join(case.theirs), &out)?;
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let case = |work, name, theirs, message| Case {
        name,
        theirs,
        message,
        work,
    };
    let decode = |name, message| case(Work::Decode, name, name, message);
    let encode = |name, message| case(Work::Encode, name, name, message);
    let (flows, meters) = ("decode-flow-stats", "decode-meter-stats");
    vec![
        decode("decode-packet-in", packet_in()),
        decode("decode-flow-mod", flow_mod()),
        decode("decode-group-mod", group_mod()),
        case(Work::FlowEntries, flows, flows, flow_stats()),
        case(Work::Decode, "list-flow-stats", flows, flow_stats()),
        case(Work::MeterEntries, meters, meters, meter_stats()),
        case(Work::Decode, "list-meter-stats", meters, meter_stats()),
        encode("encode-flow-mod", flow_mod()),
        encode("encode-group-mod", group_mod()),
        encode("encode-packet-out", packet_out()),
    ]
}

fn packet_in() -> Message {
    Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: 128,
        reason: PacketInReason::Action,
        table_id: TableId(2),
        cookie: Cookie(0x77),
        match_: Match::new().with(OxmField::InPort(PortNo(3))),
        data: Bytes::from_static(&[0x5a; 128]),
    })
}

/// Eight fields.
fn match_() -> Match {
    [
        OxmField::InPort(PortNo(1)),
        OxmField::EthDst(MacAddr::new(2, 0, 0, 0, 0, 1).into()),
        OxmField::EthType(0x0800),
        OxmField::VlanVid((VLAN_PRESENT | 100).into()),
        OxmField::IpProto(17),
        OxmField::Ipv4Src(Masked::new([10, 0, 1, 0].into(), [255, 255, 255, 0].into())),
        OxmField::Ipv4Dst(Masked::exact([10, 0, 2, 7].into())),
        OxmField::UdpDst(5001),
    ]
    .into_iter()
    .collect()
}

fn instructions_of_a_flow() -> Instructions {
    list![
        Instruction::Meter(MeterId(1)),
        Instruction::ApplyActions(list![
            Action::SetField(OxmField::EthDst(MacAddr::new(2, 0, 0, 0, 0, 9).into())),
            Action::Group(GroupId(7)),
        ]),
        Instruction::GotoTable(TableId(3)),
    ]
}

fn flow_mod() -> Message {
    Message::FlowMod(FlowMod {
        cookie: Cookie(0xb1_ca57),
        priority: 100,
        idle_timeout: 60,
        match_: match_(),
        instructions: instructions_of_a_flow(),
        ..FlowMod::default()
    })
}

fn group_mod() -> Message {
    let bucket = |port| Bucket {
        watch_port: PortNo(port),
        actions: list![
            Action::SetField(OxmField::EthDst(MacAddr::new(2, 0, 0, 0, 0, 9).into())),
            Action::output(PortNo(port)),
        ],
        ..Bucket::default()
    };
    Message::GroupMod(GroupMod {
        command: GroupModCommand::Add,
        type_: GroupType::FastFailover,
        group_id: GroupId(7),
        buckets: (1..=4).map(bucket).collect(),
    })
}

fn flow_stats() -> Message {
    let flow = |number: u16| FlowStats {
        table_id: TableId(1),
        duration_sec: 60,
        duration_nsec: 0,
        priority: 100,
        idle_timeout: 0,
        hard_timeout: 0,
        flags: FlowModFlags::empty(),
        cookie: Cookie(number.into()),
        packet_count: 1000,
        byte_count: 64_000,
        match_: Match::new()
            .with(OxmField::EthType(0x0800))
            .with(OxmField::IpProto(17))
            .with(OxmField::UdpDst(number)),
        instructions: list![Instruction::ApplyActions(list![Action::output(PortNo(1))])],
    };
    Message::MultipartReply(MultipartReply {
        more: false,
        body: MultipartReplyBody::Flow((0..FLOWS).map(flow).collect()),
    })
}

fn meter_stats() -> Message {
    let meter = |number| MeterStats {
        meter_id: MeterId(number),
        flow_count: 3,
        packet_in_count: 1000,
        byte_in_count: 64_000,
        duration_sec: 60,
        duration_nsec: 0,
        band_stats: list![MeterBandStats {
            packet_band_count: 10,
            byte_band_count: 640,
        }],
    };
    Message::MultipartReply(MultipartReply {
        more: false,
        body: MultipartReplyBody::Meter((1..=METERS).map(meter).collect()),
    })
}

fn packet_out() -> Message {
    Message::PacketOut(PacketOut {
        buffer_id: BufferId::NO_BUFFER,
        in_port: PortNo::CONTROLLER,
        actions: list![Action::output(PortNo(2))],
        data: Bytes::from_static(&[0x5a; 128]),
    })
}

/// As many as fit, nearly.
const FLOWS: u16 = 500;
const METERS: u32 = 16;
/// The best of so many runs is taken: what disturbs a run only makes it longer.
const RUNS: usize = 15;
const FEW: u64 = 200;
const MANY: u64 = 1200;
