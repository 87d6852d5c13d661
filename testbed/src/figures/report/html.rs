//! The report as one page: no script, nothing from elsewhere.

use super::Drawn;
use super::summary::{Row, SKIPPED, Summary, point_of};
use crate::figures::data::Data;
use crate::figures::explanations;
use crate::figures::figure::Figure;
use crate::figures::paper::Verdict;
use crate::figures::plot::escaped;
use crate::figures::record::Manifest;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The page.
pub(super) fn page(data: &Data, summary: &Summary, drawn: &[Drawn]) -> String {
    let mut page = Page(String::new());
    page.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
    page.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.put("<title>bicast: what the testbed measured</title>");
    page.put(&format!("<style>\n{STYLE}</style>\n</head>\n<body>"));
    page.put("<h1>What the testbed measured</h1>");
    page.put(&format!("<p>{}</p>", in_one_sentence(summary)));
    page.put(
        "<nav><a href=\"#goals\">Goals</a> · <a href=\"#published\">Published and ours</a> · \
         <a href=\"#differences\">Differences</a> · <a href=\"#figures\">Figures</a> · \
         <a href=\"#left-out\">Left out</a> · <a href=\"#runs\">Runs</a></nav>",
    );
    page.goals(summary);
    page.published(summary);
    page.differences(summary);
    page.figures(data, drawn);
    page.left_out(data, summary);
    page.runs(data);
    page.put("</body>\n</html>");
    page.0
}

struct Page(String);

impl Page {
    fn goals(&mut self, summary: &Summary) {
        self.put("<h2 id=\"goals\">Goals</h2>");
        self.table(&["goal", "ours", "needed", ""], |page| {
            for goal in &summary.goals {
                let verdict = match goal.passed {
                    Some(true) => "<span class=\"good\">pass</span>",
                    Some(false) => "<span class=\"bad\">FAIL</span>",
                    None => "<span class=\"soft\">not measured</span>",
                };
                page.row(&[
                    &escaped(&goal.says),
                    &escaped(&goal.measured),
                    &escaped(&goal.needed),
                    verdict,
                ]);
            }
        });
    }

    fn published(&mut self, summary: &Summary) {
        self.put("<h2 id=\"published\">Published and ours</h2>");
        self.put(
            "<p>Every number that the paper's text states, and those of the CUBIC/BBR lab and the field test of BBRv2. \
             Ours is computed as theirs: a change in time, for example, from our own times. Equal means within five \
             points of a percentage and within a tenth of anything else. “–”: there is no number to compare with.</p>",
        );
        let mut sources: Vec<&str> = summary.published.iter().map(|row| row.source).collect();
        sources.sort_unstable();
        sources.dedup();
        for source in sources {
            self.put(&format!("<h3>{}</h3>", escaped(source)));
            self.table(&["what", "paper", "ours", "better?"], |page| {
                for row in summary.published.iter().filter(|row| row.source == source) {
                    page.row(&[
                        &escaped(row.says),
                        &escaped(&row.published),
                        &ours(row),
                        &verdict(row.kind),
                    ]);
                }
            });
        }
    }

    fn differences(&mut self, summary: &Summary) {
        self.put("<h2 id=\"differences\">Differences, and what explains them</h2>");
        let mut rows = summary
            .published
            .iter()
            .filter(|row| row.kind.differs())
            .peekable();
        if rows.peek().is_none() {
            self.put("<p>None.</p>");
            return;
        }
        self.table(&["what", "paper", "ours", "explanation"], |page| {
            for row in rows {
                let texts: Vec<String> = explanations::of(row.id).map(escaped).collect();
                let explanation = if texts.is_empty() {
                    format!("<span class=\"soft\">none yet (<code>{}</code>)</span>", row.id)
                } else {
                    texts.join(" ")
                };
                let what = format!(
                    "{} <span class=\"soft\">({})</span>",
                    escaped(row.says),
                    escaped(row.source)
                );
                let ours = format!("{}, {}", ours(row), verdict(row.kind));
                page.row(&[&what, &escaped(&row.published), &ours, &explanation]);
            }
        });
    }

