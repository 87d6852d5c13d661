//! What is said to the bridge: every message type that it takes, and what makes it send every type that it sends.

use super::Recorder;
use crate::openflow::Client;
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use ofproto::bundle::{BundleControl, BundleControlType, BundleFlags};
use ofproto::{
    ConfigFlags, ControllerRole, Message, MultipartRequest, MultipartRequestBody, PortReason, PortState,
    Role, SwitchConfig, TableId, TableMod,
};
use std::time::{Duration, Instant};

/// Plays the whole script.
pub(super) fn play(recorder: &mut Recorder<'_>) -> Result<()> {
    session(recorder)?;
    groups(recorder)?;
    meters(recorder)?;
    flows(recorder)?;
    refused(recorder)?;
    ports_and_queues(recorder)?;
    events(recorder)?;
    statistics(recorder)?;
    bundles(recorder)?;
    deletions(recorder)
}

fn session(recorder: &mut Recorder<'_>) -> Result<()> {
    recorder.ofctl("probe", &["probe"])?;
    recorder.ofctl("show", &["show"])?;
    recorder.ofctl("dump-desc", &["dump-desc"])?;
    let mut client = recorder.connect()?;
    for (label, message) in [
        ("echo", Message::EchoRequest(Bytes::from_static(b"bicast"))),
        ("features", Message::FeaturesRequest),
        ("get-config", Message::GetConfigRequest),
        ("set-config", set_config(0xffff)),
        ("role-nochange", role(ControllerRole::NoChange, 0)),
        ("role-master", role(ControllerRole::Master, 5)),
        ("role-slave", role(ControllerRole::Slave, 6)),
        ("role-stale", role(ControllerRole::Master, 4)),
        ("role-equal", role(ControllerRole::Equal, 0)),
        ("get-async", Message::GetAsyncRequest),
    ] {
        ask(recorder, &mut client, label, &message)?;
    }
    let replies = client.ask(&Message::GetAsyncRequest)?;
    let [(_, Message::GetAsyncReply(config))] = replies.as_slice() else {
        anyhow::bail!("no asynchronous configuration but {replies:?}");
    };
    ask(
        recorder,
        &mut client,
        "set-async",
        &Message::SetAsync(config.clone()),
    )?;
    let table_mod = Message::TableMod(TableMod {
        table_id: TableId(1),
        config: 3,
    });
    ask(recorder, &mut client, "table-mod", &table_mod)?;
    recorder.hang_up(client);
    Ok(())
}

fn groups(recorder: &mut Recorder<'_>) -> Result<()> {
    for (label, group) in [
        ("group-all", "group_id=1,type=all,bucket=output:1,bucket=output:2"),
        (
            "group-all-rewriting",
            "group_id=2,type=all,bucket=set_field:02:00:00:00:01:01->eth_dst,output:1,bucket=output:in_port",
        ),
        (
            "group-indirect",
            "group_id=3,type=indirect,bucket=dec_ttl,output:2",
        ),
        (
            "group-select",
            "group_id=4,type=select,bucket=weight:10,output:1,bucket=weight:20,output:2",
        ),
        (
            "group-ff",
            "group_id=5,type=ff,bucket=watch_port:1,output:1,bucket=watch_port:2,output:2",
        ),
        (
            "group-ff-watching-a-group",
            "group_id=6,type=ff,bucket=watch_group:5,group:5",
        ),
        ("group-without-buckets", "group_id=7,type=all"),
    ] {
        recorder.ofctl(label, &["add-group", group])?;
    }
    recorder.ofctl("group-mod", &["mod-group", "group_id=1,type=all,bucket=output:2"])?;
    recorder.ofctl(
        "group-add-or-mod",
        &[
            "--may-create",
            "mod-group",
            "group_id=8,type=select,bucket=output:1",
        ],
    )?;
    recorder.ofctl("dump-groups", &["dump-groups"])?;
    recorder.ofctl("dump-group-features", &["dump-group-features"])
}

fn meters(recorder: &mut Recorder<'_>) -> Result<()> {
    recorder.ofctl(
        "meter-kbps",
        &["add-meter", "meter=1,kbps,band=type=drop,rate=1000"],
    )?;
    recorder.ofctl(
        "meter-pktps",
        &[
            "add-meter",
            "meter=2,pktps,burst,stats,band=type=drop,rate=500,burst_size=100",
        ],
    )?;
    recorder.ofctl(
        "meter-mod",
        &["mod-meter", "meter=1,kbps,band=type=drop,rate=2000"],
    )?;
    recorder.ofctl("dump-meters", &["dump-meters"])?;
    recorder.ofctl("dump-meter", &["dump-meters", "meter=2"])?;
    recorder.ofctl("meter-features", &["meter-features"])
}

