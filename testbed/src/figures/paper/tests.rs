use super::*;
use crate::figures::data::Data;
use crate::figures::testing;
use std::collections::HashSet;

fn named(id: &str) -> &'static Statement {
    all().find(|statement| statement.id == id).unwrap()
}

fn measured(number: f64) -> Measured {
    Measured {
        low: number,
        high: number,
        samples: 1,
        capped: 0,
    }
}

#[test]
fn every_statement_has_a_name_of_its_own() {
    let ids: HashSet<&str> = all().map(|statement| statement.id).collect();
    assert_eq!(ids.len(), all().count());
    assert!(ids.len() > 90, "{}", ids.len());
}

#[test]
fn every_statement_is_computed_where_everything_was_measured() {
    let data = testing::data();
    for statement in all() {
        assert!(statement.measure(&data).is_some(), "{}", statement.id);
        let nothing = statement.measure(&Data::default());
        assert_eq!(
            statement.verdict(nothing.as_ref()),
            Verdict::NotMeasured,
            "{}",
            statement.id
        );
    }
}

#[test]
fn a_change_compares_the_same_loss() {
    let data = testing::data();
    // In these samples TCP takes 800 / (1.3 / sqrt(p)) seconds and BBRv1 800 / (94 · (1 − p)).
    let ours = named("bbr1-unicast-1").measure(&data).unwrap();
    let expected = 100.0 * (13.0 / (94.0 * 0.99) - 1.0);
    assert!((ours.middle() - expected).abs() < 0.5, "{ours:?}, {expected}");
    assert_eq!((ours.samples, ours.capped), (6, 0));
}

#[test]
fn a_time_that_was_cut_off_makes_a_bound() {
    let data = testing::data();
    let ours = named("bbr1-client-2").measure(&data).unwrap();
    assert_eq!(ours.capped, 0);
    let late = testing::data_with(|sample| sample.capped = sample.label("via") == Some("direct"));
    assert_eq!(named("bbr1-client-2").measure(&late).unwrap().capped, 3);
}

#[test]
fn verdicts_know_which_way_is_better() {
    let shorter = named("bbr1-unicast-1");
    assert_eq!(shorter.verdict(Some(&measured(-90.0))), Verdict::Better);
    assert_eq!(shorter.verdict(Some(&measured(-82.0))), Verdict::Equal);
    assert_eq!(shorter.verdict(Some(&measured(-60.0))), Verdict::Worse);
    let kept = named("fair1-a-tcp1");
    assert_eq!(kept.verdict(Some(&measured(30.0))), Verdict::Equal);
    assert_eq!(kept.verdict(Some(&measured(70.0))), Verdict::Better);
    let quic = named("fair3-a-quic");
    assert_eq!(
        quic.verdict(Some(&Measured {
            low: 20.0,
            high: 50.0,
            samples: 2,
            capped: 0
        })),
        Verdict::Equal
    );
    assert_eq!(quic.verdict(Some(&measured(60.0))), Verdict::Better);
    assert_eq!(
        named("acks-unicast-10").verdict(Some(&measured(1.0))),
        Verdict::Different
    );
    assert_eq!(
        named("bbr1-unicast-stable").verdict(Some(&measured(1.0))),
        Verdict::Words
    );
}

#[test]
fn numbers_read_as_people_write_them() {
    assert_eq!(Published::About(-80.0).text(Unit::Change), "−80 %");
    assert_eq!(Published::About(0.0).text(Unit::Change), "0 %");
    assert_eq!(
        Published::Range(45.0, 23.0).text(Unit::Mbit),
        "23.0 to 45.0 Mbit/s"
    );
    assert_eq!(Published::AtLeast(7.0).text(Unit::Times), "≥ 7.00×");
    assert_eq!(measured(12_849.0).text(Unit::Count), "12849");
    assert_eq!(measured(130.2).text(Unit::Change), "+130 %");
}
