//! The options of `record` for a recording that is written as segments.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use recorder::{RateLimit, SegmentOptions, Trigger, TriggerOptions};
use recording::Keep;

use crate::byte_size::parse_size;
use crate::duration::parse_duration;

/// The heading of the help.
const KEPT: &str = "What is kept (docs/ring.md)";

/// How long a segment is where an option asks for segments and none for their length.
const USUAL: Duration = Duration::from_secs(60);

/// The same of a ring: what is saved begins with a whole segment.
const OF_A_RING: Duration = Duration::from_secs(10);

/// How much is saved before and after a firing.
const AROUND: Duration = Duration::from_secs(30);

/// The longest segment: what is removed is removed whole.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// How a recording is written as segments.
#[derive(Args, Debug)]
pub(crate) struct SegmentArguments {
    /// Write segments of this length, each a recording by itself. [default with --keep or --max-size: 1m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = KEPT)]
    pub(crate) segment: Option<Duration>,
    /// Remove segments that ended so long ago: 48h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = KEPT)]
    pub(crate) keep: Option<Duration>,
    /// Remove the oldest segments, or what triggers saved, as long as all together are larger: 2G.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = KEPT)]
    pub(crate) max_size: Option<u64>,
    /// Keep only what lies around a moment: 'latency.p99>100ms for 300ms', 'spike', 'pressure.cpu.some>60% for 4s'. Repeatable.
    #[arg(long, value_name = "EXPR", conflicts_with = "keep", help_heading = KEPT)]
    pub(crate) trigger: Vec<Trigger>,
    /// With --trigger: how much before it is kept. [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "trigger", help_heading = KEPT)]
    pub(crate) before: Option<Duration>,
    /// With --trigger: how much after it. [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "trigger", help_heading = KEPT)]
    pub(crate) after: Option<Duration>,
    /// With --trigger: save at most so often; firings between are counted. [default: 1/5m]
    #[arg(long, value_name = "N/TIME", requires = "trigger", help_heading = KEPT)]
    pub(crate) at_most: Option<RateLimit>,
}

impl SegmentArguments {
    /// The smallest `--max-size`: a few segments of a busy machine.
    const LEAST_BYTES: u64 = 1 << 20;

    /// What they ask for; `None` without any of them.
    ///
    /// # Errors
    /// One sentence: values that no recording can follow.
    pub(crate) fn options(&self) -> Result<Option<SegmentOptions>> {
        if !self.trigger.is_empty() {
            return self.ring().map(Some);
        }
        if self.segment.is_none() && self.keep.is_none() && self.max_size.is_none() {
            return Ok(None);
        }
        let length = self.length(USUAL)?;
        if self.keep.is_some_and(|keep| keep < length) {
            bail!(
                "--keep is shorter than a segment of {} s, which is removed whole: choose a shorter --segment",
                length.as_secs_f64()
            );
        }
        if self.max_size.is_some_and(|most| most < Self::LEAST_BYTES) {
            bail!("--max-size is at least 1M: a segment of a busy machine takes some 100 kB");
        }
        Ok(Some(SegmentOptions {
            length,
            keep: Keep {
                age: self.keep,
                bytes: self.max_size,
            },
        }))
    }

    /// What triggers save, and when; `None` without any.
    pub(crate) fn triggers(&self) -> Option<TriggerOptions> {
        (!self.trigger.is_empty()).then(|| TriggerOptions {
            triggers: self.trigger.clone(),
            before: self.before.unwrap_or(AROUND),
            after: self.after.unwrap_or(AROUND),
            at_most: self.at_most.unwrap_or_default(),
            max_size: self.max_size,
        })
    }

    /// The ring: as much as is saved before a firing, and the segment in which that begins.
    fn ring(&self) -> Result<SegmentOptions> {
        let length = self.length(OF_A_RING)?;
        let around = [self.before, self.after].into_iter().flatten();
        if let Some(long) = around.max().filter(|it| *it > LONGEST) {
            bail!(
                "--before and --after are at most 24h, not {} s: record with --keep instead",
                long.as_secs()
            );
        }
        let age = self.before.unwrap_or(AROUND) + length;
        Ok(SegmentOptions {
            length,
            keep: Keep {
                age: Some(age),
                bytes: None,
            },
        })
    }

    fn length(&self, usual: Duration) -> Result<Duration> {
        let length = self.segment.unwrap_or(usual);
        if !(SegmentOptions::SHORTEST..=LONGEST).contains(&length) {
            bail!(
                "--segment is from 2s to 24h: each segment begins with what it needs of those before"
            );
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_asked_for_by_any_of_the_options() {
        let options = |segment, keep, max_size| {
            let seconds = |it: Option<u64>| it.map(Duration::from_secs);
            SegmentArguments {
                segment: seconds(segment),
                keep: seconds(keep),
                max_size,
                trigger: Vec::new(),
                before: None,
                after: None,
                at_most: None,
            }
            .options()
        };
        let asked = |it: Result<Option<SegmentOptions>>| it.expect("it can be followed");
        assert_eq!(asked(options(None, None, None)), None);
        let kept = asked(options(None, Some(3600), None)).expect("segments");
        assert_eq!(kept.length, USUAL);
        assert_eq!(kept.keep.age, Some(Duration::from_secs(3600)));
        assert!(asked(options(Some(10), None, None)).is_some());
        assert!(asked(options(None, None, Some(2 << 30))).is_some());
        for wrong in [
            options(Some(1), None, None),
            options(Some(25 * 3600), None, None),
            options(None, Some(59), None),
            options(None, None, Some(1_000)),
        ] {
            assert!(wrong.is_err());
        }
    }
}
