//! Which CPUs are there, and which of them a process may use.

use crate::bytes::{lines, number, words};

/// The numbers of the CPUs that are online, from /proc/stat: those that are not have no line.
pub fn cpus_online(stat: &[u8]) -> impl Iterator<Item = i64> {
    let cpus = lines(stat).take_while(|line| line.starts_with(b"cpu"));
    cpus.filter_map(|line| number(words(line).next()?.strip_prefix(b"cpu")?))
}

/// CPUs by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CpuList(Vec<(i64, i64)>);

impl CpuList {
    /// Reads a list like `0-3,8`; `None` where it is none.
    fn parse(text: &[u8]) -> Option<Self> {
        Some(Self(ranges(text)?.collect::<Option<_>>()?))
    }

    /// Whether a CPU is in it.
    pub fn contains(&self, cpu: i64) -> bool {
        self.0
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&cpu))
    }
}

/// How many CPUs a list like `0-3,8` names; `None` where it is none. Allocates nothing.
pub(crate) fn count_of(text: &[u8]) -> Option<i64> {
    ranges(text)?.try_fold(0i64, |count, range| {
        let (first, last) = range?;
        Some(
            count
                .saturating_add(last.saturating_sub(first))
                .saturating_add(1),
        )
    })
}

/// The first and last number of each range of a list.
fn ranges(text: &[u8]) -> Option<impl Iterator<Item = Option<(i64, i64)>>> {
    let list = words(text).next()?;
    let range = |range: &[u8]| {
        let mut ends = range.split(|byte| *byte == b'-');
        let first = number(ends.next()?)?;
        let last = ends.next().map_or(Some(first), number)?;
        (last >= first).then_some((first, last))
    };
    Some(list.split(|byte| *byte == b',').map(range))
}

/// The CPUs that a process may use, cpuset included, from its /proc/PID/status. They need not be there:
/// the kernel keeps the mask of one that may use every CPU as it was asked for.
pub fn cpus_allowed(status: &[u8]) -> Option<CpuList> {
    let line = lines(status).find_map(|line| line.strip_prefix(b"Cpus_allowed_list:"))?;
    CpuList::parse(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_are_offline_have_no_line() {
        let stat = b"cpu  1 2 3\ncpu0 1 2 3\ncpu2 1 2 3\nintr 5\ncpu9 1\n";
        assert_eq!(cpus_online(stat).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(cpus_online(b"").count(), 0);
    }

    #[test]
    fn what_a_process_may_use() {
        let status = b"Name:\tx\nCpus_allowed:\tf,ffffffff\nCpus_allowed_list:\t0-3,8\n";
        let list = cpus_allowed(status).expect("it stands there");
        assert_eq!(count_of(b"0-3,8\n"), Some(5));
        assert_eq!(
            [count_of(b"\n"), count_of(b"3-1"), count_of(b"0,x")],
            [None; 3]
        );
        assert_eq!(
            [0, 3, 4, 8].map(|cpu| list.contains(cpu)),
            [true, true, false, true]
        );
        for wrong in [
            &b"Name:\tx\n"[..],
            b"Cpus_allowed_list:\t\n",
            b"Cpus_allowed_list: 3-1",
        ] {
            assert_eq!(cpus_allowed(wrong), None);
        }
    }
}
