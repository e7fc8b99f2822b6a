//! The kernel version, and the scheduler's accounting.

use model::Fix;
use rustix::io::Errno;

use super::answer::Answer;
use super::host_facts::HostFacts;
use super::tree::name_of;

/// The oldest supported kernel: RHEL 8's.
const OLDEST: (u32, u32) = (4, 18);

/// Checks the kernel's version.
pub(super) fn kernel(host: &HostFacts<'_>) -> Answer {
    let release = &host.release;
    match host.kernel() {
        None => Answer::unknown(
            "/proc/sys/kernel/osrelease does not tell which version of Linux this is.",
        ),
        Some(version) if version < OLDEST => Answer::missing(format!(
            "Linux {release} is older than 4.18, the oldest that Stallscope is made for."
        ))
        .costs("Nobody tried it there: any figure may lack.")
        .fixed_by(built_with("4.18 or a later version")),
        Some(_) => Answer::fine(format!("Linux {release}; 4.18 or later is needed.")),
    }
}

/// Whether run-queue delay is available: /proc/PID/schedstat.
pub(super) fn run_queue_delay(host: &HostFacts<'_>) -> Answer {
    const COSTS: &str = "How long threads wait for a CPU, in every report; cpu.saturated, cpu.neighbour, cpu.quota and load.client \
        rest on it.";
    let (file, read) = schedstat(host);
    match read {
        Ok(text) if text.split_ascii_whitespace().all(|it| it == "0") => {
            Answer::missing(format!(
                "/{file} is all zeros: the kernel can count run-queue delay, and it is switched off."
            ))
            .costs(COSTS)
            .fixed_by(Fix {
                // Before 5.14 it follows delay accounting, which is on without this parameter.
                how: "take nodelayacct out of the kernel's boot parameters and reboot".to_owned(),
                commands: Vec::new(),
            })
        }
        Ok(_) => Answer::fine(format!(
            "/{file} counts it (kernel.sched_schedstats is another thing, and may stay 0)."
        )),
        Err(_) if host.probes.is_none() => Answer::not_probed(),
        Err(errno) => Answer::missing(format!(
            "/{file} cannot be read ({}): the kernel was built without CONFIG_SCHED_INFO.",
            name_of(errno)
        ))
        .costs(COSTS)
        .fixed_by(built_with(
            "CONFIG_SCHEDSTATS=y or CONFIG_TASK_DELAY_ACCT=y",
        )),
    }
}

/// schedstat of this process; of captured files, the first that there is.
fn schedstat(host: &HostFacts<'_>) -> (String, Result<String, Errno>) {
    let own = "proc/self/schedstat".to_owned();
    if host.probes.is_some() {
        let read = host.text(&own);
        return (own, read);
    }
    let entries = host.tree.entries("proc").unwrap_or_default();
    let pids = entries.iter().filter_map(|it| it.name.parse::<u32>().ok());
    let schedstats = pids.map(|pid| format!("proc/{pid}/task/{pid}/schedstat"));
    let mut files = std::iter::once(own.clone()).chain(schedstats);
    let found = files.find_map(|file| Some((host.text(&file).ok()?, file)));
    found.map_or((own, Err(Errno::NOENT)), |(text, file)| (file, Ok(text)))
}

/// The kernel's tick: times by ticks say nothing about shorter intervals.
pub(super) fn tick(host: &HostFacts<'_>) -> Answer {
    let of_probes = host.probes.as_ref().map(|it| it.tick_ns);
    let by_clock = of_probes.filter(|ns| *ns > 0).map(|ns| {
        (
            1_000_000_000 / ns,
            "by the coarse clock's resolution".to_owned(),
        )
    });
    let rates = [100, 250, 300, 1000];
    let built = rates.iter().find_map(|hz| {
        let is = host.config.has(&format!("CONFIG_HZ_{hz}"))?;
        is.then(|| (*hz, format!("by {}", host.config.place())))
    });
    match by_clock.or(built) {
        Some((hz, how)) => Answer::fine(format!(
            "HZ is {hz} ({how}): pressure of groups that are busy for less than {} ms between two readings is lost, \
             for every reader.",
            1_000 / hz.max(1)
        )),
        None => Answer::unknown(
            "HZ is not known: captured files without a kernel configuration do not tell.",
        ),
    }
}

/// Whether the kernel times interrupts, or estimates them from ticks.
pub(super) fn interrupts(host: &HostFacts<'_>) -> Answer {
    let sampled = "time in interrupts is taken from ticks, and short ones count as time of the thread that they \
        interrupt; cpu.softirq knows it so";
    if host.tree.read("proc/pressure/irq").is_ok() {
        return Answer::fine("Interrupts are timed exactly: there is a /proc/pressure/irq.");
    }
    let place = host.config.place();
    match host.config.has("CONFIG_IRQ_TIME_ACCOUNTING") {
        Some(true) => Answer::fine(format!(
            "Interrupts are timed exactly: {place} has CONFIG_IRQ_TIME_ACCOUNTING=y."
        )),
        Some(false) => Answer::missing(format!(
            "Interrupts are not timed ({place} has no CONFIG_IRQ_TIME_ACCOUNTING): {sampled}."
        )),
        None if host.kernel().is_some_and(|it| it >= (6, 1)) => Answer::missing(format!(
            "Interrupts are not timed, or pressure is off (no /proc/pressure/irq): {sampled}."
        )),
        None => Answer::unknown(
            "No kernel configuration tells whether interrupts are timed, and before 6.1 no file does.",
        ),
    }
}

/// Whether delay accounting is on: delays by kind and task.
pub(super) fn delay_accounting(host: &HostFacts<'_>) -> Answer {
    match host.line("proc/sys/kernel/task_delayacct").as_deref() {
        Some("1") => Answer::fine("Delay accounting is on (kernel.task_delayacct = 1)."),
        Some(_) => Answer::missing(
            "Delay accounting is off (kernel.task_delayacct = 0), as it comes since 5.14: no verdict of this version \
             reads it.",
        )
        .fixed_by(host.setting("kernel.task_delayacct=1")),
        // Since 5.14 there is a sysctl, and delay accounting is off by default.
        None if host.kernel().is_some_and(|it| it >= (5, 14))
            || host.config.has("CONFIG_TASK_DELAY_ACCT") == Some(false) =>
        {
            Answer::missing(
                "Delay accounting was not built in (no kernel.task_delayacct): no verdict of this version reads it.",
            )
        }
        None if host.was_booted_with("nodelayacct") => Answer::missing(
            "Delay accounting is off (booted with nodelayacct): no verdict of this version reads it.",
        ),
        None => Answer::fine("Delay accounting is on, as it was before 5.14 unless switched off at boot."),
    }
}

fn built_with(what: &str) -> Fix {
    Fix {
        how: format!("another kernel: {what}"),
        commands: Vec::new(),
    }
}
