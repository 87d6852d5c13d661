//! Generators of flows in the words of `ovs-ofctl` for what OpenFlow itself does not have.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Text that is generated.
type Words = BoxedStrategy<String>;

/// A flow: what it matches, and some actions.
pub(crate) fn flow() -> impl Strategy<Value = String> {
    let plain = (match_(), vec(action(), 1..4));
    let tracked = (Just("ip".to_owned()), ct(address_v4())).prop_map(|(match_, ct)| (match_, vec![ct]));
    let tracked_v6 = (Just("ipv6".to_owned()), ct(address_v6())).prop_map(|(match_, ct)| (match_, vec![ct]));
    prop_oneof![6 => plain, 1 => tracked, 1 => tracked_v6].prop_map(|(match_, actions)| {
        let separator = if match_.is_empty() { "" } else { "," };
        format!("{match_}{separator}actions={}", actions.join(","))
    })
}

fn match_() -> Words {
    // Packets of Ethernet, (0,0), are those that are meant anyhow: it is not printed.
    let packet_type = any::<u16>().prop_map(|type_| format!("packet_type=(1,{type_:#x})"));
    let tunnel = btree_map(0..64u8, option_value(), 0..4).prop_map(|options| {
        let words = options
            .iter()
            .map(|(number, value)| format!("tun_metadata{number}{value}"));
        words.collect::<Vec<_>>().join(",")
    });
    prop_oneof![
        2 => Just(String::new()),
        2 => packet_type,
        2 => tunnel,
        1 => any::<(u8, u8, u32)>().prop_map(|(si, flags, c1)| {
            let flags = flags & 0xf;
            format!("dl_type=0x894f,nsh_si={si},nsh_flags={flags}/15,nsh_mdtype=1,nsh_c1={c1:#x}")
        }),
    ]
    .boxed()
}

/// Of a tunnel option: nothing, a value, or one with a mask that is as wide.
fn option_value() -> Words {
    prop_oneof![
        Just(String::new()),
        "[1-9a-f][0-9a-f]{0,30}".prop_map(|digits| format!("=0x{digits}")),
        "[1-9a-f][0-9a-f]{0,30}".prop_map(|digits| format!("=0x{digits}/0x{}", "7".repeat(digits.len()))),
    ]
    .boxed()
}

fn action() -> Words {
    let check =
        (any::<u16>(), bits(1)).prop_map(|(length, bit)| format!("check_pkt_larger({length})->{bit}"));
    let delete = (0..64u8).prop_map(|number| format!("delete_field:tun_metadata{number}"));
    let option = (0..64u8, "[1-9a-f][0-9a-f]{0,20}")
        .prop_map(|(number, digits)| format!("set_field:0x{digits}->tun_metadata{number}"));
    prop_oneof![
        3 => learn(),
        2 => multipath(),
        2 => bundle(),
        2 => sample(),
        2 => encap(),
        1 => decap(),
        1 => check,
        1 => delete,
        1 => option,
    ]
    .boxed()
}

fn learn() -> Words {
    let number = |name: &'static str, max: u16| (1..=max).prop_map(move |number| format!("{name}={number}"));
    let setting = prop_oneof![
        number("table", 254),
        number("idle_timeout", u16::MAX),
        number("hard_timeout", u16::MAX),
        number("fin_idle_timeout", u16::MAX),
        number("fin_hard_timeout", u16::MAX),
        number("priority", u16::MAX),
        number("limit", u16::MAX),
        number("cookie", u16::MAX),
        Just("send_flow_rem".to_owned()),
        Just("delete_learned".to_owned()),
        bits(1).prop_map(|bit| format!("result_dst={bit}")),
    ];
    let of_value = width().prop_flat_map(|width| (bits(width), value(width)));
    let of_field = width().prop_flat_map(|width| (bits(width), bits(width)));
    let part = prop_oneof![
        of_value.clone().prop_map(|(field, value)| match &field[..] {
            "eth_src[]" => format!("{field}=02:00:00:00:00:01"),
            _ => format!("{field}={value}"),
        }),
        of_value.prop_map(|(field, value)| format!("load:{value}->{field}")),
        of_field.clone().prop_map(|(to, from)| format!("{to}={from}")),
        of_field.prop_map(|(from, to)| format!("load:{from}->{to}")),
        bits(16).prop_map(|field| format!("output:{field}")),
        Just("NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[]".to_owned()),
        Just("dl_type=0x800,NXM_OF_IP_DST[]=10.0.0.1".to_owned()),
    ];
    (vec(setting, 0..4), vec(part, 0..4))
        .prop_map(|(settings, parts)| format!("learn({})", [settings, parts].concat().join(",")))
        .boxed()
}

