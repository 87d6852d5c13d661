/* The same messages through Open vSwitch's own codec: `driver CASE COUNT FRAME` prints nanoseconds for all COUNT. */
#include <config.h>
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "openflow/openflow.h"
#include "openvswitch/ofp-actions.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-group.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-packet.h"
#include "openvswitch/ofp-protocol.h"
#include "openvswitch/ofpbuf.h"

#define PROTOCOL OFPUTIL_P_OF13_OXM

static long
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Replies arrive in a buffer from which the decoder pulls. */
static struct ofpbuf
as_reply(void *frame, size_t length)
{
    struct ofpbuf msg;
    ofpbuf_use_const(&msg, frame, length);
    return msg;
}

int
main(int argc, char *argv[])
{
    assert(argc == 4);
    const char *name = argv[1];
    long count = atol(argv[2]);
    static char frame[65536] __attribute__((aligned(8)));
    FILE *file = fopen(argv[3], "rb");
    assert(file);
    size_t length = fread(frame, 1, sizeof frame, file);
    fclose(file);
    const struct ofp_header *oh = (const struct ofp_header *) frame;

    struct ofpbuf ofpacts;
    ofpbuf_init(&ofpacts, 1024);
    long start;

    if (!strcmp(name, "decode-packet-in")) {
        start = now();
        for (long i = 0; i < count; i++) {
            struct ofputil_packet_in pin;
            size_t total_len;
            uint32_t buffer_id;
            assert(!ofputil_decode_packet_in(oh, false, NULL, NULL, &pin, &total_len, &buffer_id, NULL));
        }
    } else if (!strcmp(name, "decode-flow-mod") || !strcmp(name, "encode-flow-mod")) {
        struct ofputil_flow_mod fm;
        bool decode = name[0] == 'd';
        assert(!ofputil_decode_flow_mod(&fm, oh, PROTOCOL, NULL, NULL, &ofpacts, OFPP_MAX, 255));
        start = now();
        for (long i = 0; i < count; i++) {
            if (decode) {
                ofpbuf_clear(&ofpacts);
                minimatch_destroy(&fm.match);
                assert(!ofputil_decode_flow_mod(&fm, oh, PROTOCOL, NULL, NULL, &ofpacts, OFPP_MAX, 255));
            } else {
                ofpbuf_delete(ofputil_encode_flow_mod(&fm, PROTOCOL));
            }
        }
    } else if (!strcmp(name, "decode-group-mod") || !strcmp(name, "encode-group-mod")) {
        struct ofputil_group_mod gm;
        bool decode = name[0] == 'd';
        assert(!ofputil_decode_group_mod(oh, &gm));
        start = now();
        for (long i = 0; i < count; i++) {
            if (decode) {
                ofputil_uninit_group_mod(&gm);
                assert(!ofputil_decode_group_mod(oh, &gm));
            } else {
                ofpbuf_delete(ofputil_encode_group_mod(OFP13_VERSION, &gm, NULL, -1));
            }
        }
    } else if (!strcmp(name, "decode-flow-stats")) {
        start = now();
        for (long i = 0; i < count; i++) {
            struct ofpbuf msg = as_reply(frame, length);
            struct ofputil_flow_stats fs;
            int error, n = 0;
            while (!(error = ofputil_decode_flow_stats_reply(&fs, &msg, false, &ofpacts))) {
                n++;
            }
            assert(error == EOF && n == 500);
        }
    } else if (!strcmp(name, "decode-meter-stats")) {
        start = now();
        for (long i = 0; i < count; i++) {
            struct ofpbuf msg = as_reply(frame, length);
            struct ofputil_meter_stats ms;
            int error, n = 0;
            while (!(error = ofputil_decode_meter_stats(&msg, &ms, &ofpacts))) {
                n++;
            }
            assert(error == EOF && n == 16);
        }
    } else {
        struct ofputil_packet_out po;
        assert(!strcmp(name, "encode-packet-out"));
        assert(!ofputil_decode_packet_out(&po, oh, NULL, &ofpacts));
        start = now();
        for (long i = 0; i < count; i++) {
            ofpbuf_delete(ofputil_encode_packet_out(&po, PROTOCOL));
        }
    }
    printf("%ld\n", now() - start);
    return 0;
}
