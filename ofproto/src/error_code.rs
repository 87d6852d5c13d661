//! Every error code, by name.

use std::fmt;

/// Type and code of an `OFPT_ERROR`: `ofp_error_type` and its `ofp_*_code`, OpenFlow 1.3.5 §7.4.4.
///
/// An open code point: codes that are not listed here are kept and print as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode {
    type_: u16,
    code: u16,
    experimenter: u32,
}

impl ErrorCode {
    /// The error of the given type and code.
    #[must_use]
    pub const fn new(type_: u16, code: u16) -> Self {
        Self {
            type_,
            code,
            experimenter: 0,
        }
    }

    /// An experimenter's error, `ofp_error_experimenter_msg`.
    #[must_use]
    pub const fn from_experimenter(experimenter: u32, exp_type: u16) -> Self {
        Self {
            type_: EXPERIMENTER,
            code: exp_type,
            experimenter,
        }
    }

    /// `ofp_error_type`; 0xffff for an experimenter's error.
    #[must_use]
    pub const fn type_(self) -> u16 {
        self.type_
    }

    /// The code within the type; for an experimenter's error its `exp_type`.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.code
    }

    /// The experimenter whose error this is.
    #[must_use]
    pub const fn experimenter(self) -> Option<u32> {
        if self.type_ == EXPERIMENTER {
            Some(self.experimenter)
        } else {
            None
        }
    }
}

impl fmt::Display for ErrorCode {
    /// The C name, e.g. `OFPBAC_BAD_OUT_GROUP`; numbers where there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.experimenter()) {
            (Some(name), _) => f.write_str(name),
            (None, Some(experimenter)) => {
                write!(f, "experimenter {experimenter:#010x} error {}", self.code)
            }
            (None, None) => write!(f, "error type {} code {}", self.type_, self.code),
        }
    }
}

macro_rules! error_codes {
    ($($const_name:ident = ($experimenter:expr, $type_:expr, $code:expr), $c_name:literal, $text:literal;)*) => {
        impl ErrorCode {
            $(
                #[doc = concat!("`", $c_name, "`: ", $text)]
                pub const $const_name: Self =
                    Self { type_: $type_, code: $code, experimenter: $experimenter };
            )*

            /// The C name, when the code is one of those listed here.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                Some(match self {
                    $(Self::$const_name => $c_name,)*
                    _ => return None,
                })
            }
        }
    };
}

/// `OFPET_EXPERIMENTER`.
pub(crate) const EXPERIMENTER: u16 = 0xffff;
/// The Open Networking Foundation as experimenter.
const ONF: u32 = 0x4f4e_4600;

