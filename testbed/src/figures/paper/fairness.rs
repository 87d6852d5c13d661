//! What the paper's text states of throughput beside TCP.

use super::{Better, Ours, Published, Statement, Take, Unit};
use crate::figures::catalogue::{QUIC, UTILISATION1, UTILISATION2};
use crate::figures::data::{Labels, Quantity, Series};

/// Section 4.3.2.
#[rustfmt::skip] // A table: a row is a line.
pub(super) const ALL: &[Statement] = &[
    level("tcp-alone", "TCP alone: most of its throughputs from 0.1 % on", Published::AtMost(50.0), Unit::Mbit, V3_UNI, ALONE, FROM_01, Take::Highest, Better::Neither),
    // BBRv1, Figure 14 and Table 6.
    tcp("fair1-a-tcp1-0.1", "BBRv1 unicast: utilisation of TCP1 at 0.1 %", Published::About(28.6), V1_UNI, UTILISATION1, AT_01, Take::Span),
    tcp("fair1-a-tcp1", "the same from 0.2 % on, the highest", Published::AtMost(50.0), V1_UNI, UTILISATION1, FROM_02, Take::Highest),
    quic("fair1-a-quic-0.1", "BBRv1 unicast: throughput of QUIC at 0.1 %", Published::About(78.3), V1_UNI, AT_01, Take::Span),
    quic("fair1-a-quic-1", "the same at 1 %", Published::About(87.2), V1_UNI, AT_1, Take::Span),
    tcp("fair1-b-tcp1-0.1", "BBRv1 client-side: utilisation of TCP1 at 0.1 %", Published::About(74.6), V1_CLI, UTILISATION1, AT_01, Take::Span),
    tcp("fair1-b-tcp1", "the same from 0.2 % on, the lowest", Published::AtLeast(70.0), V1_CLI, UTILISATION1, FROM_02, Take::Lowest),
    tcp("fair1-b-tcp2", "BBRv1 client-side: utilisation of TCP2, mean", Published::About(100.0), V1_CLI, UTILISATION2, FROM_01, Take::Average),
    tcp("fair1-c-tcp1-0.1", "BBRv1 server-side: utilisation of TCP1 at 0.1 %", Published::About(65.0), V1_SRV, UTILISATION1, AT_01, Take::Span),
    tcp("fair1-c-tcp2-0.1", "BBRv1 server-side: utilisation of TCP2 at 0.1 %", Published::About(65.0), V1_SRV, UTILISATION2, AT_01, Take::Span),
    tcp("fair1-c-tcp1", "BBRv1 server-side: utilisation of TCP1 from 0.2 % on, the highest", Published::AtMost(50.0), V1_SRV, UTILISATION1, FROM_02, Take::Highest),
    tcp("fair1-c-tcp2", "the same of TCP2", Published::AtMost(50.0), V1_SRV, UTILISATION2, FROM_02, Take::Highest),
    quic("fair1-c-quic", "BBRv1 server-side: throughput of QUIC from 0.1 to 1 %", Published::Range(73.1, 86.5), V1_SRV, FROM_01, Take::Span),
    tcp("fair1-d-tcp1-0.1", "BBRv1 bidirectional: utilisation of TCP1 at 0.1 %", Published::About(66.1), V1_BI, UTILISATION1, AT_01, Take::Span),
    tcp("fair1-d-tcp2-0.1", "BBRv1 bidirectional: utilisation of TCP2 at 0.1 %", Published::About(66.1), V1_BI, UTILISATION2, AT_01, Take::Span),
    quic("fair1-d-quic", "BBRv1 bidirectional: throughput of QUIC from 0.1 to 1 %", Published::Range(69.3, 84.6), V1_BI, FROM_01, Take::Span),
    // BBRv3, Figure 15 and Table 7.
    tcp("fair3-a-tcp1", "BBRv3 unicast: utilisation of TCP1 from 0.1 % on, the lowest", Published::AtLeast(90.0), V3_UNI, UTILISATION1, FROM_01, Take::Lowest),
    quic("fair3-a-quic", "BBRv3 unicast: throughput of QUIC from 0.1 to 1 %", Published::Range(45.0, 23.0), V3_UNI, FROM_01, Take::Span),
    combined("fair3-a-combined-0.1", "BBRv3 unicast: QUIC and TCP together at 0.1 %", Published::About(76.8), V3_UNI, AT_01),
    combined("fair3-a-combined-1", "the same at 1 %", Published::About(33.6), V3_UNI, AT_1),
    tcp("fair3-b-tcp1", "BBRv3 client-side: utilisation of TCP1 from 0.1 % on, the lowest", Published::AtLeast(85.0), V3_CLI, UTILISATION1, FROM_01, Take::Lowest),
    quic("fair3-b-quic", "BBRv3 client-side: throughput of QUIC from 0.1 to 1 %", Published::Range(46.5, 25.5), V3_CLI, FROM_01, Take::Span),
    tcp("fair3-c-tcp1-0.1", "BBRv3 server-side: utilisation of TCP1 at 0.1 %", Published::About(82.0), V3_SRV, UTILISATION1, AT_01, Take::Span),
    tcp("fair3-c-tcp1-0.2", "the same at 0.2 %", Published::About(87.0), V3_SRV, UTILISATION1, (0.2, 0.2), Take::Span),
    quic("fair3-c-quic-0.1", "BBRv3 server-side: throughput of QUIC at 0.1 %", Published::About(54.8), V3_SRV, AT_01, Take::Span),
    quic("fair3-c-quic-1", "the same at 1 %", Published::About(68.8), V3_SRV, AT_1, Take::Span),
    combined("fair3-c-combined", "BBRv3 server-side: QUIC and TCP together from 0.1 to 1 %", Published::Range(96.0, 77.0), V3_SRV, FROM_01),
    tcp("fair3-d-tcp1", "BBRv3 bidirectional: utilisation of TCP1 from 0.1 % on, the lowest", Published::AtLeast(90.0), V3_BI, UTILISATION1, FROM_01, Take::Lowest),
    tcp("fair3-d-tcp2", "the same of TCP2", Published::AtLeast(90.0), V3_BI, UTILISATION2, FROM_01, Take::Lowest),
    quic("fair3-d-quic-0.1", "BBRv3 bidirectional: throughput of QUIC at 0.1 %", Published::About(49.4), V3_BI, AT_01, Take::Span),
    quic("fair3-d-quic-1", "the same at 1 %", Published::About(66.9), V3_BI, AT_1, Take::Span),
    combined("fair3-d-combined", "BBRv3 bidirectional: QUIC and TCP together from 0.1 to 1 %", Published::Range(83.0, 75.0), V3_BI, FROM_01),
];

