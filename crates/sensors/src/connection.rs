//! TCP connections of target, generator and what they call: round-trip time, what is on its way,
//! retransmits, and what held a sender back.
//!
//! The kernel is asked by netlink sock_diag, not by a file, so this is no `Sensor`: `collectors` asks, and
//! hands each message of the answer to `parse_tcp`. The fields are those of `struct tcp_info`
//! (include/uapi/linux/tcp.h), which grows at its end: what an older kernel does not send is missing.
//! A connection that lives for less than a second may never be met.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use std::time::Duration;

use model::{Column, EntityKind, MISSING, Quality, Table, Timestamp, Unit};

use crate::bytes::{NS_PER_MS, NS_PER_US, times};
use crate::netlink::{attributes, u32_at, u64_at};

const WIDTH: usize = 18;

#[rustfmt::skip]
static COLUMNS: &[Column; WIDTH] = &[
    Column::gauge("state", Unit::Code, "TCP state as the kernel numbers it: 1 established, 2 connecting, 4 and 5 closed by this end, 8 closed by the other.", "sock_diag idiag_state"),
    Column::gauge("rtt_ns", Unit::Nanoseconds, "Smoothed round-trip time; missing before the first measured one.", "tcp_info tcpi_rtt").quality(Quality::Estimated),
    Column::gauge("rtt_min_ns", Unit::Nanoseconds, "Smallest round-trip time of the last five minutes.", "tcp_info tcpi_min_rtt").since("4.6"),
    Column::gauge("unacked", Unit::Count, "Segments sent and not yet acknowledged.", "tcp_info tcpi_unacked"),
    Column::gauge("send_queue_bytes", Unit::Bytes, "Bytes written by the process and not yet acknowledged by the other end.", "sock_diag idiag_wqueue"),
    Column::gauge("receive_queue_bytes", Unit::Bytes, "Bytes received and not yet read by the process.", "sock_diag idiag_rqueue"),
    Column::counter("bytes_sent", Unit::Bytes, "Bytes sent, retransmitted ones included; before Linux 4.19 those that were acknowledged.", "tcp_info tcpi_bytes_sent, tcpi_bytes_acked").since("4.1"),
    Column::counter("bytes_received", Unit::Bytes, "Bytes received in order.", "tcp_info tcpi_bytes_received").since("4.1"),
    Column::counter("segments_out", Unit::Count, "Segments sent, bare acknowledgements included.", "tcp_info tcpi_segs_out").since("4.2"),
    Column::counter("segments_in", Unit::Count, "Segments received, bare acknowledgements included.", "tcp_info tcpi_segs_in").since("4.2"),
    Column::counter("retransmitted_segments", Unit::Count, "Segments retransmitted.", "tcp_info tcpi_total_retrans"),
    Column::counter("delivered", Unit::Count, "Segments with data, and the handshake's, that reached the other end.", "tcp_info tcpi_delivered").since("4.18"),
    Column::counter("busy_ns", Unit::Nanoseconds, "Time with data to send or unacknowledged.", "tcp_info tcpi_busy_time").quality(Quality::Estimated).since("4.10"),
    Column::counter("receiver_limited_ns", Unit::Nanoseconds, "Part of the busy time in which the other end's receive window was full.", "tcp_info tcpi_rwnd_limited").quality(Quality::Estimated).since("4.10"),
    Column::counter("sender_limited_ns", Unit::Nanoseconds, "Part of the busy time in which this end's send buffer was full.", "tcp_info tcpi_sndbuf_limited").quality(Quality::Estimated).since("4.10"),
    Column::gauge("last_sent_ns", Unit::Nanoseconds, "When the last data was sent, on the recording's clock: to a tick of the kernel's timer (1 to 10 ms). Missing before the first.", "tcp_info tcpi_last_data_sent").quality(Quality::Estimated),
    Column::gauge("last_received_ns", Unit::Nanoseconds, "When the last data was received, in the same way.", "tcp_info tcpi_last_data_recv").quality(Quality::Estimated),
    Column::counter("retransmitted_bytes", Unit::Bytes, "Part of bytes_sent that was sent again.", "tcp_info tcpi_bytes_retrans").since("4.19"),
];

/// Where bytes and the time of the last of them are among the columns: sent and received.
const LAST: [(usize, usize); 2] = [(6, 15), (7, 16)];

/// How often connections are looked at.
pub const CONNECTION_PERIOD: Duration = Duration::from_secs(1);

/// TCP connections.
pub static CONNECTION: Table = Table::new(
    "connection",
    EntityKind::Connection,
    "TCP connections of target, generator and dependencies.",
    COLUMNS,
);

