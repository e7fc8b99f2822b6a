//! Who held the locks of the target's database, by what its sessions ran, and who waited for them.
//!
//! Nothing here decides a cause.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    EntityRecord, LockHolder, LockWaiter, Meta, NamedStatement, Report, Timeline, Timestamp, Window,
};

use crate::blocked::{SESSIONS, blocked, is_own};
use crate::statements::Texts;

/// Holders of a report, and who waits for each.
const MOST: usize = 10;

/// The report with who held locks in its window, where the database told it.
pub(crate) fn with_lock_holders(mut report: Report, timeline: &Timeline, meta: &Meta) -> Report {
    let is_own = |it: &EntityRecord| is_own(timeline, meta, it);
    report.lock_holders = lock_holders(timeline, report.window, is_own);
    report
}

/// Looks at which sessions waited, by what held them and what they wanted to run.
type Seen = BTreeMap<(bool, Option<i64>), BTreeMap<Option<i64>, usize>>;

fn lock_holders(
    timeline: &Timeline,
    window: Window,
    is_own: impl Fn(&EntityRecord) -> bool,
) -> Vec<LockHolder> {
    let mut seen = Seen::new();
    for it in blocked(timeline, window, is_own) {
        let holder = (it.is_holder_idle(timeline), it.holds(timeline));
        let waiters = seen.entry(holder).or_default();
        *waiters.entry(it.waits(timeline)).or_default() += 1;
    }
    let all: usize = seen.values().flat_map(BTreeMap::values).sum();
    if all == 0 {
        return Vec::new();
    }
    let looks = looks(timeline, window).max(1) as f64;
    let texts = Texts::new(timeline);
    let named = |id: i64| NamedStatement {
        text: texts.of(id),
        query_id: id.to_string(),
    };
    let waiter = |(id, times): (Option<i64>, usize)| LockWaiter {
        statement: id.map(named),
        sessions: times as f64 / looks,
        share: times as f64 / all as f64,
    };
    let holder = |((is_idle, id), waiters): ((bool, Option<i64>), BTreeMap<_, usize>)| {
        let times: usize = waiters.values().sum();
        let mut waiters: Vec<LockWaiter> = waiters.into_iter().map(waiter).collect();
        waiters.sort_by(|a, b| b.share.total_cmp(&a.share));
        waiters.truncate(MOST);
        LockHolder {
            is_idle,
            statement: id.map(named),
            sessions: times as f64 / looks,
            share: times as f64 / all as f64,
            waiters,
        }
    };
    let mut holders: Vec<LockHolder> = seen.into_iter().map(holder).collect();
    holders.sort_by(|a, b| b.share.total_cmp(&a.share));
    holders.truncate(MOST);
    holders
}

/// How often a database was asked for its sessions in the window.
fn looks(timeline: &Timeline, window: Window) -> usize {
    let of = |name: &str| {
        let data = timeline.table(name);
        let rows = data
            .into_iter()
            .flat_map(|it| (0..it.len()).map(|row| it.key(row).0));
        rows.filter(|at| window.contains(*at))
            .collect::<BTreeSet<Timestamp>>()
    };
    SESSIONS.iter().map(|it| of(&it.name).len()).sum()
}

#[cfg(test)]
mod tests {
    use model::{Entity, EntityEvent, EntityId, EntityKind, MISSING, Role};
    use sensors::postgres::SESSION;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_ns(second * 1_000_000_000)
    }

    /// What is seen at a look: who, its state, by whom it is blocked, its statement.
    type Session = (u32, i64, Option<u32>, i64);

    /// A database of which five sessions were recorded, with the texts of two statements.
    fn recording(role: Role, looks: &[&[Session]]) -> Timeline {
        let mut timeline = Timeline::new(Window::new(at(0), at(10)));
        let mut add = |record: EntityRecord| {
            timeline.entities.apply(EntityEvent {
                time: at(0),
                record,
            });
        };
        for number in 0..5 {
            let entity = Entity::new(EntityKind::Process, "postgres", format!("pid:{number}@1"));
            let mut record = EntityRecord::new(EntityId(number), entity, at(0));
            record.role = role;
            add(record);
        }
        let texts = [
            (8, "update a set b = ?"),
            (-9, "select b from a for update"),
        ];
        for (number, (id, text)) in (5..).zip(texts) {
            let path = format!("server:0/statement:{id}");
            let entity = Entity::new(EntityKind::Statement, text, path);
            add(EntityRecord::new(EntityId(number), entity, at(0)));
        }
        let data = timeline.table_mut(&SESSION);
        for (look, sessions) in (1..).zip(looks) {
            for (who, state, by, id) in *sessions {
                let by = by.map_or(MISSING, i64::from);
                data.push(at(look), EntityId(*who), &[*state, 0, by, MISSING, *id]);
            }
        }
        timeline
    }

    fn told(timeline: &Timeline) -> Vec<String> {
        let name =
            |it: &Option<NamedStatement>| it.as_ref().map_or("-".to_owned(), |it| it.text.clone());
        let waiter =
            |it: &LockWaiter| format!("{} {:.2} {:.2}", name(&it.statement), it.sessions, it.share);
        let is_own = |it: &EntityRecord| it.role == Role::Target;
        let holders = lock_holders(timeline, timeline.window, is_own);
        let holder = |it: &LockHolder| {
            let waiters: Vec<String> = it.waiters.iter().map(waiter).collect();
            let state = if it.is_idle { "idle" } else { "busy" };
            let own = format!(
                "{state} {} {:.2} {:.2}",
                name(&it.statement),
                it.sessions,
                it.share
            );
            format!("{own}: {}", waiters.join(", "))
        };
        holders.iter().map(holder).collect()
    }

    #[test]
    fn waits_are_told_by_what_both_sides_run() {
        let looks: [&[Session]; 3] = [
            &[(1, 3, None, 8), (2, 1, Some(1), 8), (3, 1, Some(1), -9)],
            &[(1, 3, None, 8), (2, 1, Some(1), 8), (4, 1, None, 7)],
            &[(1, 1, None, 8), (2, 1, Some(4), 8), (4, 1, None, 7)],
        ];
        let expected = [
            "idle update a set b = ? 1.00 0.75: update a set b = ? 0.67 0.50, select b from a for update 0.33 0.25",
            "busy statement 7 0.33 0.25: update a set b = ? 0.33 0.25",
        ];
        assert_eq!(told(&recording(Role::Target, &looks)), expected);
        let others = recording(Role::Background, &looks);
        assert_eq!(told(&others), [""; 0], "of a server that is not the target");
    }

    #[test]
    fn without_ids_the_state_is_told_and_nobody_who_waits_is_nothing() {
        let looks: [&[Session]; 1] = [&[(1, 3, None, MISSING), (2, 1, Some(1), MISSING)]];
        assert_eq!(
            told(&recording(Role::Target, &looks)),
            ["idle - 1.00 1.00: - 1.00 1.00"]
        );
        let looks: [&[Session]; 1] = [&[(1, 3, None, 8), (2, 1, None, 8)]];
        assert_eq!(told(&recording(Role::Target, &looks)), [""; 0]);
    }
}
