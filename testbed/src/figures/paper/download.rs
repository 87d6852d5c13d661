//! What the paper's text states of download times, ACK frames and transmitted bytes.

use super::{Better, Ours, Published, Statement, Take, Unit};
use crate::figures::catalogue::{BYTES, CLIENT_BYTES, SERVER_BYTES};
use crate::figures::data::{Labels, Quantity, Series};

/// Sections 4.2.2 to 4.2.4, and what the abstract and the conclusions say of the same.
#[rustfmt::skip] // A table: a row is a line.
pub(super) const ALL: &[Statement] = &[
    faster("bbr1-unicast-1", "BBRv1 unicast: download time at 1 % loss against TCP unicast", -80.0, BBR1_UNI, TCP_UNI, ONE),
    faster("bbr1-unicast-2", "the same at 2 %", -90.0, BBR1_UNI, TCP_UNI, TWO),
    faster("bbr1-client-1", "BBRv1 client-side: download time at 1 % loss against TCP client-side", -80.0, BBR1_CLI, TCP_CLI, ONE),
    faster("bbr1-client-2", "the same at 2 %", -90.0, BBR1_CLI, TCP_CLI, TWO),
    Statement {
        source: CONCLUSIONS,
        ..faster("bbr1-unicast-1-conclusions", "BBRv1 unicast at 1 % against TCP unicast, as the conclusions have it", -87.0, BBR1_UNI, TCP_UNI, ONE)
    },
    Statement {
        source: CONCLUSIONS,
        ..faster("bbr1-client-1-conclusions", "BBRv1 client-side at 1 % against TCP client-side, as the conclusions have it", -87.0, BBR1_CLI, TCP_CLI, ONE)
    },
    stable("bbr1-unicast-stable", "BBRv1 unicast: download time at 15 % against that at 0 %", "stable up to 15 %", BBR1_UNI, 15.0),
    stable("bbr1-client-stable", "BBRv1 client-side: the same", "stable up to 15 %", BBR1_CLI, 15.0),
    faster("bbr3-unicast-1", "BBRv3 unicast: download time at 1 % loss against TCP unicast", -32.0, BBR3_UNI, TCP_UNI, ONE),
    faster("bbr3-unicast-2", "the same at 2 %", -56.0, BBR3_UNI, TCP_UNI, TWO),
    faster("bbr3-client-1", "BBRv3 client-side: download time at 1 % loss against TCP client-side", -23.0, BBR3_CLI, TCP_CLI, ONE),
    faster("bbr3-client-2", "the same at 2 %", -43.0, BBR3_CLI, TCP_CLI, TWO),
    over("bbr1-client-little", "BBRv1: what client-side bicasting adds to the time of unicast, mean over 0 to 15 %", Published::Words("little"), BBR1_CLI, BBR1_UNI, (0.0, 15.0)),
    over("bbr3-client-130", "BBRv3: what client-side bicasting adds to the time of unicast above 2 %, mean over 3 to 15 %", Published::About(130.0), BBR3_CLI, BBR3_UNI, (3.0, 15.0)),
    over("bbr1-server-as-tcp", "BBRv1 server-side: download time up to 3 % against TCP server-side, mean", Published::About(0.0), BBR1_SRV, TCP_SRV, (0.0, 3.0)),
    over("bbr1-both-as-tcp", "BBRv1 bidirectional: download time up to 3 % against TCP bidirectional, mean", Published::About(0.0), BBR1_BI, TCP_BI, (0.0, 3.0)),
    faster("bbr1-server-5", "BBRv1 server-side: download time at 5 % loss against TCP server-side", -35.0, BBR1_SRV, TCP_SRV, FIVE),
    faster("bbr1-server-10", "the same at 10 %", -82.0, BBR1_SRV, TCP_SRV, TEN),
    faster("bbr1-both-5", "BBRv1 bidirectional: download time at 5 % loss against TCP bidirectional", -35.0, BBR1_BI, TCP_BI, FIVE),
    faster("bbr1-both-10", "the same at 10 %", -82.0, BBR1_BI, TCP_BI, TEN),
    high("bbr1-server-40", "BBRv1 server-side: goodput at 40 % loss", BBR1_SRV),
    high("bbr1-both-40", "BBRv1 bidirectional: goodput at 40 % loss", BBR1_BI),
    over("bbr3-server-slower", "BBRv3 server-side: download time up to 5 % against TCP server-side, mean", Published::AtLeast(0.0), BBR3_SRV, TCP_SRV, (0.1, 5.0)),
    over("bbr3-both-slower", "BBRv3 bidirectional: download time up to 5 % against TCP bidirectional, mean", Published::AtLeast(0.0), BBR3_BI, TCP_BI, (0.1, 5.0)),
    over("bbr3-server-faster", "BBRv3 server-side: download time above 7 % against TCP server-side, mean over 10 to 40 %", Published::AtMost(0.0), BBR3_SRV, TCP_SRV, (10.0, 40.0)),
    over("bbr3-both-faster", "BBRv3 bidirectional: download time above 7 % against TCP bidirectional, mean over 10 to 40 %", Published::AtMost(0.0), BBR3_BI, TCP_BI, (10.0, 40.0)),
    faster("bbr3-server-10", "BBRv3 server-side: download time at 10 % loss against TCP server-side", -40.0, BBR3_SRV, TCP_SRV, TEN),
    faster("bbr3-both-10", "BBRv3 bidirectional: download time at 10 % loss against TCP bidirectional", -28.0, BBR3_BI, TCP_BI, TEN),
    over("bbr1-both-little", "BBRv1: what bidirectional adds to the time of server-side, mean over 0 to 40 %", Published::Words("little"), BBR1_BI, BBR1_SRV, (0.0, 40.0)),
    Statement {
        ours: Ours::Relation { of: downloads(BBR3_BI), to: downloads(BBR3_SRV), quantity: SECONDS, losses: (5.0, 40.0), take: Take::Span },
        ..over("bbr3-both-110-200", "BBRv3: what bidirectional adds to the time of server-side above 4 %, least and most over 5 to 40 %", Published::Range(110.0, 200.0), BBR3_BI, BBR3_SRV, (5.0, 40.0))
    },
    Statement {
        id: "fivefold",
        source: "paper, abstract",
        says: "BBRv3 bidirectional: throughput at 1 % loss against TCP unicast",
        published: Published::About(5.0),
        unit: Unit::Times,
        ours: Ours::Relation { of: downloads(BBR3_BI), to: downloads(TCP_UNI), quantity: Quantity::of("goodput_mbit"), losses: ONE, take: Take::Span },
        better: Better::Higher,
    },
    acks("acks-unicast-10", "BBRv3 unicast: ACK frames that the server received at 10 %", 12_849.0, BBR3_UNI, TEN),
    acks("acks-client-10", "BBRv3 client-side: ACK frames at 10 %", 18_116.0, BBR3_CLI, TEN),
    acks("acks-server-20", "BBRv3 server-side: ACK frames at 20 %", 6_775.0, BBR3_SRV, TWENTY),
    acks("acks-both-20", "BBRv3 bidirectional: ACK frames at 20 %", 16_163.0, BBR3_BI, TWENTY),
    more_acks("acks-client-more", "BBRv3: ACK frames of client-side against unicast at 10 %", 18_116.0 / 12_849.0, BBR3_CLI, BBR3_UNI, TEN),
    more_acks("acks-both-more", "BBRv3: ACK frames of bidirectional against server-side at 20 %", 16_163.0 / 6_775.0, BBR3_BI, BBR3_SRV, TWENTY),
    little_sent("bytes-client-bbr1", "BBRv1: what the client sends for 100 MB, bidirectional, at most over 0 to 15 %", BBR1_BI),
    little_sent("bytes-client-bbr3", "BBRv3: the same", BBR3_BI),
    growth("bytes-bbr1-unicast-15", "BBRv1 unicast: the server's bytes at 15 % in percent of those at 0 %", 120.0, BBR1_UNI),
    growth("bytes-bbr1-client-15", "BBRv1 client-side: the same", 120.0, BBR1_CLI),
    growth("bytes-bbr3-unicast-15", "BBRv3 unicast: the same", 120.0, BBR3_UNI),
    growth("bytes-bbr3-client-15", "BBRv3 client-side: the same", 120.0, BBR3_CLI),
    growth("bytes-bbr1-server-15", "BBRv1 server-side: the same", 104.0, BBR1_SRV),
    growth("bytes-bbr1-both-15", "BBRv1 bidirectional: the same", 104.0, BBR1_BI),
    growth("bytes-bbr3-server-15", "BBRv3 server-side: the same", 104.0, BBR3_SRV),
    growth("bytes-bbr3-both-15", "BBRv3 bidirectional: the same", 104.0, BBR3_BI),
    doubled("bytes-bbr1-server", "BBRv1: the server's bytes by server-side in percent of unicast, 0 to 15 %", BBR1_SRV, BBR1_UNI),
    doubled("bytes-bbr1-both", "BBRv1: by bidirectional in percent of client-side", BBR1_BI, BBR1_CLI),
    doubled("bytes-bbr3-server", "BBRv3: the server's bytes by server-side in percent of unicast, 0 to 15 %", BBR3_SRV, BBR3_UNI),
    doubled("bytes-bbr3-both", "BBRv3: by bidirectional in percent of client-side", BBR3_BI, BBR3_CLI),
];