fn flows(recorder: &mut Recorder<'_>) -> Result<()> {
    for (label, flow) in FLOWS {
        recorder.ofctl(&format!("flow-{label}"), &["add-flow", flow])?;
    }
    recorder.ofctl("flows-mod", &["mod-flows", "udp,tp_dst=5001,actions=output:2"])?;
    recorder.ofctl(
        "flow-mod-strict",
        &[
            "--strict",
            "mod-flows",
            "priority=10,udp,tp_dst=5001,actions=output:1",
        ],
    )
}

/// Errors of many types, and what caused them.
fn refused(recorder: &mut Recorder<'_>) -> Result<()> {
    for (label, command) in [
        (
            "unknown-group",
            &["mod-group", "group_id=99,type=all,bucket=output:1"][..],
        ),
        (
            "group-exists",
            &["add-group", "group_id=1,type=all,bucket=output:1"],
        ),
        (
            "meter-exists",
            &["add-meter", "meter=1,kbps,band=type=drop,rate=1"],
        ),
        (
            "unknown-meter",
            &["mod-meter", "meter=9,kbps,band=type=drop,rate=1"],
        ),
        (
            "remark-band",
            &[
                "add-meter",
                "meter=9,kbps,band=type=dscp_remark,rate=1,prec_level=1",
            ],
        ),
        ("bad-out-group", &["add-flow", "actions=group:99"]),
        ("bad-meter", &["add-flow", "actions=meter:99,output:1"]),
        (
            "overlap",
            &["add-flow", "check_overlap,priority=10,udp,actions=drop"],
        ),
        ("bad-table", &["add-flow", "table=254,actions=drop"]),
        ("no-such-port", &["dump-ports", "77"]),
    ] {
        // Statistics of a port that is not there are none, not a failure of ovs-ofctl.
        let run = recorder.refused(&format!("err-{label}"), command);
        if label != "no-such-port" {
            run?;
        }
    }
    Ok(())
}

fn ports_and_queues(recorder: &mut Recorder<'_>) -> Result<()> {
    recorder.switch.vsctl(&[
        "set",
        "port",
        "p1",
        "qos=@qos",
        "--",
        "--id=@qos",
        "create",
        "qos",
        "type=linux-htb",
        "other-config:max-rate=1000000",
        "queues:1=@queue",
        "--",
        "--id=@queue",
        "create",
        "queue",
        "other-config:min-rate=100000",
        "other-config:max-rate=500000",
    ])?;
    recorder.ofctl("queue-stats", &["queue-stats"])?;
    recorder.ofctl("queue-stats-of-one", &["queue-stats", "1", "1"])?;
    recorder.ofctl("queue-get-config", &["queue-get-config", "1"])?;
    recorder.ofctl("dump-ports", &["dump-ports"])?;
    recorder.ofctl("dump-ports-of-one", &["dump-ports", "1"])?;
    recorder.ofctl("dump-ports-desc", &["dump-ports-desc"])
}

/// What the bridge says unasked.
fn events(recorder: &mut Recorder<'_>) -> Result<()> {
    let mut client = recorder.connect()?;
    ask(recorder, &mut client, "monitor", &set_config(128))?;
    events_of_ports(recorder, &mut client)?;
    events_of_packets(recorder, &mut client)?;
    events_of_flows(recorder, &mut client)?;
    recorder.hang_up(client);
    Ok(())
}

fn events_of_ports(recorder: &mut Recorder<'_>, client: &mut Client) -> Result<()> {
    for (label, change) in [("port-mod", "no-forward"), ("port-mod-back", "forward")] {
        let command = ["mod-port", "2", change];
        wait(recorder, client, label, &command, |message| {
            matches!(message, Message::PortStatus(_))
        })?;
    }
    for (label, command) in [
        (
            "port-added",
            &[
                "add-port",
                "br0",
                "p3",
                "--",
                "set",
                "interface",
                "p3",
                "ofport_request=3",
            ][..],
        ),
        ("port-deleted", &["del-port", "br0", "p3"]),
    ] {
        recorder.switch.vsctl(command)?;
        // It is added first, then live.
        client.wait_for(|message| match message {
            Message::PortStatus(status) => {
                status.reason == PortReason::Delete || status.desc.state.contains(PortState::LIVE)
            }
            _ => false,
        })?;
        recorder.keep(label, &command.join(" "))?;
    }
    Ok(())
}

