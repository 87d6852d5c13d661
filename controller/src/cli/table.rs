//! Answers of the API as tables for people.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::api::{
    DecisionView, DirectionView, JointView, LossView, Notice, PathCopies, PathView, PolicyView, Response,
    SwitchView,
};

/// An answer as text.
pub fn render(response: &Response) -> String {
    match response {
        Response::Status(status) => {
            let problems = status
                .policy_problems
                .as_deref()
                .map_or(String::new(), |problems| {
                    format!("\nThe policy file on disk is refused, the old one is in force:\n{problems}")
                });
            format!(
                "bicastd {}, up {}, {} sites, {} policies{problems}",
                status.version,
                humantime::format_duration(std::time::Duration::from_secs(status.uptime_ms / 1000)),
                status.sites,
                status.policies,
            )
        }
        Response::Switches(switches) => render_switches(switches),
        Response::Paths(paths) => render_paths(paths),
        Response::Policies(directions) => render_directions(directions),
        Response::Decisions(decisions) => render_decisions(decisions),
        Response::Policy(policy) => render_policy(policy),
        Response::Done => "done".to_owned(),
        Response::Error(error) => error.clone(),
    }
}

/// A notice as one line.
pub fn render_notice(notice: &Notice) -> String {
    match notice {
        Notice::Decision(decision) => decision_line(decision),
        Notice::Switch {
            site,
            datapath_id,
            state,
        } => {
            let site = site.as_deref().unwrap_or("no site");
            format!("switch {datapath_id} ({site}) is {}", word(state))
        }
        Notice::Policies { problems: None } => "policy file in force".to_owned(),
        Notice::Policies {
            problems: Some(problems),
        } => {
            format!("policy file refused, the old one stays in force:\n{problems}")
        }
        Notice::Reports {
            policy,
            site,
            peer,
            fresh,
        } => {
            let verb = if *fresh { "reports" } else { "no longer reports" };
            format!("the proxy at {site} {verb} of {peer} for {policy}")
        }
        Notice::Missed { count } => format!("({count} notices missed)"),
    }
}

fn render_switches(switches: &[SwitchView]) -> String {
    let mut table = new_table([
        "SITE", "DATAPATH", "STATE", "PEER", "SOFTWARE", "FLOWS", "GROUPS", "METERS", "PORTS",
    ]);
    for switch in switches {
        let ports = switch
            .ports
            .iter()
            .map(|port| format!("{}:{}", port.role, if port.up { "up" } else { "down" }));
        table.add_row([
            switch.site.clone().unwrap_or("-".to_owned()),
            switch.datapath_id.clone(),
            word(&switch.state),
            switch.peer.clone().unwrap_or("-".to_owned()),
            switch.software.clone().unwrap_or("-".to_owned()),
            switch.flows.to_string(),
            switch.groups.to_string(),
            switch.meters.to_string(),
            ports.collect::<Vec<_>>().join(" "),
        ]);
    }
    let problems = switches.iter().flat_map(|switch| {
        let name = switch.site.as_deref().unwrap_or(&switch.datapath_id);
        switch
            .problems
            .iter()
            .map(move |problem| format!("\n{name}: {problem}"))
    });
    format!("{table}{}", problems.collect::<String>())
}

fn render_paths(paths: &[PathView]) -> String {
    let mut table = new_table([
        "POLICY",
        "FROM",
        "TO",
        "PATH",
        "STATE",
        "LOSS",
        "CERTAINLY",
        "OF",
        "IN",
        "SENT",
        "LOST",
        "PERIODS",
        "FIRST",
        "SECOND",
        "ONLY",
        "RESCUED",
    ]);
    for column in 5..16 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for path in paths {
        let state = match (path.usable, path.in_use) {
            (true, true) => "in use",
            (true, false) => "standby",
            (false, _) => "down",
        };
        let [loss, certainly, of, within] = path
            .loss
            .map_or(["-".to_owned(), "-".into(), "-".into(), "-".into()], loss);
        let periods = match path.total.sampled_periods {
            0 => path.total.periods.to_string(),
            sampled => format!("{} ({sampled} sampled)", path.total.periods),
        };
        table.add_row([
            path.policy.clone(),
            path.from.clone(),
            path.to.clone(),
            path.path.clone(),
            state.to_owned(),
            loss,
            certainly,
            of,
            within,
            path.total.sent.to_string(),
            path.total.sent.saturating_sub(path.total.received).to_string(),
            periods,
            copies(path, |copies| copies.first_arrivals),
            copies(path, |copies| copies.second_copies),
            copies(path, |copies| copies.only),
            copies(path, |copies| copies.rescued),
        ]);
    }
    table.to_string()
}

fn copies(path: &PathView, count: impl Fn(&PathCopies) -> u64) -> String {
    path.copies
        .as_ref()
        .map_or("-".to_owned(), |copies| count(copies).to_string())
}

