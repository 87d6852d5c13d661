//! What the proxies count comes to `bicastd`: which packets the second copy rescued, which both paths lost, and how the
//! senders fare; and it is gone when the proxies are.

use super::proxied::{self, POLICY};
use super::support::{Bench, PATIENCE, wait_for};
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{Copies, FORWARD_PORT, HTTP_PORT, LinkName, ProxyPlan, Site};
use crate::traffic::{HttpServer, download};
use anyhow::Result;
use controller::api::{CopiesView, PathCopies, SendingView};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct ProxyReport;

impl Experiment for ProxyReport {
    fn name(&self) -> &'static str {
        "proxy-report"
    }

    fn shows(&self) -> &'static str {
        "What the proxies count of copies is shown by bicastd, told with the end of bicast, and dropped with the proxies"
    }

    fn parameters(&self) -> Value {
        json!({ "loss": LOSS, "seconds": DURATION.as_secs() })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let bench = proxied::start(context, LOSS)?;
        let _server = HttpServer::start(&bench.lab, Site::Server.host(), HTTP_PORT, "cubic")?;
        let proxies = bench.lab.spawn_proxies(&ProxyPlan::new("bbr3"))?;
        let url = format!("http://127.0.0.1:{FORWARD_PORT}/");
        let duration = if context.quick { QUICK_DURATION } else { DURATION };
        download(&bench.lab, Site::Client.host(), &url, duration)?;

        // Which packets came twice is counted when the window of de-duplication has passed.
        std::thread::sleep(Duration::from_secs(2));
        let counted = proxies.copies_to_client()?;
        let seen = wait_for("bicastd shows what the proxies counted", PATIENCE, || {
            Ok(Seen::now(&bench)?.filter(|seen| seen.copies.both >= counted.both / 10 * 9))
        })?;
        let counted = proxies.copies_to_client()?;
        let table = bench.bicastd.ctl(&["get", "policies"])?;
        context.say(&table);
        bench
            .bicastd
            .ctl(&["set", "mode", "--from", Site::Server.name(), POLICY, "unicast"])?;
        let decisions = bench.bicastd.ctl(&["get", "decisions"])?;
        drop(proxies);
        wait_for(
            "the reports of proxies that are gone are dropped",
            PATIENCE,
            || Ok(Seen::now(&bench)?.is_none().then_some(())),
        )?;
        Ok(Outcome {
            checks: checks(counted, &seen, &table, &decisions),
            measurements: json!({ "copies": seen.copies, "sending": seen.sending, "path_b": seen.path_b }),
            ..Outcome::default()
        })
    }
}

/// What `bicastd` shows of the way from server to client.
struct Seen {
    copies: CopiesView,
    sending: SendingView,
    path_b: PathCopies,
}

impl Seen {
    fn now(bench: &Bench) -> Result<Option<Seen>> {
        let mut api = bench.api()?;
        let direction = api.policy(POLICY, Site::Server)?;
        let paths = api.paths()?;
        let path_b = paths.iter().find(|path| {
            path.policy == POLICY && path.from == Site::Server.name() && path.path == LinkName::B.as_str()
        });
        let path_b = path_b.and_then(|path| path.copies);
        let (Some(copies), Some(sending), Some(path_b)) = (direction.copies, direction.sending, path_b)
        else {
            return Ok(None);
        };
        Ok(Some(Seen {
            copies,
            sending,
            path_b,
        }))
    }
}

fn checks(counted: Copies, seen: &Seen, table: &str, decisions: &str) -> Vec<Check> {
    let Seen {
        copies,
        sending,
        path_b,
    } = seen;
    let told = decisions.lines().last().unwrap_or_default();
    vec![
        Check::new(
            "rescued by the second copy",
            copies.rescued,
            "> 0",
            copies.rescued > 0,
        ),
        Check::new("rescued by path b", path_b.rescued, "> 0", path_b.rescued > 0),
        Check::new(
            "came twice, by bicastd",
            copies.both,
            format!("≤ {}, as the proxy says", counted.both),
            copies.both <= counted.both,
        ),
        Check::new(
            "came not at all, by bicastd",
            copies.neither,
            format!("≤ 1.5 × {} + {SLACK}, as the proxy says", counted.none),
            2 * copies.neither <= 3 * counted.none + 2 * SLACK,
        ),
        Check::new(
            "round-trip time, µs, and window, bytes",
            format!("{} {}", sending.rtt_us, sending.cwnd),
            "> 0",
            sending.rtt_us > 0 && sending.cwnd > 0,
        ),
        Check::new(
            "bicastctl shows it",
            table.contains("JOINT LOSS"),
            "true",
            table.contains("JOINT LOSS"),
        ),
        Check::new(
            "the end of bicast",
            told,
            "… were rescued by the second",
            told.ends_with("were rescued by the second"),
        ),
    ]
}

const LOSS: f64 = 0.05;
const DURATION: Duration = Duration::from_secs(10);
const QUICK_DURATION: Duration = Duration::from_secs(3);
/// Packets that the proxy took for lost at first, and that came later.
const SLACK: u64 = 20;