fn events_of_packets(recorder: &mut Recorder<'_>, client: &mut Client) -> Result<()> {
    for (label, flow) in [
        (
            "by-action",
            "table=0,priority=60900,in_port=1,dl_type=0x88b5,cookie=0x77,actions=controller",
        ),
        (
            "cut",
            "table=0,priority=60901,in_port=2,dl_type=0x88b5,actions=controller(max_len=20)",
        ),
        (
            "by-miss",
            "table=0,priority=60902,in_port=local,dl_type=0x88b5,actions=set_field:5->metadata,goto_table:9",
        ),
        ("missed", "table=9,priority=0,actions=controller"),
    ] {
        recorder.ofctl(&format!("flow-to-controller-{label}"), &["add-flow", flow])?;
    }
    for (label, in_port) in [("by-action", "1"), ("cut", "2"), ("by-miss", "local")] {
        let packet_out = format!("in_port={in_port},packet={PACKET},actions=table");
        let command = ["packet-out", &packet_out];
        wait(
            recorder,
            client,
            &format!("packet-in-{label}"),
            &command,
            |message| matches!(message, Message::PacketIn(_)),
        )?;
    }
    recorder.ofctl(
        "packet-out-to-group",
        &[
            "packet-out",
            &format!("in_port=controller,packet={PACKET},actions=group:1"),
        ],
    )
}

fn events_of_flows(recorder: &mut Recorder<'_>, client: &mut Client) -> Result<()> {
    let is_removed = |message: &Message| matches!(message, Message::FlowRemoved(_));
    let flow = "table=7,priority=3,hard_timeout=1,send_flow_rem,cookie=0x99,tcp,actions=output:1";
    wait(
        recorder,
        client,
        "flow-timed-out",
        &["add-flow", flow],
        is_removed,
    )?;
    recorder.ofctl(
        "flow-to-delete",
        &["add-flow", "table=8,send_flow_rem,actions=group:8"],
    )?;
    let command = ["del-groups", "group_id=8"];
    wait(recorder, client, "flow-of-a-group-deleted", &command, is_removed)?;
    recorder.ofctl(
        "flow-to-delete-too",
        &["add-flow", "table=8,send_flow_rem,actions=drop"],
    )?;
    wait(
        recorder,
        client,
        "flow-deleted",
        &["del-flows", "table=8"],
        is_removed,
    )
}

/// Statistics of flows that have seen packets: three have come to each of the two flows.
fn statistics(recorder: &mut Recorder<'_>) -> Result<()> {
    recorder.ofctl(
        "flow-counted",
        &[
            "add-flow",
            "table=0,priority=60950,in_port=1,dl_type=0x88b6,cookie=0x1234,actions=meter:2,group:4",
        ],
    )?;
    let packet = PACKET.replace("88b5", "88b6");
    for _ in 0..3 {
        let packet_out = format!("in_port=1,packet={packet},actions=table");
        recorder.ofctl("packet-out-counted", &["packet-out", &packet_out])?;
    }
    let start = Instant::now();
    while !recorder
        .switch
        .ofctl("dump-flows", &["dl_type=0x88b6"])?
        .contains("n_packets=3,")
    {
        ensure!(start.elapsed() < PATIENCE, "three packets are not counted");
        std::thread::sleep(Duration::from_millis(50));
    }
    recorder.ofctl("dump-flows-counted", &["dump-flows", "cookie=0x1234/-1"])?;
    recorder.ofctl("dump-aggregate-counted", &["dump-aggregate", "dl_type=0x88b6"])?;
    recorder.ofctl("dump-group-stats-counted", &["dump-group-stats", "group_id=4"])?;
    recorder.ofctl("meter-stats-counted", &["meter-stats", "meter=2"])?;
    recorder.ofctl("dump-flows", &["dump-flows", "table=0"])?;
    recorder.ofctl("dump-flows-to-a-group", &["dump-flows", "out_group=1"])?;
    recorder.ofctl("dump-aggregate", &["dump-aggregate"])?;
    recorder.ofctl("dump-group-stats", &["dump-group-stats"])?;
    recorder.ofctl("meter-stats", &["meter-stats"])?;
    recorder.ofctl("dump-tables", &["dump-tables"])?;
    let mut client = recorder.connect()?;
    let features = Message::MultipartRequest(MultipartRequest {
        more: false,
        body: MultipartRequestBody::TableFeatures(vec![]),
    });
    ask(recorder, &mut client, "table-features", &features)?;
    recorder.hang_up(client);
    Ok(())
}

