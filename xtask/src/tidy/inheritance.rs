//! What is said once for the whole workspace: edition, version, lints, versions of dependencies.

use super::crates::{Crate, Inherited, Workspace};
use super::{At, Complaint};

/// Crates and dependencies that do not take from the workspace what it says.
pub fn complaints(workspace: &Workspace) -> Vec<Complaint> {
    workspace.crates.iter().flat_map(of_crate).collect()
}

fn of_crate(member: &Crate) -> Vec<Complaint> {
    let owned = [
        ("edition", member.edition, "`edition.workspace = true`"),
        ("version", member.version, "`version.workspace = true`"),
        ("lints", member.lints, "`[lints]` and `workspace = true`"),
    ];
    let mut found = Vec::new();
    for (what, inherited, mend) in owned {
        if let Inherited::No(line) = inherited {
            found.push(At(&member.path, line).complain(
                format!(
                    "`{}` does not take its {what} from the workspace",
                    member.name
                ),
                "one fact stands in one place",
                format!("write {mend}"),
            ));
        }
    }
    for dependency in member.dependencies.iter().filter(|d| !d.from_workspace) {
        found.push(At(&member.path, dependency.line).complain(
            format!("`{}` is declared here with its own source", dependency.key),
            "two crates could end up with two versions",
            format!(
                "declare it in [workspace.dependencies] and write `{}.workspace = true`",
                dependency.key
            ),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::{clean, edited, one, with};

    const MODEL: &str = "crates/model/Cargo.toml";

    #[test]
    fn edition_and_version_of_its_own_are_said_where_they_stand() {
        one(
            &edited(MODEL, "edition.workspace = true", "edition = \"2021\""),
            "crates/model/Cargo.toml:4",
            "edition",
        );
        one(
            &edited(MODEL, "version.workspace = true", "version = \"9.0.0\""),
            "crates/model/Cargo.toml:3",
            "version",
        );
    }

    #[test]
    fn what_is_left_out_is_not_inherited() {
        one(
            &edited(MODEL, "version.workspace = true\n", ""),
            "crates/model/Cargo.toml:1",
            "version",
        );
        one(
            &edited(MODEL, "[lints]\nworkspace = true\n", ""),
            "crates/model/Cargo.toml:1",
            "lints",
        );
        one(
            &edited(
                MODEL,
                "[lints]\nworkspace = true",
                "[lints.rust]\nunused = \"allow\"",
            ),
            "crates/model/Cargo.toml:6",
            "lints",
        );
    }

    #[test]
    fn a_version_in_a_member_is_said_in_each_of_its_forms() {
        let forms = [
            "[dev-dependencies]\nrand = \"0.9\"\n",
            "[dependencies.rand]\nversion = \"0.9\"\n",
            "[build-dependencies]\nrand = { path = \"../rand\" }\n",
        ];
        for form in forms {
            let text = clean()[MODEL].replace("\n[dependencies]\nserde.workspace = true\n", "");
            let tree = with(MODEL, &format!("{text}{form}"));
            let found = super::super::testing::said(&tree);
            assert_eq!(found.len(), 1, "{form}: {found:#?}");
            assert!(found[0].contains("`rand` is declared here"), "{}", found[0]);
        }
    }
}
