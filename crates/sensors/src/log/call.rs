//! Lines that report a call: `Call yb.master.MasterService.GetTableSchema 10.1.0.24:43978 => 10.1.0.29:7100 (request
//! call id 1) took 0ms`, as YugabyteDB and Kudu write them.
//!
//! What stands before the method does not matter, nor what stands between the callee and `took`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// A longer name is none of a method, bytes.
const LONGEST_METHOD: usize = 120;
/// Digits that a part of a method's name may have: more make a number of it.
const MOST_DIGITS: usize = 3;

/// A call, as its line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoggedCall<'a> {
    /// What was called: `yb.master.MasterService.GetTableSchema`.
    pub method: &'a str,
    /// Who called. Its port is another one with each connection.
    pub caller: IpAddr,
    /// Who was called.
    pub callee: SocketAddr,
    /// How long it took, ns.
    pub took_ns: u64,
}

impl<'a> LoggedCall<'a> {
    /// Reads a line; `None` where it reports no call.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let arrow = arrow(line)?;
        let before = std::str::from_utf8(&line[..arrow]).ok()?;
        let behind = std::str::from_utf8(line.get(arrow + 2..)?).ok()?;
        let mut before = before.split_ascii_whitespace().rev();
        let caller: SocketAddr = before.next()?.parse().ok()?;
        let method = before.next().filter(|it| is_method(it))?;
        let mut behind = behind.split_ascii_whitespace();
        let callee = behind.next()?.trim_end_matches([',', ';']).parse().ok()?;
        behind.find(|it| *it == "took")?;
        let (number, unit) = (behind.next()?, behind.next());
        Some(Self {
            method,
            caller: caller.ip(),
            callee,
            took_ns: duration(number, unit)?,
        })
    }
}

/// Where `=>` or `->` stands between blanks.
fn arrow(line: &[u8]) -> Option<usize> {
    let mut from = 1;
    loop {
        let at = from + line.get(from..)?.iter().position(|it| *it == b'>')?;
        let is_arrow = matches!(line[at - 1], b'=' | b'-')
            && line.get(at + 1) == Some(&b' ')
            && at >= 2
            && line[at - 2] == b' ';
        if is_arrow {
            return Some(at - 1);
        }
        from = at + 1;
    }
}

/// Two names at least, joined as programs join them.
fn is_method(text: &str) -> bool {
    let is_name = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
            && part
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_')
            && digits <= MOST_DIGITS
    };
    let parts = || text.split(['.', '/', ':']).filter(|it| !it.is_empty());
    text.len() <= LONGEST_METHOD && parts().count() >= 2 && parts().all(is_name)
}

/// `0ms`, `12us`, `1.5s`, `12 ms`, in ns; below 0 or beyond what a counter holds it is none.
fn duration(number: &str, unit: Option<&str>) -> Option<u64> {
    let end = number.find(|it: char| !(it.is_ascii_digit() || it == '.'));
    let (number, attached) = number.split_at(end.unwrap_or(number.len()));
    let unit = if attached.is_empty() { unit? } else { attached };
    let unit = unit.trim_end_matches(['.', ',', ';', ')', ']']);
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let ns = number.parse::<f64>().ok()? * scale;
    (ns < 1e15).then_some(ns.round() as u64)
}

/// What the calls of a method by a caller to a callee are called:
/// `yb.master.MasterService.GetTableSchema 10.1.0.24 -> 10.1.0.29:7100`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallName {
    /// What was called.
    pub method: String,
    /// Who called, by address.
    pub caller: String,
    /// Who was called, by address and port.
    pub callee: String,
}

impl CallName {
    /// Reads what `Display` writes.
    pub fn parse(name: &str) -> Option<Self> {
        let (rest, callee) = name.split_once(" -> ")?;
        let (method, caller) = rest.rsplit_once(' ')?;
        let named = !method.is_empty() && !caller.is_empty() && !callee.is_empty();
        named.then(|| Self {
            method: method.to_owned(),
            caller: caller.to_owned(),
            callee: callee.to_owned(),
        })
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.method, self.caller, self.callee)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As `lab/demo-spikes/master.c` writes it.
    const LINE: &str = "I1128 10:00:00.000123 master.c:61] Call yb.master.MasterService.GetTableSchema 10.1.0.24:43978 => 10.1.0.29:7100 (request call id 1) took 0ms";

    #[test]
    fn a_call_is_read_as_it_is_written() {
        let call = LoggedCall::parse(LINE.as_bytes()).expect("it is one");
        assert_eq!(call.method, "yb.master.MasterService.GetTableSchema");
        assert_eq!(call.caller.to_string(), "10.1.0.24");
        assert_eq!(call.callee.to_string(), "10.1.0.29:7100");
        assert_eq!(call.took_ns, 0);
        let took = |text: &str| {
            let line = LINE.replace("took 0ms", text);
            LoggedCall::parse(line.as_bytes()).map(|it| it.took_ns)
        };
        assert_eq!(took("took 12ms. Trace:"), Some(12_000_000));
        assert_eq!(took("took 1.5s (client timeout 60s)."), Some(1_500_000_000));
        assert_eq!(took("took 250 us"), Some(250_000));
        for other in [
            "took",
            "took long",
            "took 5",
            "took -1ms",
            "took 1e99s",
            "ended",
        ] {
            assert_eq!(took(other), None, "{other}");
        }
        let v6 = LINE
            .replace("10.1.0.24:43978", "[fe80::1]:9")
            .replace("=>", "->");
        let call = LoggedCall::parse(v6.as_bytes()).expect("it is one");
        assert_eq!(call.caller.to_string(), "fe80::1");
    }

    #[test]
    fn other_lines_are_none() {
        for other in [
            "",
            ">",
            "=>",
            "a => b",
            "1.2.3.4:5 => 1.2.3.4:6 took 1ms",
            "secret 1.2.3.4:5 => 1.2.3.4:6 took 1ms",
            "a.b12345 1.2.3.4:5 => 1.2.3.4:6 took 1ms",
            "a.b host:5 => 1.2.3.4:6 took 1ms",
        ] {
            assert_eq!(LoggedCall::parse(other.as_bytes()), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(bytes: Vec<u8>) {
            let _ = LoggedCall::parse(&bytes);
        }

        #[test]
        fn names_are_read_as_they_are_written(text in "[a-z.]{1,9} [0-9.]{1,9} -> [0-9.:]{1,9}") {
            prop_assert_eq!(CallName::parse(&text).map(|it| it.to_string()), Some(text));
        }
    }
}
