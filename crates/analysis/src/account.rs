//! Where the response time went, by the one formula for shares.
//!
//! Share of a class = its ns in the serving threads inside requests / (throughput x mean response
//! time x window). What is left of the response time was spent outside the target, or in line at its
//! sockets, which is the time of those who serve the line (`in_line`). Without a signal the whole is the
//! serving threads' own busy time, and that is said.

use model::{Account, AccountItem, AccountPart, LedgerClass, Quality, ShareBasis, Window};
use sensors::thread_time::Holder;

use crate::holders::{self, Naming};
use crate::in_line::{Line, Standing, WORTH_SHOWING};
use crate::ledger::{Ledger, is_inside, quality_in};
use crate::neighbours::Holding;
use crate::number_format::{calls_in_words, count, duration, percent};
use crate::peers::{Calls, Peer};
use crate::request_times::BothEnds;
use crate::subject::Subject;
use crate::think_time::Think;
use crate::workload_metrics::Mean;

/// What is left of a response beyond the target.
pub(crate) const OUTSIDE: &str = "client and network";

/// Threads without work may sit in these.
pub(crate) const MAY_BE_REST: [LedgerClass; 4] = [
    LedgerClass::Futex,
    LedgerClass::SyncQueue,
    LedgerClass::Sleep,
    LedgerClass::OtherCall,
];

/// Waits inside of requests.
pub(crate) fn waits() -> Vec<LedgerClass> {
    let classes = LedgerClass::ALL.into_iter();
    let waits = classes.filter(|class| is_inside(*class) && *class != LedgerClass::OnCpu);
    waits.collect()
}

/// Work and waits inside of requests that no thread without work sits in.
pub(crate) fn surely_inside() -> Vec<LedgerClass> {
    let all = waits().into_iter().chain([LedgerClass::OnCpu]);
    all.filter(|it| !MAY_BE_REST.contains(it)).collect()
}

/// What is known beside the target of the time that its requests take.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub(crate) generator: Option<&'a Subject>,
    /// Whether the response time was taken at the target's own sockets.
    pub(crate) at_sockets: bool,
    /// What requests took at the sockets of both ends.
    pub(crate) both_ends: Option<BothEnds>,
    /// Think time of the generator's clients.
    pub(crate) think: Option<Think>,
}

impl Beside<'_> {
    /// Of what was spent outside of the target and its sockets, the think time.
    fn thought_ns(self, outside_ns: f64) -> f64 {
        let thought = self.think.map_or(0.0, |it| it.in_response_ns);
        thought.min(outside_ns)
    }

    /// Of `unaccounted_ns` of response times, for which no thread of the target accounts: that in which requests had come
    /// to its sockets, and waited there. Whoever took the response time, and of however many requests it is one, this is
    /// what they took at the target's sockets less `inside_ns`, its threads' part of `total_ns`.
    fn queued_ns(self, inside_ns: f64, unaccounted_ns: f64, total_ns: f64) -> f64 {
        match self.both_ends {
            _ if self.at_sockets => unaccounted_ns,
            Some(ends) => (ends.all_served_ns(total_ns) - inside_ns).clamp(0.0, unaccounted_ns),
            None => 0.0,
        }
    }
}

/// What an account is made of.
pub(crate) struct Accounting<'a> {
    pub(crate) target: &'a Subject,
    pub(crate) beside: Beside<'a>,
    pub(crate) signal: Option<&'a Mean>,
    /// Clients of a closed loop.
    pub(crate) clients: Option<u32>,
    pub(crate) window: Window,
    /// The target's calls to its peers; `None` where nobody counted them.
    pub(crate) calls: Option<&'a Calls>,
    /// Others that had CPUs which the target waited for, as parts of what the background had.
    pub(crate) others: &'a [Holding],
    /// The part of the CPUs' busy time that the hypervisor took.
    pub(crate) stolen: f64,
}

