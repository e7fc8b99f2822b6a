//! What a judge asks of its case: what was found before, whether the declared wait held, and findings with
//! what the cause declares.

use model::{Confidence, Entity, Finding, LedgerClass, Remedy, Sentence};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{self, Held};
use super::family::Family;
use crate::bounds::{self, Removed};
use crate::facts::Facts;
use crate::goals;
use crate::number_format::percent;
use crate::subject::Subject;

impl<'a> Case<'a> {
    /// What the cause answers.
    pub(super) fn judge(&self) -> Judgement {
        let explains = |upstream: &Upstream, finding: &Finding| match upstream {
            Upstream::All(cause) if *cause == finding.cause => Some(explained_by(finding)),
            Upstream::Unless(cause, is_else) if *cause == finding.cause => {
                (!is_else(self.facts)).then(|| explained_by(finding))
            }
            Upstream::Worded(cause, word) if *cause == finding.cause => Some(word(finding)),
            _ => None,
        };
        let explained = self.findings().find_map(|(_, finding)| {
            let mut upstream = self.cause.upstream.iter();
            upstream.find_map(|upstream| explains(upstream, finding))
        });
        // Where a goal is missed the load asks for more than it gets, whatever else it asks for.
        let unmet = goals::unmet(&self.facts.goals).filter(|_| self.cause.kind == Kind::Intent);
        let idle = self.hardly_asked();
        match explained.or(unmet).or(idle) {
            Some(why) => absent(why),
            None => (self.cause.judge)(self),
        }
    }

    /// Why nothing limits the target itself, where requests are so rare. What is outside of it may: a slow client, a long way.
    fn hardly_asked(&self) -> Option<String> {
        let Cause { kind, family, .. } = self.cause;
        let is_outside = *family == Family::Outside;
        let is_of_target = matches!(kind, Kind::Limit | Kind::Part) && !is_outside;
        let requests = self.facts.hardly_asked()?;
        (is_of_target && self.facts.goals.is_empty()).then(|| {
            format!(
                "requests were in progress for only {} of the time",
                percent(requests)
            )
        })
    }

