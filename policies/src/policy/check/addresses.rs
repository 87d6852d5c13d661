//! What single texts mean that name a switch, a port, a host or a network.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use macaddr::MacAddr6;

use crate::policy::check::values::Fault;

/// A datapath id: 16 hexadecimal digits, `0x…`, or eight pairs of digits with colons.
pub(super) fn datapath_id(text: &str) -> Result<u64, Fault> {
    let digits = if let Some(digits) = text.strip_prefix("0x").filter(|digits| digits.len() <= 16) {
        Some(digits.to_owned())
    } else if text.len() == 23 && text.split(':').all(|pair| pair.len() == 2) {
        Some(text.replace(':', ""))
    } else {
        Some(text.to_owned()).filter(|text| text.len() == 16)
    };
    let id = digits
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(&digits, 16).ok())
        .ok_or_else(|| {
            let message = format!("`{text}` is not a datapath id, expected 16 hexadecimal digits");
            Fault::with_help(message, "`ovs-vsctl get bridge NAME datapath_id` prints it")
        })?;
    if id == 0 {
        Err("a datapath id of all zeros names no switch".to_owned().into())
    } else {
        Ok(id)
    }
}

/// The name of a port on a switch.
pub(super) fn port_name(text: &str) -> Result<String, Fault> {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if !text.is_empty() && text.len() <= MAX_PORT_NAME && printable {
        return Ok(text.to_owned());
    }
    Err(
        format!("`{text}` is not a port name, expected 1 to {MAX_PORT_NAME} characters without spaces")
            .into(),
    )
}

/// An IPv4 address without prefix length.
pub(super) fn address(text: &str) -> Result<Ipv4Addr, Fault> {
    text.parse().map_err(|_| {
        let message = format!("`{text}` is not an IPv4 address, expected four numbers such as `10.11.0.1`");
        match text
            .split_once('/')
            .filter(|(address, _)| address.parse::<Ipv4Addr>().is_ok())
        {
            Some((address, _)) => Fault::with_help(message, format!("did you mean `{address}`?")),
            None => message.into(),
        }
    })
}

/// The address of an interface with its prefix length.
pub(super) fn interface(text: &str) -> Result<Ipv4Net, Fault> {
    let wrong = || format!("`{text}` is not an address with prefix length, expected such as `10.1.0.1/24`");
    if text.parse::<Ipv4Addr>().is_ok() {
        return Err(Fault::with_help(wrong(), format!("did you mean `{text}/24`?")));
    }
    let net: Ipv4Net = text.parse().map_err(|_| wrong())?;
    if net.prefix_len() < 31 && (net.addr() == net.network() || net.addr() == net.broadcast()) {
        let message =
            format!("`{text}` is the network's own or broadcast address, expected that of an interface");
        return Err(message.into());
    }
    Ok(net)
}

/// A prefix (CIDR), or one address for itself.
pub(super) fn network(text: &str) -> Result<Ipv4Net, Fault> {
    if let Ok(host) = text.parse::<Ipv4Addr>() {
        return Ok(Ipv4Net::from(host));
    }
    let net: Ipv4Net = text.parse().map_err(|_| {
        format!("`{text}` is not an IPv4 prefix, expected such as `10.1.0.0/24` or one address")
    })?;
    if net.addr() != net.network() {
        let message = format!("`{text}` has bits beyond its prefix length");
        let (trunc, host) = (net.trunc(), net.addr());
        return Err(Fault::with_help(
            message,
            format!("write `{trunc}` for the network or `{host}` for the host"),
        ));
    }
    Ok(net)
}

/// The MAC address of one station.
pub(super) fn mac(text: &str) -> Result<MacAddr6, Fault> {
    let mac: MacAddr6 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a MAC address, expected such as `\"02:00:00:00:0a:01\"`"))?;
    if mac.is_multicast() || mac.is_nil() {
        return Err(format!("`{text}` is not the MAC address of one station").into());
    }
    Ok(mac)
}

/// OpenFlow carries port names in 16 bytes with a zero at the end (OFP_MAX_PORT_NAME_LEN, OpenFlow 1.3.5 §7.2.1).
const MAX_PORT_NAME: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datapath_ids_are_taken_in_the_forms_in_which_tools_print_them() {
        for text in ["00000000000000e1", "0xe1", "00:00:00:00:00:00:00:e1"] {
            assert_eq!(datapath_id(text), Ok(0xe1), "{text}");
        }
        for wrong in [
            "1",
            "0x",
            "0x+1",
            "0000000000000000",
            "00000000000000g1",
            "00:00:00:00:00:01",
            "",
        ] {
            assert!(datapath_id(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_say_what_they_are_for() {
        assert_eq!(network("10.1.0.5").unwrap().to_string(), "10.1.0.5/32");
        assert!(
            network("10.1.0.5/24")
                .unwrap_err()
                .help
                .unwrap()
                .contains("`10.1.0.0/24`")
        );
        assert!(network("10.1.0.0/33").is_err());
        assert_eq!(
            interface("10.1.0.1").unwrap_err().help.unwrap(),
            "did you mean `10.1.0.1/24`?"
        );
        assert!(interface("10.1.0.0/24").is_err());
        assert_eq!(
            address("10.1.0.1/24").unwrap_err().help.unwrap(),
            "did you mean `10.1.0.1`?"
        );
        assert!(mac("ff:ff:ff:ff:ff:ff").is_err());
        assert!(mac("02:00:00:00:0a:01").is_ok());
    }
}
