//! OFPMP_DESC: description of the switch.

use bytes::BytesMut;
use nom::Parser;
use nom::error::context;

use crate::EncodeError;
use crate::wire::{Parsed, Span, put_text, text};

/// `ofp_desc`, OpenFlow 1.3.5 §7.3.5.1. Texts for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchDesc {
    /// Manufacturer, at most 256 bytes.
    pub mfr_desc: String,
    /// Hardware, at most 256 bytes.
    pub hw_desc: String,
    /// Software, at most 256 bytes.
    pub sw_desc: String,
    /// Serial number, at most 32 bytes.
    pub serial_num: String,
    /// The datapath, at most 256 bytes.
    pub dp_desc: String,
}

impl SwitchDesc {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (mfr_desc, hw_desc, sw_desc, serial_num, dp_desc)) = context(
            "ofp_desc",
            (
                text(DESC_LEN),
                text(DESC_LEN),
                text(DESC_LEN),
                text(SERIAL_LEN),
                text(DESC_LEN),
            ),
        )
        .parse(i)?;
        Ok((
            i,
            Self {
                mfr_desc,
                hw_desc,
                sw_desc,
                serial_num,
                dp_desc,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        put_text(out, &self.mfr_desc, DESC_LEN, "ofp_desc.mfr_desc")?;
        put_text(out, &self.hw_desc, DESC_LEN, "ofp_desc.hw_desc")?;
        put_text(out, &self.sw_desc, DESC_LEN, "ofp_desc.sw_desc")?;
        put_text(out, &self.serial_num, SERIAL_LEN, "ofp_desc.serial_num")?;
        put_text(out, &self.dp_desc, DESC_LEN, "ofp_desc.dp_desc")
    }
}

/// `DESC_STR_LEN`.
const DESC_LEN: usize = 256;
/// `SERIAL_NUM_LEN`.
const SERIAL_LEN: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MultipartReplyBody;
    use crate::vector::{check, reply};

    #[test]
    fn desc_vectors() {
        let zeros = |count: usize| "00".repeat(count);
        let text = format!(
            "04 13 0430 00000002 0000 0000 00000000
             4e6963697261 {}        # Nicira
             4f5653 {}              # OVS
             332e31 {}              # 3.1
             4e6f6e65 {}            # None
             627230 {}              # br0",
            zeros(250),
            zeros(253),
            zeros(253),
            zeros(28),
            zeros(253)
        );
        let desc = SwitchDesc {
            mfr_desc: "Nicira".to_owned(),
            hw_desc: "OVS".to_owned(),
            sw_desc: "3.1".to_owned(),
            serial_num: "None".to_owned(),
            dp_desc: "br0".to_owned(),
        };
        check(&[(&text, reply(MultipartReplyBody::Desc(desc)))]);
    }
}
