//! The score by mechanism. Ten runs of one situation, or one mechanism on three servers, are not ten or
//! three independent answers: a mechanism counts once, and is right only where every run of it that
//! counts is.

use super::{Found, Row};
use crate::print::say;
use crate::statistics::Proportion;

/// One mechanism: how many of its runs were right, of those that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mechanism {
    name: &'static str,
    right: usize,
    counted: usize,
}

/// Prints a line per mechanism, and how many are right.
pub fn print(rows: &[Row]) {
    let mechanisms = of(rows);
    let width = mechanisms.iter().map(|it| it.name.chars().count()).max();
    let width = width.unwrap_or(0);
    say!();
    say!("by mechanism: right only where every run that counts is");
    for Mechanism {
        name,
        right,
        counted,
    } in &mechanisms
    {
        say!("{name:width$}  {right} of {counted}");
    }
    say!("{:width$}  {}", "mechanisms", proportion(&mechanisms));
}

fn of(rows: &[Row]) -> Vec<Mechanism> {
    let mut mechanisms: Vec<Mechanism> = Vec::new();
    for row in rows {
        let Some(found) = row.found() else {
            continue;
        };
        let place = mechanisms.iter().position(|it| it.name == row.mechanism);
        let place = place.unwrap_or_else(|| {
            mechanisms.push(Mechanism {
                name: row.mechanism,
                right: 0,
                counted: 0,
            });
            mechanisms.len() - 1
        });
        mechanisms[place].counted += 1;
        mechanisms[place].right += usize::from(found == Found::First);
    }
    mechanisms
}

fn proportion(mechanisms: &[Mechanism]) -> Proportion {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    let right = mechanisms.iter().filter(|it| it.right == it.counted);
    Proportion::new(count(right.count()), count(mechanisms.len()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::counted;
    use super::*;

    #[test]
    fn a_mechanism_counts_once_and_one_wrong_run_is_enough() {
        let rows = [
            counted("nginx-quota", "CPU quota", Found::First),
            counted("redis-quota", "CPU quota", Found::Not),
            counted("hot-mutex", "one mutex", Found::First),
            counted("hot-mutex", "one mutex", Found::First),
        ];
        let found = of(&rows);
        assert_eq!((found[0].right, found[0].counted), (1, 2));
        assert_eq!((found[1].right, found[1].counted), (2, 2));
        assert_eq!(proportion(&found), Proportion::new(1, 2));
    }
}