fn multipath() -> Words {
    let algorithm = select(vec!["modulo_n", "hash_threshold", "hrw", "iter_hash"]);
    let target = width().prop_flat_map(|width| {
        let most = 1 << width.min(16);
        (1..=most, bits(width))
    });
    (hashed(), any::<u16>(), algorithm, any::<u32>(), target)
        .prop_map(|(hashed, basis, algorithm, argument, (links, target))| {
            format!("multipath({hashed},{basis},{algorithm},{links},{argument},{target})")
        })
        .boxed()
}

fn bundle() -> Words {
    let algorithm = select(vec!["active_backup", "hrw"]);
    (
        hashed(),
        any::<u16>(),
        algorithm,
        option::of(bits(16)),
        vec(0..0xff00u16, 0..6),
    )
        .prop_map(|(hashed, basis, algorithm, target, members)| {
            let (name, target) = match target {
                Some(target) => ("bundle_load", format!("{target},")),
                None => ("bundle", String::new()),
            };
            let members: Vec<_> = members.iter().map(u16::to_string).collect();
            let members = members.join(",");
            format!("{name}({hashed},{basis},{algorithm},ofport,{target}members:[{members}])")
        })
        .boxed()
}

fn hashed() -> impl Strategy<Value = &'static str> {
    select(vec![
        "eth_src",
        "symmetric_l4",
        "symmetric_l3l4",
        "symmetric_l3l4+udp",
        "nw_src",
        "nw_dst",
        "symmetric_l3",
    ])
}

fn sample() -> Words {
    let number = |name: &'static str| option::of(any::<u32>().prop_map(move |n| format!("{name}={n}")));
    let port = option::of((1..0xff00u16).prop_map(|port| format!("sampling_port={port}")));
    let direction = option::of(select(vec!["ingress", "egress"]).prop_map(str::to_owned));
    (
        (1..=u16::MAX).prop_map(|probability| Some(format!("probability={probability}"))),
        number("collector_set_id"),
        number("obs_domain_id"),
        number("obs_point_id"),
        port,
        direction,
    )
        .prop_map(|(a, b, c, d, e, f)| format!("sample({})", joined([a, b, c, d, e, f])))
        .boxed()
}

fn encap() -> Words {
    // Leading zeros of a value are not printed, by Open vSwitch neither.
    let tlv = (any::<u16>(), any::<u8>(), "[1-9a-f][0-9a-f]([0-9a-f]{2}){0,20}")
        .prop_map(|(class, type_, value)| format!("tlv({class:#x},{type_},0x{value})"));
    let nsh = (select(vec!["md_type=1", "md_type=2"]), vec(tlv, 0..3)).prop_map(|(md_type, tlvs)| {
        let properties = [vec![md_type.to_owned()], tlvs].concat();
        format!("encap(nsh({}))", properties.join(","))
    });
    prop_oneof![
        select(vec![
            "encap(ethernet)",
            "encap(mpls)",
            "encap(mpls_mc)",
            "encap(nsh)"
        ])
        .prop_map(str::to_owned),
        nsh,
    ]
    .boxed()
}

fn decap() -> Words {
    prop_oneof![
        Just("decap()".to_owned()),
        (0..=1u8, any::<u16>()).prop_map(|(ns, type_)| format!("decap(packet_type(ns={ns},type={type_}))")),
    ]
    .boxed()
}

