//! Where Open vSwitch and we differ, and why it stays so.

/// A difference that is known.
#[derive(Debug)]
pub(crate) struct Known {
    /// Part of the case's name.
    case: &'static str,
    /// Our verdict.
    ours: &'static str,
    /// Open vSwitch's; [`ANY`] where ours comes first.
    theirs: &'static str,
    /// Why.
    #[expect(dead_code, reason = "for those who read the list, and for Debug")]
    why: &'static str,
}

impl Known {
    pub(crate) fn explains(&self, case: &str, ours: &str, theirs: &str) -> bool {
        case.contains(self.case) && self.ours == ours && (self.theirs == ANY || self.theirs == theirs)
    }
}

const fn known(case: &'static str, ours: &'static str, theirs: &'static str, why: &'static str) -> Known {
    Known {
        case,
        ours,
        theirs,
        why,
    }
}

const ANY: &str = "any verdict";

/// The fake datapath has the fields and actions that our pipelines use, and refuses all others.
const SMALL: &str = "the fake datapath has what our pipelines use";
/// The fake datapath looks at what a deletion selects, Open vSwitch at its instructions, too.
const DELETES: &str = "deletions of ours have no instructions, and the fake datapath does not look at them";
/// Whatever Open vSwitch would say next.
const NOT_USED: &str = "the controller does not use it, and the fake datapath does not look at it";

pub(crate) const KNOWN: &[Known] = &[
    known("vlan", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("icmp,", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("mpls,", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("tunnel_id=7", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("ip,registers", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("mask on in_port", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("mask on ip_dscp", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("mpls_label=0x100000", "OFPBMC_BAD_FIELD", ANY, SMALL),
    known("push_vlan", "OFPBAC_BAD_TYPE", ANY, SMALL),
    known("push_mpls", "OFPBAC_BAD_TYPE", ANY, SMALL),
    known("set_queue:1", "OFPBAC_BAD_TYPE", ANY, SMALL),
    known("pop_mpls without MPLS", "OFPBAC_BAD_TYPE", ANY, SMALL),
    known("pop_vlan without VLAN", "OFPBAC_BAD_TYPE", ANY, SMALL),
    known("set tunnel_id", "OFPBAC_BAD_SET_TYPE", ANY, SMALL),
    known("set in_port", "OFPBAC_BAD_SET_TYPE", ANY, SMALL),
    known("set eth_type", "OFPBAC_BAD_SET_TYPE", ANY, SMALL),
    known("set unknown field", "OFPBAC_BAD_SET_TYPE", ANY, SMALL),
    known("set vlan_pcp without VLAN", "OFPBAC_BAD_SET_TYPE", ANY, SMALL),
    known("flow: delete", "accepted", ANY, DELETES),
    known(
        "modify strictly",
        "OFPBAC_BAD_OUT_GROUP",
        "accepted",
        "nothing is modified, and Open vSwitch looks for the group when something is",
    ),
    known(
        "modify strictly",
        "OFPMMFC_INVALID_METER",
        "accepted",
        "nothing is modified, and Open vSwitch looks for the meter when something is",
    ),
    known("check_overlap", "accepted", "OFPFMFC_OVERLAP", NOT_USED),
    known("in table 254", "accepted", "OFPBRC_EPERM", NOT_USED),
    known(
        "add to table 254",
        "OFPFMFC_BAD_TABLE_ID",
        ANY,
        "the highest table is Open vSwitch's own; for the fake datapath there is none",
    ),
    known(
        "output:0",
        "OFPBAC_BAD_OUT_PORT",
        "accepted",
        "port 0 is none: the fake datapath finds a mistake that Open vSwitch lets pass",
    ),
    known(
        "goto table 255",
        "OFPBIC_BAD_TABLE_ID",
        "accepted",
        "there is no table 255: the fake datapath finds a mistake that Open vSwitch lets pass",
    ),
    known(
        "instruction twice",
        "accepted",
        "experimenter 0x4f4e4600 error 2600",
        "§7.2.4 allows one instruction of a type; the decoder keeps what others send, and the compiler makes one",
    ),
    known(
        "instruction of length 12",
        "OFPBIC_BAD_LEN",
        "OFPBRC_BAD_LEN",
        "§7.4.4: the length that is wrong is that of an instruction",
    ),
    known(
        "field of wrong length",
        "OFPBMC_BAD_LEN",
        "OFPBMC_BAD_FIELD",
        "§7.4.4: the field is known, its length is wrong; Open vSwitch knows fields by both",
    ),
    known(
        "value outside its mask",
        "accepted",
        "OFPBMC_BAD_WILDCARDS",
        "§7.2.3.5: a switch may refuse it; the decoder keeps it and the encoder is asked for canonical matches",
    ),
    known(
        "set with dirty padding",
        "accepted",
        "OFPBAC_BAD_SET_ARGUMENT",
        "padding is zero when sent and ignored when received",
    ),
    known(
        "set nw_src in part",
        "OFPBAC_BAD_SET_LEN",
        "experimenter 0x4f4e4600 error 4250",
        "OpenFlow 1.3 has no masks there, and no code for them; Open vSwitch takes that of an extension",
    ),
    known(
        "bucket of length 17",
        "OFPGMFC_BAD_BUCKET",
        "OFPBRC_BAD_LEN",
        "§7.3.4.3: a bucket's length is a multiple of 8; Open vSwitch takes the odd byte for an action cut off",
    ),
    known(
        "group: output:ANY",
        "accepted",
        "OFPBAC_BAD_OUT_PORT",
        "the fake datapath does not look at the actions of buckets",
    ),
    known(
        "group: set in_port",
        "accepted",
        "OFPBAC_BAD_SET_ARGUMENT",
        "the fake datapath does not look at the actions of buckets",
    ),
    known(
        "group: unknown action",
        "accepted",
        "OFPBAC_BAD_TYPE",
        "the fake datapath does not look at the actions of buckets",
    ),
    known(
        "add two bands",
        "OFPMMFC_OUT_OF_BANDS",
        "accepted",
        "the kernel's datapath takes one band, and so does the fake one",
    ),
    known(
        "controller's meter",
        "OFPMMFC_INVALID_METER",
        "accepted",
        "a virtual meter that no policy uses",
    ),
];
