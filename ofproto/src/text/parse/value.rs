//! Numbers, addresses, ports.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Fault;
use super::piece::Piece;
use crate::{GroupId, MacAddr, PortNo};

impl Piece<'_> {
    pub(super) fn number(self, max: u128) -> Result<u128, Fault> {
        let number = match self
            .text
            .strip_prefix("0x")
            .or_else(|| self.text.strip_prefix("0X"))
        {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                u128::from_str_radix(digits, 16).ok()
            }
            None if self.text.bytes().all(|byte| byte.is_ascii_digit()) => self.text.parse().ok(),
            _ => None,
        };
        number
            .filter(|number| *number <= max)
            .ok_or_else(|| self.fault(format!("a number from 0 to {max}")))
    }

    pub(super) fn u8(self) -> Result<u8, Fault> {
        self.narrow(u8::MAX.into())
    }

    pub(super) fn u16(self) -> Result<u16, Fault> {
        self.narrow(u16::MAX.into())
    }

    pub(super) fn u32(self) -> Result<u32, Fault> {
        self.narrow(u32::MAX.into())
    }

    pub(super) fn u64(self) -> Result<u64, Fault> {
        self.narrow(u64::MAX.into())
    }

    /// A number up to `max`, in a type that holds it.
    pub(super) fn narrow<T: TryFrom<u128>>(self, max: u128) -> Result<T, Fault> {
        let number = self.number(max)?;
        T::try_from(number).map_err(|_| self.fault("a smaller number"))
    }

    pub(super) fn mac(self) -> Result<MacAddr, Fault> {
        let fault = || self.fault("an Ethernet address such as 02:00:00:00:00:01");
        if self.text.split(':').count() != 6 {
            return Err(fault());
        }
        let mut bytes = [0; 6];
        for (byte, digits) in bytes.iter_mut().zip(self.text.split(':')) {
            let is_hex =
                (1..=2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            *byte = u8::from_str_radix(digits, 16)
                .ok()
                .filter(|_| is_hex)
                .ok_or_else(fault)?;
        }
        Ok(MacAddr::from(bytes))
    }

    pub(super) fn ipv4(self) -> Result<Ipv4Addr, Fault> {
        self.text.parse().map_err(|_| self.fault("an IPv4 address"))
    }

    pub(super) fn ipv6(self) -> Result<Ipv6Addr, Fault> {
        self.text.parse().map_err(|_| self.fault("an IPv6 address"))
    }

    pub(super) fn port(self) -> Result<PortNo, Fault> {
        for (name, port) in PORTS {
            if self.text.eq_ignore_ascii_case(name) {
                return Ok(*port);
            }
        }
        let number = self
            .u32()
            .map_err(|_| self.fault("a port: its number, or a name such as CONTROLLER"))?;
        // The reserved ports of OpenFlow 1.0 had numbers of 16 bits.
        Ok(PortNo(if (0xfff8..=0xffff).contains(&number) {
            number | 0xffff_0000
        } else {
            number
        }))
    }

    pub(super) fn group(self) -> Result<GroupId, Fault> {
        match self.text {
            "all" | "ALL" => Ok(GroupId::ALL),
            "any" | "ANY" => Ok(GroupId::ANY),
            _ => self
                .u32()
                .map(GroupId)
                .map_err(|_| self.fault("a group: its number, `all` or `any`")),
        }
    }
}

const PORTS: &[(&str, PortNo)] = &[
    ("in_port", PortNo::IN_PORT),
    ("table", PortNo::TABLE),
    ("normal", PortNo::NORMAL),
    ("flood", PortNo::FLOOD),
    ("all", PortNo::ALL),
    ("controller", PortNo::CONTROLLER),
    ("local", PortNo::LOCAL),
    ("any", PortNo::ANY),
    ("none", PortNo::ANY),
];
