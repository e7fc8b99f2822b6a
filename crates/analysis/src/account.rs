//! Where the response time went, by the one formula for shares.
//!
//! Share of a class = its ns in the serving threads inside requests / (throughput x mean response
//! time x window). What is left of the response time was spent outside the target, or in line at its
//! sockets where the response time was taken there. Without a signal the whole is the serving threads' own busy time, and that is said.

use model::{Account, AccountItem, ClassState, LedgerClass, Quality, ShareBasis, Window};
use sensors::thread_time::Holder;

use crate::holders::{self, Naming};
use crate::ledger::{Ledger, quality_in};
use crate::neighbours::Holding;
use crate::number_format::{count, percent};
use crate::request_times::BothEnds;
use crate::subject::Subject;
use crate::workload_metrics::Mean;

/// Whether time in a class is spent inside requests. Waiting for input is not, and what is not known is not claimed.
fn is_inside(class: LedgerClass) -> bool {
    class != LedgerClass::Input
        && !matches!(class.state(), ClassState::Unknown | ClassState::Outside)
}

/// Waits inside of requests.
pub(crate) fn waits() -> Vec<LedgerClass> {
    let classes = LedgerClass::ALL.into_iter();
    let waits = classes.filter(|class| is_inside(*class) && *class != LedgerClass::OnCpu);
    waits.collect()
}

/// What is known beside the target of the time that its requests take.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub(crate) generator: Option<&'a Subject>,
    /// Whether the response time was taken at the target's own sockets.
    pub(crate) at_sockets: bool,
    /// What requests took at the sockets of both ends.
    pub(crate) both_ends: Option<BothEnds>,
    /// Whether the response time was taken there, at the generator's.
    pub(crate) at_generator: bool,
}

impl Beside<'_> {
    /// Of the part of the response time that no thread of the target accounts for: the part in which requests had
    /// come to its sockets, and waited there.
    pub(crate) fn queued(self, unaccounted: f64) -> f64 {
        match self.both_ends {
            _ if self.at_sockets => unaccounted,
            Some(ends) if self.at_generator => {
                (unaccounted - ends.outside()).clamp(0.0, unaccounted)
            }
            _ => 0.0,
        }
    }
}

/// Less than this part of the response time in line is not shown beside what was outside.
const WORTH_SHOWING: f64 = 0.005;

