//! The window that is asked for: `from=NS&to=NS`.
//!
//! Nanoseconds after the report's `origin`, as `explain --from` counts: JavaScript is exact up to 2^53,
//! which is 104 days after the origin, while the clock of a machine that runs longer is beyond.

/// Which part of the recording; what is left out is as `explain` has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Asked {
    /// From when on, ns after the origin.
    pub(crate) from_ns: Option<i64>,
    /// Up to when, ns after the origin.
    pub(crate) to_ns: Option<i64>,
}

/// What is wrong with a query, and what would be right. It quotes nothing of it.
pub(super) const WRONG: &str = "the window cannot be understood: write from and to once each, as whole nanoseconds after the origin, such as ?from=1000000000&to=2000000000";

impl Asked {
    /// What stands behind the `?`; `None` when it means nothing.
    pub(super) fn parse(query: &str) -> Option<Self> {
        let mut asked = Self::default();
        if query.is_empty() {
            return Some(asked);
        }
        for part in query.split('&') {
            let (name, value) = part.split_once('=')?;
            let said = match name {
                "from" => &mut asked.from_ns,
                "to" => &mut asked.to_ns,
                _ => return None,
            };
            if said.is_some() {
                return None;
            }
            *said = Some(whole(value)?);
        }
        Some(asked)
    }
}

/// In a query a `+` is a space.
fn whole(value: &str) -> Option<i64> {
    if value.starts_with('+') {
        return None;
    }
    value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_means_nothing_is_refused() {
        for wrong in [
            "from",
            "from=",
            "from=1s",
            "from=1.5",
            "from=+1",
            "from=1&",
            "&from=1",
            "from=1&from=1",
            "from=1&to=2&to=3",
            "from=9223372036854775808",
            "from=%31",
            "From=1",
            "x=1",
            "from=1;to=2",
            "from= 1",
        ] {
            assert_eq!(Asked::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Asked::parse(""), Some(Asked::default()));
        let all = Asked {
            from_ns: Some(-5),
            to_ns: Some(i64::MAX),
        };
        assert_eq!(Asked::parse("to=9223372036854775807&from=-5"), Some(all));
    }

    /// As a browser would write it.
    fn written(asked: Asked) -> String {
        let part = |name: &str, ns: Option<i64>| ns.map(|ns| format!("{name}={ns}"));
        let parts = [part("from", asked.from_ns), part("to", asked.to_ns)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("&")
    }

    proptest! {
        #[test]
        fn what_is_written_is_understood(from_ns: Option<i64>, to_ns: Option<i64>) {
            let asked = Asked { from_ns, to_ns };
            prop_assert_eq!(Asked::parse(&written(asked)), Some(asked));
        }

        #[test]
        fn nothing_is_understood_that_was_not_said(query in "(from|to|&|=|-|\\+|[0-9]{1,4}|[ -~]){0,8}") {
            if let Some(asked) = Asked::parse(&query) {
                let said = [asked.from_ns, asked.to_ns].into_iter().flatten().count();
                prop_assert_eq!(query.matches('=').count(), said);
                prop_assert_eq!(Asked::parse(&written(asked)), Some(asked));
            }
        }

        #[test]
        fn no_text_makes_it_panic(query: String) {
            let _ = Asked::parse(&query);
        }
    }
}
