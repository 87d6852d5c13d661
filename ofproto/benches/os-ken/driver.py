"""How long os-ken takes for a message: `driver.py CASE COUNT FILE` prints nanoseconds for COUNT of them.

The cases are those of codec.rs; FILE holds the message. os-ken does not decode GROUP_MOD and PACKET_OUT: their
decoding is no case, and for their encoding the same message is made by hand. What is encoded must equal FILE.
"""

import sys
import time

from os_ken.ofproto import ofproto_parser, ofproto_v1_3 as of, ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

switch = ProtocolDesc(version=of.OFP_VERSION)


def group_mod():
    def bucket(port):
        actions = [
            parser.OFPActionSetField(eth_dst="02:00:00:00:00:09"),
            parser.OFPActionOutput(port, 0),
        ]
        return parser.OFPBucket(0, port, of.OFPG_ANY, actions)

    buckets = [bucket(port) for port in range(1, 5)]
    return parser.OFPGroupMod(switch, of.OFPGC_ADD, of.OFPGT_FF, 7, buckets)


def packet_out():
    actions = [parser.OFPActionOutput(2, 0)]
    return parser.OFPPacketOut(switch, of.OFP_NO_BUFFER, of.OFPP_CONTROLLER, actions, b"\x5a" * 128)


def main(case, count, path):
    with open(path, "rb") as file:
        frame = file.read()
    header = ofproto_parser.header(frame)

    def decode():
        return ofproto_parser.msg(switch, *header, frame)

    made_by_hand = {"encode-group-mod": group_mod, "encode-packet-out": packet_out}
    message = made_by_hand.get(case, decode)()
    if message is None:
        sys.exit("os-ken does not decode this")

    def encode():
        message.buf = None
        message.xid = header[3]
        message.serialize()
        return message.buf

    if case.startswith("encode"):
        assert bytes(encode()) == frame, "another message"
    run = encode if case.startswith("encode") else decode
    start = time.perf_counter_ns()
    for _ in range(count):
        run()
    print(time.perf_counter_ns() - start)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
