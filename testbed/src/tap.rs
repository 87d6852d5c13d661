//! TAP devices: the ends of an emulated link.

use crate::netns::Netns;
use anyhow::{Context, Result};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Makes a TAP device in a namespace and returns its packet side, non-blocking: each read takes one
/// Ethernet frame that the kernel sent, each write delivers one to the kernel. The device lives as long
/// as the file.
///
/// # Errors
/// When the kernel has no TUN/TAP or refuses the name.
pub fn create(netns: &Netns, device: &str) -> Result<File> {
    netns.run(|| {
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")
            .context("cannot open /dev/net/tun: the emulator needs TUN/TAP in the kernel")?;
        // SAFETY: ifreq is plain data for which all zeros is a valid value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        anyhow::ensure!(
            device.len() < libc::IFNAMSIZ,
            "`{device}` is too long for a device name"
        );
        for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
            *to = from.cast_signed();
        }
        let flags = libc::IFF_TAP | libc::IFF_NO_PI;
        request.ifr_ifru.ifru_flags = i16::try_from(flags).context("TAP flags fit in 16 bits")?;
        // SAFETY: the file is an open /dev/net/tun, the request a valid ifreq with a terminated name that
        // outlives the call.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if result < 0 {
            return Err(std::io::Error::last_os_error())
                .with_context(|| format!("cannot make the TAP `{device}` in `{}`", netns.name()));
        }
        Ok(file)
    })
}
