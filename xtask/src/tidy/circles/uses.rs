//! The paths that an item's code names.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, Macro, Path, UseTree};

/// A path as it is written, and the line.
pub(super) struct Use {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// All paths of an item: of its types, expressions, macros and imports.
pub(super) fn uses_of(item: &Item) -> Vec<Use> {
    let mut collector = Collector(Vec::new());
    collector.visit_item(item);
    collector.0
}

struct Collector(Vec<Use>);

impl Collector {
    fn add(&mut self, names: &[&proc_macro2::Ident]) {
        if let Some(first) = names.first() {
            self.0.push(Use {
                path: names.iter().map(ToString::to_string).collect(),
                line: first.span().start().line,
            });
        }
    }

    fn add_imports<'a>(&mut self, tree: &'a UseTree, before: &mut Vec<&'a proc_macro2::Ident>) {
        match tree {
            UseTree::Path(path) => {
                before.push(&path.ident);
                self.add_imports(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) => {
                let own = (name.ident != "self").then_some(&name.ident);
                let path: Vec<_> = before.iter().copied().chain(own).collect();
                self.add(&path);
            }
            UseTree::Rename(name) => {
                let path: Vec<_> = before.iter().copied().chain([&name.ident]).collect();
                self.add(&path);
            }
            // What of it is needed shows where it is named.
            UseTree::Glob(_) => {}
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_imports(tree, before);
                }
            }
        }
    }

    /// Names joined by `::` in a macro's tokens: `a::b(c)` has `a::b` and `c`.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<proc_macro2::Ident> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.add(&path.iter().collect::<Vec<_>>());
                        path.clear();
                    }
                    path.push(name);
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    colons = 0;
                    self.add_tokens(group.stream());
                }
                _ => colons = 0,
            }
        }
        self.add(&path.iter().collect::<Vec<_>>());
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<_> = path.segments.iter().map(|it| &it.ident).collect();
        self.add(&names);
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        self.add_imports(&import.tree, &mut Vec::new());
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}
