//! The receiving side as a whole, without sockets: two paths with loss and a gap between them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ahash::RandomState;
use proxy::shim::gate::LEAST_LEN;
use proxy::shim::header::{Header, SequenceNumber, Stream};
use proxy::shim::path_stats::PathId;
use proxy::shim::receiver::Receiver;
use proxy::shim::{Hold, ShimConfig};

const FAST: PathId = PathId::new(0);
const SLOW: PathId = PathId::new(1);
const INTERVAL: Duration = Duration::from_micros(200);

/// What is done to each packet, and what came of it.
struct Run {
    receiver: Receiver<u64, RandomState>,
    delivered: Vec<u64>,
    both_lost: u64,
    rescued: u64,
    end: Instant,
}

/// Sends `packets`, each on two paths that lose one in twenty; the slower one is later by `gap`.
fn run(config: &ShimConfig, stream: Stream, packets: u64, gap: Duration) -> Run {
    let start = Instant::now();
    let mut receiver = Receiver::new(config, 2, RandomState::with_seeds(1, 2, 3, 4));
    let (mut both_lost, mut rescued, mut copies) = (0, 0, Vec::new());
    for number in 0..packets {
        let sent = start + INTERVAL * u32::try_from(number).expect("a small number");
        // The first ones come, so that the gap is known when it is needed, and the last ones, so that all others
        // are between packets that came.
        let ends = number < 400 || number + 200 >= packets;
        let lost = |path: u64| !ends && hash(number * 2 + path).is_multiple_of(20);
        match (lost(0), lost(1)) {
            (true, true) => both_lost += 1,
            (true, false) => rescued += 1,
            _ => {}
        }
        copies.extend((!lost(0)).then_some((sent, number, FAST)));
        copies.extend((!lost(1)).then_some((sent + gap, number, SLOW)));
    }
    copies.sort_by_key(|(at, ..)| *at);
    let mut delivered = Vec::new();
    for (at, number, path) in &copies {
        while let Some(deadline) = receiver.next_deadline(*at).filter(|deadline| deadline <= at) {
            receiver.expire(deadline, &mut |_, number| delivered.push(number));
        }
        let header = Header {
            stream,
            echo: Duration::ZERO,
            sequence: SequenceNumber::new(*number),
        };
        receiver.receive(
            *at,
            header,
            &number.to_be_bytes().repeat(LEAST_LEN / 8),
            *path,
            *number,
            &mut |packet, number| {
                assert_eq!(packet[..8], number.to_be_bytes());
                delivered.push(number);
            },
        );
    }
    let end = copies.last().expect("some packets come").0;
    while let Some(deadline) = receiver.next_deadline(end) {
        receiver.expire(deadline, &mut |_, number| delivered.push(number));
    }
    Run {
        receiver,
        delivered,
        both_lost,
        rescued,
        end,
    }
}

