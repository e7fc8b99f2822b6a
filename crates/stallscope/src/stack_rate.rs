//! How often stacks are sampled, as it is typed: `off`, `on`, or a rate.

use std::ops::RangeInclusive;

/// Samples a second and CPU by default: no multiple of what programs do by the clock.
const USUAL: u32 = 49;
/// Rates that may be asked for.
const ALLOWED: RangeInclusive<u32> = 1..=5_000;

/// Why a recording may have no call stacks.
pub(crate) const WHY_NO_STACKS: &str = "it was made by an older version, with --stacks off, or without the right to perf events (stallscope doctor says which)";

/// Samples a second of each CPU; `None` for none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StackRate(pub(crate) Option<u32>);

impl Default for StackRate {
    fn default() -> Self {
        Self(Some(USUAL))
    }
}

/// Reads what stands behind `--stacks`.
pub(crate) fn parse_stacks(text: &str) -> Result<StackRate, String> {
    let rate = match text {
        "off" => None,
        "on" => return Ok(StackRate::default()),
        number => {
            let rate = number.parse().ok().filter(|rate| ALLOWED.contains(rate));
            let (least, most) = ALLOWED.into_inner();
            let expected =
                || format!("expected off, on, or samples a second from {least} to {most}");
            Some(rate.ok_or_else(expected)?)
        }
    };
    Ok(StackRate(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(parse_stacks("off"), Ok(StackRate(None)));
        assert_eq!(parse_stacks("on"), Ok(StackRate(Some(USUAL))));
        assert_eq!(parse_stacks("997"), Ok(StackRate(Some(997))));
        for wrong in ["0", "5001", "49hz", "", "-1"] {
            let said = "expected off, on, or samples a second from 1 to 5000".to_owned();
            assert_eq!(parse_stacks(wrong), Err(said), "{wrong}");
        }
    }
}
