//! Text of Nicira's messages, which configure an Open vSwitch.

use super::async_config::put_async_config;
use super::multipart::NameAndText;
use crate::{AsyncConfig, Experimenter, ExperimenterId};

/// What Open vSwitch calls the message and says of it; `None` when it would refuse it.
pub(super) fn describe(message: &Experimenter) -> Option<NameAndText> {
    if message.experimenter != ExperimenterId::NICIRA.0 {
        return None;
    }
    let body = &message.data[..];
    let mut out = String::new();
    let name = match message.exp_type {
        10 => {
            put!(&mut out, " role={}", role(body)?);
            "NXT_ROLE_REQUEST"
        }
        11 => {
            put!(&mut out, " role={}", role(body)?);
            "NXT_ROLE_REPLY"
        }
        15 => {
            let [enable, ..] = whole::<8>(body)?;
            out.push_str(if enable == 0 { " disable" } else { " enable" });
            "NXT_FLOW_MOD_TABLE_ID"
        }
        16 => {
            let format = match u32::from_be_bytes(whole(body)?) {
                0 => "standard",
                1 => "nxt_packet_in",
                2 => "nxt_packet_in2",
                _ => return None,
            };
            put!(&mut out, " format={format}");
            "NXT_SET_PACKET_IN_FORMAT"
        }
        18 => {
            let [] = whole(body)?;
            "NXT_FLOW_AGE"
        }
        19 => {
            let words = whole::<24>(body)?;
            let mut masks = words
                .as_chunks::<4>()
                .0
                .iter()
                .map(|word| u32::from_be_bytes(*word));
            let mut pair = || [masks.next().unwrap_or(0), masks.next().unwrap_or(0)];
            let config = AsyncConfig {
                packet_in_mask: pair(),
                port_status_mask: pair(),
                flow_removed_mask: pair(),
            };
            put_async_config(&mut out, &config);
            "NXT_SET_ASYNC_CONFIG"
        }
        20 => {
            put!(&mut out, " id={}", last_two(body)?);
            "NXT_SET_CONTROLLER_ID"
        }
        24 => {
            let (head, maps) = body.split_first_chunk::<8>()?;
            out.push_str(match u16::from_be_bytes([head[0], head[1]]) {
                0 => "\n ADD",
                1 => "\n DEL",
                2 => "\n CLEAR",
                _ => return None,
            });
            if head[1] != 2 {
                put_option_maps(&mut out, option_maps(maps)?);
            }
            "NXT_TLV_TABLE_MOD"
        }
        25 => {
            let [] = whole(body)?;
            "NXT_TLV_TABLE_REQUEST"
        }
        26 => {
            let (head, maps) = body.split_first_chunk::<16>()?;
            let maps = option_maps(maps)?;
            let used: u32 = maps.iter().map(|map| u32::from(map[3])).sum();
            put!(
                &mut out,
                "\n max option space={} max fields={}\n",
                u32::from_be_bytes([head[0], head[1], head[2], head[3]]),
                u16::from_be_bytes([head[4], head[5]])
            );
            put!(&mut out, " allocated option space={used}\n\n");
            put_option_maps(&mut out, maps);
            "NXT_TLV_TABLE_REPLY"
        }
        29 => {
            put!(&mut out, " zone_id={}", last_two(body)?);
            "NXT_CT_FLUSH_ZONE"
        }
        _ => return None,
    };
    Some((name, out))
}

fn role(body: &[u8]) -> Option<&'static str> {
    Some(match u32::from_be_bytes(whole(body)?) {
        0 => "equal",
        1 => "primary",
        2 => "secondary",
        _ => return None,
    })
}

/// The number at the end of eight bytes.
fn last_two(body: &[u8]) -> Option<u16> {
    let [.., high, low] = whole::<8>(body)?;
    Some(u16::from_be_bytes([high, low]))
}

fn whole<const N: usize>(body: &[u8]) -> Option<[u8; N]> {
    body.try_into().ok()
}

/// `nx_tlv_map`: which tunnel option is which field.
fn option_maps(bytes: &[u8]) -> Option<&[[u8; 8]]> {
    let (maps, []) = bytes.as_chunks::<8>() else {
        return None;
    };
    Some(maps)
}

fn put_option_maps(out: &mut String, maps: &[[u8; 8]]) {
    out.push_str(" mapping table:\n");
    out.push_str("  class  type  length  match field\n");
    out.push_str(" ------  ----  ------  --------------");
    for [class_high, class_low, type_, length, index_high, index_low, ..] in maps {
        let hex = |number: u16| super::Hex(number.into()).to_string();
        put!(
            out,
            "\n {:>6}  {:>4}  {length:>6}  tun_metadata{}",
            hex(u16::from_be_bytes([*class_high, *class_low])),
            hex(u16::from(*type_)),
            u16::from_be_bytes([*index_high, *index_low])
        );
    }
}
