//! Text of what a packet for the controller comes with.

use super::parts::{Options, Reader, put_dotted};

/// What a packet to the controller comes with.
pub(super) struct Controller {
    max_len: u16,
    id: u16,
    reason: u8,
    userdata: Vec<u8>,
    pause: bool,
    meter: u32,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            max_len: u16::MAX,
            id: 0,
            reason: REASON_ACTION,
            userdata: vec![],
            pause: false,
            meter: u32::MAX,
        }
    }
}

impl Controller {
    /// `nx_action_controller`.
    pub(super) fn of_words(mut body: Reader<'_>) -> Option<Self> {
        Some(Self {
            max_len: body.u16()?,
            id: body.u16()?,
            reason: body.u8()?,
            ..Self::default()
        })
    }

    /// `nx_action_controller2`.
    pub(super) fn of_properties(mut body: Reader<'_>) -> Option<Self> {
        let mut controller = Self::default();
        while !body.is_empty() {
            let (type_, length) = (body.u16()?, usize::from(body.u16()?));
            let mut value = Reader::new(body.take(length.checked_sub(4)?)?);
            let padding = length.next_multiple_of(8) - length;
            body.skip(padding)?;
            match type_ {
                0 => controller.max_len = value.u16()?,
                1 => controller.id = value.u16()?,
                2 => controller.reason = value.u8()?,
                3 => controller.userdata = value.rest().to_vec(),
                4 => controller.pause = true,
                5 => controller.meter = value.u32()?,
                _ => return None,
            }
        }
        Some(controller)
    }

    pub(super) fn put(&self, out: &mut String) {
        let reason = match self.reason {
            0 => "no_match".to_owned(),
            1 => "action".to_owned(),
            2 => "invalid_ttl".to_owned(),
            3 => "action_set".to_owned(),
            4 => "group".to_owned(),
            5 => "packet_out".to_owned(),
            other => other.to_string(),
        };
        let is_plain = self.id == 0 && self.userdata.is_empty() && !self.pause && self.meter == u32::MAX;
        if is_plain && self.reason == REASON_ACTION {
            put!(out, "CONTROLLER:{}", self.max_len);
            return;
        }
        let mut options = Options::new(out, "controller");
        options.some((self.reason != REASON_ACTION).then(|| format!("reason={reason}")));
        options.some((self.max_len != u16::MAX).then(|| format!("max_len={}", self.max_len)));
        options.some((self.id != 0).then(|| format!("id={}", self.id)));
        options.some((!self.userdata.is_empty()).then(|| {
            let mut text = "userdata=".to_owned();
            put_dotted(&mut text, &self.userdata);
            text
        }));
        options.some(self.pause.then(|| "pause".to_owned()));
        options.some((self.meter != u32::MAX).then(|| format!("meter_id={}", self.meter)));
        options.finish();
    }
}

/// `OFPR_ACTION`.
const REASON_ACTION: u8 = 1;
