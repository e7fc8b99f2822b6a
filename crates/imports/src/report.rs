//! What iostat, pidstat and vmstat print alike: a banner, times as the locale writes them, numbers under headings.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::draft::Interval;
use crate::{NotUnderstood, wall_clock};

const DAY_NS: i64 = 86_400_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// The line that tools of sysstat begin with: `Linux 6.1.0 (host)  11/26/26  _x86_64_  (2 CPU)`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Banner {
    pub(crate) kernel: Option<String>,
    pub(crate) node: Option<String>,
    pub(crate) cpus: Option<u32>,
    /// When its day began, ns since 1970, its times taken for UTC.
    pub(crate) day: Option<i64>,
}

/// The banner in a line, if it is one.
pub(crate) fn banner(line: &str) -> Option<Banner> {
    let rest = line.strip_prefix("Linux ")?;
    let (system, rest) = rest.split_once('\t')?;
    let (kernel, node) = system.split_once(" (")?;
    let fields: Vec<&str> = rest.split('\t').map(str::trim).collect();
    let cpus = fields.last().and_then(|it| it.strip_prefix('('));
    let cpus = cpus.and_then(|it| it.split(' ').next()?.parse().ok());
    Some(Banner {
        kernel: Some(kernel.trim().to_owned()),
        node: Some(node.trim().trim_end_matches(')').to_owned()),
        cpus: cpus.filter(|it| (1..=65_536).contains(it)),
        day: fields.first().and_then(|date| day(date)),
    })
}

/// The start of a day, ns since 1970: `2026-11-26`, `11/26/2026` or `11/26/26`, month first.
pub(crate) fn day(text: &str) -> Option<i64> {
    let date: Date = match text.split_once('/') {
        None => text.parse().ok()?,
        Some((month, rest)) => {
            let (day, year) = rest.split_once('/')?;
            let year: i16 = match (year.len(), year.parse().ok()?) {
                (2, year) => 2000 + year,
                (4, year) => year,
                _ => return None,
            };
            Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()?
        }
    };
    let start = date.to_zoned(TimeZone::UTC).ok()?.timestamp();
    i64::try_from(start.as_nanosecond())
        .ok()
        .filter(|ns| (0..i64::MAX - 2 * DAY_NS).contains(ns))
}

/// A time of day at the start of a line, and how many words it took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct TimeOfDay {
    /// ns since midnight.
    pub(crate) ns: i64,
    pub(crate) words: usize,
}

/// `16:05:06` or `04:05:06 PM`.
pub(crate) fn time_of_day(words: &[&str]) -> Option<TimeOfDay> {
    let mut parts = words.first()?.split(':').map(|part| match part.len() {
        2 => part.parse::<i64>().ok(),
        _ => None,
    });
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let half = match words.get(1) {
        Some(&"AM") => Some(0),
        Some(&"PM") => Some(12),
        _ => None,
    };
    let hour = match half {
        Some(half) => hour % 12 + half,
        None => hour,
    };
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..61).contains(&second);
    (is_time && parts.next().is_none()).then_some(TimeOfDay {
        ns: (hour * 3_600 + minute * 60 + second) * SECOND_NS,
        words: if half.is_some() { 2 } else { 1 },
    })
}

/// A date and a time that are all of a line, ns since 1970: `11/26/26 16:05:06`, `2026-11-26T16:05:06+0000`.
pub(crate) fn instant(words: &[&str]) -> Option<i64> {
    if let [one] = words {
        return one.contains('T').then(|| iso(one)).flatten();
    }
    let (date, rest) = words.split_first()?;
    let time = time_of_day(rest).filter(|time| time.words == rest.len())?;
    Some(day(date)? + time.ns)
}

/// With the offset as sysstat writes it, without a colon.
fn iso(text: &str) -> Option<i64> {
    let sign = text.len().checked_sub(5)?;
    let is_bare = text.is_char_boundary(sign)
        && text[sign..].starts_with(['+', '-'])
        && text[sign + 1..].bytes().all(|byte| byte.is_ascii_digit());
    match is_bare {
        true => wall_clock::parse(&format!("{}:{}", &text[..sign + 3], &text[sign + 3..])),
        false => wall_clock::parse(text),
    }
}

/// Times of a day that go on over midnight.
pub(crate) struct Days {
    day: i64,
    before: i64,
}

impl Days {
    pub(crate) fn from(day: i64) -> Self {
        Self { day, before: 0 }
    }

    /// The instant of a time of day: of the next day, where it is half a day earlier than the one before.
    pub(crate) fn at(&mut self, of_day: i64) -> i64 {
        if of_day < self.before - DAY_NS / 2 {
            self.day = self.day.saturating_add(DAY_NS);
        }
        self.before = of_day;
        self.day.saturating_add(of_day)
    }
}

/// The number in a word.
pub(crate) fn number(word: &str, line: usize, again: &str) -> Result<f64, NotUnderstood> {
    let number = word.trim_end_matches('%').parse::<f64>();
    number.ok().filter(|it| it.is_finite()).ok_or_else(|| {
        let shown: String = word.chars().take(40).collect();
        let expected = format!("a number with a point, found {shown:?}");
        NotUnderstood::at(line, expected, again)
    })
}

/// A report's line in the file, and its instant where it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) line: usize,
    pub(crate) time: Option<i64>,
}

/// The instants of reports: as they say, or a period apart, whichever all of them have.
pub(crate) fn instants(
    stamps: &[Stamp],
    period_ns: Option<i64>,
    again: &str,
) -> Result<Vec<i64>, NotUnderstood> {
    if let Some(untimed) = stamps.iter().find(|stamp| stamp.time.is_none()) {
        let Some(period) = period_ns.filter(|period| *period > 0) else {
            let advice = format!("{again}; or say how far reports lie apart, as in --period 10s");
            return Err(NotUnderstood::at(untimed.line, "a time", advice));
        };
        return Ok((0..stamps.len() as i64)
            .map(|index| index.saturating_mul(period))
            .collect());
    }
    let mut before = None;
    let mut times = Vec::new();
    for stamp in stamps {
        let time = stamp.time.unwrap_or_default();
        if before.is_some_and(|before| before >= time) {
            return Err(NotUnderstood::at(
                stamp.line,
                "a later time than in the report before",
                "import the part before it and the part after it on their own",
            ));
        }
        before = Some(time);
        times.push(time);
    }
    Ok(times)
}

/// What lies between two instants that follow each other.
pub(crate) fn between(times: &[i64], index: usize) -> Option<Interval> {
    let end = *times.get(index)?;
    let start = *times.get(index.checked_sub(1)?)?;
    Some(Interval { start, end })
}
