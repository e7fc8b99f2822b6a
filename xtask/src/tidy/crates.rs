//! The workspace's members as their Cargo.toml files declare them.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{At, Complaint, Tree};

const ROOT: &str = "Cargo.toml";

/// The workspace.
#[derive(Default)]
pub struct Workspace {
    pub crates: Vec<Crate>,
}

/// A member.
pub struct Crate {
    pub name: String,
    /// Its Cargo.toml.
    pub path: String,
    pub dependencies: Vec<Dependency>,
    pub edition: Inherited,
    pub version: Inherited,
    pub lints: Inherited,
}

impl Crate {
    /// Whether a file lies in this crate's folder.
    pub fn holds(&self, file: &str) -> bool {
        let folder = self.path.strip_suffix(ROOT).unwrap_or_default();
        file.starts_with(folder)
    }
}

/// A line of a table of dependencies, of whatever kind and target.
pub struct Dependency {
    /// As the member calls it.
    pub key: String,
    /// The package behind it.
    pub package: String,
    pub from_workspace: bool,
    pub line: usize,
}

/// Whether something comes from the workspace, and the line that says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inherited {
    Yes,
    /// Line 1 when it is not mentioned at all.
    No(usize),
}

/// All members, and the manifests that could not be read.
pub fn read(tree: &Tree) -> (Workspace, Vec<Complaint>) {
    let mut complaints = Vec::new();
    let mut workspace = Workspace::default();
    let root = tree.get(ROOT).map_or("", String::as_str);
    let Some(root) = parsed(ROOT, root, &mut complaints) else {
        return (workspace, complaints);
    };
    let members = members(&root);
    for (path, text) in tree {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        if !members.iter().any(|pattern| matches(pattern, folder)) {
            continue;
        }
        if let Some(table) = parsed(path, text, &mut complaints) {
            workspace.crates.push(member(path, text, &table, &root));
        }
    }
    (workspace, complaints)
}

fn parsed<'a>(path: &str, text: &'a str, complaints: &mut Vec<Complaint>) -> Option<DeTable<'a>> {
    match DeTable::parse(text) {
        Ok(table) => Some(table.into_inner()),
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            let why = error.message().replace('\n', " ");
            complaints.push(At(path, line).complain("not TOML", &why, "mend the file"));
            None
        }
    }
}

fn members(root: &DeTable<'_>) -> Vec<String> {
    let listed = at(root, &["workspace", "members"]).and_then(DeValue::as_array);
    let listed = listed.into_iter().flat_map(|array| array.iter());
    listed
        .filter_map(|member| member.get_ref().as_str())
        .map(str::to_owned)
        .collect()
}

/// Cargo's patterns, as far as this workspace uses them: `*` is one whole part of the path.
fn matches(pattern: &str, folder: &str) -> bool {
    let (pattern, folder) = (pattern.split('/'), folder.split('/'));
    pattern.clone().count() == folder.clone().count()
        && pattern.zip(folder).all(|(p, f)| p == "*" || p == f)
}

fn member(path: &str, text: &str, table: &DeTable<'_>, root: &DeTable<'_>) -> Crate {
    let name = at(table, &["package", "name"]).and_then(DeValue::as_str);
    let inherited = |keys: &[&str]| inherited(text, table, keys);
    Crate {
        name: name.unwrap_or(path).to_owned(),
        path: path.to_owned(),
        dependencies: dependencies(text, table, root),
        edition: inherited(&["package", "edition"]),
        version: inherited(&["package", "version"]),
        lints: inherited(&["lints"]),
    }
}

fn dependencies(text: &str, table: &DeTable<'_>, root: &DeTable<'_>) -> Vec<Dependency> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = at(table, &["target"]).and_then(DeValue::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values());
    let mut holders = vec![table];
    holders.extend(targets.filter_map(|target| target.get_ref().as_table()));
    let mut found = Vec::new();
    for holder in holders {
        for kind in KINDS {
            let declared = at(holder, &[kind]).and_then(DeValue::as_table);
            for (key, value) in declared.into_iter().flat_map(|table| table.iter()) {
                found.push(dependency(text, key, value.get_ref(), root));
            }
        }
    }
    found
}

