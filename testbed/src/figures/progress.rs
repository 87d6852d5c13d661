//! How far a long run has come, and how long the rest will take.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Progress of an experiment over its points: a bar on a terminal, a line for each point otherwise.
#[derive(Debug)]
pub struct Progress {
    estimate: Estimate,
    begun: Instant,
    terminal: bool,
}

/// The arithmetic of a [`Progress`].
#[derive(Debug, Clone, PartialEq)]
struct Estimate {
    total: usize,
    done: usize,
    /// Expected seconds of the points to come, the next one first.
    ahead: Vec<f64>,
    /// Expected seconds of the points measured in this run.
    behind: f64,
}

impl Progress {
    /// `expected` has a number for each point that is to be measured, in order: seconds as far as anyone can tell
    /// beforehand. Only their proportions matter once points have been measured. `earlier` points are there already,
    /// from a run that was interrupted.
    pub fn new(expected: Vec<f64>, earlier: usize) -> Self {
        let progress = Progress {
            estimate: Estimate::new(expected, earlier),
            begun: Instant::now(),
            terminal: std::io::stdout().is_terminal(),
        };
        if earlier > 0 {
            progress.say(format!(
                "{earlier} of {} points are there already",
                progress.estimate.total
            ));
        }
        progress
    }

    /// A point begins: on a terminal the bar shows which.
    pub fn begin(&self, point: impl Display) {
        if self.terminal {
            let text = self.estimate.text(self.begun.elapsed());
            // Nothing can be done about a closed terminal.
            let _ = write!(
                std::io::stdout(),
                "\r\x1b[K{} {text}: {point}",
                self.estimate.bar()
            );
            let _ = std::io::stdout().flush();
        }
    }

    /// The point that had begun is measured; `result` is what is worth saying about it.
    pub fn end(&mut self, result: impl Display) {
        self.estimate.advance();
        let text = self.estimate.text(self.begun.elapsed());
        if self.terminal {
            self.say(result);
        } else {
            println!("  [{text}] {result}");
        }
    }

    /// Prints a line above the bar.
    pub fn say(&self, line: impl Display) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        println!("{clear}  {line}");
    }
}

impl Estimate {
    fn new(expected: Vec<f64>, earlier: usize) -> Self {
        Estimate {
            total: expected.len() + earlier,
            done: earlier,
            ahead: expected,
            behind: 0.0,
        }
    }

    fn advance(&mut self) {
        if !self.ahead.is_empty() {
            self.behind += self.ahead.remove(0);
            self.done += 1;
        }
    }

    /// The expectation for the rest, corrected by how the past compares with what was expected of it.
    fn remaining(&self, elapsed: Duration) -> Duration {
        let ahead: f64 = self.ahead.iter().sum();
        let pace = if self.behind > 0.0 {
            elapsed.as_secs_f64() / self.behind
        } else {
            1.0
        };
        Duration::try_from_secs_f64(ahead * pace).unwrap_or(Duration::MAX)
    }

    fn text(&self, elapsed: Duration) -> String {
        let left = in_words(self.remaining(elapsed));
        format!("{}/{}, {left} left", self.done, self.total)
    }

    fn bar(&self) -> String {
        let full = BAR * self.done / self.total.max(1);
        format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
    }
}

fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes:02} min"),
    }
}

/// Width of the bar in characters.
const BAR: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_the_past_in_proportion_to_what_was_expected() {
        let mut estimate = Estimate::new(vec![10.0, 20.0, 30.0], 1);
        assert_eq!(estimate.text(Duration::ZERO), "1/4, 1 min left");
        estimate.advance();
        // It took five times as long as expected: so will the other fifty seconds.
        assert_eq!(estimate.text(Duration::from_secs(50)), "2/4, 4 min left");
        estimate.advance();
        estimate.advance();
        assert_eq!(estimate.text(Duration::from_secs(300)), "4/4, 0 s left");
    }

    #[test]
    fn more_points_than_announced_do_no_harm() {
        let mut estimate = Estimate::new(vec![1.0], 0);
        estimate.advance();
        estimate.advance();
        assert_eq!(estimate.bar(), format!("[{}]", "#".repeat(BAR)));
        assert_eq!(estimate.done, 1);
    }

    #[test]
    fn durations_are_rounded_to_what_matters() {
        assert_eq!(in_words(Duration::from_secs(59)), "59 s");
        assert_eq!(in_words(Duration::from_secs(3599)), "59 min");
        assert_eq!(in_words(Duration::from_secs(3660)), "1 h 01 min");
    }
}
