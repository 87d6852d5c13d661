//! The table at the end of the demo, and what it must show.

use super::Check;
use super::pass::{Mode, PassReport};
use crate::traffic::Report;
use comfy_table::{CellAlignment, Table, presets};

/// The passes side by side.
pub(super) fn table(reports: &[PassReport]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let modes = reports
        .iter()
        .map(|report| format!("always {}", report.mode.name()).replace("always adaptive", "adaptive"));
    table.set_header(std::iter::once(String::new()).chain(modes));
    let mut row = |name: &str, value: &dyn Fn(&PassReport) -> String| {
        table.add_row(std::iter::once(name.to_owned()).chain(reports.iter().map(value)));
    };
    row("UDP packets offered", &|report| {
        udp(report, |udp| udp.sent).to_string()
    });
    row("  lost", &|report| lost(report).to_string());
    row("  delivered twice", &|report| {
        udp(report, |udp| udp.duplicated).to_string()
    });
    row("  delivered more than twice", &|report| {
        report
            .udp
            .iter()
            .filter(|udp| udp.max_copies > 2)
            .count()
            .to_string()
    });
    row("TCP download, Mbit/s", &|report| {
        format!("{:.1}", report.tcp.received_bps / 1e6)
    });
    row("bytes on uplinks a", &|report| report.link_bytes[0].to_string());
    row("bytes on uplinks b", &|report| report.link_bytes[1].to_string());
    row("  of them extra (copies)", &|report| extra(report).to_string());
    row("drops of the links, classes only", &|report| {
        report.dropped[0].to_string()
    });
    row("  the same by bicastd", &|report| report.dropped[1].to_string());
    row(
        "reaction, first drop to first copy",
        &|report| match (report.reaction, report.mode) {
            (Some(reaction), Mode::Adaptive) => format!("{:.0} ms", reaction.as_secs_f64() * 1000.0),
            _ => "-".to_owned(),
        },
    );
    row("mode changes", &|report| report.decisions.len().to_string());
    row("bicastd: processor, % of a core", &|report| {
        format!(
            "{:.1}",
            report.usage.0.cpu.as_secs_f64() / report.usage.1.as_secs_f64() * 100.0
        )
    });
    row("bicastd: memory, MiB", &|report| {
        format!("{:.1}", report.usage.0.rss_bytes as f64 / f64::from(1 << 20))
    });
    row("HTTP, 5 % loss on both, CUBIC, Mbit/s", &|report| {
        format!("{:.1}", report.downloads[0].mbps())
    });
    row("  through bicast-proxy, BBRv3", &|report| {
        format!("{:.1}", report.downloads[1].mbps())
    });
    row("  its packets: copies that came: 2", &|report| {
        report.copies.both.to_string()
    });
    row("    1", &|report| report.copies.one.to_string());
    row("    0", &|report| report.copies.none.to_string());
    for column in 1..=reports.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// What the demo must show.
pub(super) fn checks(reports: &[PassReport]) -> Vec<Check> {
    let mut checks: Vec<Check> = reports
        .iter()
        .map(|report| {
            let name = format!("{}: every drop of the links is accounted for", report.mode.name());
            Check::equal(name, report.dropped[1], report.dropped[0])
        })
        .collect();
    let of = |mode: Mode| reports.iter().find(|report| report.mode == mode);
    if let (Some(unicast), Some(bicast), Some(adaptive)) =
        (of(Mode::Unicast), of(Mode::Bicast), of(Mode::Adaptive))
    {
        let (few, many) = (lost(adaptive), lost(unicast));
        let name = "adaptive lost at most a quarter of what unicast lost";
        checks.push(Check::new(
            name,
            few,
            format!("≤ {}", many / 4),
            many > 0 && few * 4 <= many,
        ));
        let (some, all) = (extra(adaptive), extra(bicast));
        let name = "adaptive sent at most 60 % of the extra bytes of always bicast";
        checks.push(Check::new(
            name,
            some,
            format!("≤ {}", all * 6 / 10),
            some > 0 && some * 10 <= all * 6,
        ));
        let [direct, proxied] = [unicast.downloads[0], adaptive.downloads[1]].map(|download| download.mbps());
        let name = "HTTP through the proxies, adaptive: at least 3 times TCP CUBIC, unicast";
        checks.push(Check::new(
            name,
            format!("{proxied:.1}"),
            format!("≥ {:.1}", direct * 3.0),
            proxied >= direct * 3.0,
        ));
    }
    checks
}

/// Checks as a table.
pub(super) fn check_table(checks: &[Check]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(["check", "measured", "expected", ""]);
    for check in checks {
        let verdict = if check.passed { "pass" } else { "FAIL" };
        table.add_row([&check.name, &check.measured, &check.expected, verdict]);
    }
    table
}

fn lost(report: &PassReport) -> u64 {
    udp(report, |udp| udp.lost)
}

/// Bytes on the uplinks beyond one copy of what the hosts sent.
fn extra(report: &PassReport) -> u64 {
    report
        .link_bytes
        .iter()
        .sum::<u64>()
        .saturating_sub(report.host_bytes)
}

fn udp(report: &PassReport, count: impl Fn(&Report) -> u64) -> u64 {
    report.udp.iter().map(count).sum()
}