fn bundles(recorder: &mut Recorder<'_>) -> Result<()> {
    recorder.ofctl_with(
        "bundle-of-flows",
        &["--bundle", "add-flows", "-"],
        "table=20,priority=1,actions=drop\ntable=20,priority=2,ip,actions=output:1\n",
    )?;
    recorder.ofctl_with(
        "bundle-of-flows-and-groups",
        &["bundle", "-"],
        "group add group_id=30,type=all,bucket=output:1\nflow add table=21,actions=group:30\n",
    )?;
    recorder.refused_with(
        "bundle-that-fails",
        &["bundle", "-"],
        "flow add table=22,actions=drop\nflow add table=22,ip,actions=group:99\n",
    )?;
    let mut client = recorder.connect()?;
    for (label, type_) in [
        ("bundle-open", BundleControlType::OpenRequest),
        ("bundle-close", BundleControlType::CloseRequest),
        ("bundle-discard", BundleControlType::DiscardRequest),
        ("bundle-commit-of-none", BundleControlType::CommitRequest),
    ] {
        let control = BundleControl::new(77, type_, BundleFlags::ATOMIC | BundleFlags::ORDERED);
        let message = Message::Experimenter(control.to_experimenter());
        ask(recorder, &mut client, label, &message)?;
    }
    recorder.hang_up(client);
    Ok(())
}

fn deletions(recorder: &mut Recorder<'_>) -> Result<()> {
    for (label, command) in [
        (
            "flow-delete-strict",
            &["--strict", "del-flows", "priority=10,udp,tp_dst=5001"][..],
        ),
        ("flows-delete-by-cookie", &["del-flows", "cookie=0x1200/0xff00"]),
        ("flows-delete-by-port", &["del-flows", "out_port=2"]),
        ("flows-delete-by-group", &["del-flows", "out_group=30"]),
        ("flows-delete", &["del-flows"]),
        ("meter-delete", &["del-meter", "meter=1"]),
        ("meters-delete", &["del-meters"]),
        ("group-delete", &["del-groups", "group_id=2"]),
        ("groups-delete", &["del-groups"]),
    ] {
        recorder.ofctl(label, command)?;
    }
    Ok(())
}

fn ask(recorder: &mut Recorder<'_>, client: &mut Client, label: &str, message: &Message) -> Result<()> {
    client.ask(message).with_context(|| format!("in `{label}`"))?;
    recorder.keep(label, message.name())
}

/// Runs `ovs-ofctl` and waits until the bridge has told a client of what that caused.
fn wait(
    recorder: &mut Recorder<'_>,
    client: &mut Client,
    label: &str,
    command: &[&str],
    wanted: impl Fn(&Message) -> bool,
) -> Result<()> {
    recorder.run(command, "")?;
    client.wait_for(wanted).with_context(|| format!("in `{label}`"))?;
    recorder.keep(label, &command.join(" "))
}

fn set_config(miss_send_len: u16) -> Message {
    Message::SetConfig(SwitchConfig {
        flags: ConfigFlags::empty(),
        miss_send_len,
    })
}

fn role(role: ControllerRole, generation_id: u64) -> Message {
    Message::RoleRequest(Role { role, generation_id })
}

