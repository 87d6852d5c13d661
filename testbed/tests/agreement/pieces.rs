//! What flow, group and meter modifications are made of, good and bad, as bytes: nothing here asks our own encoder.

/// A part of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) name: &'static str,
    /// Hexadecimal digits; blanks do not count.
    pub(crate) hex: &'static str,
}

const fn piece(name: &'static str, hex: &'static str) -> Piece {
    Piece { name, hex }
}

/// Fields of matches (`ofp_match.oxm_fields`).
pub(crate) const GOOD_MATCHES: &[Piece] = &[
    piece("any", ""),
    piece("in_port=1", "80000004 00000001"),
    piece("in_port=77", "80000004 0000004d"),
    piece("eth_type=0x88b5", "80000a02 88b5"),
    piece("ip", IP),
    piece("udp,udp_dst=5001", "80000a02 0800 80001401 11 80002002 1389"),
    piece(
        "ip,nw_src=192.0.2.0/24",
        "80000a02 0800 80001708 c0000200 ffffff00",
    ),
    piece("ip,ip_dscp=8", "80000a02 0800 80001001 08"),
    piece("vlan_vid=5", "80000c02 1005"),
    piece("vlan_vid=5,vlan_pcp=3", "80000c02 1005 80000e01 03"),
    piece("arp,arp_op=1", "80000a02 0806 80002a02 0001"),
    piece("tcp6,tcp_dst=80", "80000a02 86dd 80001401 06 80001c02 0050"),
    piece("metadata=0x10/0xf0", "80000510 0000000000000010 00000000000000f0"),
    piece("icmp,icmp_type=8", "80000a02 0800 80001401 01 80002601 08"),
    piece("mpls,mpls_label=16", "80000a02 8847 80004404 00000010"),
    piece("tunnel_id=7", "80004c08 0000000000000007"),
    piece("eth_dst=02:00:00:00:01:01", "80000606 020000000101"),
    piece("multicast", "8000070c 010000000000 010000000000"),
    piece("ip,registers", "80000a02 0800 00010004 00000001"),
];

pub(crate) const BAD_MATCHES: &[Piece] = &[
    piece("udp_dst without protocol", "80000a02 0800 80002002 1389"),
    piece("udp_dst without anything", "80002002 1389"),
    piece("prerequisite behind", "80001401 11 80000a02 0800"),
    piece("nw_src on IPv6", "80000a02 86dd 80001604 c0000201"),
    piece("tcp_dst on UDP", "80000a02 0800 80001401 11 80001c02 0050"),
    piece("vlan_pcp without VLAN", "80000e01 03"),
    piece("arp_op without ARP", "80002a02 0001"),
    piece("field twice", "80000004 00000001 80000004 00000001"),
    piece("ip_dscp=64", "80000a02 0800 80001001 40"),
    piece("ip_ecn=4", "80000a02 0800 80001201 04"),
    piece("vlan_pcp=8", "80000c02 1005 80000e01 08"),
    piece("vlan_vid=0x2005", "80000c02 2005"),
    piece("mpls_label=0x100000", "80000a02 8847 80004404 00100000"),
    piece("mask on in_port", "80000108 00000001 ffffffff"),
    piece("mask on ip_dscp", "80000a02 0800 80001102 08 3f"),
    piece(
        "value outside its mask",
        "80000a02 0800 80001708 c0000201 ffffff00",
    ),
    piece("unknown field", "80007804 00000001"),
    piece("unknown class", "12340004 00000001"),
    piece("unknown experimenter", "ffff0008 00abcdef 00000001"),
    piece("field of wrong length", "80000002 0001"),
    piece("field cut off", "80000004 0000"),
    piece("in_phy_port", "80000004 00000001 80000204 00000001"),
];

