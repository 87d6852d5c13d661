//! Known answers of actions, and which are refused.

use super::*;
use crate::vector::{bytes, check};
use crate::{BufferId, Message, PacketOut};

#[test]
fn action_vectors() {
    check(&[(
        "04 0d 00c8 00000006 ffffffff fffffffd 00b0 000000000000
         0000 0010 fffffffd 0080 000000000000    # output to the controller, 128 bytes
         000b 0008 00000000                      # copy TTL out
         000c 0008 00000000                      # copy TTL in
         000f 0008 40 000000                     # set MPLS TTL
         0010 0008 00000000                      # decrement MPLS TTL
         0011 0008 8100 0000                     # push VLAN
         0012 0008 00000000                      # pop VLAN
         0013 0008 8847 0000                     # push MPLS
         0014 0008 0800 0000                     # pop MPLS
         0015 0008 00000007                      # set queue
         0016 0008 00000009                      # group
         0017 0008 3f 000000                     # set IP TTL
         0018 0008 00000000                      # decrement IP TTL
         0019 0010 80001001 2e 00000000000000    # set ip_dscp
         001a 0008 88e7 0000                     # push PBB
         001b 0008 00000000                      # pop PBB
         ffff 0010 00002320 0102030405060708     # an experimenter's
         1234 0010 010203040506070809101112      # unknown",
        Message::PacketOut(PacketOut {
            buffer_id: BufferId::NO_BUFFER,
            in_port: PortNo::CONTROLLER,
            actions: list![
                Action::Output {
                    port: PortNo::CONTROLLER,
                    max_len: 128,
                },
                Action::CopyTtlOut,
                Action::CopyTtlIn,
                Action::SetMplsTtl(64),
                Action::DecMplsTtl,
                Action::PushVlan(0x8100),
                Action::PopVlan,
                Action::PushMpls(0x8847),
                Action::PopMpls(0x0800),
                Action::SetQueue(7),
                Action::Group(GroupId(9)),
                Action::SetNwTtl(63),
                Action::DecNwTtl,
                Action::SetField(OxmField::IpDscp(46)),
                Action::PushPbb(0x88e7),
                Action::PopPbb,
                Action::Experimenter {
                    experimenter: 0x2320,
                    data: Bytes::from_static(&[1, 2, 3, 4, 5, 6, 7, 8]),
                },
                Action::Unknown {
                    type_: 0x1234,
                    data: Bytes::from_static(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x11, 0x12]),
                },
            ],
            data: Bytes::new(),
        }),
    )]);
}

#[test]
fn bad_actions_are_refused_with_the_right_answer() {
    for (actions, context, answer) in [
        ("0012 0004 00000000", "ofp_action_header.len", "OFPBAC_BAD_LEN"),
        ("0012 000c 00000000", "ofp_action_header.len", "OFPBAC_BAD_LEN"),
        ("0012 0010 00000000", "ofp_action_header.len", "OFPBAC_BAD_LEN"),
        (
            "0012 0010 0000000000000000 00000000",
            "ofp_action_header.len",
            "OFPBAC_BAD_LEN",
        ),
        ("0000 0008 00000001", "ofp_action_output", "OFPBAC_BAD_LEN"),
        (
            "0019 0008 80001004",
            "oxm_header.oxm_length",
            "OFPBAC_BAD_SET_LEN",
        ),
        (
            "0019 0010 80001002 0102 000000000000",
            "OFPXMT_OFB_IP_DSCP",
            "OFPBAC_BAD_SET_LEN",
        ),
        (
            "0019 0018 80001001 01 000000000000000000000000000000",
            "ofp_action_set_field.field",
            "OFPBAC_BAD_SET_LEN",
        ),
    ] {
        let actions = bytes(actions);
        let mut frame = bytes("04 0d 0000 00000006 ffffffff fffffffd 0000 000000000000");
        frame[3] = u8::try_from(24 + actions.len()).unwrap();
        frame[17] = u8::try_from(actions.len()).unwrap();
        frame.extend(actions);
        let error = Message::decode(&frame.into()).unwrap_err();
        assert_eq!(
            (error.context, error.answer.to_string().as_str()),
            (context, answer),
            "{error}"
        );
    }
}

#[test]
fn whole_packets_go_to_the_controller() {
    assert_eq!(
        Action::output(PortNo::CONTROLLER),
        Action::Output {
            port: PortNo::CONTROLLER,
            max_len: MAX_LEN_NO_BUFFER
        }
    );
    assert_eq!(
        Action::output(PortNo(1)),
        Action::Output {
            port: PortNo(1),
            max_len: 0
        }
    );
}
