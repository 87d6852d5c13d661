use super::*;
use crate::figures::testing;

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn every_figure_is_drawn_from_complete_recordings_and_none_from_nothing() {
    let drawn = draw(&testing::data());
    let ids: Vec<&str> = drawn.iter().map(|drawn| drawn.figure.id).collect();
    let expected: Vec<&str> = catalogue::ALL
        .iter()
        .map(|figure| figure.id)
        .filter(|id| *id != "peers")
        .collect();
    assert_eq!(ids, expected);
    assert!(draw(&Data::default()).is_empty());
}

#[test]
fn figures_have_their_panels_lines_and_open_markers() {
    let drawn = draw(&testing::data());
    let svg = |id: &str| &drawn.iter().find(|drawn| drawn.figure.id == id).unwrap().svg;
    for (id, panels, open) in [
        // Ten numbers of the text, and the sign in the legend.
        ("download-time-unicast", 1, 11),
        ("download-time-bicast", 1, 7),
        ("cwnd", 4, 0),
        ("fairness-bbr3", 5, 9),
        ("cc-lab", 1, 3),
        ("adaptive-decisions", 6, 0),
    ] {
        assert_eq!(count(svg(id), "<clipPath"), panels, "{id}");
        assert_eq!(count(svg(id), "class=\"open "), open, "{id}");
    }
    assert!(svg("download-time-unicast").contains("BBRv3 client-side"));
    assert!(svg("download-time-unicast").contains("stopped at the time cap"));
    assert!(!svg("cwnd").contains("NaN"));
}

#[test]
fn a_picture_has_the_size_of_its_figure_and_text_in_it() {
    let drawn = draw(&testing::data());
    let Drawn { svg, .. } = &drawn[0];
    let with = plot::png(svg, 1.0).unwrap();
    let start = svg.find("<text").unwrap();
    let end = svg[start..].find("</text>").unwrap() + start + "</text>".len();
    let without = plot::png(&format!("{}{}", &svg[..start], &svg[end..]), 1.0).unwrap();
    assert_eq!(&with[1..4], b"PNG");
    // The header says 860 pixels to the right.
    assert_eq!(&with[16..20], &860u32.to_be_bytes());
    assert_ne!(with, without);
}

#[test]
fn the_page_is_complete_and_needs_nothing_else() {
    let data = testing::data();
    let page = html::page(&data, &Summary::of(&data), &draw(&data));
    assert_eq!(count(&page, "<figure id"), catalogue::ALL.len() - 1);
    assert_eq!(count(&page, "<svg "), count(&page, "</svg>"));
    for never in ["<script", "src=", "@import", "<link"] {
        assert_eq!(count(&page, never), 0, "{never}");
    }
    assert_eq!(count(&page, "http"), count(&page, "http://www.w3.org/2000/svg"));
    assert!(page.contains("A CPU &amp; more"));
    assert!(page.contains("0123456789ab"));
    assert!(page.contains(">pass<") && !page.contains(">FAIL<"));
}

#[test]
fn what_was_left_out_and_skipped_is_named() {
    let data = testing::data_with(|sample| {
        if sample.experiment == "cc-lab" && sample.repetition == 1 {
            let late = format!("the emulator was late: {:.1} ms", sample.values["mbit"]);
            sample.faults.push(late);
        }
        if sample.experiment == "field-test" && sample.label("congestion") == Some("cubic") {
            sample.faults.push("skipped: no such program".to_owned());
        }
    });
    let summary = Summary::of(&data);
    assert_eq!(summary.left_out.len(), 2);
    assert_eq!(summary.left_out[0].samples.len(), 5);
    assert_eq!(summary.left_out[0].reason, "the emulator was late");
    assert!(summary.left_out[0].samples[0].ends_with("#1: 8.4 ms"));
    let page = html::page(&data, &summary, &[]);
    assert!(page.contains("the emulator was late"));
    assert!(page.contains("field-test: skipped: no such program."));
    let lab = summary
        .points
        .iter()
        .find(|point| point.point.starts_with("cc-lab"))
        .unwrap();
    assert_eq!((lab.n, lab.left_out), (2, 1));
}

#[test]
fn files_are_written_where_they_are_expected() {
    let dir = tempfile::tempdir().unwrap();
    let data = testing::data();
    let drawn: Vec<Drawn> = draw(&data).into_iter().take(1).collect();
    write_figures(&dir.path().join("figures"), &drawn).unwrap();
    let page = write_report(dir.path(), &data, &drawn).unwrap();
    assert!(page.ends_with("report.html"));
    let summary = std::fs::read_to_string(dir.path().join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["goals"][0]["passed"], true);
    assert_eq!(summary["published"][0]["id"], "bbr1-unicast-1");
    for file in ["download-time-unicast.svg", "download-time-unicast.png"] {
        assert!(dir.path().join("figures").join(file).exists(), "{file}");
    }
}