/// The account of a target; `None` when its threads did nothing that could be accounted. `others` had
/// CPUs that the target waited for, as parts of what the rest had; `stolen` is the part of the CPUs' busy
/// time that the hypervisor took.
pub(crate) fn account(
    target: &Subject,
    beside: Beside<'_>,
    signal: Option<&Mean>,
    window: Window,
    (others, stolen): (&[Holding], f64),
) -> Option<Account> {
    let generator = beside.generator;
    let ledger = &target.serving_ledger;
    let total_ns = signal.map_or_else(|| ledger.busy_ns(), |mean| mean.response_ns);
    // Threads that were not seen have no share of anything, not a share of zero.
    if total_ns <= 0.0 || ledger.wall_ns <= 0.0 {
        return None;
    }
    let item = |class: LedgerClass, label: String, ns: f64, quality: Quality| AccountItem {
        class,
        label,
        ns: ns.round() as i64,
        share: ns / total_ns,
        quality,
        note: String::new(),
        parts: Vec::new(),
    };
    let mut items: Vec<AccountItem> = LedgerClass::ALL
        .into_iter()
        .filter(|class| is_inside(*class))
        .filter(|class| ledger.get(*class) > 0.0)
        // Inside a request a timer or a futex is a wait like any other; without requests it may be rest.
        .filter(|class| {
            signal.is_some() || !matches!(class, LedgerClass::Sleep | LedgerClass::Futex)
        })
        .map(|class| {
            item(
                class,
                format!("{}: {}", target.name, class.label()),
                ledger.get(class),
                quality_in(ledger, class),
            )
        })
        .collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.ns));
    let span_ns = signal.map_or(window, |mean| mean.span).len_ns().max(1) as f64;
    for item in items
        .iter_mut()
        .filter(|item| item.class == LedgerClass::CpuWait)
    {
        let naming = Naming {
            own: (&target.name, Holder::Target),
            partner: generator.map(|it| (it.name.as_str(), Holder::Generator)),
            others,
            stolen,
        };
        item.parts = holders::of_wait(ledger, total_ns, &naming);
        let notes = holders::in_words(&item.parts)
            .into_iter()
            .chain(waiters_note(item.ns as f64 / span_ns));
        item.note = notes.collect::<Vec<_>>().join("; ");
    }
    for item in items
        .iter_mut()
        .filter(|item| item.class == LedgerClass::OnCpu)
    {
        item.note = hidden_note(ledger, item.ns);
    }
    if let Some(mean) = signal {
        let inside: f64 = items.iter().map(|item| item.ns as f64).sum();
        if mean.lag_total_ns > 0.0 {
            let who = generator.map_or("the generator", |generator| generator.name.as_str());
            items.push(item(
                LedgerClass::Lag,
                format!("late behind the schedule of {who}"),
                mean.lag_total_ns,
                Quality::Exact,
            ));
        }
        let unaccounted = (total_ns - inside - mean.lag_total_ns).max(0.0);
        let queued = total_ns * beside.queued(unaccounted / total_ns);
        let estimated = |label, ns| item(LedgerClass::Outside, label, ns, Quality::Estimated);
        // At the target's own sockets a request is nowhere else: it has come, and no thread works on it.
        if beside.at_sockets || queued >= WORTH_SHOWING * total_ns {
            items.push(estimated(
                format!("queued at {}'s sockets", target.name),
                queued,
            ));
        }
        if !beside.at_sockets {
            let mut outside = estimated("client and network".to_owned(), unaccounted - queued);
            if let Some(generator) = generator {
                outside.parts = holders::of_outside(outside.ns as f64, total_ns, generator);
            }
            items.push(outside);
        }
        if let Some(last) = items.last_mut() {
            last.note = outside_note(target, beside);
        }
    }
    Some(Account {
        basis: if signal.is_some() {
            ShareBasis::ResponseTime
        } else {
            ShareBasis::BusyTime
        },
        total_ns: total_ns.round() as i64,
        response_ns: signal
            .and_then(|mean| mean.latency_ns)
            .map(|ns| ns.round() as i64),
        items,
    })
}

/// The mean number of waiters is the rate of their summed run-queue delay; pressure does not tell it.
fn waiters_note(waiters: f64) -> Option<String> {
    const WORTH_SAYING: f64 = 0.1;
    (waiters >= WORTH_SAYING).then(|| format!("{waiters:.1} threads runnable on average"))
}

/// What the kernel hid of the time on a CPU, where it is enough to be seen; signed.
fn hidden_note(ledger: &Ledger, on_cpu_ns: i64) -> String {
    const WORTH_SAYING: f64 = 0.001;
    let part = ledger
        .hidden()
        .map_or(0.0, |hidden| hidden.ns as f64 / on_cpu_ns.max(1) as f64);
    if part.abs() < WORTH_SAYING {
        return String::new();
    }
    format!(
        "{} of it hidden (interrupts, steal: what the kernel takes out)",
        percent(part)
    )
}

/// What is known of the time outside: the generator's own threads, and what may hide in it.
fn outside_note(target: &Subject, beside: Beside<'_>) -> String {
    let mut notes = Vec::new();
    let working = beside.generator.filter(|it| it.active_threads > 0);
    if let Some(generator) = working {
        notes.push(generator_note(generator));
        let both_ends = beside.both_ends;
        notes.extend(both_ends.map(|it| it.in_words(&target.name, &generator.name)));
    }
    if target.serving_ledger.part(LedgerClass::Unknown) > 0.05 {
        notes.push(format!(
            "may hide locks inside {}: what its threads block in was not seen",
            target.name
        ));
    }
    notes.join("; ")
}

fn generator_note(generator: &Subject) -> String {
    let (on_cpu, wait) = generator.active;
    let threads = count(generator.active_threads, "thread");
    let their = if generator.active_threads == 1 {
        "its"
    } else {
        "their"
    };
    let (name, on_cpu) = (&generator.name, percent(on_cpu));
    if wait < 0.0005 {
        return format!("{name}'s {threads}: on CPU for {on_cpu} of {their} time");
    }
    let wait = percent(wait);
    let input = generator.active_input.map_or(String::new(), |input| {
        format!(", {} waiting for input", percent(input))
    });
    format!("{name}'s {threads}: {wait} of {their} time waiting for a CPU, {on_cpu} on CPU{input}")
}
