//! Which file defines what a path names.

use super::modules::{Id, Modules};

/// Imports of imports that are followed: more are a circle of re-exports.
const DEPTH: usize = 8;

/// What a path leads to.
#[derive(Clone, Copy)]
enum Found {
    Module(Id),
    /// Something that a module defines.
    ItemOf(Id),
}

impl<'a> Modules<'a> {
    /// The file that defines what a path names in a module; `None` for other crates, and for what is not found.
    pub(super) fn definer(&self, module: Id, path: &[String]) -> Option<&'a str> {
        let found = self.resolve(module, path, DEPTH)?;
        let (Found::Module(id) | Found::ItemOf(id)) = found;
        Some(self.all[id].file)
    }

    fn resolve(&self, module: Id, path: &[String], depth: usize) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Found::Module(0),
            "self" => Found::Module(module),
            "super" => Found::Module(self.all[module].parent?),
            name => self.name_in(module, name, depth)?,
        };
        rest.iter().try_fold(start, |found, name| match found {
            Found::Module(id) if name == "super" => Some(Found::Module(self.all[id].parent?)),
            Found::Module(id) => self.name_in(id, name, depth),
            // A variant, or something of a type's own: it is where the type is.
            Found::ItemOf(id) => Some(Found::ItemOf(id)),
        })
    }

    fn name_in(&self, id: Id, name: &str, depth: usize) -> Option<Found> {
        let module = &self.all[id];
        if let Some(child) = module.children.get(name) {
            return Some(Found::Module(*child));
        }
        if module.items.contains(name) {
            return Some(Found::ItemOf(id));
        }
        let depth = depth.checked_sub(1)?;
        let mut imports = module.imports.iter();
        if let Some((_, path)) = imports.find(|(imported, _)| imported == name) {
            // `use anyhow;` names another crate.
            let is_itself = path.len() == 1 && path[0] == name;
            return if is_itself {
                None
            } else {
                self.resolve(id, path, depth)
            };
        }
        module
            .globs
            .iter()
            .find_map(|glob| match self.resolve(id, glob, depth)? {
                Found::Module(inner) => self.name_in(inner, name, depth),
                Found::ItemOf(_) => None,
            })
    }
}