/// SplitMix64's finalizer: loss that looks random and is the same each time.
fn hash(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn what_one_path_loses_the_other_brings_within_the_lead() {
    let config = ShimConfig::default();
    for gap in [ms(0), ms(2), ms(20), ms(50)] {
        let run = run(&config, Stream::Ordered, 20_000, gap);
        let (stats, lead) = (run.receiver.stats(), u64::from(config.lead));
        assert!(run.both_lost > 20 && run.rescued > 500);
        assert_eq!(run.delivered.len() as u64, 20_000 - run.both_lost);
        let distinct: HashSet<_> = run.delivered.iter().collect();
        assert_eq!(distinct.len(), run.delivered.len());
        assert_eq!((stats.neither(), stats.stray), (run.both_lost, 0), "gap {gap:?}");
        let mut highest = 0;
        let overtaken = run.delivered.iter().filter(|number| {
            highest = highest.max(**number);
            highest - **number > lead
        });
        assert_eq!(
            overtaken.count() as u64,
            stats.late,
            "gap {gap:?}: only late ones are out of reach"
        );
        assert!(stats.late <= 2, "gap {gap:?}: {} late", stats.late);
        let measured = run.receiver.gap(run.end);
        assert!(
            (gap..=gap * 5 / 4 + ms(1)).contains(&measured),
            "{gap:?} was measured as {measured:?}"
        );
        assert!(stats.longest_hold <= measured * 9 / 8 + ms(2));
    }
}

#[test]
fn the_books_say_what_came_by_which_path() {
    let config = ShimConfig::default();
    let mut run = run(&config, Stream::Ordered, 20_000, ms(10));
    run.receiver
        .expire(run.end + config.window + ms(1), &mut |_, _| {});
    let stats = run.receiver.stats();
    let [fast, slow] = &stats.paths[..] else {
        panic!("two paths")
    };
    assert_eq!(fast.first_arrivals + slow.first_arrivals, 20_000 - run.both_lost);
    assert_eq!(stats.both + fast.only + slow.only, 20_000 - run.both_lost);
    assert_eq!(
        (slow.first_arrivals, slow.rescued, slow.only),
        (run.rescued, run.rescued, run.rescued)
    );
    assert_eq!((fast.second_copies, fast.rescued), (0, 0));
    assert_eq!(
        (slow.second_copies, slow.lateness.total()),
        (stats.both, stats.both)
    );
    assert!(
        slow.lateness
            .buckets()
            .all(|(bound, _)| (ms(10)..ms(13)).contains(&bound))
    );
    assert_eq!(fast.bytes, (8 + LEAST_LEN as u64) * fast.first_arrivals);
}

#[test]
fn the_unordered_stream_is_never_held() {
    for (config, stream) in [
        (ShimConfig::default(), Stream::Unordered),
        (
            ShimConfig {
                hold: Hold::Off,
                ..ShimConfig::default()
            },
            Stream::Ordered,
        ),
    ] {
        let run = run(&config, stream, 5_000, ms(50));
        assert_eq!(run.delivered.len() as u64, 5_000 - run.both_lost);
        assert_eq!((run.receiver.stats().held, run.receiver.held()), (0, 0));
        assert_eq!(run.receiver.stats().neither(), run.both_lost);
    }
}

#[test]
fn one_path_alone_is_not_held() {
    let mut receiver = Receiver::new(&ShimConfig::default(), 2, RandomState::with_seeds(1, 2, 3, 4));
    let (now, mut delivered) = (Instant::now(), 0);
    for number in (0..2_000).filter(|number| number % 7 != 0) {
        let (stream, echo, sequence) = (Stream::Ordered, Duration::ZERO, SequenceNumber::new(number));
        receiver.receive(
            now,
            Header {
                stream,
                echo,
                sequence,
            },
            b"packet",
            FAST,
            number,
            &mut |_, _| {
                delivered += 1;
            },
        );
    }
    assert_eq!(
        (delivered, receiver.held(), receiver.stats().held),
        (2_000 - 286, 0, 0)
    );
    assert_eq!(
        (receiver.gap(now), receiver.stats().neither()),
        (Duration::ZERO, 285)
    );
}

#[test]
fn forged_and_replayed_headers_take_no_packet_away() {
    let mut receiver = Receiver::new(&ShimConfig::default(), 2, RandomState::with_seeds(1, 2, 3, 4));
    let (mut now, mut genuine) = (Instant::now(), HashSet::new());
    let mut out = |packet: &[u8]| {
        if packet.starts_with(b"genuine") {
            genuine.insert(packet.to_vec());
        }
    };
    let mut send = |receiver: &mut Receiver<_, _>, now, number, packet: &[u8], echo| {
        let header = Header {
            stream: Stream::Ordered,
            echo,
            sequence: SequenceNumber::new(number),
        };
        receiver.receive(now, header, packet, FAST, (), &mut |packet, ()| out(packet))
    };
    for number in 0..3_000u64 {
        now += INTERVAL;
        let packet = format!("genuine {number}");
        // Before the genuine packet: its number with other bytes, numbers far and near, an old packet again.
        for forged in [
            number,
            number + 50,
            number + 100_000,
            hash(number),
            number.saturating_sub(2_000),
        ] {
            send(
                &mut receiver,
                now,
                forged,
                format!("forged {forged} {number}").as_bytes(),
                ms(900),
            );
        }
        let old = number.saturating_sub(1_500);
        send(
            &mut receiver,
            now,
            old,
            format!("genuine {old}").as_bytes(),
            ms(0),
        );
        send(&mut receiver, now, number, packet.as_bytes(), ms(0));
    }
    while let Some(deadline) = receiver.next_deadline(now) {
        now = deadline;
        receiver.expire(now, &mut |packet, ()| out(packet));
    }
    assert_eq!(genuine.len(), 3_000);
}

#[test]
fn an_echo_is_believed_from_packets_in_place_only() {
    let mut receiver = Receiver::new(&ShimConfig::default(), 1, RandomState::with_seeds(1, 2, 3, 4));
    let now = Instant::now();
    let mut in_place = |number, packet: &[u8]| {
        let header = Header {
            stream: Stream::Ordered,
            echo: ms(900),
            sequence: SequenceNumber::new(number),
        };
        receiver.receive(now, header, packet, FAST, (), &mut |_, ()| {})
    };
    assert!((1_000..1_010).all(|number| in_place(number, b"genuine")));
    assert!(!in_place(1_009, b"forged"));
    assert!(!in_place(1_009, b"genuine"));
    assert!(!(0..100).any(|n| in_place(hash(n), b"guessed")));
    assert!(in_place(1_010, b"genuine"));
}
