//! Known answers of matches.

use bytes::{Bytes, BytesMut};

use super::*;
use crate::vector::{bytes, check};
use crate::{FlowMod, MacAddr, Message, PortNo, Xid};

fn flow_mod(fields: Vec<OxmField>) -> Message {
    Message::FlowMod(FlowMod {
        match_: fields.into_iter().collect(),
        ..FlowMod::default()
    })
}

/// A FLOW_MOD with these fields in its match.
fn frame_of(fields: &str) -> String {
    let length = bytes(fields).len() + 4;
    let padded = length.next_multiple_of(8);
    format!(
        "04 0e {:04x} 00000008 0000000000000000 0000000000000000 00 00 0000 0000 0000
         ffffffff ffffffff ffffffff 0000 0000 0001 {length:04x}
         {fields}
         {}",
        48 + padded,
        "00".repeat(padded - length)
    )
}

#[test]
fn field_vectors() {
    let mac = MacAddr::new(2, 0, 0, 0, 0, 1);
    let ipv4 = "10.0.0.1".parse().unwrap();
    let ipv6 = "2001:db8::1".parse().unwrap();
    let table = [
        ("80000004 00000001", OxmField::InPort(PortNo(1))),
        ("80000204 00000002", OxmField::InPhyPort(PortNo(2))),
        ("80000408 0000000000001234", OxmField::Metadata(0x1234.into())),
        (
            "80000510 0000000000001200 000000000000ff00",
            OxmField::Metadata(Masked::new(0x1200, 0xff00)),
        ),
        ("80000606 020000000001", OxmField::EthDst(mac.into())),
        (
            "8000070c 010000000000 010000000000",
            OxmField::EthDst(Masked::new(
                MacAddr::new(1, 0, 0, 0, 0, 0),
                MacAddr::new(1, 0, 0, 0, 0, 0),
            )),
        ),
        ("80000806 020000000001", OxmField::EthSrc(mac.into())),
        ("80000a02 0800", OxmField::EthType(0x800)),
        ("80000c02 1064", OxmField::VlanVid((VLAN_PRESENT | 100).into())),
        (
            "80000d04 1000 1000",
            OxmField::VlanVid(Masked::new(VLAN_PRESENT, VLAN_PRESENT)),
        ),
        ("80000e01 05", OxmField::VlanPcp(5)),
        ("80001001 2e", OxmField::IpDscp(46)),
        ("80001201 03", OxmField::IpEcn(3)),
        ("80001401 11", OxmField::IpProto(17)),
        ("80001604 0a000001", OxmField::Ipv4Src(Masked::exact(ipv4))),
        (
            "80001908 0a000000 ffffff00",
            OxmField::Ipv4Dst(Masked::<std::net::Ipv4Addr>::prefix(ipv4, 24)),
        ),
        ("80001a02 0050", OxmField::TcpSrc(80)),
        ("80001c02 0051", OxmField::TcpDst(81)),
        ("80001e02 0052", OxmField::UdpSrc(82)),
        ("80002002 0053", OxmField::UdpDst(83)),
        ("80002202 0054", OxmField::SctpSrc(84)),
        ("80002402 0055", OxmField::SctpDst(85)),
        ("80002601 08", OxmField::Icmpv4Type(8)),
        ("80002801 09", OxmField::Icmpv4Code(9)),
        ("80002a02 0002", OxmField::ArpOp(2)),
        ("80002c04 0a000001", OxmField::ArpSpa(Masked::exact(ipv4))),
        ("80002e04 0a000001", OxmField::ArpTpa(Masked::exact(ipv4))),
        ("80003006 020000000001", OxmField::ArpSha(mac.into())),
        ("80003206 020000000001", OxmField::ArpTha(mac.into())),
        (
            "80003410 20010db8000000000000000000000001",
            OxmField::Ipv6Src(Masked::exact(ipv6)),
        ),
        (
            "80003720 20010db8000000000000000000000000 ffffffff000000000000000000000000",
            OxmField::Ipv6Dst(Masked::<std::net::Ipv6Addr>::prefix(ipv6, 32)),
        ),
        ("80003804 000fffff", OxmField::Ipv6Flabel(0xfffff.into())),
        ("80003a01 87", OxmField::Icmpv6Type(135)),
        ("80003c01 00", OxmField::Icmpv6Code(0)),
        (
            "80003e10 20010db8000000000000000000000001",
            OxmField::Ipv6NdTarget(ipv6),
        ),
        ("80004006 020000000001", OxmField::Ipv6NdSll(mac)),
        ("80004206 020000000001", OxmField::Ipv6NdTll(mac)),
        ("80004404 00000063", OxmField::MplsLabel(99)),
        ("80004601 03", OxmField::MplsTc(3)),
        ("80004801 01", OxmField::MplsBos(1)),
        ("80004a03 012345", OxmField::PbbIsid(0x1_2345.into())),
        (
            "80004b06 010000 ff0000",
            OxmField::PbbIsid(Masked::new(0x1_0000, 0xff_0000)),
        ),
        ("80004c08 00000000000000ff", OxmField::TunnelId(0xff.into())),
        ("80004e02 0020", OxmField::Ipv6Exthdr(0x20.into())),
    ];
    for (fields, field) in &table {
        check(&[(&frame_of(fields), flow_mod(vec![field.clone()]))]);
    }
    // All of them, in one match.
    let all: String = table
        .iter()
        .map(|(fields, _)| *fields)
        .collect::<Vec<_>>()
        .join("\n");
    check(&[(
        &frame_of(&all),
        flow_mod(table.into_iter().map(|(_, field)| field).collect()),
    )]);
}