    fn figures(&mut self, data: &Data, drawn: &[Drawn]) {
        self.put("<h2 id=\"figures\">Figures</h2>");
        self.put("<p>Points are means, bars reach from the smallest to the largest.</p>");
        for Drawn { figure, svg } in drawn {
            self.put(&format!("<figure id=\"{}\">\n{svg}<figcaption>", figure.id));
            self.put(&format!(
                "{} {}",
                escaped(figure.caption),
                escaped(&samples_of(figure, data))
            ));
            self.put("</figcaption>\n</figure>");
        }
    }

    fn left_out(&mut self, data: &Data, summary: &Summary) {
        self.put("<h2 id=\"left-out\">Left out, and stopped at the time cap</h2>");
        let (skipped, faulty): (Vec<_>, Vec<_>) = summary
            .left_out
            .iter()
            .partition(|left_out| left_out.reason.starts_with(SKIPPED));
        if faulty.is_empty() {
            self.put("<p>No sample was left out: no self-check of the lab failed.</p>");
        } else {
            self.put("<p>Samples during which a self-check of the lab failed do not count.</p>");
            self.table(&["experiment", "self-check", "samples"], |page| {
                for left_out in &faulty {
                    let samples: Vec<String> = left_out.samples.iter().map(|key| escaped(key)).collect();
                    let samples = format!(
                        "<details><summary>{}</summary>{}</details>",
                        samples.len(),
                        samples.join("<br>")
                    );
                    page.row(&[
                        &escaped(&left_out.experiment),
                        &escaped(&left_out.reason),
                        &samples,
                    ]);
                }
            });
        }
        for left_out in skipped {
            self.put(&format!(
                "<p>{}: {}.</p>",
                escaped(&left_out.experiment),
                escaped(&left_out.reason)
            ));
        }
        let capped: Vec<_> = summary.points.iter().filter(|point| point.capped > 0).collect();
        if !capped.is_empty() {
            self.put(&format!(
                "<p>{} points have samples that were stopped at the time cap ({}); arrows in the figures.</p>",
                capped.len(),
                escaped(&caps(data))
            ));
            self.put("<details><summary>Which</summary>");
            self.table(&["point", "capped", "of"], |page| {
                for point in capped {
                    page.row(&[
                        &escaped(&point.point),
                        &point.capped.to_string(),
                        &point.n.to_string(),
                    ]);
                }
            });
            self.put("</details>");
        }
    }

    fn runs(&mut self, data: &Data) {
        self.put("<h2 id=\"runs\">Runs</h2>");
        self.table(
            &[
                "experiment",
                "length",
                "begun",
                "commit",
                "seed",
                "links by",
                "samples",
            ],
            |page| {
                for recording in &data.recordings {
                    let manifest = &recording.manifest;
                    page.row(&[
                        &escaped(&manifest.experiment),
                        &manifest.length.to_string(),
                        &escaped(&manifest.started),
                        &format!(
                            "<code>{}</code>",
                            escaped(manifest.commit.as_deref().unwrap_or("unknown"))
                        ),
                        &manifest.seed.to_string(),
                        &escaped(&manifest.backend),
                        &recording.samples.len().to_string(),
                    ]);
                }
            },
        );
        for recording in &data.recordings {
            for again in &recording.manifest.continued {
                self.put(&format!(
                    "<p>{} was continued at {}, {}, by commit <code>{}</code> on {}.</p>",
                    escaped(&recording.manifest.experiment),
                    escaped(&again.started),
                    again.length,
                    escaped(again.commit.as_deref().unwrap_or("unknown")),
                    escaped(&again.machine.kernel)
                ));
            }
            for note in &recording.notes {
                self.put(&format!("<p>{}</p>", escaped(note)));
            }
        }
        let mut machines: Vec<String> = data
            .recordings
            .iter()
            .map(|recording| machine(&recording.manifest))
            .collect();
        machines.sort();
        machines.dedup();
        self.put(&format!("<p>Machine: {}</p>", escaped(&machines.join("; "))));
        self.put("<details><summary>Parameters</summary>");
        for recording in &data.recordings {
            let parameters = serde_json::to_string_pretty(&recording.manifest.parameters).unwrap_or_default();
            let name = escaped(&recording.manifest.experiment);
            self.put(&format!("<h3>{name}</h3><pre>{}</pre>", escaped(&parameters)));
        }
        self.put("</details>");
    }

