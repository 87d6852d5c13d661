//! Proxies that run for long, with everything that happens to proxies: connections that end, half-end, are reset or idle,
//! and peers that are killed.
//!
//! ```text
//!  client's host                          server's host
//!  near ───────── bicast, 5 % loss ─────▶ far            both are there from the beginning to the end
//!    └──────────────────────────────────▶ far-mortal     killed and started again
//!  near-mortal ─────────────────────────▶ far            the same
//! ```

use super::proxied;
use super::support::{Bench, PATIENCE, wait_for};
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{HTTP_PORT, Lab, PATH_B_PORT, ProxyProgram, QUIC_PORT, Site};
use crate::traffic::{Book, Conversations};
use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub(super) struct Soak;

impl Experiment for Soak {
    fn name(&self) -> &'static str {
        "soak"
    }

    fn shows(&self) -> &'static str {
        "Proxies that run for long hold no more files, memory and tasks than at the beginning"
    }

    fn parameters(&self) -> Value {
        json!({ "loss": LOSS, "congestion": CONGESTION, "mean_bytes": MEAN, "silent_connections": SILENT,
                "workers": [STEADY_WORKERS, MORTAL_WORKERS, MORTAL_WORKERS] })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let duration = duration(context.quick)?;
        let bench = proxied::start(context, LOSS)?;
        let mut proxies = Proxies::start(&bench.lab)?;
        let before = proxies.samples()?;
        let steady = Conversations::new(context.seed, MEAN, false);
        let mortal = Conversations::new(context.seed ^ 1, MEAN, true);
        let servers = [
            steady.serve(&bench.lab, Site::Server.host(), HTTP_PORT)?,
            mortal.serve(&bench.lab, Site::Server.host(), MORTAL_PORT)?,
        ];
        context.say(format!("for {duration:?}"));
        let series = soak(&bench, &mut proxies, [&steady, &mortal], duration)?;
        // A peer that was killed is given up when it has been silent for as long as the configuration says.
        let after = wait_for("what was opened is closed", 3 * PATIENCE, || {
            let now = proxies.samples()?;
            let closed = now
                .iter()
                .zip(&before)
                .all(|(now, before)| now.is_back_at(before));
            Ok(closed.then_some(now))
        });
        let after = after.or_else(|_| proxies.samples())?;
        drop(servers);
        let [books, mortal_books] = [steady.books(), mortal.books()];
        context.say(format!(
            "{} conversations, {} with peers that were killed {} times",
            books[0].whole + books[0].resets_made + books[0].resets_seen,
            mortal_books[0].whole
                + mortal_books[0].resets_made
                + mortal_books[0].resets_seen
                + mortal_books[0].broken,
            series.kills
        ));
        Ok(Outcome {
            checks: checks(&before, &series, &after, &books, &mortal_books),
            measurements: json!({ "before": before, "series": series, "after": after, "steady": books,
                "mortal": mortal_books }),
            ..Outcome::default()
        })
    }
}

/// `SOAK` in the environment, such as `90s` or `24h`, else as long as fits.
fn duration(quick: bool) -> Result<Duration> {
    match std::env::var("SOAK") {
        Ok(text) => humantime::parse_duration(&text).with_context(|| format!("SOAK={text}: not a duration")),
        Err(_) if quick => Ok(QUICK_DURATION),
        Err(_) => Ok(DURATION),
    }
}

/// What a proxy holds at one moment.
#[derive(Debug, Clone, Copy, Serialize)]
struct Sample {
    files: u64,
    memory: u64,
    tasks: u64,
}

impl Sample {
    fn of(program: &ProxyProgram) -> Result<Sample> {
        Ok(Sample {
            files: program.open_files()? as u64,
            memory: program.usage()?.rss_bytes,
            tasks: program.stats()?["tasks"]
                .as_u64()
                .context("bicast-proxy counts no tasks")?,
        })
    }

    fn is_back_at(&self, before: &Sample) -> bool {
        self.files <= before.files && self.tasks <= before.tasks
    }
}

/// What was seen on the way.
#[derive(Debug, Default, Serialize)]
struct Series {
    /// Of near and far, one after the other at the same interval.
    samples: [Vec<Sample>; 2],
    kills: u64,
    /// Silent connections that did not end as they should.
    silent_broken: u64,
}

