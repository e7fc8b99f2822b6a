//! Parsers of this crate that only the fuzzer (folder `fuzz/`) uses from outside. They open no file.

use crate::{inet, unix};

/// One datagram of a sock_diag answer.
pub fn datagram(bytes: &[u8]) {
    let _ = unix::take_datagram(bytes, &mut Vec::new());
    let _ = inet::parse_inet_diag(bytes);
}

/// Files of `/proc/net`: `fib_trie`, `if_inet6`.
pub fn addresses(bytes: &[u8]) {
    inet::parse_fib_trie(bytes);
    inet::parse_if_inet6(bytes);
}