/// A download time against another at one loss.
const fn faster(
    id: &'static str,
    says: &'static str,
    change: f64,
    of: Labels,
    to: Labels,
    losses: (f64, f64),
) -> Statement {
    over(id, says, Published::About(change), of, to, losses)
}

/// A download time against another over some losses.
const fn over(
    id: &'static str,
    says: &'static str,
    published: Published,
    of: Labels,
    to: Labels,
    losses: (f64, f64),
) -> Statement {
    Statement {
        id,
        source: TIMES,
        says,
        published,
        unit: Unit::Change,
        ours: Ours::Relation {
            of: downloads(of),
            to: downloads(to),
            quantity: SECONDS,
            losses,
            take: Take::Average,
        },
        better: Better::Lower,
    }
}

const fn stable(
    id: &'static str,
    says: &'static str,
    words: &'static str,
    of: Labels,
    loss: f64,
) -> Statement {
    Statement {
        id,
        source: TIMES,
        says,
        published: Published::Words(words),
        unit: Unit::Times,
        ours: Ours::Growth {
            of: downloads(of),
            quantity: SECONDS,
            losses: (loss, 0.0),
        },
        better: Better::Lower,
    }
}

const fn high(id: &'static str, says: &'static str, of: Labels) -> Statement {
    Statement {
        id,
        source: TIMES,
        says,
        published: Published::Words("high"),
        unit: Unit::Mbit,
        ours: Ours::Level {
            of: downloads(of),
            quantity: Quantity::of("goodput_mbit"),
            losses: (40.0, 40.0),
            take: Take::Span,
        },
        better: Better::Higher,
    }
}

