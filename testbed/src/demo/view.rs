//! The live view of a pass: on a terminal a picture that is drawn anew, elsewhere a line now and then.

use super::pass::{Mode, paths};
use crate::traffic::Progress;
use anyhow::Result;
use controller::api::{Client, DirectionView, PathView, Request, Response};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Draws one pass.
#[derive(Debug)]
pub(super) struct View {
    terminal: bool,
    drawn_lines: usize,
    start: Instant,
    last_line: Option<Instant>,
    mode: Mode,
}

impl View {
    pub(super) fn new(mode: Mode) -> View {
        View {
            terminal: std::io::stdout().is_terminal(),
            drawn_lines: 0,
            start: Instant::now(),
            last_line: None,
            mode,
        }
    }

    /// Shows where things stand; `injected` is the loss that the links of path a are set to.
    pub(super) fn draw(&mut self, api: &mut Client, injected: &str, udp: [Progress; 2]) -> Result<()> {
        if !self.terminal && self.last_line.is_some_and(|last| last.elapsed() < LINE_EVERY) {
            return Ok(());
        }
        self.last_line = Some(Instant::now());
        let paths = paths(api)?;
        let Response::Policies(directions) = api.ask(&Request::Policies)? else {
            anyhow::bail!("bicastd did not answer with policies");
        };
        let seconds = self.start.elapsed().as_secs();
        if self.terminal {
            self.redraw(&picture(self.mode, seconds, injected, &paths, &directions, udp));
        } else {
            println!("  {}", line(seconds, injected, &paths, &directions));
        }
        Ok(())
    }

    /// Leaves the last picture standing.
    pub(super) fn end(&mut self) {
        self.drawn_lines = 0;
    }

    fn redraw(&mut self, picture: &str) {
        let mut out = std::io::stdout().lock();
        if self.drawn_lines > 0 {
            // Up to the first line of the last picture, and clear from there.
            let _ = write!(out, "\x1b[{}A\x1b[J", self.drawn_lines);
        }
        let _ = write!(out, "{picture}");
        let _ = out.flush();
        self.drawn_lines = picture.lines().count();
    }
}

fn picture(
    mode: Mode,
    seconds: u64,
    injected: &str,
    paths: &[PathView],
    directions: &[DirectionView],
    udp: [Progress; 2],
) -> String {
    let mut text = format!("  {:>3} s   {}\n", seconds, mode.title());
    text += "           path   injected   measured   of packets   state\n";
    for path in paths.iter().filter(|path| path.policy == "video") {
        let (measured, of) = measured(path);
        let arrow = format!("{} → {}", path.from, path.to);
        text += &format!(
            "  {arrow:17} {:>3} {:>9} {measured:>10} {of:>12}   {}\n",
            path.path,
            injected_on(&path.path, injected),
            state(path),
        );
    }
    for direction in directions {
        let reason = direction.reason.as_deref().unwrap_or("no decision yet");
        let reason: String = reason.chars().take(WIDTH).collect();
        text += &format!(
            "  {:9} from {:7} {:11}  {reason}\n",
            direction.policy, direction.from, direction.mode
        );
    }
    for (name, progress) in ["client → server", "server → client"].iter().zip(udp) {
        let missing = progress.sent - progress.unique;
        let twice = progress.copies - progress.unique;
        text += &format!(
            "  UDP {name}: {} sent, {missing} missing or on the way, {twice} came twice\n",
            progress.sent
        );
    }
    text
}

fn line(seconds: u64, injected: &str, paths: &[PathView], directions: &[DirectionView]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .filter(|path| path.policy == "video" && path.from == "client")
        .map(|path| {
            format!(
                "{} {} (injected {})",
                path.path,
                measured(path).0,
                injected_on(&path.path, injected)
            )
        })
        .collect();
    let modes: Vec<String> = directions
        .iter()
        .filter(|direction| direction.policy == "video")
        .map(|direction| format!("{} sends {}", direction.from, direction.mode))
        .collect();
    format!(
        "{seconds:>3} s  measured: {}; {}",
        paths.join(", "),
        modes.join(", ")
    )
}

fn measured(path: &PathView) -> (String, String) {
    path.loss
        .filter(|loss| loss.sent > 0)
        .map_or(("-".to_owned(), "-".to_owned()), |loss| {
            (
                format!("{:.2} %", loss.lost as f64 * 100.0 / loss.sent as f64),
                loss.sent.to_string(),
            )
        })
}

fn injected_on<'a>(path: &str, injected: &'a str) -> &'a str {
    if path == "a" && injected != "none" {
        injected
    } else {
        "0 %"
    }
}

fn state(path: &PathView) -> &'static str {
    match (path.usable, path.in_use) {
        (true, true) => "in use",
        (true, false) => "standby",
        (false, _) => "down",
    }
}

const LINE_EVERY: Duration = Duration::from_secs(2);
/// Of a decision's sentence, so that a line stays one line.
const WIDTH: usize = 90;
