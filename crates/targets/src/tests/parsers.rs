//! Every parser on text and bytes captured from Linux 6.18, and on arbitrary input.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::super::inet::{self, TcpState, parse_proc_net_tcp};
use super::super::unix::{self, parse_proc_net_unix, parse_unix_diag};
use kernel::process_list;

const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     
   0: 0100007F:D88D 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 20514 1 00000000fb19d28e 100 0 0 10 0                     
   2: 0100007F:D88D 0100007F:BF34 06 00000000:00000000 03:0000170E 00000000     0        0 0 3 00000000e4219438                                      
  11: 0100007F:BF3A 0100007F:D88D 01 0000003E:00000000 01:00000014 00000000     0        0 22581 4 000000001a80d75b 20 4 1 18 -1                     
";

const TCP6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   1: 00000000000000000000000001000000:DABF 00000000000000000000000001000000:DBA4 01 00000000:00000000 00:00000000 00000000     0        0 0 1 00000000ee746cae 20 0 0 10 -1
   3: 0000000000000000FFFF00000100007F:DABF 0000000000000000FFFF00000100007F:84B0 01 00000000:00000000 00:00000000 00000000     0        0 22648 1 000000004115f40c 20 0 0 10 -1
";

/// A datagram: two ends of a pgbench connection, the listening socket; each with header, name, peer, uid.
const DIAG: &str = "\
380000001400020000000000fa2f000001010100cd530000091000000000000008000200ce53000005000600000000000800070000000000\
580000001400020000000000fa2f000001010100ce5300000a100000000000001f0000002f746d702f7067736f636b2f2e732e504753514c2e3535343337000008000200cd53000005000600000000000800070065000000\
500000001400020000000000fa2f000001010a00235000000b000000000000001f0000002f746d702f7067736f636b2f2e732e504753514c2e3535343337000005000600000000000800070065000000";

const DONE: &str = "140000000300020000000000fa2f000000000000";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

fn parsed(table: &str) -> Vec<String> {
    let sockets = table
        .lines()
        .filter_map(|line| parse_proc_net_tcp(line.as_bytes()));
    sockets
        .map(|s| {
            format!(
                "{} {} {:?} uid {} inode {}",
                s.local, s.peer, s.state, s.uid, s.inode
            )
        })
        .collect()
}

#[test]
#[cfg(target_endian = "little")]
fn tcp_tables_as_captured() {
    assert_eq!(
        parsed(TCP),
        [
            "127.0.0.1:55437 0.0.0.0:0 Listen uid 101 inode 20514",
            "127.0.0.1:55437 127.0.0.1:48948 Other(6) uid 0 inode 0",
            "127.0.0.1:48954 127.0.0.1:55437 Established uid 0 inode 22581",
        ]
    );
    assert_eq!(
        parsed(TCP6),
        [
            "[::1]:55999 [::1]:56228 Established uid 0 inode 0",
            "127.0.0.1:55999 127.0.0.1:33968 Established uid 0 inode 22648",
        ]
    );
}

#[test]
fn states_have_the_kernels_numbers() {
    for (state, expected) in [
        (1, TcpState::Established),
        (2, TcpState::SynSent),
        (10, TcpState::Listen),
    ] {
        let line = super::tcp_line([("127.0.0.1", 1), ("127.0.0.1", 2)], state, 7, 9);
        assert_eq!(parse_proc_net_tcp(line.as_bytes()).unwrap().state, expected);
    }
}

#[test]
#[cfg(target_endian = "little")]
fn unix_diag_as_captured() {
    let mut found = Vec::new();
    assert_eq!(unix::take_datagram(&bytes(DIAG), &mut found), Ok(false));
    assert_eq!(unix::take_datagram(&bytes(DONE), &mut found), Ok(true));
    let [client, server, listening] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (client.inode, client.peer, client.uid),
        (21453, Some(21454), Some(0))
    );
    assert_eq!(
        (client.name.as_deref(), client.connected, client.stream),
        (None, true, true)
    );
    assert_eq!(
        (server.inode, server.peer, server.uid),
        (21454, Some(21453), Some(101))
    );
    assert_eq!(server.name.as_deref(), Some("/tmp/pgsock/.s.PGSQL.55437"));
    assert_eq!(
        (listening.listening, listening.name.clone()),
        (true, server.name.clone())
    );
}