    fn table(&mut self, header: &[&str], rows: impl FnOnce(&mut Page)) {
        self.put("<div class=\"wide\"><table>\n<thead><tr>");
        for cell in header {
            self.put(&format!("<th>{cell}</th>"));
        }
        self.put("</tr></thead>\n<tbody>");
        rows(self);
        self.put("</tbody></table></div>");
    }

    /// Cells are markup already; all but the first are kept on one line where they are short.
    fn row(&mut self, cells: &[&str]) {
        self.0 += "<tr>";
        for (index, cell) in cells.iter().enumerate() {
            let class = if index > 0 && cell.len() < 90 {
                " class=\"number\""
            } else {
                ""
            };
            // Writing to a string cannot fail.
            let _ = write!(self.0, "<td{class}>{cell}</td>");
        }
        self.put("</tr>");
    }

    fn put(&mut self, markup: &str) {
        self.0 += markup;
        self.0.push('\n');
    }
}

fn in_one_sentence(summary: &Summary) -> String {
    let passed = |verdict: Option<bool>| summary.goals.iter().filter(|goal| goal.passed == verdict).count();
    let rows = |kind: Verdict| summary.published.iter().filter(|row| row.kind == kind).count();
    format!(
        "Goals: {} reached, {} missed, {} not measured. Of {} published numbers ours are better for {}, equal for {}, \
         worse for {}, otherwise different for {}; not measured {}.",
        passed(Some(true)),
        passed(Some(false)),
        passed(None),
        summary.published.len(),
        rows(Verdict::Better),
        rows(Verdict::Equal),
        rows(Verdict::Worse),
        rows(Verdict::Different),
        rows(Verdict::NotMeasured)
    )
}

fn ours(row: &Row) -> String {
    let Some(number) = &row.ours else {
        return "<span class=\"soft\">–</span>".to_owned();
    };
    let capped = if row.capped > 0 {
        format!(", {} capped", row.capped)
    } else {
        String::new()
    };
    format!(
        "{} <span class=\"soft\">(n = {}{capped})</span>",
        escaped(number),
        row.samples
    )
}

fn verdict(verdict: Verdict) -> String {
    let class = match verdict {
        Verdict::Better | Verdict::Equal => "good",
        Verdict::Worse => "bad",
        Verdict::Different | Verdict::Words | Verdict::NotMeasured => "soft",
    };
    format!("<span class=\"{class}\">{}</span>", verdict.text())
}

/// How many samples stand behind a figure.
fn samples_of(figure: &Figure, data: &Data) -> String {
    let mut points: BTreeMap<String, usize> = BTreeMap::new();
    for sample in data.of(figure.experiments) {
        *points.entry(point_of(sample)).or_default() += 1;
    }
    let many = match (points.values().min(), points.values().max()) {
        (Some(1), Some(1)) => "One sample for each point.".to_owned(),
        (Some(least), Some(most)) if least == most => format!("{most} samples for each point."),
        (Some(least), Some(most)) => format!("{least} to {most} samples for each point."),
        _ => String::new(),
    };
    let cap = data
        .recordings
        .iter()
        .filter(|recording| {
            figure
                .experiments
                .contains(&recording.manifest.experiment.as_str())
        })
        .find_map(|recording| cap_seconds(&recording.manifest));
    match cap {
        Some(seconds) => format!("{many} Transfers end after {seconds} s at the latest."),
        None => many,
    }
}

/// The time cap of each experiment that has one.
fn caps(data: &Data) -> String {
    let caps: Vec<String> = data
        .recordings
        .iter()
        .filter_map(|recording| {
            let seconds = cap_seconds(&recording.manifest)?;
            Some(format!("{}: {seconds} s", recording.manifest.experiment))
        })
        .collect();
    caps.join(", ")
}

fn cap_seconds(manifest: &Manifest) -> Option<f64> {
    manifest.parameters.get("cap_s")?.as_f64()
}

fn machine(manifest: &Manifest) -> String {
    let machine = &manifest.machine;
    format!(
        "{}, {} processors ({}), {}",
        machine.kernel, machine.processors, machine.processor, machine.open_vswitch
    )
}

const STYLE: &str = include_str!("style.css");
