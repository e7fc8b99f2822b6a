//! The list of gaps of a recording, which a server that flaps must not make endless.

use model::{Gap, GapReason, Window};

/// So many gaps of one kind are told one by one; later ones lengthen the last of them. That claims
/// less to have been seen than was, and never more.
const MOST: usize = 100;

/// Adds a gap, or lengthens one of its kind that it touches.
pub(super) fn keep(gaps: &mut Vec<Gap>, gap: Gap) {
    let Some(window) = gap.window else {
        gaps.push(gap);
        return;
    };
    let alike = |other: &Gap| is_alike(other, &gap);
    let many = gaps.iter().filter(|other| alike(other)).count() >= MOST;
    let last = gaps.iter_mut().rev().find(|other| alike(other));
    let last = last.and_then(|last| Some((last.window?, last)));
    match last {
        Some((before, last)) if many || before.end >= window.start => {
            let start = before.start.min(window.start);
            last.window = Some(Window::new(start, before.end.max(window.end)));
            if let (GapReason::Dropped(sum), GapReason::Dropped(more)) =
                (&mut last.reason, &gap.reason)
            {
                *sum += more;
            }
        }
        _ => gaps.push(gap),
    }
}

fn is_alike(one: &Gap, other: &Gap) -> bool {
    let same = match (&one.reason, &other.reason) {
        (GapReason::Dropped(_), GapReason::Dropped(_)) => true,
        (one, other) => one == other,
    };
    same && one.window.is_some() && one.table == other.table && one.what == other.what
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Sentence, Timestamp};

    fn gap(start: i64, end: i64, reason: GapReason) -> Gap {
        let at = Timestamp::from_ns;
        Gap {
            table: "*".to_owned(),
            what: Sentence::default(),
            window: Some(Window::new(at(start), at(end))),
            reason,
        }
    }

    #[test]
    fn gaps_that_touch_are_one_and_many_are_told_as_one() {
        let mut gaps = Vec::new();
        keep(&mut gaps, gap(0, 5, GapReason::Dropped(3)));
        keep(&mut gaps, gap(5, 9, GapReason::Dropped(4)));
        keep(&mut gaps, gap(5, 9, GapReason::Overrun));
        assert_eq!(
            gaps,
            [
                gap(0, 9, GapReason::Dropped(7)),
                gap(5, 9, GapReason::Overrun)
            ]
        );
        let mut late = vec![gap(7, 9, GapReason::Overrun)];
        keep(&mut late, gap(2, 8, GapReason::Overrun));
        assert_eq!(
            late,
            [gap(2, 9, GapReason::Overrun)],
            "told after a later one"
        );
        for start in 10..1_000 {
            keep(
                &mut gaps,
                gap(start * 10, start * 10 + 1, GapReason::Overrun),
            );
        }
        assert_eq!(gaps.len(), 1 + MOST);
        let last = gaps.last().and_then(|gap| gap.window);
        assert_eq!(
            last.map(|window| window.end),
            Some(Timestamp::from_ns(9_991))
        );
    }
}