/// One TCP socket as the kernel tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpReading {
    /// Tells it from every other socket since boot.
    pub cookie: u64,
    /// The inode that descriptors show; 0 while no process holds it.
    pub inode: u64,
    /// The address of this end.
    pub local: SocketAddr,
    /// The address of the other end.
    pub peer: SocketAddr,
    /// A value for each column of `CONNECTION`, but that the last data is told by its age, ns: see `at`.
    pub values: [i64; WIDTH],
}

impl TcpReading {
    /// The row at `now`, which follows `last`. While no data comes the time of the last stays as it is: read again, it
    /// would be another by a tick, and a row of its own.
    pub fn at(&self, now: Timestamp, last: &[i64]) -> [i64; WIDTH] {
        let mut row = self.values;
        for (bytes, time) in LAST {
            row[time] = match (row[bytes], row[time]) {
                (0 | MISSING, _) | (_, MISSING) => MISSING,
                (count, _) if count == last[bytes] && last[time] != MISSING => last[time],
                (_, age) => now.as_ns().saturating_sub(age),
            };
        }
        row
    }
}

/// `struct inet_diag_msg`; attributes follow.
const HEADER: usize = 72;
/// INET_DIAG_INFO: `struct tcp_info`.
const INFO: u16 = 2;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

/// Reads one message of sock_diag's answer; `None` when it is about no TCP socket, or damaged.
pub fn parse_tcp(message: &[u8]) -> Option<TcpReading> {
    let attributes_of = message.get(HEADER..)?;
    let (family, state) = (*message.first()?, *message.get(1)?);
    let mut values = [MISSING; WIDTH];
    values[0] = i64::from(state);
    values[4] = i64::from(u32_at(message, 60)?);
    values[5] = i64::from(u32_at(message, 56)?);
    for (_, info) in attributes(attributes_of).filter(|(kind, _)| *kind == INFO) {
        take_info(info, &mut values);
    }
    Some(TcpReading {
        cookie: u64::from(u32_at(message, 44)?) | u64::from(u32_at(message, 48)?) << 32,
        inode: u64::from(u32_at(message, 68)?),
        local: address(family, message.get(8..24)?, message.get(4..6)?)?,
        peer: address(family, message.get(24..40)?, message.get(6..8)?)?,
        values,
    })
}

