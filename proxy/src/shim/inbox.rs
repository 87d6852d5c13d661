//! Where received packets are put together for QUIC: into its buffers, as many to a buffer as go.

use std::collections::VecDeque;
use std::io::IoSliceMut;
use std::net::SocketAddr;

use noq::udp::RecvMeta;

use super::peer::Meta;

/// The buffers of one call, and the packets that did not fit into those of an earlier one.
pub(super) struct Inbox<'a, 'b> {
    bufs: &'a mut [IoSliceMut<'b>],
    metas: &'a mut [RecvMeta],
    filled: usize,
    waiting: &'a mut VecDeque<Waiting>,
}

/// A packet that waits for a buffer.
#[derive(Debug)]
pub(super) struct Waiting {
    remote: SocketAddr,
    meta: Meta,
    packet: Box<[u8]>,
}

impl<'a, 'b> Inbox<'a, 'b> {
    /// Fills the buffers with what waits, and then with what is pushed.
    pub(super) fn new(
        bufs: &'a mut [IoSliceMut<'b>],
        metas: &'a mut [RecvMeta],
        waiting: &'a mut VecDeque<Waiting>,
    ) -> Self {
        let mut inbox = Self {
            bufs,
            metas,
            filled: 0,
            waiting,
        };
        while let Some(first) = inbox.waiting.pop_front() {
            if !inbox.put(first.remote, first.meta, &first.packet) {
                inbox.waiting.push_front(first);
                break;
            }
        }
        inbox
    }

    /// Adds a packet; it waits if no buffer is left.
    pub(super) fn push(&mut self, remote: SocketAddr, meta: Meta, packet: &[u8]) {
        if self.waiting.is_empty() && self.put(remote, meta, packet) {
            return;
        }
        self.waiting.push_back(Waiting {
            remote,
            meta,
            packet: packet.into(),
        });
    }

    /// How many buffers have something in them.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Whether packets have to wait.
    pub(super) fn is_full(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Puts a packet into a buffer, or says that none is left.
    fn put(&mut self, remote: SocketAddr, meta: Meta, packet: &[u8]) -> bool {
        if self.append(remote, meta, packet) {
            return true;
        }
        let (Some(buf), Some(slot)) = (self.bufs.get_mut(self.filled), self.metas.get_mut(self.filled))
        else {
            return false;
        };
        // One that is longer than QUIC takes is none that it sent; nothing is filled in then.
        if let Some(room) = buf.get_mut(..packet.len()) {
            room.copy_from_slice(packet);
            *slot = RecvMeta::default();
            (slot.addr, slot.len, slot.stride) = (remote, packet.len(), packet.len());
            (slot.ecn, slot.dst_ip) = (meta.ecn, meta.dst_ip);
            slot.interface_index = meta.interface_index;
            self.filled += 1;
        }
        true
    }

    /// Puts a packet behind the last one, where it makes one train with it: only the last may be shorter.
    fn append(&mut self, remote: SocketAddr, meta: Meta, packet: &[u8]) -> bool {
        let Some(last) = self.filled.checked_sub(1) else {
            return false;
        };
        let (Some(buf), Some(slot)) = (self.bufs.get_mut(last), self.metas.get_mut(last)) else {
            return false;
        };
        let same = slot.addr == remote
            && (slot.ecn, slot.dst_ip, slot.interface_index) == (meta.ecn, meta.dst_ip, meta.interface_index);
        if !same || packet.len() > slot.stride || !slot.len.is_multiple_of(slot.stride) {
            return false;
        }
        let Some(room) = buf.get_mut(slot.len..slot.len + packet.len()) else {
            return false;
        };
        room.copy_from_slice(packet);
        slot.len += packet.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: Meta = Meta {
        ecn: None,
        dst_ip: None,
        interface_index: None,
    };

    /// Pushes packets of these lengths by these peers, and reads the buffers as QUIC does, call by call.
    fn through(packets: &[(u16, usize)], buffers: usize, size: usize) -> (Vec<(u16, Vec<u8>)>, usize) {
        let (mut waiting, mut read, mut used) = (VecDeque::new(), Vec::new(), 0);
        let mut storage = vec![vec![0; size]; buffers];
        let mut rounds = 0;
        while rounds == 0 || !waiting.is_empty() {
            let mut metas = vec![RecvMeta::default(); buffers];
            let mut bufs: Vec<_> = storage.iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
            let mut inbox = Inbox::new(&mut bufs, &mut metas, &mut waiting);
            if rounds == 0 {
                for (n, (port, len)) in packets.iter().enumerate() {
                    let remote = SocketAddr::from(([127, 0, 0, 1], *port));
                    inbox.push(remote, META, &vec![u8::try_from(n).unwrap(); *len]);
                }
            }
            let filled = inbox.filled();
            for (buf, meta) in storage.iter().zip(&metas).take(filled) {
                used += 1;
                for packet in buf[..meta.len].chunks(meta.stride) {
                    read.push((meta.addr.port(), packet.to_vec()));
                }
            }
            rounds += 1;
        }
        (read, used)
    }

    #[test]
    fn packets_of_a_train_share_a_buffer_and_come_out_as_they_went_in() {
        let (read, used) = through(
            &[(1, 100), (1, 100), (1, 60), (1, 100), (2, 100), (2, 120)],
            8,
            1000,
        );
        let lengths: Vec<_> = read
            .iter()
            .map(|(port, packet)| (*port, packet[0], packet.len()))
            .collect();
        assert_eq!(
            lengths,
            [
                (1, 0, 100),
                (1, 1, 100),
                (1, 2, 60),
                (1, 3, 100),
                (2, 4, 100),
                (2, 5, 120)
            ]
        );
        assert_eq!(used, 4);
    }

    #[test]
    fn what_does_not_fit_waits_for_the_next_call() {
        let packets: Vec<_> = (0..50).map(|n| (1, 20 + n % 7)).collect();
        let (read, _) = through(&packets, 3, 64);
        let order: Vec<_> = read
            .iter()
            .map(|(_, packet)| (usize::from(packet[0]), packet.len()))
            .collect();
        assert_eq!(
            order,
            packets
                .iter()
                .map(|(_, len)| *len)
                .enumerate()
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_packet_that_fits_no_buffer_is_dropped() {
        let (read, _) = through(&[(1, 30), (1, 100), (1, 30)], 2, 64);
        assert_eq!(
            read.iter().map(|(_, packet)| packet[0]).collect::<Vec<_>>(),
            [0, 2]
        );
    }
}