/// Matches, instructions and actions.
const FLOWS: &[(&str, &str)] = &[
    ("group", "in_port=1,actions=group:1"),
    (
        "set-field",
        "priority=5,ip,actions=set_field:8->ip_dscp,set_field:02:00:00:00:01:02->eth_dst,output:2",
    ),
    (
        "udp",
        "priority=10,udp,tp_dst=5001,actions=meter:1,set_field:8->ip_dscp,group:1",
    ),
    (
        "tcp6",
        "priority=11,tcp6,ipv6_src=2001:db8::/32,ipv6_dst=2001:db8::1,tp_src=80,tp_dst=0x400/0xfc00,actions=2",
    ),
    (
        "ip-masked",
        "ip,nw_src=192.0.2.0/24,nw_dst=198.51.100.1,nw_tos=32,nw_ecn=1,actions=output:1",
    ),
    ("icmp", "icmp,icmp_type=8,icmp_code=0,actions=output:1"),
    (
        "icmp6",
        "icmp6,icmp_type=135,icmp_code=0,nd_target=2001:db8::1,nd_sll=02:00:00:00:01:01,actions=output:1",
    ),
    ("sctp", "sctp,tp_dst=99,actions=output:1"),
    (
        "arp",
        "arp,arp_op=1,arp_spa=192.0.2.1,arp_tpa=192.0.2.2,arp_sha=02:00:00:00:01:01,actions=output:local",
    ),
    ("ipv6-label", "ipv6,ipv6_label=0x12345,nw_ttl=64,actions=output:1"),
    ("vlan", "dl_vlan=5,dl_vlan_pcp=3,actions=strip_vlan,output:1"),
    ("vlan-masked", "vlan_tci=0x1000/0x1000,actions=output:1"),
    (
        "vlan-push",
        "dl_type=0x88b5,actions=push_vlan:0x8100,set_field:4101->vlan_vid,set_field:3->vlan_pcp,output:1",
    ),
    (
        "mac-masked",
        "dl_dst=01:00:00:00:00:00/01:00:00:00:00:00,actions=output:flood",
    ),
    (
        "mpls",
        "mpls,mpls_label=16,mpls_tc=2,mpls_bos=1,actions=pop_mpls:0x0800,output:1",
    ),
    (
        "mpls-push",
        "ip,nw_proto=132,actions=push_mpls:0x8847,set_field:99->mpls_label,output:1",
    ),
    ("mpls-ttl", "mpls,mpls_label=17,actions=dec_mpls_ttl,output:1"),
    ("ttl", "ip,nw_ttl=9,actions=dec_ttl,output:1"),
    (
        "metadata",
        "metadata=0x10/0xf0,actions=write_metadata:0xab/0xff,goto_table:3",
    ),
    ("tunnel", "tun_id=0x77,actions=set_field:0x78->tun_id,output:1"),
    (
        "write-actions",
        "priority=12,ip,actions=write_actions(set_field:9->ip_dscp,output:2),goto_table:2",
    ),
    (
        "clear-actions",
        "priority=13,ip,actions=clear_actions,write_actions(group:2),goto_table:2",
    ),
    (
        "timeouts",
        "table=1,idle_timeout=600,hard_timeout=3600,send_flow_rem,reset_counts,cookie=0xabc,actions=drop",
    ),
    (
        "uncounted",
        "table=1,priority=2,no_packet_counts,no_byte_counts,actions=drop",
    ),
    ("queue", "table=1,priority=3,actions=set_queue:1,output:1"),
    (
        "reserved-ports",
        "table=1,priority=4,actions=all,flood,in_port,local,normal,table",
    ),
    ("miss", "table=2,priority=0,actions=controller:128"),
    (
        "ports",
        "table=4,sctp,tp_src=1,actions=set_field:2->sctp_dst,output:1",
    ),
    (
        "registers",
        "table=5,reg0=0x1/0xff,actions=load:5->NXM_NX_REG1[0..7],move:NXM_OF_IN_PORT[]->NXM_NX_REG2[0..15],resubmit(,6)",
    ),
    ("conntrack", "table=5,ip,ct_state=-trk,actions=ct(table=6,zone=5)"),
    (
        "conntrack-nat",
        "table=5,ip,ct_state=+new+trk,actions=ct(commit,nat(src=192.0.2.9)),output:1",
    ),
    (
        "conjunction",
        "table=6,ip,nw_src=192.0.2.7,actions=conjunction(7,1/2)",
    ),
    ("fragments", "table=6,ip,nw_frag=later,actions=drop"),
    ("tcp-flags", "table=6,tcp,tcp_flags=+syn-ack,actions=output:1"),
    ("note", "table=6,priority=9,actions=note:01.02.03,exit"),
];
/// Ethernet, of a type for experiments.
const PACKET: &str = "02000000010202000000010188b5000102030405060708090a0b0c0d0e0f\
                      101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d";
/// Statistics of flows are updated every half a second.
const PATIENCE: Duration = Duration::from_secs(10);