const fn acks(
    id: &'static str,
    says: &'static str,
    frames: f64,
    labels: Labels,
    losses: (f64, f64),
) -> Statement {
    let of = Series {
        experiments: &["cwnd"],
        labels,
    };
    Statement {
        id,
        source: WINDOW,
        says,
        published: Published::About(frames),
        unit: Unit::Count,
        ours: Ours::Level {
            of,
            quantity: ACK_FRAMES,
            losses,
            take: Take::Span,
        },
        better: Better::Neither,
    }
}

const fn more_acks(
    id: &'static str,
    says: &'static str,
    times: f64,
    of: Labels,
    to: Labels,
    losses: (f64, f64),
) -> Statement {
    let (of, to) = (
        Series {
            experiments: &["cwnd"],
            labels: of,
        },
        Series {
            experiments: &["cwnd"],
            labels: to,
        },
    );
    Statement {
        id,
        source: WINDOW,
        says,
        published: Published::About(times),
        unit: Unit::Times,
        ours: Ours::Relation {
            of,
            to,
            quantity: ACK_FRAMES,
            losses,
            take: Take::Span,
        },
        better: Better::Neither,
    }
}

const fn little_sent(id: &'static str, says: &'static str, labels: Labels) -> Statement {
    Statement {
        id,
        source: AMOUNT,
        says,
        published: Published::Words("minimal"),
        unit: Unit::Percent,
        ours: Ours::Level {
            of: bytes(labels),
            quantity: CLIENT_BYTES,
            losses: TO_15,
            take: Take::Highest,
        },
        better: Better::Lower,
    }
}

