//! Who may use whom: an arrow points only to a lower level of the table in ARCHITECTURE.md.
//!
//! Normal, build and dev dependencies are judged alike: a test that reaches up would pull the crate
//! above into every change below.

use std::collections::BTreeMap;

use super::crates::{Crate, Dependency, Workspace};
use super::table::{Level, Row};
use super::{ARCHITECTURE, At, Complaint};

/// Judges table and crates against each other, and every edge between crates.
pub fn complaints(rows: &[Row], workspace: &Workspace) -> Vec<Complaint> {
    if rows.is_empty() {
        // That the table is missing was said already.
        return Vec::new();
    }
    let mut found = rows_without_crate(rows, workspace);
    let by_name: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.name.as_str(), row)).collect();
    for member in &workspace.crates {
        let Some(from) = by_name.get(member.name.as_str()) else {
            found.push(not_in_table(member));
            continue;
        };
        for dependency in &member.dependencies {
            let to = by_name.get(dependency.package.as_str());
            found.extend(to.and_then(|to| edge(member, dependency, (from, to))));
        }
    }
    found
}

fn not_in_table(member: &Crate) -> Complaint {
    At(&member.path, 1).complain(
        format!(
            "crate `{}` is not in the table of {ARCHITECTURE}",
            member.name
        ),
        "without a level nobody can say whom it may use",
        "add a row for it",
    )
}

fn rows_without_crate(rows: &[Row], workspace: &Workspace) -> Vec<Complaint> {
    let exists = |name: &str| workspace.crates.iter().any(|member| member.name == name);
    let mut found = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let at = At(ARCHITECTURE, row.line);
        if !exists(&row.name) {
            found.push(at.complain(
                format!("there is no crate `{}`", row.name),
                "the table must say what is, not what was or will be",
                "remove the row, or add the crate to the workspace",
            ));
        }
        if rows[..index].iter().any(|earlier| earlier.name == row.name) {
            found.push(at.complain(
                format!("a second row for `{}`", row.name),
                "two rows may disagree",
                "keep one of them",
            ));
        }
        for name in row.forbidden.iter().filter(|name| !exists(name)) {
            found.push(at.complain(
                format!("`{name}` in \"must not know\" is no crate"),
                "a misspelt name would forbid nothing",
                "name a crate, or leave the backticks out",
            ));
        }
    }
    found
}

fn edge(member: &Crate, dependency: &Dependency, ends: (&Row, &Row)) -> Option<Complaint> {
    let (from, to) = ends;
    let why = refusal(from, to)?;
    Some(At(&member.path, dependency.line).complain(
        format!("`{}` must not use `{}`", from.name, to.name),
        &why,
        "move what is needed to a lower level, or hand it over as a value from above",
    ))
}

/// Why an edge is not allowed; nothing when it is.
fn refusal(from: &Row, to: &Row) -> Option<String> {
    let (Level::Number(above), Level::Number(below)) = (from.level, to.level) else {
        return Some("a crate beside the program neither uses it nor is used by it".to_owned());
    };
    if below >= above {
        return Some(format!(
            "an arrow points only to a lower level, and these are {above} and {below}"
        ));
    }
    from.forbidden
        .contains(&to.name)
        .then(|| format!("the table says that `{}` must not know it", from.name))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{clean, edited, one, said, with};
    use super::*;

    const MODEL: &str = "crates/model/Cargo.toml";
    const HOST: &str = "crates/kernel/Cargo.toml";

    /// The model's manifest has ten lines; `lines` come after it.
    fn model_with(lines: &str) -> super::super::Tree {
        let text = clean()[MODEL].clone();
        assert_eq!(text.lines().count(), 10);
        with(MODEL, &format!("{text}{lines}"))
    }

    #[test]
    fn an_arrow_upwards_is_refused_whatever_its_kind() {
        one(
            &edited(MODEL, "serde.", "kernel."),
            "crates/model/Cargo.toml:10",
            "`model` must not use `kernel`",
        );
        for kind in [
            "dev-dependencies",
            "build-dependencies",
            "target.x.dependencies",
        ] {
            one(
                &model_with(&format!("[{kind}]\nkernel.workspace = true\n")),
                "crates/model/Cargo.toml:12",
                "these are 0 and 1",
            );
        }
    }

    #[test]
    fn an_arrow_to_the_same_level_is_refused() {
        let tree = edited(ARCHITECTURE, "| 1 | `kernel`", "| 0 | `kernel`");
        one(&tree, "crates/kernel/Cargo.toml:10", "these are 0 and 0");
    }

    #[test]
    fn an_arrow_that_the_table_forbids_is_refused() {
        let tree = edited(ARCHITECTURE, "all of it | |", "all of it | how, `kernel` |");
        one(&tree, "crates/program/Cargo.toml:10", "must not know it");
    }

    #[test]
    fn what_stands_beside_is_neither_used_nor_uses() {
        one(
            &edited(HOST, "model.", "xtask."),
            "crates/kernel/Cargo.toml:10",
            "`kernel` must not use `xtask`",
        );
        let text = format!(
            "{}\n[dependencies]\nmodel.workspace = true\n",
            clean()["xtask/Cargo.toml"]
        );
        one(
            &with("xtask/Cargo.toml", &text),
            "xtask/Cargo.toml:10",
            "beside",
        );
    }

    #[test]
    fn crates_outside_the_workspace_are_nobodys_business() {
        assert!(said(&model_with("[dev-dependencies]\nrand.workspace = true\n")).is_empty());
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_said() {
        let row = "| beside | `xtask` | chores | the program |\n";
        one(
            &edited(ARCHITECTURE, row, ""),
            "xtask/Cargo.toml:1",
            "not in the table",
        );
        let more = format!("{row}| 3 | `agent` | soon | |\n");
        one(
            &edited(ARCHITECTURE, row, &more),
            "ARCHITECTURE.md:9",
            "no crate `agent`",
        );
        let twice = format!("{row}{row}");
        one(
            &edited(ARCHITECTURE, row, &twice),
            "ARCHITECTURE.md:9",
            "second row",
        );
    }

    #[test]
    fn a_forbidden_name_that_is_no_crate_is_said() {
        let tree = edited(ARCHITECTURE, "all of it | |", "all of it | `hosts` |");
        one(&tree, "ARCHITECTURE.md:7", "`hosts`");
    }
}