#[test]
#[cfg(target_endian = "little")]
fn a_refusal_of_the_kernel_is_an_error() {
    let refused = bytes("240000000200000000000000fa2f0000feffffff280000001400010300000000fa2f0000");
    assert_eq!(
        unix::take_datagram(&refused, &mut Vec::new()),
        Err(rustix::io::Errno::NOENT)
    );
    assert_eq!(
        unix::take_datagram(&[], &mut Vec::new()),
        Err(rustix::io::Errno::IO)
    );
}

#[test]
fn proc_net_unix_as_captured() {
    let line =
        b"000000004e09757e: 00000002 00000000 00010000 0001 01 20515 /tmp/a b/.s.PGSQL.55437";
    let socket = parse_proc_net_unix(line).unwrap();
    assert_eq!(socket.name.as_deref(), Some("/tmp/a b/.s.PGSQL.55437"));
    assert!(socket.listening && socket.stream && !socket.connected);
    let line = b"00000000907e55e6: 00000003 00000000 00000000 0001 03 21453";
    let socket = parse_proc_net_unix(line).unwrap();
    assert!(
        !socket.listening && socket.connected && socket.name.is_none() && socket.inode == 21453
    );
    assert_eq!(
        parse_proc_net_unix(b"Num       RefCount Protocol Flags    Type St Inode Path"),
        None
    );
}

#[test]
fn local_addresses_as_captured() {
    let trie = b"Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 127.0.0.0/8 2 0 2
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.255.255.255
              /32 link BROADCAST
        +-- 192.0.2.0/30 2 0 2
           |-- 192.0.2.0
              /24 link UNICAST
           |-- 192.0.2.2
              /32 host LOCAL
";
    let found = inet::parse_fib_trie(trie);
    let loopback = (Ipv4Addr::new(127, 0, 0, 0), 8);
    assert_eq!(found, [loopback, (Ipv4Addr::new(192, 0, 2, 2), 32)].into());
    let v6 =
        inet::parse_if_inet6(b"00000000000000000000000000000001 01 80 10 80       lo\nrubbish\n");
    assert_eq!(v6, [Ipv6Addr::LOCALHOST].into());
}

#[test]
fn a_process_may_be_called_anything() {
    let stat = b"17 (a) S (b c) Z 4 17 17 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n";
    let process = process_list::parse_stat(stat).unwrap();
    assert_eq!(
        (process.pid, process.parent, process.started),
        (17, 4, 4711)
    );
    assert_eq!((process.comm.as_str(), process.zombie), ("a) S (b c", true));
    let cut = &stat[..stat.len() - 1];
    assert_eq!(
        process_list::parse_stat(cut),
        None,
        "the kernel ends the line"
    );
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        parse_proc_net_tcp(&bytes);
        parse_proc_net_unix(&bytes);
        parse_unix_diag(&bytes);
        process_list::parse_stat(&bytes);
        inet::parse_fib_trie(&bytes);
        inet::parse_if_inet6(&bytes);
        let _ = unix::take_datagram(&bytes, &mut Vec::new());
    }

    #[test]
    fn no_damage_makes_the_diag_parser_panic(at in 0usize..224, byte: u8, cut in 0usize..224) {
        let mut damaged = bytes(DIAG);
        damaged[at] = byte;
        damaged.truncate(cut);
        let _ = unix::take_datagram(&damaged, &mut Vec::new());
    }

    #[test]
    fn no_line_makes_the_tcp_parser_panic(line in "[ 0-9A-F:é]{0,120}") {
        parse_proc_net_tcp(line.as_bytes());
        parse_proc_net_unix(line.as_bytes());
    }

    #[test]
    fn no_trie_makes_the_address_parser_panic(trie in r"(\|-- [0-9.]{1,15}\n */[0-9]{1,3} host LOCAL\n){0,5}") {
        inet::parse_fib_trie(trie.as_bytes());
    }
}