fn loss(loss: LossView) -> [String; 4] {
    [
        percent(loss.lost, loss.sent),
        format!("{:.2}-{:.2} %", loss.lower * 100.0, loss.upper * 100.0),
        loss.sent.to_string(),
        format!("{:.1} s", loss.span_ms as f64 / 1000.0),
    ]
}

fn render_directions(directions: &[DirectionView]) -> String {
    let mut table = new_table([
        "POLICY",
        "FROM",
        "TO",
        "POLICY MODE",
        "MODE",
        "CHANGES",
        "SENT",
        "WHY",
    ]);
    for direction in directions {
        let pinned = if direction.pinned { " (pinned)" } else { "" };
        table.add_row([
            direction.policy.clone(),
            direction.from.clone(),
            direction.to.clone(),
            direction.policy_mode.clone(),
            format!("{}{pinned}", direction.mode),
            direction.changes.to_string(),
            direction.sent.to_string(),
            direction.reason.clone().unwrap_or_default(),
        ]);
    }
    format!("{table}{}", render_reports(directions))
}

/// What proxies report of directions; nothing when none does.
fn render_reports(directions: &[DirectionView]) -> String {
    let reported = |direction: &&DirectionView| direction.copies.is_some() || direction.sending.is_some();
    let mut table = new_table([
        "POLICY",
        "FROM",
        "TO",
        "JOINT LOSS",
        "CERTAINLY",
        "PACKETS",
        "BOTH",
        "NEITHER",
        "RESCUED",
        "GAP",
        "RTT",
        "CWND",
        "DELIVERY",
        "AGE",
    ]);
    for column in 3..14 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for direction in directions.iter().filter(reported) {
        let (copies, sending) = (&direction.copies, &direction.sending);
        let [joint, certainly] = joint_loss(direction.joint);
        let count = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        let ages = [
            copies.map(|copies| copies.age_ms),
            sending.map(|sending| sending.age_ms),
        ];
        table.add_row([
            direction.policy.clone(),
            direction.from.clone(),
            direction.to.clone(),
            joint,
            certainly,
            count(copies.map(|copies| copies.packets)),
            count(copies.map(|copies| copies.both)),
            count(copies.map(|copies| copies.neither)),
            count(copies.map(|copies| copies.rescued)),
            millis(copies.map(|copies| copies.gap_us)),
            millis(sending.map(|sending| sending.rtt_us)),
            sending.map_or("-".to_owned(), |sending| {
                format!("{:.1} kB", sending.cwnd as f64 / 1e3)
            }),
            sending.map_or("-".to_owned(), |sending| {
                format!("{:.1} Mbit/s", sending.delivery_bps as f64 / 1e6)
            }),
            ages.into_iter()
                .flatten()
                .max()
                .map_or("-".to_owned(), |age| format!("{:.1} s", age as f64 / 1e3)),
        ]);
    }
    match table.row_count() {
        0 => String::new(),
        _ => format!("\n\n{table}"),
    }
}

/// As reported, or else what it would be if paths lost packets independently of one another.
fn joint_loss(joint: Option<JointView>) -> [String; 2] {
    let unknown = || "-".to_owned();
    match joint {
        Some(JointView {
            measured: Some(measured),
            ..
        }) => {
            let [share, certainly, ..] = loss(measured);
            [share, certainly]
        }
        Some(JointView {
            if_independent: Some(share),
            ..
        }) => [format!("{:.2} % if independent", share * 100.0), unknown()],
        _ => [unknown(), unknown()],
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2} %", part as f64 * 100.0 / whole.max(1) as f64)
}

fn millis(us: Option<u64>) -> String {
    us.map_or("-".to_owned(), |us| format!("{:.1} ms", us as f64 / 1e3))
}

fn render_decisions(decisions: &[DecisionView]) -> String {
    match decisions {
        [] => "no decisions yet".to_owned(),
        decisions => decisions.iter().map(decision_line).collect::<Vec<_>>().join("\n"),
    }
}

fn decision_line(decision: &DecisionView) -> String {
    let at = i64::try_from(decision.at_unix_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let at = at.map_or(decision.at_unix_ms.to_string(), |at| format!("{at:.3}"));
    format!(
        "{at} {} from {}: {}",
        decision.policy, decision.from, decision.sentence
    )
}

fn render_policy(policy: &PolicyView) -> String {
    format!(
        "policy {} of peering {}, priority {}\nclass: {}\n\n{}\n\n{}\n\n{}",
        policy.name,
        policy.peering,
        policy.priority,
        policy.class,
        render_directions(&policy.directions),
        render_paths(&policy.paths),
        render_decisions(&policy.decisions),
    )
}

fn new_table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    table
}

/// A closed set's value as its JSON word.
fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
