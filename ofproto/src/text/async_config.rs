//! Text of which messages are sent unasked.

use crate::AsyncConfig;

pub(super) fn put_async_config(out: &mut String, config: &AsyncConfig) {
    for (role, title) in ["primary", "secondary"].iter().enumerate() {
        put!(out, "\n {title}:\n");
        for (name, mask, reasons) in [
            ("PACKET_IN", config.packet_in_mask[role], PACKET_IN),
            ("PORT_STATUS", config.port_status_mask[role], PORT_STATUS),
            ("FLOW_REMOVED", config.flow_removed_mask[role], FLOW_REMOVED),
            // Messages of later versions.
            ("ROLE_STATUS", 0, &[]),
            ("TABLE_STATUS", 0, &[]),
            ("REQUESTFORWARD", 0, &[]),
        ] {
            put!(out, "{name:>16}:");
            let start = out.len();
            for (bit, reason) in reasons.iter().enumerate() {
                if mask >> bit & 1 == 1 {
                    put!(out, " {reason}");
                }
            }
            if out.len() == start {
                out.push_str(" (off)");
            }
            out.push('\n');
        }
    }
}

const PACKET_IN: &[&str] = &["no_match", "action", "invalid_ttl"];
const PORT_STATUS: &[&str] = &["add", "delete", "modify"];
const FLOW_REMOVED: &[&str] = &[
    "idle",
    "hard",
    "delete",
    "group_delete",
    "meter_delete",
    "eviction",
];
