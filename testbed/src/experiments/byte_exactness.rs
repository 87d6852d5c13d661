//! Through the proxies, over two paths that both lose, applications get exactly what was sent to them.

use super::proxied;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{FORWARD_PORT, HTTP_PORT, Lab, ProxyPlan, Site};
use crate::traffic::{Book, Conversations};
use anyhow::Result;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

pub(super) struct ByteExactness;

impl Experiment for ByteExactness {
    fn name(&self) -> &'static str {
        "byte-exactness"
    }

    fn shows(&self) -> &'static str {
        "Through the proxies every byte arrives, in order and once, and so does every end and every reset"
    }

    fn parameters(&self) -> Value {
        json!({ "loss": LOSS, "congestion": CONGESTION, "bytes_each_way": BYTES, "mean_bytes": MEAN,
                "at_a_time": AT_A_TIME })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let bench = proxied::start(context, LOSS)?;
        let proxies = bench.lab.spawn_proxies(&ProxyPlan::new(CONGESTION))?;
        let all = Conversations::new(context.seed, MEAN, false);
        let server = all.serve(&bench.lab, Site::Server.host(), HTTP_PORT)?;
        let (bytes, begin) = (if context.quick { QUICK_BYTES } else { BYTES }, Instant::now());
        converse(&bench.lab, &all, bytes)?;
        drop(server);
        let took = begin.elapsed().as_secs_f64();
        let [client, server] = all.books();
        let copies = proxies.copies_to_client()?;
        context.say(format!(
            "{} MB up and {} MB down in {took:.0} s, over {} connections; of the packets to the client {} came twice, \
             {} once, {} not at all",
            server.received / 1_000_000,
            client.received / 1_000_000,
            client.whole + client.resets_made + client.resets_seen,
            copies.both,
            copies.one,
            copies.none
        ));
        Ok(Outcome {
            checks: checks(&client, &server, bytes),
            measurements: json!({ "client": client, "server": server, "seconds": took,
                "copies": [copies.both, copies.one, copies.none], "proxies": proxies.stats()? }),
            ..Outcome::default()
        })
    }
}

fn checks(client: &Book, server: &Book, bytes: u64) -> Vec<Check> {
    let mut checks = vec![
        Check::equal(
            "conversations that came whole to both ends",
            server.whole,
            client.whole,
        ),
        Check::equal(
            "resets by applications that servers saw",
            server.resets_seen,
            client.resets_made,
        ),
        Check::equal(
            "resets by servers that applications saw",
            client.resets_seen,
            server.resets_made,
        ),
    ];
    for (name, from, to) in [("up", client, server), ("down", server, client)] {
        checks.push(Check::equal(
            format!("bytes {name} in whole conversations"),
            to.received_whole,
            from.sent_whole,
        ));
        checks.push(Check::new(
            format!("bytes {name}, each compared"),
            to.received,
            format!("≥ {bytes}"),
            to.received >= bytes,
        ));
    }
    for (name, book) in [("applications", client), ("servers", server)] {
        let mut wrong = book.examples.clone();
        wrong.insert(0, book.wrong.to_string());
        checks.push(Check::new(
            format!("wrong bytes or ends that {name} saw"),
            wrong.join("; "),
            0,
            book.wrong == 0,
        ));
    }
    checks
}

/// Has conversations, some at a time, until so many bytes have come each way.
fn converse(lab: &Lab, all: &Arc<Conversations>, bytes: u64) -> Result<()> {
    let next = AtomicU64::new(0);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, FORWARD_PORT));
    let enough = || {
        let [client, server] = all.books();
        client.received.min(server.received) >= bytes || client.wrong + server.wrong > 0
    };
    lab.ns(Site::Client.host())?.run(|| {
        std::thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    while !enough() {
                        all.have(next.fetch_add(1, Relaxed), address);
                    }
                });
            }
        });
        Ok(())
    })
}

const LOSS: f64 = 0.05;
const CONGESTION: &str = "bbr3";
const BYTES: u64 = 1_000_000_000;
const QUICK_BYTES: u64 = 25_000_000;
/// Bytes of a conversation each way.
const MEAN: u64 = 300_000;
const AT_A_TIME: usize = 24;