/// An account, and what of it was in line at the target's sockets.
pub(crate) struct Accounted {
    pub(crate) account: Account,
    pub(crate) line: Line,
}

impl Accounting<'_> {
    /// The account of a target; `None` when its threads did nothing that could be accounted.
    pub(crate) fn account(&self) -> Option<Accounted> {
        let ledger = &self.target.serving_ledger;
        let total_ns = match self.signal {
            Some(mean) => mean.response_ns,
            None => ledger.busy_ns(),
        };
        // Threads that were not seen have no share of anything, not a share of zero.
        if total_ns <= 0.0 || ledger.wall_ns <= 0.0 {
            return None;
        }
        let inside = self.classes_inside();
        let inside_ns: f64 = inside.iter().map(|class| ledger.get(*class)).sum();
        let lag_ns = self.signal.map_or(0.0, |mean| mean.lag_total_ns);
        let unaccounted = match self.signal {
            Some(_) => (total_ns - inside_ns - lag_ns).max(0.0),
            None => 0.0,
        };
        let remote_ns = self.remote_ns(total_ns, lag_ns);
        let queued_ns = self.beside.queued_ns(inside_ns, unaccounted, total_ns) - remote_ns;
        // An answer that has come and is not read lies there too.
        let unread_ns = self.calls.map_or(0.0, Calls::unread_ns);
        let queued_ns = queued_ns.max(unread_ns.min(unaccounted - remote_ns));
        let standing = Standing {
            outside: (unaccounted + lag_ns) / total_ns,
            share: queued_ns.max(0.0) / total_ns,
            calls_ns: remote_ns,
        };
        let line = Line::of(self.target, self.signal.zip(self.clients), standing);
        let mut items: Vec<AccountItem> = inside
            .into_iter()
            .map(|class| self.inside(class, &line, total_ns))
            .chain(self.remote(remote_ns, &line, total_ns))
            .collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.ns));
        if lag_ns > 0.0 {
            items.push(self.late(lag_ns, total_ns));
        }
        if self.signal.is_some() {
            let left_ns = (unaccounted - remote_ns).max(0.0);
            items.extend(self.not_inside(left_ns, &line, total_ns));
        }
        let basis = match self.signal {
            Some(_) => ShareBasis::ResponseTime,
            None => ShareBasis::BusyTime,
        };
        let response_ns = self.signal.and_then(|mean| mean.latency_ns);
        let account = Account {
            basis,
            total_ns: total_ns.round() as i64,
            response_ns: response_ns.map(|ns| ns.round() as i64),
            items,
        };
        Some(Accounted { account, line })
    }

    /// Classes of the target's time that are parts of requests.
    fn classes_inside(&self) -> Vec<LedgerClass> {
        let ledger = &self.target.serving_ledger;
        // Inside a request a timer or a futex is a wait like any other; without requests it may be rest.
        let may_be_rest = |class: LedgerClass| {
            self.signal.is_none() && matches!(class, LedgerClass::Sleep | LedgerClass::Futex)
        };
        LedgerClass::ALL
            .into_iter()
            .filter(|class| is_inside(*class))
            .filter(|class| ledger.get(*class) > 0.0)
            .filter(|class| !may_be_rest(*class))
            .collect()
    }

    /// The target's own time in a class, with what stood in line meanwhile.
    fn inside(&self, class: LedgerClass, line: &Line, total_ns: f64) -> AccountItem {
        let ledger = &self.target.serving_ledger;
        let own_ns = ledger.get(class);
        let in_line_ns = line.behind(class) * total_ns;
        let label = format!("{}: {}", self.target.name, class.label());
        let is_in_line = in_line_ns >= WORTH_SHOWING * total_ns;
        let quality = match is_in_line {
            true => Quality::Estimated,
            false => quality_in(ledger, class),
        };
        let mut item = item(class, label, own_ns + in_line_ns, total_ns, quality);
        let mut notes = Vec::new();
        if class == LedgerClass::CpuWait {
            item.parts = self.holders(total_ns);
            if is_in_line {
                lengthen(&mut item.parts, (own_ns + in_line_ns) / own_ns);
            }
            notes.extend(holders::in_words(&item.parts));
            let span = self.signal.map_or(self.window, |mean| mean.span);
            notes.extend(waiters_note(own_ns / span.len_ns().max(1) as f64));
        }
        if class == LedgerClass::OnCpu {
            notes.extend(hidden_note(ledger, own_ns));
        }
        if self.signal.is_some() && MAY_BE_REST.contains(&class) && own_ns > total_ns {
            notes.push("longer than requests took: some of it was rest".to_owned());
        }
        if is_in_line {
            let [in_line, own] = [in_line_ns, own_ns].map(|ns| percent(ns / total_ns));
            let name = &self.target.name;
            notes.push(format!(
                "{in_line} in line at {name}'s sockets, {own} in its threads"
            ));
        }
        item.note = notes.join("; ");
        item
    }

    /// Time of requests in which the target waited for its peers: that of its calls, as far as what its threads surely
    /// did for requests leaves room. Calls may belong to no request: a stream from a primary, a long poll.
    fn remote_ns(&self, total_ns: f64, lag_ns: f64) -> f64 {
        let (Some(calls), Some(_)) = (self.calls, self.signal) else {
            return 0.0;
        };
        let inside = self.classes_inside().into_iter();
        let sure = inside.filter(|class| !MAY_BE_REST.contains(class));
        let sure_ns: f64 = sure
            .map(|class| self.target.serving_ledger.get(class))
            .sum();
        let room_ns = (total_ns - lag_ns - sure_ns).max(0.0);
        let waited_ns = calls.ns() * self.target.not_throttled();
        waited_ns.min(room_ns)
    }

    /// The wait for each peer that is worth showing, with what stood in line meanwhile.
    fn remote(&self, remote_ns: f64, line: &Line, total_ns: f64) -> Vec<AccountItem> {
        let Some(calls) = self.calls.filter(|_| remote_ns > 0.0) else {
            return Vec::new();
        };
        let in_line_ns = line.behind(LedgerClass::Remote) * total_ns;
        let factor = (remote_ns + in_line_ns) / calls.ns();
        let peers = calls.peers.iter().filter(|it| it.ns > 0.0);
        let mut items: Vec<AccountItem> = peers
            .map(|peer| {
                let label = format!("{}: waiting for {}", self.target.name, peer.name());
                let ns = peer.ns * factor;
                let mut item = item(LedgerClass::Remote, label, ns, total_ns, Quality::Sampled);
                item.note = self.calls_note(peer, total_ns);
                item
            })
            .collect();
        if in_line_ns >= WORTH_SHOWING * total_ns {
            let name = &self.target.name;
            let in_line = percent(in_line_ns / total_ns);
            let note = format!("{in_line} in line at {name}'s sockets behind such calls");
            items[0].note = format!("{}; {note}", items[0].note);
            items
                .iter_mut()
                .for_each(|it| it.quality = Quality::Estimated);
        }
        items
    }

    /// How many calls to a peer a request makes, how long each takes, and for how long its answer lies unread.
    fn calls_note(&self, peer: &Peer, total_ns: f64) -> String {
        let calls = match self.signal.filter(|it| it.completed > 0.0) {
            Some(signal) => calls_in_words(peer.count / signal.completed, peer.mean_ns()),
            None => format!("{} each", duration(peer.mean_ns())),
        };
        match peer.unread_ns >= WORTH_SHOWING * total_ns {
            true => {
                let unread = duration(peer.unread_ns / peer.count);
                format!("{calls}, each answer unread for {unread} after it came")
            }
            false => calls,
        }
    }

    /// Who had the CPUs that the target waited for.
    fn holders(&self, total_ns: f64) -> Vec<AccountPart> {
        let generator = self.beside.generator;
        let naming = Naming {
            own: (&self.target.name, Holder::Target),
            partner: generator.map(|it| (it.name.as_str(), Holder::Generator)),
            others: self.others,
            stolen: self.stolen,
        };
        holders::of_wait(&self.target.serving_ledger, total_ns, &naming)
    }

    /// How late requests were asked for.
    fn late(&self, lag_ns: f64, total_ns: f64) -> AccountItem {
        let generator = self.beside.generator;
        let who = generator.map_or("the generator", |generator| generator.name.as_str());
        let label = format!("late behind the schedule of {who}");
        item(LedgerClass::Lag, label, lag_ns, total_ns, Quality::Exact)
    }

    /// What no thread of the target accounts for, the last of it with what is known of it.
    fn not_inside(&self, unaccounted_ns: f64, line: &Line, total_ns: f64) -> Vec<AccountItem> {
        let beside = self.beside;
        let estimated = |label, ns| {
            item(
                LedgerClass::Outside,
                label,
                ns,
                total_ns,
                Quality::Estimated,
            )
        };
        let left_ns = line.left() * total_ns;
        let mut items = Vec::new();
        // At the target's own sockets a request is nowhere else: it has come, and no thread works on it.
        if line.left() > 0.0 {
            let label = format!("queued at {}'s sockets", self.target.name);
            items.push(estimated(label, left_ns));
        }
        if !beside.at_sockets {
            let outside_ns = (unaccounted_ns - line.share * total_ns).max(0.0);
            let thought_ns = beside.thought_ns(outside_ns);
            if let Some(generator) = beside.generator.filter(|_| thought_ns > 0.0) {
                let label = format!("think time of {}", generator.name);
                items.push(AccountItem {
                    note: Think::note(&generator.name),
                    ..estimated(label, thought_ns)
                });
            }
            let mut outside = estimated(OUTSIDE.to_owned(), outside_ns - thought_ns);
            if let Some(generator) = beside.generator {
                let network_ns = beside.both_ends.map(BothEnds::network_ns);
                let left_ns = outside.ns as f64;
                outside.parts = holders::of_outside(left_ns, total_ns, generator, network_ns);
            }
            items.push(outside);
        }
        if let Some(last) = items.last_mut() {
            last.note = outside_note(self.target, beside);
        }
        items
    }
}