fn dependency(
    text: &str,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    value: &DeValue<'_>,
    root: &DeTable<'_>,
) -> Dependency {
    let name: &str = key.get_ref();
    let own = value.as_table();
    let from_workspace = own.is_some_and(|own| is_true(at(own, &["workspace"])));
    let declared = at(root, &["workspace", "dependencies", name]).and_then(DeValue::as_table);
    let declared = if from_workspace { declared } else { own };
    let renamed = declared.and_then(|table| at(table, &["package"])?.as_str());
    Dependency {
        key: name.to_owned(),
        package: renamed.unwrap_or(name).to_owned(),
        from_workspace,
        line: line_of(text, key.span().start),
    }
}

fn inherited(text: &str, table: &DeTable<'_>, keys: &[&str]) -> Inherited {
    let value = spanned(table, keys);
    let own = value.and_then(|value| value.get_ref().as_table());
    if own.is_some_and(|own| is_true(at(own, &["workspace"]))) {
        return Inherited::Yes;
    }
    Inherited::No(value.map_or(1, |value| line_of(text, value.span().start)))
}

fn is_true(value: Option<&DeValue<'_>>) -> bool {
    value.and_then(DeValue::as_bool) == Some(true)
}

fn at<'t, 'i>(table: &'t DeTable<'i>, keys: &[&str]) -> Option<&'t DeValue<'i>> {
    spanned(table, keys).map(Spanned::get_ref)
}

fn spanned<'t, 'i>(table: &'t DeTable<'i>, keys: &[&str]) -> Option<&'t Spanned<DeValue<'i>>> {
    let (last, above) = keys.split_last()?;
    let mut table = table;
    for key in above {
        table = table.get(*key)?.get_ref().as_table()?;
    }
    table.get(*last)
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{clean, edited, one, with};
    use super::*;

    fn crate_of(manifest: &str) -> Crate {
        let tree = with("crates/model/Cargo.toml", manifest);
        let (workspace, complaints) = read(&tree);
        assert_eq!(complaints, vec![]);
        let mut crates = workspace.crates.into_iter();
        crates
            .find(|member| member.path == "crates/model/Cargo.toml")
            .expect("the crate is a member")
    }

    #[test]
    fn members_are_found_by_pattern() {
        let mut tree = clean();
        tree.insert("crates/a/deeper/Cargo.toml".to_owned(), "broken".to_owned());
        tree.insert("fuzz/Cargo.toml".to_owned(), "broken".to_owned());
        let (workspace, complaints) = read(&tree);
        assert_eq!(complaints, vec![]);
        let names: Vec<&str> = workspace.crates.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["kernel", "model", "program", "xtask"]);
        assert!(workspace.crates[0].holds("crates/kernel/src/lib.rs"));
        assert!(!workspace.crates[0].holds("crates/kernels/src/lib.rs"));
    }

    #[test]
    fn dependencies_of_every_kind_are_seen_with_their_lines() {
        let member = crate_of(
            "[package]\nname = \"model\"\n[dependencies]\nserde.workspace = true\n\
             [dev-dependencies]\nkernel = { workspace = true, features = [] }\n\
             [build-dependencies]\ncc = \"1\"\n\
             [target.'cfg(unix)'.dependencies]\nother = { package = \"libc\", version = \"1\" }\n",
        );
        let seen: Vec<_> = member
            .dependencies
            .iter()
            .map(|d| (d.key.as_str(), d.package.as_str(), d.from_workspace, d.line))
            .collect();
        assert_eq!(
            seen,
            [
                ("serde", "serde", true, 4),
                ("kernel", "kernel", true, 6),
                ("cc", "cc", false, 8),
                ("other", "libc", false, 10),
            ]
        );
    }

    #[test]
    fn a_rename_in_the_workspace_is_followed() {
        let tree = edited(
            "Cargo.toml",
            "serde = \"1.0\"",
            "serde = { path = \"x\", package = \"kernel\" }",
        );
        let (workspace, _) = read(&tree);
        assert_eq!(workspace.crates[1].dependencies[0].package, "kernel");
    }

    #[test]
    fn a_manifest_that_is_not_toml_is_said() {
        let tree = with("crates/new/Cargo.toml", "[package]\nname = ");
        one(&tree, "crates/new/Cargo.toml:2", "not TOML");
    }
}
