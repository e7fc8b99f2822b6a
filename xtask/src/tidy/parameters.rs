//! Parameters: a tuple of unlike things hides how many a function has, and what each of them is.
//!
//! Two alike, such as a begin and an end, are one thing. A closure takes what an iterator gives it.

use syn::visit::{self, Visit};
use syn::{FnArg, Signature, Type};

use super::{At, Complaint, Tree};

/// Parameters that are tuples of unlike things.
pub fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| path.ends_with(".rs")) {
        // A source that does not parse is the compiler's to complain about.
        if let Ok(file) = syn::parse_file(text) {
            let mut packed = Packed(Vec::new());
            packed.visit_file(&file);
            found.extend(packed.0.into_iter().map(|line| complaint(path, line)));
        }
    }
    found
}

fn complaint(path: &str, line: usize) -> Complaint {
    At(path, line).complain(
        "a parameter that is a tuple of unlike things",
        "its parts have no names where the function is called",
        "make them parameters of their own, or a struct with names",
    )
}

/// Lines of such parameters.
struct Packed(Vec<usize>);

impl<'ast> Visit<'ast> for Packed {
    fn visit_signature(&mut self, signature: &'ast Signature) {
        for input in &signature.inputs {
            if let FnArg::Typed(parameter) = input
                && is_packed(&parameter.ty)
            {
                self.0.push(parameter.colon_token.spans[0].start().line);
            }
        }
        visit::visit_signature(self, signature);
    }
}

fn is_packed(kind: &Type) -> bool {
    match kind {
        Type::Reference(reference) => is_packed(&reference.elem),
        Type::Tuple(tuple) => {
            let mut parts = tuple.elems.iter();
            let first = parts.next();
            parts.any(|part| Some(part) != first)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{one, said, with};

    #[test]
    fn a_tuple_of_unlike_things_is_said_in_functions_methods_and_traits() {
        for text in [
            "fn f(\n    (a, b): (u32, &str),\n) {}\n",
            "impl Word {\n    fn f(&self, a: &(u32, i64)) {}\n}\n",
            "trait Word {\n    fn f(&self, a: (u32, u32, bool));\n}\n",
        ] {
            let place = "crates/model/src/a.rs:";
            let tree = with("crates/model/src/a.rs", text);
            one(&tree, &format!("{place}2"), "tuple");
        }
    }

    #[test]
    fn pairs_of_like_things_closures_and_results_are_fine() {
        for text in [
            "fn f((start, end): (u32, u32)) {}\n",
            "fn f(each: impl Fn((u32, &str))) -> (u32, bool) {\n    (1, true)\n}\n",
            "fn f(pairs: &[(u32, &str)]) {}\n",
            "fn f(nothing: ()) {}\n",
        ] {
            assert!(said(&with("crates/model/src/a.rs", text)).is_empty());
        }
    }
}