fn ct(address: Words) -> Words {
    let zone = prop_oneof![
        any::<u16>().prop_map(|zone| format!("zone={zone}")),
        bits(16).prop_map(|field| format!("zone={field}")),
    ];
    let table = (0..255u8).prop_map(|table| format!("table={table}"));
    let mark = any::<u32>().prop_map(|mark| format!("exec(set_field:{mark:#x}->ct_mark)"));
    (
        option::of(select(vec!["commit", "commit,force"]).prop_map(str::to_owned)),
        option::of(zone),
        option::of(table),
        nat(address).prop_map(Some),
        option::of(mark),
        option::of(select(vec!["alg=ftp", "alg=tftp"]).prop_map(str::to_owned)),
    )
        .prop_map(|(a, b, c, d, e, f)| format!("ct({})", joined([a, b, c, d, e, f])))
        .boxed()
}

/// `address` is one, a range of two, or nothing.
fn nat(address: Words) -> Words {
    let ports = prop_oneof![
        Just(String::new()),
        (1..=u16::MAX).prop_map(|port| format!(":{port}")),
        (1..=u16::MAX, 0..1000u16).prop_map(|(low, more)| format!(":{low}-{}", low.saturating_add(more))),
    ];
    let persistent = select(vec!["", ",persistent"]);
    let choice = select(vec!["", ",hash", ",random"]);
    let flags = (persistent, choice).prop_map(|(persistent, choice)| format!("{persistent}{choice}"));
    let translation =
        (select(vec!["src", "dst"]), option::of((address, ports)), flags).prop_map(|(kind, range, flags)| {
            match range {
                Some((address, ports)) => format!("nat({kind}={address}{ports}{flags})"),
                None => format!("nat({kind}{flags})"),
            }
        });
    prop_oneof![1 => Just("nat".to_owned()), 6 => translation].boxed()
}

fn address_v4() -> Words {
    range(any::<u32>(), |number| Ipv4Addr::from(number).to_string())
}

/// In brackets, so that ports may follow.
fn address_v6() -> Words {
    range(any::<u128>(), |number| format!("[{}]", Ipv6Addr::from(number)))
}

/// An address, or two with the lower first.
fn range<T>(number: impl Strategy<Value = T> + Clone + 'static, text: fn(T) -> String) -> Words
where
    T: std::fmt::Debug + PartialOrd + 'static,
{
    prop_oneof![
        number.clone().prop_map(text),
        (number.clone(), number).prop_map(move |(a, b)| {
            let (low, high) = if a <= b { (a, b) } else { (b, a) };
            format!("{}-{}", text(low), text(high))
        }),
    ]
    .boxed()
}

/// So many bits of a field that can be written.
fn bits(width: u16) -> Words {
    let fields = FIELDS.iter().filter(|(_, bits)| *bits >= width).copied();
    let fields: Vec<_> = fields.collect();
    select(fields)
        .prop_flat_map(move |(name, bits)| (0..=bits - width).prop_map(move |first| (name, bits, first)))
        .prop_map(move |(name, bits, first)| match width {
            _ if width == bits => format!("{name}[]"),
            1 => format!("{name}[{first}]"),
            _ => format!("{name}[{first}..{}]", first + width - 1),
        })
        .boxed()
}

/// How many bits of a field are meant; whole fields more often.
fn width() -> impl Strategy<Value = u16> + Clone {
    prop_oneof![1..=64u16, Just(32), Just(64)]
}

/// A number that fits into so many bits.
fn value(width: u16) -> Words {
    any::<u64>()
        .prop_map(move |number| format!("{:#x}", number >> (64 - width)))
        .boxed()
}

fn joined<const N: usize>(words: [Option<String>; N]) -> String {
    words.into_iter().flatten().collect::<Vec<_>>().join(",")
}

/// Fields that every packet has, and their bits.
const FIELDS: &[(&str, u16)] = &[
    ("reg0", 32),
    ("reg15", 32),
    ("xreg3", 64),
    ("xxreg2", 128),
    ("metadata", 64),
    ("tun_id", 64),
    ("pkt_mark", 32),
    ("eth_src", 48),
    ("tun_metadata5", 992),
];