const fn tcp(
    id: &'static str,
    says: &'static str,
    published: Published,
    labels: Labels,
    quantity: Quantity,
    losses: (f64, f64),
    take: Take,
) -> Statement {
    level(
        id,
        says,
        published,
        Unit::Percent,
        labels,
        quantity,
        losses,
        take,
        Better::Higher,
    )
}

/// More is better as long as TCP keeps its share, which has rows of its own.
const fn quic(
    id: &'static str,
    says: &'static str,
    published: Published,
    labels: Labels,
    losses: (f64, f64),
    take: Take,
) -> Statement {
    level(
        id,
        says,
        published,
        Unit::Mbit,
        labels,
        QUIC,
        losses,
        take,
        Better::Higher,
    )
}

const fn combined(
    id: &'static str,
    says: &'static str,
    published: Published,
    labels: Labels,
    losses: (f64, f64),
) -> Statement {
    level(
        id,
        says,
        published,
        Unit::Mbit,
        labels,
        Quantity::of("combined_mbit"),
        losses,
        Take::Span,
        Better::Higher,
    )
}

#[expect(clippy::too_many_arguments, reason = "the columns of a table")]
const fn level(
    id: &'static str,
    says: &'static str,
    published: Published,
    unit: Unit,
    labels: Labels,
    quantity: Quantity,
    losses: (f64, f64),
    take: Take,
    better: Better,
) -> Statement {
    let of = Series {
        experiments: &["fairness"],
        labels,
    };
    Statement {
        id,
        source: "paper, 4.3.2",
        says,
        published,
        unit,
        ours: Ours::Level {
            of,
            quantity,
            losses,
            take,
        },
        better,
    }
}

const ALONE: Quantity = Quantity::of("tcp1_alone_mbit");
const AT_01: (f64, f64) = (0.1, 0.1);
const AT_1: (f64, f64) = (1.0, 1.0);
const FROM_01: (f64, f64) = (0.1, 1.0);
const FROM_02: (f64, f64) = (0.2, 1.0);

const V1_UNI: Labels = &[("congestion", "bbr1"), ("scheme", "unicast")];
const V1_CLI: Labels = &[("congestion", "bbr1"), ("scheme", "client-side")];
const V1_SRV: Labels = &[("congestion", "bbr1"), ("scheme", "server-side")];
const V1_BI: Labels = &[("congestion", "bbr1"), ("scheme", "bidirectional")];
const V3_UNI: Labels = &[("congestion", "bbr3"), ("scheme", "unicast")];
const V3_CLI: Labels = &[("congestion", "bbr3"), ("scheme", "client-side")];
const V3_SRV: Labels = &[("congestion", "bbr3"), ("scheme", "server-side")];
const V3_BI: Labels = &[("congestion", "bbr3"), ("scheme", "bidirectional")];
