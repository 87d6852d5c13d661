//! ROLE_REQUEST, ROLE_REPLY: which of several controllers may write.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::open_enum;
use crate::wire::{Parsed, Span, be_u32, be_u64, pad};

/// `ofp_role_request`, OpenFlow 1.3.5 §7.3.9; the reply has the same form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The role asked for, or held.
    pub role: ControllerRole,
    /// The generation of the election that gave the role; an older one is refused.
    pub generation_id: u64,
}

open_enum! {
    /// `ofp_controller_role`, OpenFlow 1.3.5 §7.3.9.
    ControllerRole(u32) {
        /// Only tell which role it is
        NoChange = 0, "OFPCR_ROLE_NOCHANGE";
        /// Full access, shared with others
        Equal = 1, "OFPCR_ROLE_EQUAL";
        /// Full access, at most one controller has it
        Master = 2, "OFPCR_ROLE_MASTER";
        /// May only read
        Slave = 3, "OFPCR_ROLE_SLAVE";
    }
}

impl Role {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (role, (), generation_id)) =
            context("ofp_role_request", (be_u32, pad(4), be_u64)).parse(i)?;
        Ok((
            i,
            Self {
                role: ControllerRole::from_wire(role),
                generation_id,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.role.to_wire());
        out.put_u32(0);
        out.put_u64(self.generation_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn role_vectors() {
        check(&[
            (
                "04 18 0018 00000001 00000002 00000000 8000000000000001",
                Message::RoleRequest(Role {
                    role: ControllerRole::Master,
                    generation_id: 0x8000_0000_0000_0001,
                }),
            ),
            (
                "04 19 0018 00000001 00000009 00000000 0000000000000001",
                Message::RoleReply(Role {
                    role: ControllerRole::Unknown(9),
                    generation_id: 1,
                }),
            ),
        ]);
    }
}