    /// What was found so far.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&'static Cause, &'a Finding)> {
        let present = |(cause, judgement): &'a (&'static Cause, Judgement)| {
            Some((*cause, judgement.as_ref().ok()?))
        };
        self.before.iter().filter_map(present)
    }

    /// The finding of one of these causes, if it was found.
    pub(super) fn found(&self, causes: &[&str]) -> Option<&'a Finding> {
        let mut found = self.findings().map(|(_, finding)| finding);
        found.find(|finding| causes.contains(&finding.cause.as_str()))
    }

    /// The first finding of a cause of that kind.
    pub(super) fn found_kind(&self, kind: Kind) -> Option<&'a Finding> {
        let mut found = self.findings();
        found.find_map(|(cause, finding)| (cause.kind == kind).then_some(finding))
    }

    /// The first finding that holds the target back.
    pub(super) fn limit(&self) -> Option<&'a Finding> {
        let mut found = self.findings();
        found.find_map(|(cause, finding)| {
            matches!(cause.kind, Kind::Failure | Kind::Limit).then_some(finding)
        })
    }

    /// The target, or why there is none to judge.
    pub(super) fn target(&self) -> Result<&'a Subject, NoFinding> {
        match &self.facts.target {
            Some(target) => Ok(target),
            None => {
                let why = self.facts.meta.no_target.as_ref();
                cannot_tell(why.map_or_else(
                    || "no target was measured in this window".to_owned(),
                    Sentence::to_string,
                ))
            }
        }
    }

    /// The target with its account, or why nothing can be said of it.
    pub(super) fn seen(&self) -> Result<&'a Subject, NoFinding> {
        let target = self.target()?;
        if self.facts.account.is_none() {
            return cannot_tell(format!(
                "the threads of {} were not seen in this window",
                target.name
            ));
        }
        Ok(target)
    }

    /// The target, and how steadily it was in the wait that the cause consists of; or why that is no cause.
    pub(super) fn waited(&self) -> Result<(&'a Subject, Held), NoFinding> {
        self.waited_for(1.0)
    }

    /// The same, where only a part of that time counts.
    pub(super) fn waited_for(&self, part: f64) -> Result<(&'a Subject, Held), NoFinding> {
        let wait = self
            .cause
            .wait
            .as_ref()
            .expect("declared by a cause that asks for it");
        self.waited_in(wait, part)
    }

    /// The same of another wait.
    pub(super) fn waited_in(
        &self,
        wait: &Wait,
        part: f64,
    ) -> Result<(&'a Subject, Held), NoFinding> {
        let (facts, target) = (self.facts, self.seen()?);
        // A queue before the target must not hide why it is slow: lag is no part of what it must hold.
        let worth_saying = facts.floor.min(wait.least.value());
        let enough = (wait.least.value() * self.enough).max(worth_saying);
        let least = enough * facts.service_part();
        let held = evidence::held(facts, wait.classes, part, least);
        blind(facts, target, &held)?;
        too_little_to_matter(facts, target, wait, part)?;
        if held.is_on() {
            self.not_mostly_explained(held.share)?;
            return Ok((target, held));
        }
        absent(if held.share >= held.least {
            evidence::only_at_times(facts, &held)
        } else if held.share < 0.0005 {
            format!("{} was not seen {}", target.name, wait.doing)
        } else {
            format!(
                "{} was {} for only {} of {}",
                target.name,
                wait.doing,
                percent(held.share),
                facts.whole()
            )
        })
    }

    /// A symptom is dropped when what stands above it explains most of its time.
    pub(super) fn not_mostly_explained(&self, share: f64) -> Result<(), NoFinding> {
        const MOST: f64 = 0.7;
        let is_most = |finding: &Finding| {
            let upstream = self.cause.upstream.iter();
            let mut names = upstream.filter_map(|upstream| match upstream {
                Upstream::Most(cause) => Some(*cause),
                Upstream::All(_) | Upstream::Unless(..) | Upstream::Worded(..) => None,
            });
            names.any(|cause| cause == finding.cause)
                && finding
                    .share
                    .is_some_and(|upstream| upstream >= share * MOST)
        };
        match self.findings().find(|(_, finding)| is_most(finding)) {
            Some((_, finding)) => absent(explained_by(finding)),
            None => Ok(()),
        }
    }

    /// A finding about `entity` with what the cause declares; what the recording decides is empty.
    pub(super) fn finding(
        &self,
        entity: &Entity,
        confidence: Confidence,
        sentence: String,
    ) -> Finding {
        let would_not_help = self.cause.would_not_help;
        Finding {
            cause: self.cause.name.to_owned(),
            entity: entity.clone(),
            confidence,
            share: None,
            share_interval: None,
            sentence,
            evidence: Vec::new(),
            would_help: Vec::new(),
            would_not_help: would_not_help
                .map_or_else(Vec::new, |also| bounds::useless(self.facts, also)),
            evidence_against: Vec::new(),
            to_confirm: self.cause.to_confirm.to_owned(),
            at_peer: None,
        }
    }

    /// The same of the share of a wait, with the changes that would spare it.
    pub(super) fn finding_of_wait(
        &self,
        held: &Held,
        entity: &Entity,
        confidence: Confidence,
        sentence: String,
    ) -> Finding {
        Finding {
            share: Some(held.share),
            share_interval: held.interval,
            would_help: self.would_help(held),
            ..self.finding(entity, confidence, sentence)
        }
    }

    /// What would spare the target that part of its time.
    pub(super) fn would_help(&self, part: impl Into<Removed>) -> Vec<Remedy> {
        let part = part.into();
        let changes = self.cause.would_help.iter();
        changes
            .map(|change| bounds::without_wait(self.facts, part, (*change).to_owned()))
            .collect()
    }

    /// The answer where nobody knows how long the target waited for a CPU.
    pub(super) fn cpu_wait_known(&self) -> Result<(), NoFinding> {
        match &self.facts.target {
            Some(target) if self.facts.wait_unseen() => cannot_tell(format!(
                "how long {} waited for a CPU was not recorded",
                target.name
            )),
            _ => Ok(()),
        }
    }
}

/// Without a signal shares are of the time that was not idle: of an idle server's few milliseconds
/// everything is a large part. There a wait must last for a part of the time that is worth saying.
pub(super) fn too_little_to_matter(
    facts: &Facts<'_>,
    target: &Subject,
    wait: &Wait,
    part: f64,
) -> Result<(), NoFinding> {
    let lasted = facts.at_a_time(facts.share_of(wait.classes) * part);
    if facts.signal.is_some() || lasted <= 0.0 || lasted >= facts.floor {
        return Ok(());
    }
    if !sees(target) {
        return unseen(target);
    }
    absent(format!(
        "{} was {} for only {} of the time",
        target.name,
        wait.doing,
        percent(lasted)
    ))
}

fn explained_by(upstream: &Finding) -> String {
    format!("{} explains it: {}", upstream.cause, upstream.entity.name)
}

/// A wait of the target cannot be told where too much of its blocked time is not explained.
fn blind(facts: &Facts<'_>, target: &Subject, held: &Held) -> Result<(), NoFinding> {
    let unknown = target.serving_ledger.get(LedgerClass::Unknown);
    let account = facts.account.as_ref();
    let whole = account.map_or(0.0, |account| account.total_ns as f64);
    // What was not seen may be this or idleness: only enough of it to change the answer matters.
    let may_change =
        whole > 0.0 && held.share < held.least && held.share + unknown / whole >= held.least;
    match may_change && !sees(target) {
        true => unseen(target),
        false => Ok(()),
    }
}

fn unseen(target: &Subject) -> Result<(), NoFinding> {
    cannot_tell(format!(
        "what {} was blocked in was not seen: run as root, or as the user who owns it",
        target.name
    ))
}

/// Whether most of the blocked time of the target's serving threads was explained.
fn sees(target: &Subject) -> bool {
    target.serving_ledger.part(LedgerClass::Unknown) < 0.10
}