/// Makes parts so many times as long, by what stood in line behind them: an estimate, whatever they were.
fn lengthen(parts: &mut [AccountPart], times: f64) {
    for part in parts {
        part.ns = (part.ns as f64 * times).round() as i64;
        part.share *= times;
        part.quality = Quality::Estimated;
    }
}

fn item(
    class: LedgerClass,
    label: String,
    ns: f64,
    total_ns: f64,
    quality: Quality,
) -> AccountItem {
    AccountItem {
        class,
        label,
        ns: ns.round() as i64,
        share: ns / total_ns,
        quality,
        note: String::new(),
        parts: Vec::new(),
    }
}

/// The mean number of waiters is the rate of their summed run-queue delay; pressure does not tell it.
fn waiters_note(waiters: f64) -> Option<String> {
    const WORTH_SAYING: f64 = 0.1;
    (waiters >= WORTH_SAYING).then(|| format!("{waiters:.1} threads runnable on average"))
}

/// What the kernel hid of the time on a CPU, where it is enough to be seen; signed.
fn hidden_note(ledger: &Ledger, on_cpu_ns: f64) -> Option<String> {
    const WORTH_SAYING: f64 = 0.001;
    let part = ledger.hidden()?.ns as f64 / on_cpu_ns.max(1.0);
    (part.abs() >= WORTH_SAYING).then(|| {
        format!(
            "{} of it hidden (interrupts, steal: what the kernel takes out)",
            percent(part)
        )
    })
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