/// Addresses and ports are in network byte order.
fn address(family: u8, ip: &[u8], port: &[u8]) -> Option<SocketAddr> {
    let ip = match family {
        AF_INET => IpAddr::from(Ipv4Addr::from(*ip.first_chunk::<4>()?)),
        AF_INET6 => IpAddr::from(Ipv6Addr::from(*ip.first_chunk::<16>()?)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(
        ip,
        u16::from_be_bytes(*port.first_chunk()?),
    ))
}

fn take_info(info: &[u8], values: &mut [i64; WIDTH]) {
    let word = |offset| u32_at(info, offset).map_or(MISSING, i64::from);
    // No counter of a connection gets beyond an i64; hostile bytes may.
    let number = |value: u64| i64::try_from(value).unwrap_or(MISSING);
    let long = |offset| u64_at(info, offset).map_or(MISSING, number);
    let ns = |us| times(us, NS_PER_US);
    values[1] = match word(68) {
        // Nothing was acknowledged yet.
        0 => MISSING,
        us => ns(us),
    };
    values[2] = match word(148) {
        us if us == i64::from(u32::MAX) => MISSING,
        us => ns(us),
    };
    values[3] = word(24);
    values[6] = match long(200) {
        MISSING => long(120),
        sent => sent,
    };
    values[7] = long(128);
    values[8] = word(136);
    values[9] = word(140);
    values[10] = word(100);
    values[11] = word(192);
    values[12] = ns(long(168));
    values[13] = ns(long(176));
    values[14] = ns(long(184));
    values[15] = times(word(44), NS_PER_MS);
    values[16] = times(word(52), NS_PER_MS);
    values[17] = long(208);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::messages;
    use expect_test::expect;
    use proptest::prelude::*;

    const V4: &[u8] = include_bytes!("../fixtures/kernel/this-6.18/sock_diag.tcp");
    const V6: &[u8] = include_bytes!("../fixtures/kernel/this-6.18/sock_diag.tcp6");

    fn told(datagram: &[u8]) -> String {
        let mut text = String::new();
        for reading in messages(datagram).filter_map(|(_, message)| parse_tcp(message)) {
            text.push_str(&format!(
                "{}-{} inode {}:",
                reading.local, reading.peer, reading.inode
            ));
            for (column, value) in COLUMNS.iter().zip(reading.values) {
                if value != MISSING {
                    text.push_str(&format!(" {}={value}", column.name));
                }
            }
            text.push('\n');
        }
        text
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn both_ends_of_a_loopback_connection_as_captured() {
        expect![[r#"
            127.0.0.1:38565-127.0.0.1:55198 inode 619699: state=1 rtt_ns=24000 rtt_min_ns=24000 unacked=0 send_queue_bytes=0 receive_queue_bytes=0 bytes_sent=0 bytes_received=1000 segments_out=1 segments_in=3 retransmitted_segments=0 delivered=1 busy_ns=0 receiver_limited_ns=0 sender_limited_ns=0 last_sent_ns=48000000 last_received_ns=48000000 retransmitted_bytes=0
            127.0.0.1:55198-127.0.0.1:38565 inode 619698: state=1 rtt_ns=31000 rtt_min_ns=10000 unacked=0 send_queue_bytes=0 receive_queue_bytes=0 bytes_sent=1000 bytes_received=0 segments_out=3 segments_in=2 retransmitted_segments=0 delivered=2 busy_ns=0 receiver_limited_ns=0 sender_limited_ns=0 last_sent_ns=48000000 last_received_ns=48000000 retransmitted_bytes=0
        "#]].assert_eq(&told(V4));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_of_the_longer_kind() {
        expect![[r#"
            [::1]:32797-[::1]:54548 inode 618843: state=1 rtt_ns=22000 rtt_min_ns=22000 unacked=0 send_queue_bytes=0 receive_queue_bytes=0 bytes_sent=0 bytes_received=10 segments_out=1 segments_in=3 retransmitted_segments=0 delivered=1 busy_ns=0 receiver_limited_ns=0 sender_limited_ns=0 last_sent_ns=0 last_received_ns=0 retransmitted_bytes=0
            [::1]:54548-[::1]:32797 inode 618842: state=1 rtt_ns=27000 rtt_min_ns=9000 unacked=0 send_queue_bytes=0 receive_queue_bytes=0 bytes_sent=10 bytes_received=0 segments_out=3 segments_in=2 retransmitted_segments=0 delivered=2 busy_ns=0 receiver_limited_ns=0 sender_limited_ns=0 last_sent_ns=0 last_received_ns=0 retransmitted_bytes=0
        "#]].assert_eq(&told(V6));
    }

    /// The sender of the fixture with a `tcp_info` of another length.
    fn with_info(length: usize) -> [i64; WIDTH] {
        let (_, message) = messages(V4).nth(1).expect("two messages");
        let (_, info) = attributes(&message[HEADER..])
            .find(|(kind, _)| *kind == INFO)
            .expect("a tcp_info");
        let mut shorter = message[..HEADER].to_vec();
        shorter.extend((length as u16 + 4).to_ne_bytes());
        shorter.extend(INFO.to_ne_bytes());
        shorter.extend(&info[..length]);
        parse_tcp(&shorter).expect("a reading").values
    }

    #[test]
    fn what_an_older_kernel_does_not_send_is_missing() {
        let lacks = |length: usize| -> Vec<&str> {
            let values = with_info(length);
            let columns = COLUMNS.iter().zip(values);
            let missing = columns.filter(|(_, value)| *value == MISSING);
            missing.map(|(column, _)| &*column.name).collect()
        };
        // Linux 4.18 (RHEL 8's first), 4.9, 4.1, 3.10 (RHEL 7).
        assert_eq!(lacks(200), ["retransmitted_bytes"]);
        assert_eq!(
            lacks(168),
            [
                "delivered",
                "busy_ns",
                "receiver_limited_ns",
                "sender_limited_ns",
                "retransmitted_bytes"
            ]
        );
        assert_eq!(lacks(136).len(), 8);
        assert_eq!(lacks(104).len(), 10);
        let (whole, short) = (with_info(232), with_info(200));
        // Acknowledged bytes stand in for sent ones; the kernel counts the handshake as one.
        assert_eq!((whole[6], short[6]), (1_000, 1_001));
    }

    #[test]
    fn a_state_without_tcp_info_has_its_state_and_queues() {
        let (_, message) = messages(V4).next().expect("a message");
        let values = parse_tcp(&message[..HEADER]).expect("a reading").values;
        assert_eq!(values.iter().filter(|value| **value != MISSING).count(), 3);
        assert_eq!(parse_tcp(&message[..HEADER - 1]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
            told(&bytes);
            parse_tcp(&bytes);
        }

        #[test]
        fn a_damaged_answer_is_survived(at in 0..V4.len(), byte: u8, length in 0..V4.len()) {
            let mut damaged = V4[..length].to_vec();
            if let Some(place) = damaged.get_mut(at) {
                *place = byte;
            }
            told(&damaged);
        }
    }
}
