//! The table of crates in ARCHITECTURE.md: who stands on which level, and who must not know whom.
//!
//! In the last column a name in backticks is a crate that must not be used although its level would
//! allow it; words without backticks are for people.

use super::{ARCHITECTURE, At, Complaint};

const HEADER: [&str; 4] = ["level", "crate", "what it is", "must not know"];

/// One crate of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub line: usize,
    pub level: Level,
    pub name: String,
    /// Crates that it must not use whatever their level.
    pub forbidden: Vec<String>,
}

/// Where a crate stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Arrows point from a higher to a lower number.
    Number(u32),
    /// Neither uses a crate of the program nor is used by one.
    Beside,
}

/// The table's rows, and what could not be understood of it.
pub fn rows(text: &str) -> (Vec<Row>, Vec<Complaint>) {
    let lines: Vec<(usize, Vec<&str>)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, cells(line)))
        .collect();
    let Some(header) = lines.iter().position(|(_, cells)| is_header(cells)) else {
        return (Vec::new(), vec![no_table()]);
    };
    let (mut rows, mut complaints) = (Vec::new(), Vec::new());
    // The line after the header is the table's rule.
    let body = lines[header + 1..].iter().skip(1);
    for (line, cells) in body.take_while(|(_, cells)| !cells.is_empty()) {
        match row(*line, cells) {
            Some(row) => rows.push(row),
            None => complaints.push(At(ARCHITECTURE, *line).complain(
                "this row of the table of crates is not understood",
                "the first cell is a level (0, 1, ... or `beside`), the second a crate's name",
                "mend the row",
            )),
        }
    }
    (rows, complaints)
}

fn no_table() -> Complaint {
    At(ARCHITECTURE, 1).complain(
        "no table of crates",
        "the levels of the crates are declared there and nowhere else",
        format!("add a table with the header | {} |", HEADER.join(" | ")),
    )
}

fn is_header(cells: &[&str]) -> bool {
    cells.len() == HEADER.len()
        && cells
            .iter()
            .zip(HEADER)
            .all(|(cell, name)| cell.eq_ignore_ascii_case(name))
}

/// The cells of a table's line; none when it is not one.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    match line.strip_prefix('|').and_then(|l| l.strip_suffix('|')) {
        Some(inner) => inner.split('|').map(str::trim).collect(),
        None => Vec::new(),
    }
}

fn row(line: usize, cells: &[&str]) -> Option<Row> {
    let [level, name, _, must_not_know] = cells else {
        return None;
    };
    let name = name.trim_matches('`').to_owned();
    let level = match *level {
        "beside" => Level::Beside,
        number => Level::Number(number.parse().ok()?),
    };
    (!name.is_empty()).then_some(Row {
        line,
        level,
        name,
        forbidden: quoted(must_not_know),
    })
}

/// The words in backticks.
fn quoted(cell: &str) -> Vec<String> {
    let words = cell.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{edited, one, with};
    use super::*;

    #[test]
    fn rows_carry_level_name_and_forbidden_crates() {
        let text = "| Level | Crate | What it is | Must not know |\n|--|--|--|--|\n\
                    | 2 | `analysis` | pure | files, `kernel`, `recording` |\n\
                    | beside | xtask | chores | |\n\nprose | with | pipes\n";
        let (rows, complaints) = rows(text);
        assert_eq!(complaints, vec![]);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].line, rows[0].level), (3, Level::Number(2)));
        assert_eq!(rows[0].forbidden, ["kernel", "recording"]);
        assert_eq!((&*rows[1].name, rows[1].level), ("xtask", Level::Beside));
    }

    #[test]
    fn a_table_that_is_not_there_is_said_once() {
        let (_, complaints) = rows("# Map\n\n| other | table |\n|--|--|\n");
        assert_eq!(complaints, vec![no_table()]);
        let said = super::super::testing::said(&with(ARCHITECTURE, "# Map\n"));
        assert_eq!(said.len(), 1, "{said:#?}");
    }

    #[test]
    fn a_row_that_is_not_understood_is_said() {
        one(
            &edited(
                ARCHITECTURE,
                "| 2 | `program`",
                "| 2 | `program` | x |\n| 2 | `program`",
            ),
            "ARCHITECTURE.md:7",
            "not understood",
        );
        let (_, complaints) = rows(
            "| level | crate | what it is | must not know |\n|--|--|--|--|\n| soon | `top` | x | |\n",
        );
        assert_eq!(complaints.len(), 1);
    }
}
