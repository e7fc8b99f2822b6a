//! How often something is saved: so many times in so long, whatever fires.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use model::Timestamp;

/// The most savings that a limit may allow.
const MOST: u32 = 1_000;

/// At most so many savings in any stretch of this length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimit {
    count: u32,
    per: Duration,
}

/// Once in five minutes.
impl Default for RateLimit {
    fn default() -> Self {
        Self {
            count: 1,
            per: Duration::from_secs(300),
        }
    }
}

/// A text that is no limit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no limit: write 1/5m, that is once in five minutes, or 10/1h; at most 1000")]
pub struct WrongLimit(String);

impl FromStr for RateLimit {
    type Err = WrongLimit;

    fn from_str(text: &str) -> Result<Self, WrongLimit> {
        let parse = || {
            let (count, per) = text.trim().split_once('/')?;
            let count = count.trim().parse().ok()?;
            let per = per.trim();
            let split = per.find(|c: char| !c.is_ascii_digit())?;
            let (number, unit) = per.split_at(split);
            let seconds = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 3600,
                _ => return None,
            };
            let number: u64 = number.parse().ok()?;
            let per = number
                .checked_mul(seconds)
                .filter(|it| *it <= 366 * 86_400)?;
            let fits = (1..=MOST).contains(&count) && per > 0;
            fits.then(|| Self {
                count,
                per: Duration::from_secs(per),
            })
        };
        parse().ok_or_else(|| WrongLimit(text.to_owned()))
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.per.as_secs() {
            s if s % 3600 == 0 => write!(f, "{}/{}h", self.count, s / 3600),
            s if s % 60 == 0 => write!(f, "{}/{}m", self.count, s / 60),
            s => write!(f, "{}/{s}s", self.count),
        }
    }
}

/// Applies a limit to firings as they come, and counts those that it suppresses.
pub(crate) struct Limiter {
    limit: RateLimit,
    /// When something was saved last, of as many as the limit allows.
    saved: VecDeque<Timestamp>,
    /// Firings since then that nothing was saved for.
    suppressed: u64,
    /// The same since the beginning.
    pub(crate) suppressed_in_all: u64,
}

/// What is to be done about a firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Save what lies around; so many firings were suppressed since the last time.
    Save(u64),
    /// Nothing; it is the so-manieth since something was saved.
    Suppressed(u64),
}

impl Limiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            saved: VecDeque::new(),
            suppressed: 0,
            suppressed_in_all: 0,
        }
    }

    /// Takes a firing; one that comes while something is being saved is a part of that and is suppressed.
    pub(crate) fn fired(&mut self, at: Timestamp, is_saving: bool) -> Verdict {
        let per = i64::try_from(self.limit.per.as_nanos()).unwrap_or(i64::MAX);
        while self.saved.front().is_some_and(|it| at.ns_since(*it) >= per) {
            self.saved.pop_front();
        }
        if is_saving || self.saved.len() >= self.limit.count as usize {
            self.suppressed += 1;
            self.suppressed_in_all += 1;
            return Verdict::Suppressed(self.suppressed);
        }
        self.saved.push_back(at);
        Verdict::Save(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ns(seconds * 1_000_000_000)
    }

    #[test]
    fn a_thousand_firings_are_saved_as_often_as_the_limit_says() {
        let mut limiter = Limiter::new("1/5m".parse().expect("a limit"));
        let verdicts: Vec<Verdict> = (0..1_000).map(|it| limiter.fired(at(it), false)).collect();
        let saved: Vec<usize> = (0..1_000)
            .filter(|it| matches!(verdicts[*it], Verdict::Save(_)))
            .collect();
        assert_eq!(saved, [0, 300, 600, 900]);
        assert_eq!(verdicts[300], Verdict::Save(299));
        assert_eq!(limiter.suppressed_in_all, 996);
    }

    #[test]
    fn limits() {
        for (text, shown) in [
            ("1/5m", "1/5m"),
            (" 10 / 1h ", "10/1h"),
            ("2/90s", "2/90s"),
            ("1/120s", "1/2m"),
        ] {
            assert_eq!(
                text.parse::<RateLimit>().map(|it| it.to_string()),
                Ok(shown.to_owned())
            );
        }
        for wrong in [
            "",
            "1",
            "0/5m",
            "1/0s",
            "1001/1h",
            "1/5",
            "-1/5m",
            "1/99999999999999h",
        ] {
            assert!(wrong.parse::<RateLimit>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_stretch_has_more_savings_than_the_limit(
            count in 1u32..5,
            per in 1u64..100,
            mut times in prop::collection::vec(0i64..1_000, 0..300),
        ) {
            times.sort_unstable();
            let mut limiter = Limiter::new(RateLimit { count, per: Duration::from_secs(per) });
            let saved: Vec<i64> = times
                .iter()
                .filter(|it| matches!(limiter.fired(at(**it), false), Verdict::Save(_)))
                .copied()
                .collect();
            for window in saved.windows(count as usize + 1) {
                prop_assert!(window[count as usize] - window[0] >= per as i64);
            }
            prop_assert_eq!(limiter.suppressed_in_all as usize, times.len() - saved.len());
        }
    }
}
