//! Statements of the target's database: whose time its processes spent, and when rare ones began.
//!
//! Nothing here decides a cause.

use std::collections::BTreeMap;

use model::{
    EntityId, EntityKind, EntityRecord, QueuedBehind, Report, Role, StatementTime, Timeline,
    Timestamp, Window,
};
use sensors::statement::{Part, Rare, STATEMENT, id_of, unknown};

/// Statements of a report, beside the rare ones.
const MOST: usize = 50;
const MOST_RARE: usize = 50;
/// So many texts of one rare kind are told one by one.
const MOST_TEXTS: usize = 3;
/// Beginnings of each that are told.
const MOST_BEGUN: usize = 100;

/// The report with the statements of its window, where they were recorded.
pub(crate) fn with_statements(mut report: Report, timeline: &Timeline) -> Report {
    report.statements = statements(timeline, report.window, report.origin);
    report
}

fn statements(timeline: &Timeline, window: Window, origin: Timestamp) -> Vec<StatementTime> {
    let all = own(timeline).filter_map(|it| time(timeline, it, window, origin));
    let mut all: Vec<StatementTime> = all.collect();
    let total: f64 = all.iter().map(|it| it.total_ns).sum();
    for it in &mut all {
        it.share = if total > 0.0 {
            it.total_ns / total
        } else {
            0.0
        };
    }
    all.sort_by(|a, b| {
        let longest = b.total_ns.total_cmp(&a.total_ns);
        longest.then_with(|| (&a.text, &a.query_id).cmp(&(&b.text, &b.query_id)))
    });
    let (mut told, mut rare) = (0, 0);
    all.retain(|it| {
        let counted = match it.began_ns.is_empty() {
            true => &mut told,
            false => &mut rare,
        };
        *counted += 1;
        // Time without a statement says how much the others leave out.
        it.query_id.is_none()
            || *counted
                <= if it.began_ns.is_empty() {
                    MOST
                } else {
                    MOST_RARE
                }
    });
    all
}

/// Texts of statements by id.
pub(crate) struct Texts<'a>(BTreeMap<i64, &'a str>);

impl<'a> Texts<'a> {
    pub(crate) fn new(timeline: &'a Timeline) -> Self {
        let statements = timeline.entities.of_kind(EntityKind::Statement);
        let named = statements.filter_map(|it| {
            let id = id_of(&it.entity.path)?;
            (it.entity.name != unknown(id)).then_some((id, &*it.entity.name))
        });
        Self(named.collect())
    }

    /// The text of a statement without its values, or its id.
    pub(crate) fn of(&self, id: i64) -> String {
        let text = self.0.get(&id);
        text.map_or_else(|| unknown(id), |&text| text.to_owned())
    }
}

/// The target's statements.
pub(crate) fn own(timeline: &Timeline) -> impl Iterator<Item = &EntityRecord> {
    let statements = timeline.entities.of_kind(EntityKind::Statement);
    statements.filter(|statement| {
        let pool = statement.parent.and_then(|it| timeline.entities.get(it));
        // What the server reports about its sessions has no time of its own.
        let pool = pool.filter(|it| it.entity.kind == EntityKind::Pool);
        let process = pool.and_then(|it| timeline.entities.get(it.parent?));
        process.is_some_and(|it| it.role == Role::Target)
    })
}

/// `None` where it took no time and did not begin.
fn time(
    timeline: &Timeline,
    statement: &EntityRecord,
    window: Window,
    origin: Timestamp,
) -> Option<StatementTime> {
    let grown = |column: &str| {
        let series = timeline.series(&STATEMENT.name, statement.id, column);
        series.and_then(|it| it.growth(window)).unwrap_or(0.0)
    };
    let part = |part: Part| grown(part.column_name());
    let total_ns = Part::ALL.map(part).iter().sum();
    let kind = rare(timeline, statement.id);
    let begun = kind.map(|_| begun(timeline, statement.id));
    let begun = begun.into_iter().flatten();
    let begun = begun.filter(|it| window.contains(*it)).take(MOST_BEGUN);
    let began_ns: Vec<i64> = begun.map(|it| it.ns_since(origin)).collect();
    let id = timeline.series(&STATEMENT.name, statement.id, "query_id");
    let id = id.and_then(|it| it.values().next_back());
    let is_any = total_ns > 0.0 || !began_ns.is_empty();
    is_any.then(|| StatementTime {
        text: statement.entity.name.clone(),
        query_id: id.filter(|it| it.1 != 0).map(|it| it.1.to_string()),
        calls: grown("calls"),
        share: 0.0,
        total_ns,
        on_cpu_ns: part(Part::OnCpu),
        queued: QueuedBehind {
            rest_ns: part(Part::QueuedRest),
            target_ns: part(Part::QueuedTarget),
            generator_ns: part(Part::QueuedGenerator),
            nobody_ns: part(Part::QueuedNobody),
        },
        memory_ns: part(Part::Memory),
        disk_ns: part(Part::Disk),
        sync_ns: part(Part::Sync),
        lock_ns: part(Part::Lock),
        internal_lock_ns: part(Part::InternalLock),
        client_ns: part(Part::Client),
        other_ns: part(Part::Other),
        rare: kind.map(|it| it.words().to_owned()),
        began_ns,
    })
}

/// What kind of rare statement it is.
fn rare(timeline: &Timeline, statement: EntityId) -> Option<Rare> {
    let series = timeline.series(&STATEMENT.name, statement, "rare")?;
    Rare::new(series.values().next_back()?.1)
}

/// When it began, each time that a reading found.
fn begun(timeline: &Timeline, statement: EntityId) -> Vec<Timestamp> {
    let series = timeline.series(&STATEMENT.name, statement, "started_ns");
    let values = series.into_iter().flat_map(|it| it.values());
    let mut times: Vec<Timestamp> = values.map(|it| Timestamp::from_ns(it.1)).collect();
    times.dedup();
    times
}

/// When rare statements began: each by its text, and those of one kind whose texts differ together by that kind, with
/// the statement where it is one. Of many texts of one kind, as a script has them, only what they have together is told.
pub(crate) fn rare_statements(
    timeline: &Timeline,
) -> Vec<(String, Option<EntityId>, Vec<Timestamp>)> {
    let mut by_kind: BTreeMap<Rare, Vec<(String, EntityId, Vec<Timestamp>)>> = BTreeMap::new();
    for statement in own(timeline) {
        if let Some(kind) = rare(timeline, statement.id) {
            let own = by_kind.entry(kind).or_default();
            let times = begun(timeline, statement.id);
            own.push((statement.entity.name.clone(), statement.id, times));
        }
    }
    let mut found = Vec::new();
    for (kind, statements) in by_kind {
        let all = || {
            statements
                .iter()
                .flat_map(|it| it.2.iter().copied())
                .collect()
        };
        if statements.len() > MOST_TEXTS {
            let name = format!("{} ({} statements)", kind.words(), statements.len());
            found.push((name, None, all()));
            continue;
        }
        if statements.len() > 1 {
            found.push((kind.words().to_owned(), None, all()));
        }
        let each = statements.into_iter();
        found.extend(each.map(|(text, id, times)| (text, Some(id), times)));
    }
    found
}

#[cfg(test)]
mod tests;
