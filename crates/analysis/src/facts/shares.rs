//! Parts of the response time, and what they say together.

use model::{EntityId, LedgerClass};

use super::{Calls, Facts};
use crate::account::surely_inside;
use crate::request_times::{BothEnds, RequestTimes, nearest_end, stalled};
use crate::stacks::{self, Place};
use crate::stats::ratio;
use crate::subject::Subject;
use crate::thresholds::{AT_WORK, CPUS_BUSY, IDLE, QUEUEING_LAG, WAKE_UP};
use crate::wake_ups::part_of_wake_up;

impl Facts<'_> {
    /// Part of the response time (or busy time) that went to a class; 0 where none did.
    pub fn share(&self, class: LedgerClass) -> f64 {
        let items = self.account.iter().flat_map(|account| &account.items);
        items
            .filter(|item| item.class == class)
            .map(|item| item.share)
            .sum()
    }

    /// Part of the response time (or busy time) that went to several classes.
    pub fn share_of(&self, classes: &[LedgerClass]) -> f64 {
        classes.iter().map(|class| self.share(*class)).sum()
    }

    /// How many times as long as the target's threads were in some classes requests waited for that: others stood in
    /// line behind. 1 without a line.
    pub(crate) fn lengthened(&self, classes: &[LedgerClass]) -> f64 {
        let line: f64 = classes.iter().map(|class| self.line.behind(*class)).sum();
        let share = self.share_of(classes);
        match line > 0.0 && share > line {
            true => share / (share - line),
            false => 1.0,
        }
    }

    /// Part of the response time that is outside of the target; `None` where it was taken at the target's
    /// own sockets, and not at its clients' beside it.
    pub fn outside(&self) -> Option<f64> {
        if self.at_sockets {
            self.both_ends.map(BothEnds::outside)
        } else {
            Some(self.elsewhere())
        }
    }

    /// Part of what requests took at the generator's sockets that they did not take at the target's; `None` where they were
    /// not seen at both.
    pub(crate) fn between_ends(&self) -> Option<f64> {
        self.both_ends.map(BothEnds::outside)
    }

    /// Where the target's threads waited in these classes inside of requests, as far as that is told apart.
    pub(crate) fn where_waited(&self, classes: &[LedgerClass]) -> Option<Place> {
        let scene = self.scene;
        let inside = |thread: EntityId, class: LedgerClass| {
            let serves = scene.roles.target.serving.contains(&thread);
            if !serves || scene.target_idle.contains(&thread) {
                return 0.0;
            }
            let outside = scene.sleeps(thread).map(|mut it| it.outside(self.window));
            let outside = outside.into_iter().flatten().find(|it| it.0 == class);
            1.0 - outside.map_or(0.0, |it| it.1)
        };
        stacks::where_waited(self.timeline, self.window, classes, inside)
    }

    /// Requests of one operation of the load, as both ends saw them: the statements of a transaction. 1 where that is not
    /// known.
    pub(crate) fn requests_of_one(&self) -> f64 {
        let seen = self.both_ends.zip(self.signal);
        let seen = seen.and_then(|(ends, signal)| {
            ratio(ends.requests(), signal.throughput * self.window.seconds())
        });
        seen.unwrap_or(1.0).max(1.0)
    }

    /// How many of them were on their way at a time, as far as they took longer together than the operation; 1 where they
    /// went one after the other.
    pub(crate) fn requests_at_once(&self) -> f64 {
        let response_ns = self.signal.and_then(|it| it.latency_ns);
        let seen = self.both_ends.zip(response_ns);
        let seen = seen.and_then(|(ends, response_ns)| {
            ratio(self.requests_of_one() * ends.called_ns(), response_ns)
        });
        seen.unwrap_or(1.0).max(1.0)
    }

    /// What the target's calls to its peers took, as part of the response time, whatever room its threads leave for it.
    pub(crate) fn uncut_calls(&self) -> f64 {
        let whole_ns = self.account.as_ref().map_or(0, |it| it.total_ns) as f64;
        let calls_ns = self.calls.as_ref().map_or(0.0, Calls::ns);
        let not_throttled = self.target.as_ref().map_or(1.0, Subject::not_throttled);
        ratio(calls_ns * not_throttled, whole_ns).unwrap_or(0.0)
    }

    /// Whether most of what no thread of the target accounts for was in line at its sockets.
    pub(crate) fn is_mostly_queued(&self) -> bool {
        self.line.left() > 0.0 && 2.0 * self.line.left() >= self.share(LedgerClass::Outside)
    }

    /// Whether it is known how much of the response time requests were in line at the target's sockets.
    pub(crate) fn knows_line(&self) -> bool {
        self.at_sockets || self.both_ends.is_some()
    }

    /// Requests in progress that no thread of the target, no schedule and no work of the generator
    /// accounts for, as part of all. What is in line at the target's sockets has come to it: its own threads, busy
    /// with others, account for that, and the generator for nothing. At either end being woken for a request, and for
    /// its answer, takes a time that needs no account.
    pub(crate) fn unexplained(&self) -> f64 {
        let elsewhere = self.elsewhere() - self.thought() - self.answer_waited();
        let elsewhere = elsewhere.max(0.0) * idle(self.generator.as_ref());
        self.beyond_wake_up(self.line.left()) + self.beyond_wake_up(elsewhere)
    }

    /// Part of the response time that is accounted for: the target's own, its calls', the schedule's, and as much of
    /// what is outside as the generator's threads were busy or waiting for a CPU.
    pub fn explained(&self) -> f64 {
        1.0 - self.unexplained()
    }

    /// Whether the target had so little to do that nothing it waits for matters, as far as is known.
    pub(crate) fn is_idle(&self) -> bool {
        let worked = self.target.as_ref().and_then(Subject::worked);
        let had_no_work =
            self.signal.is_none() && worked.is_some_and(|worked| worked < IDLE.value());
        had_no_work || self.hardly_asked().is_some()
    }

    /// Requests in progress on average, where these were next to none and the target's threads did as little beside:
    /// of so few milliseconds everything is a large part. A worker that a request for its metrics reaches now and then
    /// is not idle.
    pub(crate) fn hardly_asked(&self) -> Option<f64> {
        let requests = self.in_flight().filter(|it| *it < IDLE.value())?;
        (self.at_a_time(self.share_of(&surely_inside())) < AT_WORK.value()).then_some(requests)
    }

    /// Part of the response time that is in line for a thread of the target's which has no time left.
    pub(crate) fn in_line(&self) -> f64 {
        self.line.left() + (self.elsewhere() - self.thought()) * idle(self.generator.as_ref())
    }

    /// Part of the response time that is think time of the generator's clients: no wait for anybody.
    pub(crate) fn thought(&self) -> f64 {
        let whole_ns = self.account.as_ref().map_or(0, |it| it.total_ns) as f64;
        let thought_ns = self.think.map_or(0.0, |it| it.in_response_ns);
        let part = ratio(thought_ns, whole_ns).unwrap_or(0.0);
        part.min(self.elsewhere()).max(0.0)
    }

    /// Part of the response time for which an answer waited until its client had a CPU. Who thinks is woken twice a
    /// request: by its answer, and by its own timer.
    fn answer_waited(&self) -> f64 {
        let woken = match self.think {
            Some(_) => 2.0,
            None => 1.0,
        };
        self.both_ends.map_or(0.0, BothEnds::waited) / woken
    }

    /// Part of the response time that is outside of the target and not in line at its sockets.
    fn elsewhere(&self) -> f64 {
        self.share(LedgerClass::Outside) - self.line.left()
    }

    /// Whether the two accounts of server time, that of threads and that of requests, are too far apart.
    pub(crate) fn accounts_disagree(&self) -> bool {
        self.signal.is_some() && self.inside() > 1.0 + self.thresholds.gates.disagree
    }

    /// Whether the target's threads spent more time in what may be requests than requests took: then
    /// some of them were idle there.
    pub(crate) fn is_partly_idle(&self) -> bool {
        // A sample of some on-windows, a tenth of the time, is off by more.
        let target = self.target.as_ref();
        let times = match target.is_some_and(|it| it.serving_ledger.is_sampled) {
            true => 3.0,
            false => 1.0,
        };
        self.signal.is_some() && self.inside() > 1.0 + times * self.thresholds.gates.excess
    }

    /// Whether some of the target's threads were idle in futex, so that a wait for a lock there cannot be told.
    pub(crate) fn is_partly_idle_of_futex(&self) -> bool {
        self.share(LedgerClass::Futex) > 0.0 && self.inside() > 1.0
    }

    /// What the target's own threads and its calls to peers account for, as part of the response time (or busy time).
    pub(crate) fn inside(&self) -> f64 {
        let items = self.account.iter().flat_map(|account| &account.items);
        items
            .filter(|it| !matches!(it.class, LedgerClass::Outside | LedgerClass::Lag))
            .map(|item| item.share)
            .sum()
    }

    /// Threads that were in these classes at a time, on average, by their share.
    pub(crate) fn at_a_time(&self, share: f64) -> f64 {
        let whole = self.account.as_ref().map_or(0, |account| account.total_ns);
        share * whole as f64 / self.window.len_ns().max(1) as f64
    }

    /// Part of the time of all requests that the few add which take far longer than the usual one; 0 where the kernel timed
    /// none.
    pub(crate) fn stalled(&self) -> f64 {
        let times = self.request_times();
        times.and_then(|it| stalled(&it)).unwrap_or(0.0)
    }

    /// What half of the requests take at most, as part of their mean, by the kernel's times.
    pub(crate) fn usual_part(&self) -> Option<f64> {
        let times = self.request_times()?;
        Some(times.quantile_ns(0.5)? / times.mean_ns()?)
    }

    fn request_times(&self) -> Option<RequestTimes> {
        nearest_end(self.timeline)?.over(self.timeline, self.window)
    }

    /// The part of the response time that is not lag behind the generator's own schedule.
    pub(crate) fn service_part(&self) -> f64 {
        (1.0 - self.share(LedgerClass::Lag)).clamp(0.0, 1.0)
    }

    /// Waits for a CPU, of the target or of the generator beside it, as part of the response time less
    /// the lag behind the generator's own schedule: a queue before the target must not hide why it is
    /// slow, and a target that goes first leaves the waiting to the generator.
    pub(crate) fn wait_in_service(&self) -> f64 {
        let service = self.service_part();
        if service > 0.0 {
            (self.share(LedgerClass::CpuWait) + self.generator_wait()) / service
        } else {
            0.0
        }
    }

    /// Part of the response time in which the generator's threads waited for a CPU, while the target
    /// waited for them; none of it is in line at the target's sockets.
    pub(crate) fn generator_wait(&self) -> f64 {
        let generator = self.generator.as_ref();
        let waiting = generator.map_or(0.0, |generator| generator.active.1);
        self.elsewhere() * waiting
    }

    /// The same with the line behind these threads: who stands in it waits for whatever they are in.
    pub(crate) fn generator_line(&self) -> f64 {
        let (on_cpu, waiting) = self.generator.as_ref().map_or((0.0, 0.0), |it| it.active);
        self.elsewhere() * ratio(waiting, on_cpu + waiting).unwrap_or(0.0)
    }

    /// CPUs that the target may use which nobody did, on average; 0 where that is not known.
    pub(crate) fn idle_cpus(&self) -> f64 {
        let idle = self.effective_busy.map_or(0.0, |busy| 1.0 - busy);
        f64::from(self.effective_cpus) * idle
    }

    /// How much room the CPUs have for who is woken: 1 well below the busy ones, 0 well above.
    fn room(&self) -> f64 {
        room(self.effective_busy.unwrap_or(1.0))
    }

    /// The same where what others run gives way at once, by its class or its weight.
    fn room_beside_others(&self) -> f64 {
        let others = self.cpu.part(self.cpu.rest_ns).clamp(0.0, 1.0);
        room(self.effective_busy.unwrap_or(1.0) * (1.0 - others))
    }

    /// The part of a subject's waits for a CPU that need no cause: no longer than a wake-up takes, on CPUs that have room
    /// or are given up at once.
    fn woken(&self, subject: Option<&Subject>) -> f64 {
        let subject = subject.filter(|_| self.signal.is_some());
        subject.map_or(0.0, |it| {
            let woken = it.cpu_waits.woken * self.room();
            woken.max(it.cpu_waits.at_once * self.room_beside_others())
        })
    }

    /// The part of the target's waits for a CPU that need a cause.
    pub(crate) fn needs_cause(&self) -> f64 {
        1.0 - self.woken(self.target.as_ref())
    }

    /// As `wait_in_service`, without what is no longer than a wake-up takes.
    pub(crate) fn wait_beyond_wake_ups(&self) -> f64 {
        let own = self.share(LedgerClass::CpuWait) * self.needs_cause();
        let generator = self.generator_wait() * (1.0 - self.woken(self.generator.as_ref()));
        ratio(own + generator, self.service_part()).unwrap_or(0.0)
    }

    /// What of a part of the response time that nobody accounts for is more than one wake-up.
    pub(crate) fn beyond_wake_up(&self, share: f64) -> f64 {
        let response_ns = self.signal.and_then(|signal| signal.latency_ns);
        let woken = response_ns.map_or(0.0, |ns| part_of_wake_up(share * ns));
        share * (1.0 - woken * self.room())
    }

    /// What a part of the response time is, where that is no longer than a wake-up takes, ns.
    pub(crate) fn within_wake_up_ns(&self, share: f64) -> Option<f64> {
        let response_ns = self.signal?.latency_ns?;
        Some(share * response_ns).filter(|ns| *ns <= WAKE_UP.value())
    }

    /// The part of the response time that was lag, where a rate is met on full CPUs by letting
    /// requests queue.
    pub(crate) fn queueing(&self) -> Option<f64> {
        let full = self
            .effective_busy
            .is_some_and(|busy| busy >= CPUS_BUSY.value());
        let lag = self.share(LedgerClass::Lag);
        (full && lag >= QUEUEING_LAG.value()).then_some(lag)
    }
}

/// How much room CPUs have that are so busy.
fn room(busy: f64) -> f64 {
    const BAND: f64 = 0.10;
    (0.5 + (CPUS_BUSY.value() - busy) / BAND).clamp(0.0, 1.0)
}

/// Part of the time in which threads of a subject neither ran nor waited for a CPU; all of it where there is none.
fn idle(subject: Option<&Subject>) -> f64 {
    1.0 - subject.map_or(0.0, |it| (it.active.0 + it.active.1).min(1.0))
}