#[test]
fn fields_without_a_name_are_kept() {
    let raw = |class, field, has_mask, body: &'static [u8]| {
        OxmField::Raw(RawOxm {
            class,
            field,
            has_mask,
            body: Bytes::from_static(body),
        })
    };
    let ports = raw(0x8000, 14, true, &[0x50, 0, 0xff, 0]);
    for (fields, field) in [
        ("0001 d6 04 01020304", raw(1, 107, false, &[1, 2, 3, 4])),
        ("8000 1d 04 5000 ff00", ports),
        ("8000 54 02 1000", raw(0x8000, 42, false, &[0x10, 0])),
        (
            "ffff 02 06 00002320 abcd",
            raw(0xffff, 1, false, &[0, 0, 0x23, 0x20, 0xab, 0xcd]),
        ),
        ("ffff 02 00", raw(0xffff, 1, false, &[])),
    ] {
        check(&[(&frame_of(fields), flow_mod(vec![field]))]);
    }
}

#[test]
fn bits_outside_the_mask_are_not_written() {
    let message = flow_mod(vec![OxmField::Ipv4Src(Masked::new(
        [10, 1, 2, 3].into(),
        [255, 255, 0, 0].into(),
    ))]);
    let mut out = BytesMut::new();
    message.encode(Xid(8), &mut out).unwrap();
    assert_eq!(out, bytes(&frame_of("80001708 0a010000 ffff0000"))[..]);
}

#[test]
fn service_id_has_24_bits() {
    let mut out = BytesMut::new();
    let error = flow_mod(vec![OxmField::PbbIsid(0x0100_0000.into())])
        .encode(Xid(8), &mut out)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "ofp_oxm.pbb_isid is 0x1000000, at most 0xffffff fits"
    );
    assert!(out.is_empty());
}

#[test]
fn matches_that_mean_the_same_sort_to_the_same() {
    let one = Match::new()
        .with(OxmField::Ipv4Dst(Masked::new(
            [10, 0, 0, 1].into(),
            [255; 4].into(),
        )))
        .with(OxmField::EthType(0x800))
        .with(OxmField::Metadata(Masked::new(7, 0)))
        .with(OxmField::Ipv4Src(Masked::new(
            [10, 0, 1, 9].into(),
            [255, 255, 255, 0].into(),
        )))
        .with(OxmField::PbbIsid(Masked::new(5, 0xff_ffff)))
        .with(OxmField::VlanVid(Masked::new(0x1064, 0x1fff)))
        .with(OxmField::Ipv6Flabel(Masked::new(7, 0xf_ffff)))
        .with(OxmField::Raw(RawOxm {
            class: 1,
            field: 3,
            has_mask: true,
            body: Bytes::from_static(&[0x12, 0x34, 0xff, 0xff]),
        }));
    let other = Match::new()
        .with(OxmField::Raw(RawOxm {
            class: 1,
            field: 3,
            has_mask: false,
            body: Bytes::from_static(&[0x12, 0x34]),
        }))
        .with(OxmField::EthType(0x800))
        .with(OxmField::VlanVid(0x1064.into()))
        .with(OxmField::Ipv4Src(Masked::new(
            [10, 0, 1, 0].into(),
            [255, 255, 255, 0].into(),
        )))
        .with(OxmField::Ipv4Dst(Masked::exact([10, 0, 0, 1].into())))
        .with(OxmField::Ipv6Flabel(7.into()))
        .with(OxmField::PbbIsid(5.into()));
    assert_ne!(one, other);
    assert_eq!(one.sorted(), other);
    assert_eq!(other.sorted(), other);
}

#[test]
fn bad_matches_are_refused_with_the_right_answer() {
    let fixed = "04 0e 0038 00000008 0000000000000000 0000000000000000 00 00 0000 0000 0000
             ffffffff ffffffff ffffffff 0000 0000";
    for (match_, context, answer) in [
        ("0000 0004 00000000", "ofp_match.type", "OFPBMC_BAD_TYPE"),
        ("0001 0003 00000000", "ofp_match.length", "OFPBMC_BAD_LEN"),
        ("0001 0009 00000000", "ofp_match.oxm_fields", "OFPBMC_BAD_LEN"),
        ("0001 0008 80000004", "oxm_header.oxm_length", "OFPBMC_BAD_LEN"),
        ("0001 0006 80000000", "oxm_header", "OFPBMC_BAD_LEN"),
    ] {
        let error = Message::decode(&bytes(&format!("{fixed}\n{match_}")).into()).unwrap_err();
        assert_eq!(
            (error.context, error.answer.to_string().as_str()),
            (context, answer),
            "{error}"
        );
    }
}
