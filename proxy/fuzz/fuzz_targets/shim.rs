//! Any datagrams by any paths at any time: each distinct one goes out once, unchanged, and none is held too long.
//!
//! The input is a list of datagrams, each after its length, its path and the time since the last one.
#![no_main]

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ahash::RandomState;
use libfuzzer_sys::fuzz_target;
use proxy::shim::ShimConfig;
use proxy::shim::gate::LONGEST_WAIT;
use proxy::shim::header::{Form, HEADER_LEN, Header};
use proxy::shim::path_stats::PathId;
use proxy::shim::receiver::Receiver;

fuzz_target!(|input: &[u8]| {
    let config = ShimConfig {
        held_bytes: 4096,
        window_packets: 64,
        ..ShimConfig::default()
    };
    let mut receiver = Receiver::new(&config, 2, RandomState::with_seeds(1, 2, 3, 4));
    let (mut now, mut rest) = (Instant::now(), input);
    let (mut taken, mut given): (HashMap<Vec<u8>, u64>, HashMap<Vec<u8>, u64>) = Default::default();
    let slack = Duration::from_millis(1);
    while let Some((&[len, path, millis], tail)) = rest.split_first_chunk() {
        let (datagram, tail) = tail.split_at(usize::from(len).min(tail.len()));
        rest = tail;
        let out = |now: Instant| {
            move |given: &mut HashMap<Vec<u8>, u64>, packet: &[u8], came: Instant| {
                assert!(now - came <= config.max_hold + LONGEST_WAIT + slack);
                *given.entry(packet.to_vec()).or_default() += 1;
            }
        };
        let until = now + Duration::from_millis(u64::from(millis));
        while let Some(deadline) = receiver.next_deadline(now).filter(|at| *at <= until) {
            now = now.max(deadline);
            let give = out(now);
            receiver.expire(now, &mut |packet, came| give(&mut given, packet, came));
        }
        now = until;
        let Ok(form) = Header::decode(datagram) else {
            continue;
        };
        let Form::Shim(header, packet) = form else {
            assert!(datagram[0] >= 0x40);
            continue;
        };
        assert_eq!(header.encode()[..], datagram[..HEADER_LEN]);
        *taken.entry(packet.to_vec()).or_default() += 1;
        let give = out(now);
        receiver.receive(
            now,
            header,
            packet,
            PathId::new(path),
            now,
            &mut |packet, came| {
                give(&mut given, packet, came);
            },
        );
    }
    while let Some(deadline) = receiver.next_deadline(now) {
        now = now.max(deadline);
        receiver.expire(now, &mut |packet, _| {
            *given.entry(packet.to_vec()).or_default() += 1
        });
    }
    assert_eq!(receiver.held(), 0);
    assert_eq!(taken.len(), given.len());
    assert!(
        given
            .iter()
            .all(|(packet, count)| (1..=taken[packet]).contains(count))
    );
});
