//! Text of queues.

use super::put_duration;
use crate::{PacketQueue, PortNo, QueueGetConfigReply, QueueGetConfigRequest, QueueProperty, QueueStats};

pub(super) fn put_config_request(out: &mut String, request: &QueueGetConfigRequest) {
    put!(out, " port={}", request.port);
}

pub(super) fn put_config_reply(out: &mut String, reply: &QueueGetConfigReply) {
    let mut queues: Vec<_> = reply.queues.iter().collect();
    queues.sort_by_key(|queue| (queue.port, queue.queue_id));
    out.push(' ');
    let mut port = PortNo(0);
    for queue in queues {
        if queue.port != port {
            port = queue.port;
            put!(out, "port={port}\n");
        }
        put_queue(out, queue);
    }
}

fn put_queue(out: &mut String, queue: &PacketQueue) {
    put!(out, "queue {}:", queue.queue_id.0);
    let rate = |of: fn(&QueueProperty) -> Option<u16>| queue.properties.iter().rev().find_map(of);
    let min_rate = rate(|property| match property {
        QueueProperty::MinRate(rate) => Some(*rate),
        _ => None,
    });
    let max_rate = rate(|property| match property {
        QueueProperty::MaxRate(rate) => Some(*rate),
        _ => None,
    });
    for (name, rate) in [("min_rate", min_rate), ("max_rate", max_rate)] {
        match rate {
            Some(rate @ ..=1000) => put!(out, " {name}:{}.{}%", rate / 10, rate % 10),
            None | Some(u16::MAX) => {}
            Some(_) => put!(out, " {name}:(disabled)"),
        }
    }
    out.push('\n');
}

pub(super) fn put_queue_stats(out: &mut String, queues: &[QueueStats]) {
    put!(out, " {} queues\n", queues.len());
    for queue in queues {
        put!(out, "  port {} queue {}: ", queue.port_no, queue.queue_id);
        for (name, count) in [
            ("bytes", queue.tx_bytes),
            ("pkts", queue.tx_packets),
            ("errors", queue.tx_errors),
        ] {
            // A counter that the switch does not have is all ones.
            if count == u64::MAX {
                put!(out, "{name}=?, ");
            } else {
                put!(out, "{name}={count}, ");
            }
        }
        out.push_str("duration=");
        put_duration(out, queue.duration_sec, queue.duration_nsec);
        out.push('\n');
    }
}
