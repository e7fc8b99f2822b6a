//! Names decide nothing: with everything renamed, causes, shares and answers are the same.
//!
//! A group's path is kept in its shape, since it says which group is above which.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, Report};
use proptest::prelude::*;

use crate::drawing::{Drawn, drawn};
use crate::every;

fn drawings() -> impl Strategy<Value = String> {
    let texts: Vec<String> = every::drawings()
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    prop::sample::select(texts)
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        Just(String::new()),
        Just("<script>alert(1)</script>".to_owned()),
        Just("a\nb\r\n\u{1b}[31m".to_owned()),
        Just("/".to_owned()),
        Just("postgres".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(name, 1..12)
}

/// Gives out the names in turn.
struct Names<'a> {
    names: &'a [String],
    given: usize,
    segments: BTreeMap<String, String>,
}

impl Names<'_> {
    fn next(&mut self) -> String {
        self.given += 1;
        self.names[self.given % self.names.len()].clone()
    }

    /// A part of a path keeps apart from every other part.
    fn segment(&mut self, old: &str) -> String {
        if !self.segments.contains_key(old) {
            let new = format!("{}{}", self.next().replace('/', "%"), self.segments.len());
            self.segments.insert(old.to_owned(), new);
        }
        self.segments[old].clone()
    }

    fn path(&mut self, entity: &Entity) -> String {
        if entity.kind != EntityKind::Cgroup {
            return self.next();
        }
        let parts = entity.path.split('/');
        let renamed = parts.map(|part| match part {
            "" => String::new(),
            part => self.segment(part),
        });
        renamed.collect::<Vec<_>>().join("/")
    }
}

fn rename(run: &Drawn, names: &[String]) -> Drawn {
    let mut names = Names {
        names,
        given: 0,
        segments: BTreeMap::new(),
    };
    let mut renamed = run.clone();
    for record in renamed.timeline.entities.iter_mut() {
        record.entity.path = names.path(&record.entity);
        record.entity.name = names.next();
    }
    let meta = &mut renamed.meta;
    meta.identity.node = names.next();
    for target in &mut meta.targets {
        target.name = names.next();
        target.unit = names.next();
        target.found_by = names.next().into();
    }
    if let Some(workload) = &mut meta.workload {
        workload.name = names.next();
        workload.command = vec![names.next(), names.next()];
        workload.adapter = Some(names.next());
        workload.load.rate_unit = names.next();
        workload.load.clients_option = Some(names.next());
        workload.load.rate_option = Some(names.next());
        for complaint in workload
            .outcome
            .iter_mut()
            .flat_map(|it| &mut it.complaints)
        {
            complaint.message = names.next();
        }
    }
    renamed
}

/// Everything that must not depend on names.
fn substance(report: &Report) -> String {
    let findings = report.verdict.findings.iter().map(|finding| {
        format!(
            "{} {:?} {:?} {:?}\n",
            finding.cause, finding.share, finding.confidence, finding.share_interval
        )
    });
    let judged = report.verdict.judged.iter();
    let judged = judged.map(|judged| format!("{} {:?}\n", judged.cause, judged.answer));
    let all_ruled_out = report.verdict.ruled_out.iter();
    let all_ruled_out =
        all_ruled_out.map(|ruled_out| format!("{} {}\n", ruled_out.what, ruled_out.value));
    let caveats = report
        .verdict
        .caveats
        .iter()
        .map(|caveat| format!("{}\n", caveat.gate));
    findings
        .chain(judged)
        .chain(all_ruled_out)
        .chain(caveats)
        .collect()
}

fn number_of(run: &Drawn, entity: &Entity) -> Option<EntityId> {
    let mut all = run.timeline.entities.iter();
    all.find(|record| record.entity == *entity)
        .map(|record| record.id)
}

/// Asserts that renaming changes nothing but names.
fn holds(text: &str, names: &[String]) {
    let run = drawn(text);
    let renamed = rename(&run, names);
    let (before, after) = (run.diagnose(), renamed.diagnose());
    assert_eq!(substance(&before), substance(&after));
    for (old, new) in before.verdict.findings.iter().zip(&after.verdict.findings) {
        let id = number_of(&run, &old.entity).expect("a finding is about somebody recorded");
        let record = renamed.timeline.entities.get(id);
        assert_eq!(&record.expect("nobody is lost").entity, &new.entity);
    }
}

#[test]
fn names_decide_no_cause() {
    let names = ["", "<script>", "a\nb", "postgres", "/"].map(str::to_owned);
    for (_, text) in every::drawings() {
        holds(&text, &names);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn names_decide_nothing(text in drawings(), names in names()) {
        holds(&text, &names);
    }
}
