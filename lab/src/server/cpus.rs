//! Which CPUs a thread may use.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Lets the calling thread, and those that it starts, use one CPU only.
pub fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("may not use CPU {cpu}"))
}

/// The first and the last CPU that this process may use; `None` when that is one and the same.
pub fn two() -> Result<Option<(usize, usize)>> {
    let set = sched_getaffinity(None).context("cannot tell which CPUs may be used")?;
    let mut allowed = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    Ok(allowed.next().zip(allowed.next_back()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_left_one_cpu() {
        let Some((_, last)) = two().expect("the kernel says") else {
            return;
        };
        let left = std::thread::spawn(move || pin(last).and_then(|()| two()));
        let left = left.join().expect("it does not panic");
        assert_eq!(left.expect("the kernel says"), None);
        assert!(
            two().expect("the kernel says").is_some(),
            "ours is as before"
        );
    }
}