error_codes! {
    // HELLO_FAILED
    HELLO_FAILED_INCOMPATIBLE = (0, 0, 0), "OFPHFC_INCOMPATIBLE", "No version in common.";
    HELLO_FAILED_EPERM = (0, 0, 1), "OFPHFC_EPERM", "Permission denied.";
    // BAD_REQUEST
    BAD_REQUEST_BAD_VERSION = (0, 1, 0), "OFPBRC_BAD_VERSION", "The header's version is not supported.";
    BAD_REQUEST_BAD_TYPE = (0, 1, 1), "OFPBRC_BAD_TYPE", "The header's type is not supported.";
    BAD_REQUEST_BAD_MULTIPART = (0, 1, 2), "OFPBRC_BAD_MULTIPART", "The multipart type is not supported.";
    BAD_REQUEST_BAD_EXPERIMENTER = (0, 1, 3), "OFPBRC_BAD_EXPERIMENTER", "The experimenter is not supported.";
    BAD_REQUEST_BAD_EXP_TYPE = (0, 1, 4), "OFPBRC_BAD_EXP_TYPE", "The experimenter's type is not supported.";
    BAD_REQUEST_EPERM = (0, 1, 5), "OFPBRC_EPERM", "Permission denied.";
    BAD_REQUEST_BAD_LEN = (0, 1, 6), "OFPBRC_BAD_LEN", "The length is wrong for the type.";
    BAD_REQUEST_BUFFER_EMPTY = (0, 1, 7), "OFPBRC_BUFFER_EMPTY", "The buffer has been used already.";
    BAD_REQUEST_BUFFER_UNKNOWN = (0, 1, 8), "OFPBRC_BUFFER_UNKNOWN", "The buffer does not exist.";
    BAD_REQUEST_BAD_TABLE_ID = (0, 1, 9), "OFPBRC_BAD_TABLE_ID", "The table is invalid or does not exist.";
    BAD_REQUEST_IS_SLAVE = (0, 1, 10), "OFPBRC_IS_SLAVE", "Refused because the controller is a slave.";
    BAD_REQUEST_BAD_PORT = (0, 1, 11), "OFPBRC_BAD_PORT", "The port is invalid.";
    BAD_REQUEST_BAD_PACKET = (0, 1, 12), "OFPBRC_BAD_PACKET", "The packet in the packet-out is invalid.";
    BAD_REQUEST_MULTIPART_BUFFER_OVERFLOW = (0, 1, 13), "OFPBRC_MULTIPART_BUFFER_OVERFLOW", "The segmented request overflowed the buffer.";
    // BAD_ACTION
    BAD_ACTION_BAD_TYPE = (0, 2, 0), "OFPBAC_BAD_TYPE", "The action type is unknown.";
    BAD_ACTION_BAD_LEN = (0, 2, 1), "OFPBAC_BAD_LEN", "An action's length is wrong.";
    BAD_ACTION_BAD_EXPERIMENTER = (0, 2, 2), "OFPBAC_BAD_EXPERIMENTER", "The experimenter is unknown.";
    BAD_ACTION_BAD_EXP_TYPE = (0, 2, 3), "OFPBAC_BAD_EXP_TYPE", "The experimenter's action is unknown.";
    BAD_ACTION_BAD_OUT_PORT = (0, 2, 4), "OFPBAC_BAD_OUT_PORT", "The output port cannot be used.";
    BAD_ACTION_BAD_ARGUMENT = (0, 2, 5), "OFPBAC_BAD_ARGUMENT", "An action's argument is bad.";
    BAD_ACTION_EPERM = (0, 2, 6), "OFPBAC_EPERM", "Permission denied.";
    BAD_ACTION_TOO_MANY = (0, 2, 7), "OFPBAC_TOO_MANY", "More actions than the switch can hold.";
    BAD_ACTION_BAD_QUEUE = (0, 2, 8), "OFPBAC_BAD_QUEUE", "The output queue cannot be used.";
    BAD_ACTION_BAD_OUT_GROUP = (0, 2, 9), "OFPBAC_BAD_OUT_GROUP", "The group of a group action does not exist.";
    BAD_ACTION_MATCH_INCONSISTENT = (0, 2, 10), "OFPBAC_MATCH_INCONSISTENT", "The action cannot apply to this match, or a prerequisite is missing.";
    BAD_ACTION_UNSUPPORTED_ORDER = (0, 2, 11), "OFPBAC_UNSUPPORTED_ORDER", "The order of the actions is not supported.";
    BAD_ACTION_BAD_TAG = (0, 2, 12), "OFPBAC_BAD_TAG", "An action uses an unsupported tag.";
    BAD_ACTION_BAD_SET_TYPE = (0, 2, 13), "OFPBAC_BAD_SET_TYPE", "The field of a set-field is not supported.";
    BAD_ACTION_BAD_SET_LEN = (0, 2, 14), "OFPBAC_BAD_SET_LEN", "The length of a set-field's field is wrong.";
    BAD_ACTION_BAD_SET_ARGUMENT = (0, 2, 15), "OFPBAC_BAD_SET_ARGUMENT", "The value of a set-field is bad.";
    // BAD_INSTRUCTION
    BAD_INSTRUCTION_UNKNOWN_INST = (0, 3, 0), "OFPBIC_UNKNOWN_INST", "The instruction is unknown.";
    BAD_INSTRUCTION_UNSUP_INST = (0, 3, 1), "OFPBIC_UNSUP_INST", "The switch or table does not support the instruction.";
    BAD_INSTRUCTION_BAD_TABLE_ID = (0, 3, 2), "OFPBIC_BAD_TABLE_ID", "The table of a goto-table is invalid.";
    BAD_INSTRUCTION_UNSUP_METADATA = (0, 3, 3), "OFPBIC_UNSUP_METADATA", "The metadata value is not supported.";
    BAD_INSTRUCTION_UNSUP_METADATA_MASK = (0, 3, 4), "OFPBIC_UNSUP_METADATA_MASK", "The metadata mask is not supported.";
    BAD_INSTRUCTION_BAD_EXPERIMENTER = (0, 3, 5), "OFPBIC_BAD_EXPERIMENTER", "The experimenter is unknown.";
    BAD_INSTRUCTION_BAD_EXP_TYPE = (0, 3, 6), "OFPBIC_BAD_EXP_TYPE", "The experimenter's instruction is unknown.";
    BAD_INSTRUCTION_BAD_LEN = (0, 3, 7), "OFPBIC_BAD_LEN", "An instruction's length is wrong.";
    BAD_INSTRUCTION_EPERM = (0, 3, 8), "OFPBIC_EPERM", "Permission denied.";
    // BAD_MATCH
    BAD_MATCH_BAD_TYPE = (0, 4, 0), "OFPBMC_BAD_TYPE", "The match type is not supported.";
    BAD_MATCH_BAD_LEN = (0, 4, 1), "OFPBMC_BAD_LEN", "The match's length is wrong.";
    BAD_MATCH_BAD_TAG = (0, 4, 2), "OFPBMC_BAD_TAG", "The match uses an unsupported tag or encapsulation.";
    BAD_MATCH_BAD_DL_ADDR_MASK = (0, 4, 3), "OFPBMC_BAD_DL_ADDR_MASK", "The mask of an Ethernet address is not supported.";
    BAD_MATCH_BAD_NW_ADDR_MASK = (0, 4, 4), "OFPBMC_BAD_NW_ADDR_MASK", "The mask of a network address is not supported.";
    BAD_MATCH_BAD_WILDCARDS = (0, 4, 5), "OFPBMC_BAD_WILDCARDS", "The combination of omitted or masked fields is not supported.";
    BAD_MATCH_BAD_FIELD = (0, 4, 6), "OFPBMC_BAD_FIELD", "A field is not supported.";
    BAD_MATCH_BAD_VALUE = (0, 4, 7), "OFPBMC_BAD_VALUE", "A field's value is not supported.";
    BAD_MATCH_BAD_MASK = (0, 4, 8), "OFPBMC_BAD_MASK", "A mask is not supported.";
    BAD_MATCH_BAD_PREREQ = (0, 4, 9), "OFPBMC_BAD_PREREQ", "A prerequisite of a field is missing.";
    BAD_MATCH_DUP_FIELD = (0, 4, 10), "OFPBMC_DUP_FIELD", "A field is given twice.";
    BAD_MATCH_EPERM = (0, 4, 11), "OFPBMC_EPERM", "Permission denied.";
    // FLOW_MOD_FAILED
    FLOW_MOD_FAILED_UNKNOWN = (0, 5, 0), "OFPFMFC_UNKNOWN", "No reason given.";
    FLOW_MOD_FAILED_TABLE_FULL = (0, 5, 1), "OFPFMFC_TABLE_FULL", "The table is full.";
    FLOW_MOD_FAILED_BAD_TABLE_ID = (0, 5, 2), "OFPFMFC_BAD_TABLE_ID", "The table does not exist.";
    FLOW_MOD_FAILED_OVERLAP = (0, 5, 3), "OFPFMFC_OVERLAP", "An overlapping flow exists and CHECK_OVERLAP was set.";
    FLOW_MOD_FAILED_EPERM = (0, 5, 4), "OFPFMFC_EPERM", "Permission denied.";
    FLOW_MOD_FAILED_BAD_TIMEOUT = (0, 5, 5), "OFPFMFC_BAD_TIMEOUT", "The timeout is not supported.";
    FLOW_MOD_FAILED_BAD_COMMAND = (0, 5, 6), "OFPFMFC_BAD_COMMAND", "The command is not supported.";
    FLOW_MOD_FAILED_BAD_FLAGS = (0, 5, 7), "OFPFMFC_BAD_FLAGS", "The flags are not supported.";
    // GROUP_MOD_FAILED
    GROUP_MOD_FAILED_GROUP_EXISTS = (0, 6, 0), "OFPGMFC_GROUP_EXISTS", "The group to add exists already.";
    GROUP_MOD_FAILED_INVALID_GROUP = (0, 6, 1), "OFPGMFC_INVALID_GROUP", "The group is invalid.";
    GROUP_MOD_FAILED_WEIGHT_UNSUPPORTED = (0, 6, 2), "OFPGMFC_WEIGHT_UNSUPPORTED", "Unequal weights are not supported.";
    GROUP_MOD_FAILED_OUT_OF_GROUPS = (0, 6, 3), "OFPGMFC_OUT_OF_GROUPS", "The group table is full.";
    GROUP_MOD_FAILED_OUT_OF_BUCKETS = (0, 6, 4), "OFPGMFC_OUT_OF_BUCKETS", "More buckets than the group can hold.";
    GROUP_MOD_FAILED_CHAINING_UNSUPPORTED = (0, 6, 5), "OFPGMFC_CHAINING_UNSUPPORTED", "Groups that forward to groups are not supported.";
    GROUP_MOD_FAILED_WATCH_UNSUPPORTED = (0, 6, 6), "OFPGMFC_WATCH_UNSUPPORTED", "The group cannot watch the given port or group.";
    GROUP_MOD_FAILED_LOOP = (0, 6, 7), "OFPGMFC_LOOP", "The group would loop.";
    GROUP_MOD_FAILED_UNKNOWN_GROUP = (0, 6, 8), "OFPGMFC_UNKNOWN_GROUP", "The group to modify does not exist.";
    GROUP_MOD_FAILED_CHAINED_GROUP = (0, 6, 9), "OFPGMFC_CHAINED_GROUP", "Another group forwards to the group.";
    GROUP_MOD_FAILED_BAD_TYPE = (0, 6, 10), "OFPGMFC_BAD_TYPE", "The group type is not supported.";
    GROUP_MOD_FAILED_BAD_COMMAND = (0, 6, 11), "OFPGMFC_BAD_COMMAND", "The command is not supported.";
    GROUP_MOD_FAILED_BAD_BUCKET = (0, 6, 12), "OFPGMFC_BAD_BUCKET", "A bucket is invalid.";
    GROUP_MOD_FAILED_BAD_WATCH = (0, 6, 13), "OFPGMFC_BAD_WATCH", "A watched port or group is invalid.";
    GROUP_MOD_FAILED_EPERM = (0, 6, 14), "OFPGMFC_EPERM", "Permission denied.";
    // PORT_MOD_FAILED
    PORT_MOD_FAILED_BAD_PORT = (0, 7, 0), "OFPPMFC_BAD_PORT", "The port does not exist.";
    PORT_MOD_FAILED_BAD_HW_ADDR = (0, 7, 1), "OFPPMFC_BAD_HW_ADDR", "The hardware address is not the port's.";
    PORT_MOD_FAILED_BAD_CONFIG = (0, 7, 2), "OFPPMFC_BAD_CONFIG", "The configuration is invalid.";
    PORT_MOD_FAILED_BAD_ADVERTISE = (0, 7, 3), "OFPPMFC_BAD_ADVERTISE", "The advertised features are invalid.";
    PORT_MOD_FAILED_EPERM = (0, 7, 4), "OFPPMFC_EPERM", "Permission denied.";
    // TABLE_MOD_FAILED
    TABLE_MOD_FAILED_BAD_TABLE = (0, 8, 0), "OFPTMFC_BAD_TABLE", "The table does not exist.";
    TABLE_MOD_FAILED_BAD_CONFIG = (0, 8, 1), "OFPTMFC_BAD_CONFIG", "The configuration is invalid.";
    TABLE_MOD_FAILED_EPERM = (0, 8, 2), "OFPTMFC_EPERM", "Permission denied.";
    // QUEUE_OP_FAILED
    QUEUE_OP_FAILED_BAD_PORT = (0, 9, 0), "OFPQOFC_BAD_PORT", "The port is invalid.";
    QUEUE_OP_FAILED_BAD_QUEUE = (0, 9, 1), "OFPQOFC_BAD_QUEUE", "The queue does not exist.";
    QUEUE_OP_FAILED_EPERM = (0, 9, 2), "OFPQOFC_EPERM", "Permission denied.";
    // SWITCH_CONFIG_FAILED
    SWITCH_CONFIG_FAILED_BAD_FLAGS = (0, 10, 0), "OFPSCFC_BAD_FLAGS", "The flags are invalid.";
    SWITCH_CONFIG_FAILED_BAD_LEN = (0, 10, 1), "OFPSCFC_BAD_LEN", "The miss length is invalid.";
    SWITCH_CONFIG_FAILED_EPERM = (0, 10, 2), "OFPSCFC_EPERM", "Permission denied.";
    // ROLE_REQUEST_FAILED
    ROLE_REQUEST_FAILED_STALE = (0, 11, 0), "OFPRRFC_STALE", "The generation id is old.";
    ROLE_REQUEST_FAILED_UNSUP = (0, 11, 1), "OFPRRFC_UNSUP", "Changing the role is not supported.";
    ROLE_REQUEST_FAILED_BAD_ROLE = (0, 11, 2), "OFPRRFC_BAD_ROLE", "The role is invalid.";
    // METER_MOD_FAILED
    METER_MOD_FAILED_UNKNOWN = (0, 12, 0), "OFPMMFC_UNKNOWN", "No reason given.";
    METER_MOD_FAILED_METER_EXISTS = (0, 12, 1), "OFPMMFC_METER_EXISTS", "The meter to add exists already.";
    METER_MOD_FAILED_INVALID_METER = (0, 12, 2), "OFPMMFC_INVALID_METER", "The meter is invalid.";
    METER_MOD_FAILED_UNKNOWN_METER = (0, 12, 3), "OFPMMFC_UNKNOWN_METER", "The meter to modify does not exist.";
    METER_MOD_FAILED_BAD_COMMAND = (0, 12, 4), "OFPMMFC_BAD_COMMAND", "The command is not supported.";
    METER_MOD_FAILED_BAD_FLAGS = (0, 12, 5), "OFPMMFC_BAD_FLAGS", "The flags are not supported.";
    METER_MOD_FAILED_BAD_RATE = (0, 12, 6), "OFPMMFC_BAD_RATE", "The rate is not supported.";
    METER_MOD_FAILED_BAD_BURST = (0, 12, 7), "OFPMMFC_BAD_BURST", "The burst size is not supported.";
    METER_MOD_FAILED_BAD_BAND = (0, 12, 8), "OFPMMFC_BAD_BAND", "The band is not supported.";
    METER_MOD_FAILED_BAD_BAND_VALUE = (0, 12, 9), "OFPMMFC_BAD_BAND_VALUE", "The band's value is not supported.";
    METER_MOD_FAILED_OUT_OF_METERS = (0, 12, 10), "OFPMMFC_OUT_OF_METERS", "No more meters.";
    METER_MOD_FAILED_OUT_OF_BANDS = (0, 12, 11), "OFPMMFC_OUT_OF_BANDS", "More bands than a meter can hold.";
    // TABLE_FEATURES_FAILED
    TABLE_FEATURES_FAILED_BAD_TABLE = (0, 13, 0), "OFPTFFC_BAD_TABLE", "The table does not exist.";
    TABLE_FEATURES_FAILED_BAD_METADATA = (0, 13, 1), "OFPTFFC_BAD_METADATA", "The metadata mask is invalid.";
    TABLE_FEATURES_FAILED_BAD_TYPE = (0, 13, 2), "OFPTFFC_BAD_TYPE", "The property type is unknown.";
    TABLE_FEATURES_FAILED_BAD_LEN = (0, 13, 3), "OFPTFFC_BAD_LEN", "A property's length is wrong.";
    TABLE_FEATURES_FAILED_BAD_ARGUMENT = (0, 13, 4), "OFPTFFC_BAD_ARGUMENT", "A property's value is not supported.";
    TABLE_FEATURES_FAILED_EPERM = (0, 13, 5), "OFPTFFC_EPERM", "Permission denied.";
    // BUNDLE_FAILED, the ONF extension 230 of OpenFlow 1.3
    BUNDLE_FAILED_UNKNOWN = (ONF, EXPERIMENTER, 2300), "OFPBFC_UNKNOWN", "No reason given.";
    BUNDLE_FAILED_EPERM = (ONF, EXPERIMENTER, 2301), "OFPBFC_EPERM", "Permission denied.";
    BUNDLE_FAILED_BAD_ID = (ONF, EXPERIMENTER, 2302), "OFPBFC_BAD_ID", "The bundle does not exist.";
    BUNDLE_FAILED_BUNDLE_EXIST = (ONF, EXPERIMENTER, 2303), "OFPBFC_BUNDLE_EXIST", "The bundle exists already.";
    BUNDLE_FAILED_BUNDLE_CLOSED = (ONF, EXPERIMENTER, 2304), "OFPBFC_BUNDLE_CLOSED", "The bundle is closed.";
    BUNDLE_FAILED_OUT_OF_BUNDLES = (ONF, EXPERIMENTER, 2305), "OFPBFC_OUT_OF_BUNDLES", "Too many bundles.";
    BUNDLE_FAILED_BAD_TYPE = (ONF, EXPERIMENTER, 2306), "OFPBFC_BAD_TYPE", "The control type is not supported.";
    BUNDLE_FAILED_BAD_FLAGS = (ONF, EXPERIMENTER, 2307), "OFPBFC_BAD_FLAGS", "The flags are not supported or not those of the bundle.";
    BUNDLE_FAILED_MSG_BAD_LEN = (ONF, EXPERIMENTER, 2308), "OFPBFC_MSG_BAD_LEN", "The length of the message in the bundle is wrong.";
    BUNDLE_FAILED_MSG_BAD_XID = (ONF, EXPERIMENTER, 2309), "OFPBFC_MSG_BAD_XID", "The message's transaction id is not that of its envelope.";
    BUNDLE_FAILED_MSG_UNSUP = (ONF, EXPERIMENTER, 2310), "OFPBFC_MSG_UNSUP", "The message cannot be in a bundle.";
    BUNDLE_FAILED_MSG_CONFLICT = (ONF, EXPERIMENTER, 2311), "OFPBFC_MSG_CONFLICT", "The messages cannot be combined in one bundle.";
    BUNDLE_FAILED_MSG_TOO_MANY = (ONF, EXPERIMENTER, 2312), "OFPBFC_MSG_TOO_MANY", "The bundle cannot hold more messages.";
    BUNDLE_FAILED_MSG_FAILED = (ONF, EXPERIMENTER, 2313), "OFPBFC_MSG_FAILED", "A message of the bundle failed.";
    BUNDLE_FAILED_TIMEOUT = (ONF, EXPERIMENTER, 2314), "OFPBFC_TIMEOUT", "The bundle was open for too long.";
    BUNDLE_FAILED_BUNDLE_IN_PROGRESS = (ONF, EXPERIMENTER, 2315), "OFPBFC_BUNDLE_IN_PROGRESS", "The bundle locks the resource.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_print_their_c_names() {
        assert_eq!(
            ErrorCode::BAD_ACTION_BAD_OUT_GROUP.to_string(),
            "OFPBAC_BAD_OUT_GROUP"
        );
        assert_eq!(ErrorCode::new(6, 8).to_string(), "OFPGMFC_UNKNOWN_GROUP");
        assert_eq!(
            ErrorCode::from_experimenter(ONF, 2313),
            ErrorCode::BUNDLE_FAILED_MSG_FAILED
        );
        assert_eq!(ErrorCode::new(77, 3).to_string(), "error type 77 code 3");
        assert_eq!(
            ErrorCode::from_experimenter(1, 3).to_string(),
            "experimenter 0x00000001 error 3"
        );
    }
}
