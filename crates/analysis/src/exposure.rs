//! What neighbours and the hypervisor took of a run, and what the run would have done alone.
//!
//! The CPU time that others had while a thread of the workload waited for a CPU would have been its own: it would have run
//! where they did. Throughput grows as CPU time, as far as CPU time is what the workload lacks, which five bounds say: the
//! CPUs that there are, one CPU for one thread, one for a client that waits for its answer, the time for which anybody of
//! the workload waited (the response time law: Lazowska et al. 1984, Quantitative System Performance, chapter 3), and the
//! rate that was asked for. `docs/decisions/alone.md` has what it was measured against.

use model::{EntityKind, LedgerClass, Taken};

use crate::facts::Facts;
use crate::subject::Subject;

/// What a run was exposed to; CPU times in CPUs (ns per ns of the window), waits in threads waiting on average.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Exposure {
    /// CPU time of target and generator.
    pub(crate) own: f64,
    /// CPU time of everybody else but the recorder, which is beside every run.
    pub(crate) others: f64,
    /// CPUs that the hypervisor took from target and generator.
    pub(crate) stolen: f64,
    /// CPUs that they may use, without what the recorder takes.
    pub(crate) cpus: f64,
    /// Threads of theirs that wait for a CPU, whoever has it: without others it would have gone to one of them.
    pub(crate) waiting: f64,
    /// Part of the time for which a request's thread waits so: one of the target's, and one of the generator's.
    pub(crate) standing: f64,
    /// Part of the time for which the busiest thread was on a CPU.
    pub(crate) busiest: f64,
    /// Who passes a request on to whom: target and generator, as far as they are here.
    pub(crate) links: f64,
    /// Clients of a closed loop; infinite where they are not known.
    pub(crate) clients: f64,
    /// How many times the throughput the load asks for; infinite in a closed loop.
    pub(crate) asked: f64,
}

