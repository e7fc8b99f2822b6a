//! Files of a crate that need each other in a circle: none of them can be understood, moved or tested alone.
//!
//! File A needs file B where A's code, or a private `use` of A, names something that B defines. A re-export is
//! followed to the definition and is no need of its own; tests are not looked at. A file may need those that declare
//! it and its ancestors, for a part is read as part of its whole: circles between parts, and between rooms, are what
//! ties a house into a knot.

mod modules;
mod resolve;
mod uses;

use std::collections::BTreeMap;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::crates::Workspace;
use super::{At, Complaint, Tree};
use modules::Modules;

/// Files, by their paths from the root of the repository, and the line where the first needs the second.
type Needs<'a> = BTreeMap<(&'a str, &'a str), usize>;

/// One complaint for each need that closes a circle.
pub fn complaints(tree: &Tree, workspace: &Workspace) -> Vec<Complaint> {
    let mut found = Vec::new();
    for member in &workspace.crates {
        for root in ["src/lib.rs", "src/main.rs"] {
            let root = member.path.replace("Cargo.toml", root);
            if let Some(modules) = Modules::read(tree, &root) {
                found.extend(circles(&modules.needs()));
            }
        }
    }
    found
}

fn circles(needs: &Needs<'_>) -> Vec<Complaint> {
    let graph: DiGraphMap<&str, ()> = needs.keys().copied().collect();
    let mut found = Vec::new();
    for circle in tarjan_scc(&graph).iter().filter(|files| files.len() > 1) {
        let inside = |file: &str| circle.contains(&file);
        let of_circle = needs
            .iter()
            .filter(|((from, to), _)| inside(from) && inside(to));
        found.extend(of_circle.map(|((from, to), line)| {
            At(from, *line).complain(
                format!("needs {to}, which needs this file"),
                &format!(
                    "{} files in a circle cannot be understood alone",
                    circle.len()
                ),
                "move what both need below both, or hand it down as a parameter",
            )
        }));
    }
    found
}

#[cfg(test)]
mod tests;