struct Proxies {
    /// Near and far.
    steady: [ProxyProgram; 2],
    /// Near and far.
    mortal: [ProxyProgram; 2],
}

impl Proxies {
    fn start(lab: &Lab) -> Result<Proxies> {
        let [client, server] = Site::ALL;
        let (mut near, mut far) = (lab.proxy(client, "near")?, lab.proxy(server, "far")?);
        let mut near_mortal = lab.proxy(client, "near-mortal")?;
        let mut far_mortal = lab.proxy(server, "far-mortal")?;
        let address = server.host_address();
        let shim = format!("shim: {{path_ports: {PATH_B_PORT}}}\n");
        let peer = |name: &str, program: &ProxyProgram, more: &str| {
            let key = program.public_key();
            format!("  {name}: {{key: \"{key}\", congestion: {CONGESTION}, {more}}}\n")
        };
        let forward = |peer: &str, port: u16, target: u16| {
            format!(
                "  {peer}: {{kind: tcp, listen: \"127.0.0.1:{port}\", peer: {peer}, target: \"{address}:{target}\"}}\n"
            )
        };
        let dial = |port: u16| format!("dial: \"{address}:{port}\"");
        let allow = |port: u16| format!("allow: [\"{address}:{port}\"]");
        far.start(&format!(
            "{shim}listen: 0.0.0.0:{QUIC_PORT}\npeers:\n{}{}",
            peer("near", &near, &allow(HTTP_PORT)),
            peer("near-mortal", &near_mortal, &allow(MORTAL_PORT))
        ))?;
        far_mortal.start(&format!(
            "listen: 0.0.0.0:{MORTAL_QUIC_PORT}\npeers:\n{}",
            peer("near", &near, &allow(MORTAL_PORT))
        ))?;
        near.start(&format!(
            "{shim}peers:\n{}{}forwards:\n{}{}",
            peer("far", &far, &dial(QUIC_PORT)),
            peer("far-mortal", &far_mortal, &dial(MORTAL_QUIC_PORT)),
            forward("far", FORWARDS[0], HTTP_PORT),
            forward("far-mortal", FORWARDS[1], MORTAL_PORT)
        ))?;
        near_mortal.start(&format!(
            "peers:\n{}forwards:\n{}",
            peer("far", &far, &dial(QUIC_PORT)),
            forward("far", FORWARDS[2], MORTAL_PORT)
        ))?;
        for (program, peers) in [
            (&mut near, 2),
            (&mut far, 2),
            (&mut near_mortal, 1),
            (&mut far_mortal, 1),
        ] {
            program.wait_until_connected(peers)?;
        }
        Ok(Proxies {
            steady: [near, far],
            mortal: [near_mortal, far_mortal],
        })
    }

    fn samples(&self) -> Result<[Sample; 2]> {
        let [near, far] = &self.steady;
        Ok([Sample::of(near)?, Sample::of(far)?])
    }
}

/// Lets it happen for so long.
fn soak(
    bench: &Bench,
    proxies: &mut Proxies,
    [steady, mortal]: [&Arc<Conversations>; 2],
    duration: Duration,
) -> Result<Series> {
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(0));
    let talk = |all: &Conversations, port: u16| {
        while !stop.load(Relaxed) {
            all.have(
                next.fetch_add(1, Relaxed),
                SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            );
            std::thread::sleep(PAUSE);
        }
    };
    bench.lab.ns(Site::Client.host())?.run(|| {
        std::thread::scope(|scope| {
            let workers = [
                (steady, STEADY_WORKERS),
                (mortal, MORTAL_WORKERS),
                (mortal, MORTAL_WORKERS),
            ];
            for ((all, count), port) in workers.into_iter().zip(FORWARDS) {
                for _ in 0..count {
                    scope.spawn(move || talk(all, port));
                }
            }
            let result = watch(proxies, duration);
            stop.store(true, Relaxed);
            result
        })
    })
}

