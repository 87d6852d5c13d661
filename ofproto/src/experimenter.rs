//! EXPERIMENTER: messages that others define.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::number;
use crate::wire::{Parsed, Span, be_u32, rest};

number! {
    /// Who defines an experimenter message, action, field or error: OpenFlow 1.3.5 §7.5.4.
    ExperimenterId(u32) {
        /// The Open Networking Foundation: extensions of OpenFlow 1.3 that later versions have built in.
        ONF = 0x4f4e_4600;
        /// Nicira, now Open vSwitch.
        NICIRA = 0x0000_2320;
    }
}

/// `ofp_experimenter_header` and what follows it, OpenFlow 1.3.5 §7.5.4, kept as bytes.
///
/// The ONF's bundle messages have a typed form in [`bundle`](crate::bundle).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experimenter {
    /// Who defines the message; see [`ExperimenterId`].
    pub experimenter: u32,
    /// The type of message, as its experimenter numbers them.
    pub exp_type: u32,
    /// The body.
    pub data: Bytes,
}

impl Experimenter {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (experimenter, exp_type, data)) =
            context("ofp_experimenter_header", (be_u32, be_u32, rest)).parse(i)?;
        Ok((
            i,
            Self {
                experimenter,
                exp_type,
                data,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.experimenter);
        out.put_u32(self.exp_type);
        out.put_slice(&self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn experimenter_vectors() {
        check(&[(
            "04 04 0014 00000005         # header
             00002320 00000010 00000002  # Nicira, NXT_SET_PACKET_IN_FORMAT",
            Message::Experimenter(Experimenter {
                experimenter: ExperimenterId::NICIRA.0,
                exp_type: 16,
                data: Bytes::from_static(&[0, 0, 0, 2]),
            }),
        )]);
    }
}
