//! What happens to the links while traffic flows: the stories that the adaptive scheme must master.

use super::ground::loss;
use crate::lab::LinkName::{self, A, B};
use crate::link::LossModel;
use std::time::Duration;

/// A story: what the losses of the links change to, both ways, and when.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Story {
    /// Its name in figures.
    pub(super) name: &'static str,
    /// In order of time, as shares of the whole.
    pub(super) events: Vec<Event>,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Event {
    /// When, as a share of the whole.
    pub(super) at: f64,
    /// Which link.
    pub(super) link: LinkName,
    /// What it loses from then on.
    pub(super) loss: LossModel,
}

impl Story {
    /// All of them.
    pub(super) fn all() -> Vec<Story> {
        let story = |name, events: &[(f64, LinkName, f64)]| Story {
            name,
            events: events
                .iter()
                .map(|(at, link, percent)| event(*at, *link, *percent))
                .collect(),
        };
        let flaps: Vec<_> = (1..9)
            .map(|flap| (f64::from(flap) / 10.0, A, if flap % 2 == 1 { 10.0 } else { 0.0 }))
            .collect();
        vec![
            story("step", &[(0.25, A, 5.0), (0.7, A, 0.0)]),
            Story {
                name: "bursts",
                events: [A, B]
                    .map(|link| Event {
                        at: 0.1,
                        link,
                        loss: BURSTS,
                    })
                    .to_vec(),
            },
            story(
                "handover",
                &[
                    (0.0, B, 30.0),
                    (0.2, A, 2.0),
                    (0.3, B, 10.0),
                    (0.4, A, 10.0),
                    (0.5, B, 1.0),
                    (0.6, A, 30.0),
                    (0.7, B, 0.0),
                    (0.8, A, 100.0),
                ],
            ),
            story("blackout-a", &[(0.3, A, 100.0), (0.6, A, 0.0)]),
            story("blackout-b", &[(0.3, B, 100.0), (0.6, B, 0.0)]),
            story("flapping", &flaps),
        ]
    }

    /// The story of this name.
    pub(super) fn named(name: &str) -> Option<Story> {
        Story::all().into_iter().find(|story| story.name == name)
    }

    /// When path a, which everybody prefers, first loses packets.
    pub(super) fn onset(&self) -> Option<f64> {
        let hits = self
            .events
            .iter()
            .filter(|event| event.link == A && event.loss.mean() > 0.0);
        hits.map(|event| event.at).next()
    }

    /// Its events with the time since the beginning, when the whole takes `length`.
    pub(super) fn timed(&self, length: Duration) -> Vec<(Duration, Event)> {
        self.events
            .iter()
            .map(|event| (length.mul_f64(event.at), *event))
            .collect()
    }
}

fn event(at: f64, link: LinkName, percent: f64) -> Event {
    Event {
        at,
        link,
        loss: loss(percent),
    }
}

/// Bursts of ten packets on average, of which half survive: 2.4 % in the long run.
const BURSTS: LossModel = LossModel::GilbertElliott {
    p: 0.005,
    r: 0.1,
    h: 0.5,
    k: 1.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_told_in_order_and_within_their_time() {
        for story in Story::all() {
            let times: Vec<f64> = story.events.iter().map(|event| event.at).collect();
            assert!(times.is_sorted(), "{}", story.name);
            assert!(times.iter().all(|at| (0.0..1.0).contains(at)), "{}", story.name);
            assert_eq!(Story::named(story.name), Some(story));
        }
    }

    #[test]
    fn the_onset_is_the_first_loss_of_path_a() {
        let onset = |name| Story::named(name).unwrap().onset();
        assert_eq!(onset("step"), Some(0.25));
        assert_eq!(onset("handover"), Some(0.2));
        assert_eq!(onset("blackout-b"), None);
    }

    #[test]
    fn a_handover_ends_on_the_other_path() {
        let story = Story::named("handover").unwrap();
        let last = |link| {
            story
                .events
                .iter()
                .rfind(|event| event.link == link)
                .unwrap()
                .loss
                .mean()
        };
        assert!(last(A) > 0.99 && last(B) < 0.01);
        let timed = story.timed(Duration::from_secs(10));
        assert_eq!(timed.last().unwrap().0, Duration::from_secs(8));
    }
}