/// Takes samples, kills one mortal proxy after the other, and keeps connections on which nothing moves.
fn watch(proxies: &mut Proxies, duration: Duration) -> Result<Series> {
    let mut series = Series::default();
    let silent =
        std::iter::repeat_with(|| Conversations::be_silent((Ipv4Addr::LOCALHOST, FORWARDS[0]).into()));
    let silent = silent.take(SILENT).collect::<Result<Vec<_>, _>>()?;
    let rounds = u32::try_from(duration.as_secs() / ROUND.as_secs()).unwrap_or(u32::MAX);
    let (begin, rounds) = (Instant::now(), rounds.max(LEAST_ROUNDS));
    for round in 1..=rounds {
        let due = duration * round / rounds;
        let victim = usize::from(round.is_multiple_of(2 * KILL_EVERY));
        let kills = round.is_multiple_of(KILL_EVERY);
        if kills {
            proxies.mortal[victim].kill()?;
            series.kills += 1;
        }
        std::thread::sleep(due.saturating_sub(begin.elapsed()));
        if kills {
            proxies.mortal[victim].start_again()?;
        }
        for (kept, sample) in series.samples.iter_mut().zip(proxies.samples()?) {
            kept.push(sample);
        }
    }
    for program in &mut proxies.mortal {
        program.wait_until_connected(1)?;
    }
    let ends = silent.into_iter().map(Conversations::break_silence);
    series.silent_broken = ends.filter(Result::is_err).count() as u64;
    Ok(series)
}

fn checks(
    before: &[Sample; 2],
    series: &Series,
    after: &[Sample; 2],
    steady: &[Book; 2],
    mortal: &[Book; 2],
) -> Vec<Check> {
    let mut checks = Vec::new();
    for (index, name) in ["near", "far"].into_iter().enumerate() {
        let samples = &series.samples[index];
        let quarter = samples.len() / 4;
        let (first, last) = (&samples[..quarter], &samples[samples.len() - quarter..]);
        let figures: [(&str, Figure, u64); 3] = [
            ("open files", |sample| sample.files, 20),
            ("tasks", |sample| sample.tasks, 20),
            ("memory, kB", |sample| sample.memory / 1000, 4000),
        ];
        for (figure, of, slack) in figures {
            let (first, last) = (median(first, of), median(last, of));
            checks.push(Check::new(
                format!("{name}: {figure}, last quarter"),
                last,
                format!("≤ 1.25 × {first} of the first + {slack}"),
                4 * last <= 5 * first + 4 * slack,
            ));
        }
        let (before, after) = (before[index], after[index]);
        checks.push(Check::at_most(
            format!("{name}: files when all is over"),
            after.files,
            before.files,
        ));
        checks.push(Check::at_most(
            format!("{name}: tasks when all is over"),
            after.tasks,
            before.tasks,
        ));
    }
    let [client, server] = steady;
    checks.push(Check::equal(
        "conversations whole at both ends",
        server.whole,
        client.whole,
    ));
    for (name, books) in [("between those two", steady), ("with mortal peers", mortal)] {
        let wrong: u64 = books.iter().map(|book| book.wrong).sum();
        let examples = books.iter().flat_map(|book| book.examples.iter().cloned());
        let shown: Vec<_> = std::iter::once(wrong.to_string()).chain(examples).collect();
        checks.push(Check::new(
            format!("wrong bytes or ends {name}"),
            shown.join("; "),
            0,
            wrong == 0,
        ));
    }
    checks.push(Check::equal(
        "silent connections that broke",
        series.silent_broken,
        0,
    ));
    checks
}

type Figure = fn(&Sample) -> u64;

fn median(samples: &[Sample], of: Figure) -> u64 {
    let mut values: Vec<_> = samples.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

const LOSS: f64 = 0.05;
const CONGESTION: &str = "bbr3";
const DURATION: Duration = Duration::from_secs(24 * 3600);
const QUICK_DURATION: Duration = Duration::from_secs(60);
const MEAN: u64 = 40_000;
/// A worker's rest between two conversations.
const PAUSE: Duration = Duration::from_millis(20);
const STEADY_WORKERS: usize = 8;
const MORTAL_WORKERS: usize = 3;
const SILENT: usize = 100;
/// Samples are taken once a round.
const ROUND: Duration = Duration::from_secs(15);
const LEAST_ROUNDS: u32 = 80;
/// In one of so many rounds a mortal proxy is killed.
const KILL_EVERY: u32 = 20;
const MORTAL_QUIC_PORT: u16 = 4533;
const MORTAL_PORT: u16 = HTTP_PORT + 1;
/// To far, to far-mortal, and from near-mortal to far.
const FORWARDS: [u16; 3] = [8080, 8081, 8082];