/// Instructions of a flow in table 0 to 5 that matches anything.
pub(crate) const GOOD_INSTRUCTIONS: &[Piece] = &[
    piece("drop", ""),
    piece(
        "output:1",
        "0004 0018 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "output:77",
        "0004 0018 00000000 0000 0010 0000004d 0000 000000000000",
    ),
    piece(
        "output:controller",
        "0004 0018 00000000 0000 0010 fffffffd ffff 000000000000",
    ),
    piece(
        "output:in_port",
        "0004 0018 00000000 0000 0010 fffffff8 0000 000000000000",
    ),
    piece(
        "output:flood",
        "0004 0018 00000000 0000 0010 fffffffb 0000 000000000000",
    ),
    piece(
        "output:local",
        "0004 0018 00000000 0000 0010 fffffffe 0000 000000000000",
    ),
    piece(
        "output:normal",
        "0004 0018 00000000 0000 0010 fffffffa 0000 000000000000",
    ),
    piece(
        "output:all",
        "0004 0018 00000000 0000 0010 fffffffc 0000 000000000000",
    ),
    piece("group:1", "0004 0010 00000000 0016 0008 00000001"),
    piece(
        "meter:1,output:1",
        "0006 0008 00000001 0004 0018 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece("goto_table:9", "0001 0008 09 000000"),
    piece(
        "write_metadata",
        "0002 0018 00000000 00000000000000ab 00000000000000ff",
    ),
    piece(
        "write_actions(output:1)",
        "0003 0018 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece("clear_actions", "0005 0008 00000000"),
    piece(
        "set eth_dst",
        "0004 0018 00000000 0019 0010 80000606 020000000101 0000",
    ),
    piece("set_queue:1", "0004 0010 00000000 0015 0008 00000001"),
    piece("push_vlan:0x8100", "0004 0010 00000000 0011 0008 8100 0000"),
    piece(
        "push_vlan, set vlan_vid",
        "0004 0020 00000000 0011 0008 8100 0000 0019 0010 80000c02 1005 000000000000",
    ),
    piece(
        "set tunnel_id",
        "0004 0018 00000000 0019 0010 80004c08 0000000000000007",
    ),
    piece(
        "set metadata",
        "0004 0018 00000000 0019 0010 80000408 0000000000000007",
    ),
];

/// Instructions that belong to a match of IP.
pub(crate) const GOOD_ON_IP: &[Piece] = &[
    piece(
        "set ip_dscp",
        "0004 0018 00000000 0019 0010 80001001 08 00000000000000",
    ),
    piece("dec_ttl", "0004 0010 00000000 0018 0008 00000000"),
    piece(
        "set nw_src",
        "0004 0018 00000000 0019 0010 80001604 c0000201 00000000",
    ),
    piece("set_nw_ttl", "0004 0010 00000000 0017 0008 40 000000"),
    piece("push_mpls", "0004 0010 00000000 0013 0008 8847 0000"),
];

pub(crate) const BAD_INSTRUCTIONS: &[Piece] = &[
    piece(
        "output:0",
        "0004 0018 00000000 0000 0010 00000000 0000 000000000000",
    ),
    piece(
        "output:ANY",
        "0004 0018 00000000 0000 0010 ffffffff 0000 000000000000",
    ),
    piece(
        "output beyond the last port",
        "0004 0018 00000000 0000 0010 ffffff01 0000 000000000000",
    ),
    piece("goto the same table", "0001 0008 00 000000"),
    piece("goto table 255", "0001 0008 ff 000000"),
    piece("meter:0", "0006 0008 00000000"),
    piece("meter:99", "0006 0008 00000063"),
    piece("group:99", "0004 0010 00000000 0016 0008 00000063"),
    piece("group:ANY", "0004 0010 00000000 0016 0008 ffffffff"),
    piece("write_actions(group:99)", "0003 0010 00000000 0016 0008 00000063"),
    piece("unknown instruction", "0009 0008 00000000"),
    piece("experimenter instruction", "ffff 0010 00abcdef 0000000000000000"),
    piece("instruction twice", "0005 0008 00000000 0005 0008 00000000"),
    piece("instruction of length 12", "0001 000c 09 000000 00000000"),
    piece("instruction of length 0", "0005 0000 00000000"),
    piece("instruction cut off", "0004 0028 00000000"),
    piece("unknown action", "0004 0010 00000000 0028 0008 00000000"),
    piece(
        "experimenter action",
        "0004 0018 00000000 ffff 0010 00abcdef 0000000000000000",
    ),
    piece("action of length 0", "0004 0010 00000000 0000 0000 00000000"),
    piece(
        "action of length 12",
        "0004 0018 00000000 0000 000c 00000001 0000 000000000000",
    ),
    piece(
        "action longer than its instruction",
        "0004 0010 00000000 0000 0010 00000001",
    ),
    piece(
        "set ip_dscp without IP",
        "0004 0018 00000000 0019 0010 80001001 08 00000000000000",
    ),
    piece(
        "set vlan_pcp without VLAN",
        "0004 0018 00000000 0019 0010 80000e01 03 00000000000000",
    ),
    piece(
        "set udp_dst without UDP",
        "0004 0018 00000000 0019 0010 80002002 1389 000000000000",
    ),
    piece(
        "set in_port",
        "0004 0018 00000000 0019 0010 80000004 00000001 00000000",
    ),
    piece(
        "set eth_type",
        "0004 0018 00000000 0019 0010 80000a02 0800 000000000000",
    ),
    piece(
        "set unknown field",
        "0004 0018 00000000 0019 0010 80007804 00000001 00000000",
    ),
    piece(
        "set with dirty padding",
        "0004 0018 00000000 0019 0010 80000606 020000000101 0001",
    ),
    piece("push_vlan:0x1234", "0004 0010 00000000 0011 0008 1234 0000"),
    piece("push_mpls:0x1234", "0004 0010 00000000 0013 0008 1234 0000"),
    piece("pop_mpls without MPLS", "0004 0010 00000000 0014 0008 0800 0000"),
    piece("pop_vlan without VLAN", "0004 0010 00000000 0012 0008 00000000"),
    piece("dec_ttl without IP", "0004 0010 00000000 0018 0008 00000000"),
    piece("copy_ttl_out", "0004 0010 00000000 000b 0008 00000000"),
    piece("push_pbb", "0004 0010 00000000 001a 0008 88e7 0000"),
];

pub(crate) const BAD_ON_IP: &[Piece] = &[
    piece(
        "set ip_dscp to 64",
        "0004 0018 00000000 0019 0010 80001001 40 00000000000000",
    ),
    piece(
        "set nw_src in part",
        "0004 0020 00000000 0019 0018 80001708 c0000200 ffffff00 0000000000000000",
    ),
];

/// Buckets with the types of group that they belong to: command, type, group, buckets.
pub(crate) const GOOD_GROUPS: &[Piece] = &[
    piece(
        "add all",
        "0000 00 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece("add all without buckets", "0000 00 00 00000032"),
    piece(
        "add all with an empty bucket",
        "0000 00 00 00000032 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "add select",
        "0000 01 00 00000032 0020 000a ffffffff ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add select of weight 0",
        "0000 01 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add indirect",
        "0000 02 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add ff",
        "0000 03 00 00000032 0020 0000 00000001 ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add ff that watches a group",
        "0000 03 00 00000032 0018 0000 ffffffff 00000001 00000000 0016 0008 00000001",
    ),
    piece(
        "add ff that watches port 77",
        "0000 03 00 00000032 0020 0000 0000004d ffffffff 00000000 0000 0010 0000004d 0000 000000000000",
    ),
    piece(
        "add the highest",
        "0000 00 00 ffffff00 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "modify",
        "0001 00 00 00000001 0020 0000 ffffffff ffffffff 00000000 0000 0010 00000002 0000 000000000000",
    ),
    piece(
        "modify the type",
        "0001 03 00 00000001 0020 0000 00000001 ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add or modify one that exists",
        "8000 00 00 00000001 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "add or modify one that does not",
        "8000 00 00 00000032 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece("delete", "0002 00 00 00000001"),
    piece("delete one that does not exist", "0002 00 00 00000063"),
    piece("delete all", "0002 00 00 fffffffc"),
    piece(
        "add chained",
        "0000 00 00 00000032 0018 0000 ffffffff ffffffff 00000000 0016 0008 00000001",
    ),
    piece(
        "add with eth_dst set",
        "0000 00 00 00000032 0030 0000 ffffffff ffffffff 00000000 0019 0010 80000606 020000000101 0000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add with ip_dscp set",
        "0000 00 00 00000032 0030 0000 ffffffff ffffffff 00000000 0019 0010 80001001 08 00000000000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "add to port 77",
        "0000 00 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 0000004d 0000 000000000000",
    ),
];

pub(crate) const BAD_GROUPS: &[Piece] = &[
    piece(
        "add one that exists",
        "0000 00 00 00000001 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "modify one that does not exist",
        "0001 00 00 00000063 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "add beyond the highest",
        "0000 00 00 ffffff01 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "add ALL",
        "0000 00 00 fffffffc 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "unknown command",
        "0007 00 00 00000032 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "unknown type",
        "0000 09 00 00000032 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "ff without watch",
        "0000 03 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "all with watch",
        "0000 00 00 00000032 0020 0000 00000001 ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "all with weight",
        "0000 00 00 00000032 0020 0005 ffffffff ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "all that watches 0",
        "0000 00 00 00000032 0020 0000 00000000 00000000 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "select with watch",
        "0000 01 00 00000032 0020 0001 00000001 ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "ff with weight",
        "0000 03 00 00000032 0020 0005 00000001 ffffffff 00000000 0000 0010 00000001 0000 000000000000",
    ),
    piece(
        "indirect of two",
        "0000 02 00 00000032 0010 0000 ffffffff ffffffff 00000000 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece("indirect of none", "0000 02 00 00000032"),
    piece(
        "ff that watches a group that does not exist",
        "0000 03 00 00000032 0010 0000 ffffffff 00000063 00000000",
    ),
    piece(
        "ff that watches itself",
        "0000 03 00 00000032 0010 0000 ffffffff 00000032 00000000",
    ),
    piece(
        "chained to itself",
        "0000 00 00 00000032 0018 0000 ffffffff ffffffff 00000000 0016 0008 00000032",
    ),
    piece(
        "chained in a loop",
        "0001 00 00 00000001 0018 0000 ffffffff ffffffff 00000000 0016 0008 00000002",
    ),
    piece(
        "chained to one that does not exist",
        "0000 00 00 00000032 0018 0000 ffffffff ffffffff 00000000 0016 0008 00000063",
    ),
    piece(
        "output:0",
        "0000 00 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 00000000 0000 000000000000",
    ),
    piece(
        "output:ANY",
        "0000 00 00 00000032 0020 0000 ffffffff ffffffff 00000000 0000 0010 ffffffff 0000 000000000000",
    ),
    piece(
        "set in_port",
        "0000 00 00 00000032 0020 0000 ffffffff ffffffff 00000000 0019 0010 80000004 00000001 00000000",
    ),
    piece(
        "unknown action",
        "0000 00 00 00000032 0018 0000 ffffffff ffffffff 00000000 0028 0008 00000000",
    ),
    piece(
        "bucket of length 8",
        "0000 00 00 00000032 0008 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "bucket cut off",
        "0000 00 00 00000032 0028 0000 ffffffff ffffffff 00000000",
    ),
    piece(
        "bucket of length 17",
        "0000 00 00 00000032 0011 0000 ffffffff ffffffff 00000000 00",
    ),
    piece(
        "delete with buckets",
        "0002 00 00 00000001 0010 0000 ffffffff ffffffff 00000000",
    ),
    piece("ends within the body", "0000 00 00"),
];

/// Command, flags, meter, bands.
pub(crate) const GOOD_METERS: &[Piece] = &[
    piece("add", "0000 0001 00000032 0001 0010 000003e8 00000000 00000000"),
    piece(
        "add of packets",
        "0000 0002 00000032 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "add with burst and statistics",
        "0000 000e 00000032 0001 0010 000003e8 00000064 00000000",
    ),
    piece(
        "modify",
        "0001 0001 00000001 0001 0010 00000064 00000000 00000000",
    ),
    piece("delete", "0002 0000 00000001"),
    piece("delete one that does not exist", "0002 0000 00000063"),
    piece("delete all", "0002 0000 ffffffff"),
    piece(
        "add two bands",
        "0000 0001 00000032 0001 0010 000003e8 00000000 00000000 0001 0010 000007d0 00000000 00000000",
    ),
    piece(
        "burst size without its flag",
        "0000 0001 00000032 0001 0010 000003e8 00000064 00000000",
    ),
];

pub(crate) const BAD_METERS: &[Piece] = &[
    piece(
        "add one that exists",
        "0000 0001 00000001 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "modify one that does not exist",
        "0001 0001 00000063 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "meter 0",
        "0000 0001 00000000 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "beyond the last meter",
        "0000 0001 ffff0001 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "beyond what the datapath has",
        "0000 0001 00100000 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "add ALL",
        "0000 0001 ffffffff 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "controller's meter",
        "0000 0001 fffffffe 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "unknown command",
        "0005 0001 00000032 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "no unit",
        "0000 0000 00000032 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "two units",
        "0000 0003 00000032 0001 0010 000003e8 00000000 00000000",
    ),
    piece(
        "unknown flag",
        "0000 0011 00000032 0001 0010 000003e8 00000000 00000000",
    ),
    piece("no band", "0000 0001 00000032"),
    piece(
        "rate 0",
        "0000 0001 00000032 0001 0010 00000000 00000000 00000000",
    ),
    piece(
        "remark band",
        "0000 0001 00000032 0002 0010 000003e8 00000000 01 000000",
    ),
    piece(
        "unknown band",
        "0000 0001 00000032 0009 0010 000003e8 00000000 00000000",
    ),
    piece(
        "experimenter band",
        "0000 0001 00000032 ffff 0010 000003e8 00000000 00abcdef",
    ),
    piece(
        "band of length 12",
        "0000 0001 00000032 0001 000c 000003e8 00000000",
    ),
    piece(
        "band cut off",
        "0000 0001 00000032 0001 0020 000003e8 00000000 00000000",
    ),
    piece(
        "delete with bands",
        "0002 0001 00000001 0001 0010 000003e8 00000000 00000000",
    ),
];

/// A match of every IPv4 packet.
const IP: &str = "80000a02 0800";
