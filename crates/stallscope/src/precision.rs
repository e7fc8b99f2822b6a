//! How sure a difference is to be: `--precision 2%`.

use std::str::FromStr;

/// Half of the width of an interval, as a part of the baseline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Precision(pub(crate) f64);

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no precision: write 2% or 0.5%");
        let number = text.trim().strip_suffix('%').ok_or_else(wrong)?;
        let percent: f64 = number.trim().parse().map_err(|_| wrong())?;
        // Nothing is ever known to 0.
        match percent > 0.0 && percent.is_finite() {
            true => Ok(Self(percent / 100.0)),
            false => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_above_nothing_are_read() {
        assert_eq!("2%".parse(), Ok(Precision(0.02)));
        assert_eq!(" 0.5 %".parse(), Ok(Precision(0.005)));
        for wrong in ["", "2", "0%", "-1%", "nan%", "inf%", "%"] {
            let said = wrong.parse::<Precision>().expect_err(wrong);
            assert!(said.contains("write 2%"), "{said}");
        }
    }
}
