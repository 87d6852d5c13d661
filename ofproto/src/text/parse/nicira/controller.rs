//! What a packet for the controller comes with.

use super::body::{Body, hex_bytes};
use crate::text::parse::Fault;
use crate::text::parse::piece::Piece;
use crate::{Action, MAX_LEN_NO_BUFFER, PortNo};

/// What a packet to a controller comes with.
pub(in crate::text::parse) struct Controller {
    pub(in crate::text::parse) max_len: u16,
    id: u16,
    reason: u8,
    userdata: Vec<u8>,
    pause: bool,
    meter: Option<u32>,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            max_len: MAX_LEN_NO_BUFFER,
            id: 0,
            reason: REASON_ACTION,
            userdata: vec![],
            pause: false,
            meter: None,
        }
    }
}

impl Controller {
    /// `max_len=128,id=7,reason=no_match,userdata=01.02,pause,meter_id=3`.
    pub(in crate::text::parse) fn parse(text: Piece<'_>) -> Result<Self, Fault> {
        let mut controller = Self::default();
        let mut options = text.pairs();
        while let Some(option) = options.next()? {
            match option.key.text {
                "max_len" => controller.max_len = option.value("a number of bytes")?.u16()?,
                "id" => controller.id = option.value("a controller")?.u16()?,
                "reason" => {
                    let value = option.value("a reason")?;
                    let known = REASONS.iter().position(|name| *name == value.text);
                    let number = known.and_then(|at| u8::try_from(at).ok());
                    controller.reason =
                        number.ok_or_else(|| value.fault(format!("one of {}", REASONS.join(", "))))?;
                }
                "userdata" => controller.userdata = hex_bytes(option.value("bytes")?)?,
                "pause" => controller.pause = true,
                "meter_id" => controller.meter = Some(option.value("a meter")?.u32()?),
                _ => {
                    let words = "`max_len`, `id`, `reason`, `userdata`, `pause` or `meter_id`";
                    return Err(option.key.fault(words));
                }
            }
        }
        Ok(controller)
    }

    pub(in crate::text::parse) fn action(&self) -> Action {
        let is_plain = self.id == 0
            && self.reason == REASON_ACTION
            && self.userdata.is_empty()
            && !self.pause
            && self.meter.is_none();
        if is_plain {
            return Action::Output {
                port: PortNo::CONTROLLER,
                max_len: self.max_len,
            };
        }
        if self.userdata.is_empty() && !self.pause && self.meter.is_none() {
            let body = Body::new(20).u16(self.max_len).u16(self.id);
            return body.bytes(&[self.reason, 0]).action();
        }
        let mut body = Body::new(37).zeros(6);
        if self.max_len != u16::MAX {
            body = body.property(0, &self.max_len.to_be_bytes());
        }
        if self.id != 0 {
            body = body.property(1, &self.id.to_be_bytes());
        }
        if self.reason != REASON_ACTION {
            body = body.property(2, &[self.reason]);
        }
        if !self.userdata.is_empty() {
            body = body.property(3, &self.userdata);
        }
        if self.pause {
            body = body.property(4, &[]);
        }
        if let Some(meter) = self.meter {
            body = body.property(5, &meter.to_be_bytes());
        }
        body.action()
    }
}

/// `OFPR_ACTION`.
const REASON_ACTION: u8 = 1;
/// Why a packet goes to a controller, from 0.
const REASONS: &[&str] = &[
    "no_match",
    "action",
    "invalid_ttl",
    "action_set",
    "group",
    "packet_out",
];
