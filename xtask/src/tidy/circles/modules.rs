//! The modules of a crate as its sources declare them.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Attribute, Item, UseTree, Visibility};

use super::Needs;
use super::uses::{Use, uses_of};
use crate::tidy::Tree;

/// A module by its number in `Modules`.
pub(super) type Id = usize;

/// The modules of one crate; the first is the root.
pub(super) struct Modules<'a> {
    pub(super) all: Vec<Module<'a>>,
}

pub(super) struct Module<'a> {
    pub(super) file: &'a str,
    pub(super) parent: Option<Id>,
    pub(super) children: BTreeMap<String, Id>,
    /// Names of what it defines.
    pub(super) items: BTreeSet<String>,
    /// Names that it imports, private or not, and their paths.
    pub(super) imports: Vec<(String, Vec<String>)>,
    /// Paths whose whole content it imports.
    pub(super) globs: Vec<Vec<String>>,
    /// Paths that its code names.
    uses: Vec<Use>,
}

impl<'a> Modules<'a> {
    /// The modules below a root; `None` where there is no such file.
    pub(super) fn read(tree: &'a Tree, root: &str) -> Option<Self> {
        let (path, text) = tree.get_key_value(root)?;
        let mut modules = Self { all: Vec::new() };
        modules.add_file(tree, path, text, None);
        Some(modules)
    }

    /// Which file needs which.
    pub(super) fn needs(&self) -> Needs<'a> {
        let mut needs = Needs::new();
        for (id, module) in self.all.iter().enumerate() {
            for used in &module.uses {
                let definer = self.definer(id, &used.path);
                if let Some(file) = definer.filter(|file| !self.is_within(id, file)) {
                    needs.entry((module.file, file)).or_insert(used.line);
                }
            }
        }
        needs
    }

    /// Whether a module is in this file, or below it.
    fn is_within(&self, id: Id, file: &str) -> bool {
        let module = &self.all[id];
        module.file == file
            || module
                .parent
                .is_some_and(|parent| self.is_within(parent, file))
    }

    fn add_file(&mut self, tree: &'a Tree, path: &'a str, text: &str, parent: Option<Id>) -> Id {
        // A source that does not parse is the compiler's to complain about.
        let items = syn::parse_file(text).map_or_else(|_| Vec::new(), |file| file.items);
        self.add(tree, path, &items, parent)
    }

    fn add(&mut self, tree: &'a Tree, file: &'a str, items: &[Item], parent: Option<Id>) -> Id {
        let id = self.all.len();
        self.all.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: Vec::new(),
            globs: Vec::new(),
            uses: Vec::new(),
        });
        for item in items.iter().filter(|item| !is_of_tests(attributes(item))) {
            match item {
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let child = match &inner.content {
                        Some((_, items)) => Some(self.add(tree, file, items, Some(id))),
                        None => below(tree, file, &name)
                            .map(|(path, text)| self.add_file(tree, path, text, Some(id))),
                    };
                    self.all[id]
                        .children
                        .extend(child.map(|child| (name, child)));
                }
                Item::Use(import) => {
                    let is_private = matches!(import.vis, Visibility::Inherited);
                    self.all[id].import(&import.tree, &mut Vec::new());
                    if is_private {
                        self.all[id].uses.extend(uses_of(item));
                    }
                }
                other => {
                    let module = &mut self.all[id];
                    module.items.extend(name_of(other));
                    module.uses.extend(uses_of(other));
                }
            }
        }
        id
    }
}

impl Module<'_> {
    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.last().cloned().unwrap_or_default();
                self.imports.push((last, before.clone()));
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.imports.push((name.clone(), joined(before, name)));
            }
            UseTree::Rename(renamed) => {
                let path = joined(before, renamed.ident.to_string());
                self.imports.push((renamed.rename.to_string(), path));
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before);
                }
            }
        }
    }
}

fn joined(before: &[String], name: String) -> Vec<String> {
    let mut path = before.to_vec();
    path.push(name);
    path
}

/// The file of a module that another file declares.
fn below<'a>(tree: &'a Tree, file: &str, name: &str) -> Option<(&'a str, &'a str)> {
    let (folder, own) = file.rsplit_once('/')?;
    let folder = match own {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        other => format!("{folder}/{}", other.trim_end_matches(".rs")),
    };
    let places = [
        format!("{folder}/{name}.rs"),
        format!("{folder}/{name}/mod.rs"),
    ];
    let mut found = places.iter().filter_map(|place| tree.get_key_value(place));
    found
        .next()
        .map(|(path, text)| (path.as_str(), text.as_str()))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Whether an item is compiled for tests only.
fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && condition.is_ok_and(|list| list.tokens.to_string() == "test")
    })
}
