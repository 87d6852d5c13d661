//! Why our number differs from a published one, by the id of the statement; the report prints them.

/// Ids of statements, or beginnings of them for several at once, and what explains them.
pub const EXPLANATIONS: &[(&str, &str)] = &[
    (
        "bbr1-unicast-1",
        "The paper states two numbers for the same point: about 80 % in section 4.2.2, 87 % in its conclusions.",
    ),
    (
        "bbr1-client-1",
        "The paper states two numbers for the same point: about 80 % in section 4.2.2, 87 % in its conclusions.",
    ),
    (
        "bytes-bbr",
        "The paper says that bytes increase “by” 120, 104 and 170 to 200 %. A path that loses 15 % needs each packet \
         1/(1 − 0.15) = 1.18 times, two of them 1/(1 − 0.15²) = 1.02 times, and two copies are twice the bytes: “to” is \
         what is compared here.",
    ),
    (
        "lab-cwnd",
        "The lab's packets hold 9448 bytes (its interfaces have an MTU of 9500), ours 1448 or less: windows in packets do \
         not compare, windows in bytes do.",
    ),
    (
        "lab-retransmits",
        "The lab states bytes that were sent again until one moment of each transfer; ours are packets of the whole \
         transfer.",
    ),
];

/// What explains this statement, from the most general to the most special.
pub fn of(id: &str) -> impl Iterator<Item = &'static str> {
    EXPLANATIONS
        .iter()
        .filter(move |(beginning, _)| id.starts_with(beginning))
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::paper;

    #[test]
    fn every_explanation_belongs_to_a_statement() {
        for (beginning, text) in EXPLANATIONS {
            let some = paper::all().any(|statement| statement.id.starts_with(beginning));
            assert!(some, "no statement for `{beginning}`");
            assert!(text.ends_with('.'), "{text}");
        }
        assert_eq!(of("bytes-bbr3-both-15").count(), 1);
        assert_eq!(of("fivefold").count(), 0);
    }
}
