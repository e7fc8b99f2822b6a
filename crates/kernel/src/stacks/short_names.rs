//! Names of functions as people say them: without the arguments of C++ and of templates, which can be longer than
//! a screen.

/// Longer names are cut in the middle of what is left of them.
const LONGEST: usize = 200;

/// `std::vector<int, std::allocator<int>>::push_back(int&&)` is `std::vector<..>::push_back`.
pub(super) fn shortened(name: &str) -> String {
    // Of C, Go, Java and the kernel: nothing to take away. Go has brackets of its own.
    let short = match name.contains(['<', '(']) {
        true => without_arguments(name),
        false => name.to_owned(),
    };
    match short.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &short[..end]),
        None => short,
    }
}

/// Replaces what stands in `<>` by two dots and leaves out what stands in `()`, but for names in them.
fn without_arguments(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    // Rust's `<impl Trait for Type>::name` and `<Type as Trait>::name` say which function it is.
    if let Some(inner) = name.strip_prefix('<')
        && let Some(end) = closing(inner, '<', '>')
    {
        short.push('<');
        short.push_str(&without_arguments(&inner[..end]));
        short.push('>');
        rest = &inner[end + 1..];
    }
    while let Some(at) = rest.find(['<', '(']) {
        let (before, from) = rest.split_at(at);
        short.push_str(before);
        let opening = if from.starts_with('<') { '<' } else { '(' };
        let close = if opening == '<' { '>' } else { ')' };
        let inner = &from[1..];
        let is_operator = before.ends_with("operator") || before.ends_with("operator<");
        if is_operator && opening == '<' {
            short.push('<');
            rest = inner;
            continue;
        }
        let Some(end) = closing(inner, opening, close) else {
            short.push_str(from);
            return short;
        };
        let content = &inner[..end];
        rest = &inner[end + 1..];
        match opening {
            '<' => short.push_str("<..>"),
            _ if content == "anonymous namespace" => short.push_str("(anonymous namespace)"),
            // A method of Go.
            _ if content.starts_with('*') && before.ends_with('.') => {
                short.push('(');
                short.push_str(content);
                short.push(')');
            }
            _ if is_operator && content.is_empty() => short.push_str("()"),
            // Arguments; what follows is `const`, or a function within this one.
            _ => {}
        }
    }
    short.push_str(rest);
    let trimmed = short.trim_end_matches(" const");
    trimmed.trim_end().to_owned()
}

/// Where the bracket that was opened before `text` is closed. An arrow or a comparison closes none.
fn closing(text: &str, opening: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let is_arrow = close == '>' && letter == '>' && before == '-';
        if letter == opening {
            depth += 1;
        } else if letter == close && !is_arrow {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            }
        }
        before = letter;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arguments_are_left_out() {
        for (name, short) in [
            ("exec_simple_query", "exec_simple_query"),
            (
                "runtime.gcBgMarkWorker.func2",
                "runtime.gcBgMarkWorker.func2",
            ),
            ("main.(*server).serve", "main.(*server).serve"),
            (
                "std::vector<int, std::allocator<int> >::push_back(int&&)",
                "std::vector<..>::push_back",
            ),
            (
                "ns::(anonymous namespace)::work(int) const",
                "ns::(anonymous namespace)::work",
            ),
            ("A::operator()(int) const", "A::operator()"),
            ("bool operator< <int>(A<int> const&)", "bool operator< <..>"),
            (
                "core::ptr::drop_in_place<alloc::string::String>",
                "core::ptr::drop_in_place<..>",
            ),
            (
                "<alloc::vec::Vec<T, A> as core::ops::Drop>::drop",
                "<alloc::vec::Vec<..> as core::ops::Drop>::drop",
            ),
            ("demo::main::{{closure}}", "demo::main::{{closure}}"),
            (
                "f(int)::{lambda(int)#1}::operator()(int) const",
                "f::{lambda#1}::operator()",
            ),
            (
                "LazyCompile:*hot /srv/a.js:3:10",
                "LazyCompile:*hot /srv/a.js:3:10",
            ),
            ("<unclosed", "<unclosed"),
        ] {
            assert_eq!(shortened(name), short, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_survived_and_bounded(name in "[a-z<>():, &*\\-ä]{0,300}") {
            let short = shortened(&name);
            assert!(short.chars().count() <= LONGEST + 2);
        }
    }
}