impl Exposure {
    /// What a measured window was exposed to.
    ///
    /// # Errors
    /// A clause that says why it is not known.
    pub(crate) fn of(facts: &Facts<'_>) -> Result<Self, &'static str> {
        let machine = facts
            .machine
            .filter(|_| is_steal_known(facts))
            .ok_or("what the CPUs did, steal among it, was not recorded")?;
        let ns = facts.window.len_ns() as f64;
        let own_ns = facts.cpu.target_ns + facts.cpu.generator_ns;
        if own_ns <= 0.0 {
            return Err("neither a server nor a load generator was seen to use a CPU");
        }
        let seen = f64::from(machine.cpus);
        let own = own_ns / ns;
        let busy = (machine.busy * seen).max(own);
        let links = || [&facts.target, &facts.generator].into_iter().flatten();
        let waiting = |it: &Subject| it.ledger.get(LedgerClass::CpuWait) / ns;
        let each = |it: &Subject| waiting(it) / f64::from(it.active_threads.max(1));
        Ok(Self {
            own,
            others: facts.cpu.rest_ns / ns,
            stolen: machine.steal * seen * own / busy,
            cpus: (f64::from(facts.effective_cpus) - facts.cpu.recorder_ns / ns).max(own),
            waiting: links().map(waiting).sum(),
            standing: links().map(each).sum(),
            busiest: links().map(|it| it.busiest).fold(0.0, f64::max),
            links: links().count() as f64,
            clients: facts.closed_loop().map_or(f64::INFINITY, f64::from),
            asked: facts.asked_times(),
        })
    }

    /// The part of the CPUs that others used, at most all.
    pub(crate) fn others_part(&self) -> f64 {
        (self.others / self.cpus).min(1.0)
    }

    /// The part of the CPU time that it would have had alone which others took.
    pub(crate) fn lost(&self) -> f64 {
        1.0 - 1.0 / self.alone()
    }

    /// How many times as much it would have done alone, at least 1: the middle, in proportion, of what is possible.
    pub(crate) fn alone(&self) -> f64 {
        let (least, most) = self.possible();
        (least * most).sqrt()
    }

    /// How far that is from either end, as a logarithm.
    pub(crate) fn doubt(&self) -> f64 {
        let (least, most) = self.possible();
        (most / least).ln() / 2.0
    }

    /// CPUs that target and generator would have used besides, had others not had them while they waited, nor the
    /// hypervisor taken them.
    pub(crate) fn displaced(&self) -> f64 {
        self.own * (self.alone() - 1.0)
    }

    /// How many times as much it would have done at least and at most. While one link of a chain waits for a CPU the other
    /// may run out of work, and then waits for nothing: a wait costs at least itself, and at most as much at every link.
    fn possible(&self) -> (f64, f64) {
        let with = |links: f64| {
            let meanwhile = (self.waiting * links).min(self.others) + self.stolen;
            let displaced = meanwhile.min(self.own * (self.most() - 1.0)).max(0.0);
            1.0 + displaced / self.own
        };
        (with(1.0), with(self.links.max(1.0)))
    }

    /// How many times the throughput what else it needs allows, at least once.
    fn most(&self) -> f64 {
        let stands_still = self.standing + self.stolen / self.own;
        let bounds = [
            self.cpus / self.own,
            1.0 / self.busiest.clamp(f64::MIN_POSITIVE, 1.0),
            self.clients / self.own,
            1.0 / (1.0 - stands_still).max(f64::MIN_POSITIVE),
            self.asked,
        ];
        bounds.into_iter().fold(f64::INFINITY, f64::min).max(1.0)
    }

    /// As it is shown.
    pub(crate) fn taken(self) -> Taken {
        Taken {
            others_cpus: self.others,
            stolen_cpus: self.stolen,
            displaced_cpus: self.displaced(),
            alone: self.alone(),
        }
    }
}

/// Whether any CPU's steal was recorded in the window.
fn is_steal_known(facts: &Facts<'_>) -> bool {
    let timeline = facts.timeline;
    let mut cpus = timeline.entities.of_kind(EntityKind::Cpu);
    cpus.any(|cpu| {
        let steal = timeline.series("cpu", cpu.id, "steal_ns");
        steal.is_some_and(|it| it.growth(facts.window).is_some())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any exposure that can be measured.
    fn exposure() -> impl Strategy<Value = Exposure> {
        let cpus = (1u32..=64).prop_map(f64::from);
        let parts = (
            0.001..1.0f64,
            0.0..1.0f64,
            0.0..0.5f64,
            0.0..2.0f64,
            0.0..1.0f64,
        );
        let asks = (1.0..100.0f64, 1.0..10.0f64);
        (cpus, parts, 0.0..50.0f64, asks).prop_map(
            |(cpus, (own, others, stolen, standing, busiest), waiting, (clients, asked))| {
                Exposure {
                    own: own * cpus,
                    others: others * (1.0 - own) * cpus,
                    stolen: stolen * cpus,
                    cpus,
                    waiting,
                    standing,
                    busiest,
                    links: 2.0,
                    clients,
                    asked,
                }
            },
        )
    }

    /// Many threads on two CPUs, of which others have one.
    fn crowded() -> Exposure {
        Exposure {
            own: 1.0,
            others: 1.0,
            stolen: 0.0,
            cpus: 2.0,
            waiting: 5.0,
            standing: 0.9,
            busiest: 0.25,
            links: 1.0,
            clients: f64::INFINITY,
            asked: f64::INFINITY,
        }
    }

    #[test]
    fn cpu_time_that_others_had_meanwhile_would_have_been_its_own() {
        // Never more than others used, however many threads waited.
        assert_eq!(crowded().alone(), 2.0);
        let waiting = Exposure {
            waiting: 0.5,
            ..crowded()
        };
        assert_eq!(waiting.alone(), 1.5);
        let stolen = Exposure {
            others: 0.0,
            stolen: 0.25,
            ..crowded()
        };
        assert_eq!(stolen.alone(), 1.25);
    }

    #[test]
    fn a_wait_of_one_link_may_idle_the_other() {
        let chain = Exposure {
            waiting: 0.4,
            links: 2.0,
            ..crowded()
        };
        // Between 1.4 and 1.8 times as much.
        assert!((chain.alone() - (1.4f64 * 1.8).sqrt()).abs() < 1e-12);
        assert!((chain.doubt() - (1.8f64 / 1.4).ln() / 2.0).abs() < 1e-12);
        let crowd = Exposure {
            waiting: 3.0,
            ..chain
        };
        assert_eq!([crowd.alone(), crowd.doubt()], [2.0, 0.0]);
    }

    #[test]
    fn it_is_no_more_than_what_else_it_needs_allows() {
        let limited = [
            Exposure {
                busiest: 0.8,
                ..crowded()
            },
            Exposure {
                clients: 1.0,
                ..crowded()
            },
            // Clients that think: they waited for a tenth of their time only.
            Exposure {
                standing: 0.1,
                ..crowded()
            },
            Exposure {
                asked: 1.1,
                ..crowded()
            },
        ];
        let allowed = limited.map(|it| (it.alone() * 100.0).round() / 100.0);
        assert_eq!(allowed, [1.25, 1.0, 1.11, 1.1]);
    }

    proptest! {
        #[test]
        fn the_correction_of_an_unexposed_run_is_exactly_1(own in exposure()) {
            let nobody = Exposure { stolen: 0.0, others: 0.0, ..own };
            let no_wait = Exposure { stolen: 0.0, waiting: 0.0, ..own };
            prop_assert_eq!([nobody.alone(), no_wait.alone()], [1.0; 2]);
            prop_assert_eq!([nobody.lost(), no_wait.lost()], [0.0; 2]);
        }

        #[test]
        fn it_is_never_below_1_nor_above_what_the_cpus_allow(own in exposure()) {
            let most = own.cpus / own.own;
            prop_assert!((1.0..=most * (1.0 + 1e-12)).contains(&own.alone()), "{own:?}");
            prop_assert!((0.0..1.0).contains(&own.lost()) && own.doubt() >= 0.0);
            prop_assert!(own.displaced() >= 0.0 && own.own + own.displaced() <= own.cpus + 1e-9);
        }

        #[test]
        fn it_grows_with_what_others_took(own in exposure(), more in 0.0..1.0f64) {
            let taken = [
                Exposure { waiting: own.waiting + more, ..own },
                Exposure { others: own.others + more, ..own },
                Exposure { stolen: own.stolen + more, ..own },
                Exposure { standing: own.standing + more, ..own },
            ];
            for exposed in taken {
                prop_assert!(exposed.alone() >= own.alone() && exposed.displaced() >= own.displaced());
            }
        }

        #[test]
        fn a_rate_that_is_met_is_left_as_it_is(own in exposure()) {
            let met = Exposure { asked: 1.0, ..own };
            prop_assert_eq!(met.alone(), 1.0);
        }
    }
}