const fn growth(id: &'static str, says: &'static str, percent: f64, labels: Labels) -> Statement {
    Statement {
        id,
        source: AMOUNT,
        says,
        published: Published::About(percent),
        unit: Unit::Percent,
        ours: Ours::Growth {
            of: bytes(labels),
            quantity: SERVER_BYTES,
            losses: (15.0, 0.0),
        },
        better: Better::Lower,
    }
}

const fn doubled(id: &'static str, says: &'static str, of: Labels, to: Labels) -> Statement {
    Statement {
        id,
        source: AMOUNT,
        says,
        published: Published::Range(170.0, 200.0),
        unit: Unit::Percent,
        ours: Ours::Relation {
            of: bytes(of),
            to: bytes(to),
            quantity: SERVER_BYTES,
            losses: TO_15,
            take: Take::Span,
        },
        better: Better::Lower,
    }
}

const fn downloads(labels: Labels) -> Series {
    Series {
        experiments: &["download-time"],
        labels,
    }
}

const fn bytes(labels: Labels) -> Series {
    Series {
        experiments: BYTES,
        labels,
    }
}

const SECONDS: Quantity = Quantity::of("seconds");
const ACK_FRAMES: Quantity = Quantity::of("ack_frames");

const TCP_UNI: Labels = &[("transport", "tcp-cubic"), ("scheme", "unicast")];
const TCP_CLI: Labels = &[("transport", "tcp-cubic"), ("scheme", "client-side")];
const TCP_SRV: Labels = &[("transport", "tcp-cubic"), ("scheme", "server-side")];
const TCP_BI: Labels = &[("transport", "tcp-cubic"), ("scheme", "bidirectional")];
const BBR1_UNI: Labels = &[("transport", "bbr1"), ("scheme", "unicast")];
const BBR1_CLI: Labels = &[("transport", "bbr1"), ("scheme", "client-side")];
const BBR1_SRV: Labels = &[("transport", "bbr1"), ("scheme", "server-side")];
const BBR1_BI: Labels = &[("transport", "bbr1"), ("scheme", "bidirectional")];
const BBR3_UNI: Labels = &[("transport", "bbr3"), ("scheme", "unicast")];
const BBR3_CLI: Labels = &[("transport", "bbr3"), ("scheme", "client-side")];
const BBR3_SRV: Labels = &[("transport", "bbr3"), ("scheme", "server-side")];
const BBR3_BI: Labels = &[("transport", "bbr3"), ("scheme", "bidirectional")];

const ONE: (f64, f64) = (1.0, 1.0);
const TWO: (f64, f64) = (2.0, 2.0);
const FIVE: (f64, f64) = (5.0, 5.0);
const TEN: (f64, f64) = (10.0, 10.0);
const TWENTY: (f64, f64) = (20.0, 20.0);
const TO_15: (f64, f64) = (0.0, 15.0);

const TIMES: &str = "paper, 4.2.2";
const WINDOW: &str = "paper, 4.2.3";
const AMOUNT: &str = "paper, 4.2.4";
const CONCLUSIONS: &str = "paper, 6";
