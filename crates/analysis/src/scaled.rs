//! A threshold multiplied, on this thread: for an experiment with other numbers.

use std::cell::RefCell;

thread_local! {
    static SCALED: RefCell<Option<(String, f64)>> = const { RefCell::new(None) };
}

/// What `run` does with the threshold `key` multiplied by `factor`.
pub(crate) fn with<T>(key: &str, factor: f64, run: impl FnOnce() -> T) -> T {
    SCALED.replace(Some((key.to_owned(), factor)));
    let done = run();
    SCALED.replace(None);
    done
}

/// What the threshold of that meaning, or at that place of the file, is multiplied with.
pub(crate) fn scale(key: &str) -> f64 {
    SCALED.with_borrow(|scaled| match scaled {
        Some((of, factor)) if of == key => *factor,
        _ => 1.0,
    })
}

/// A file of thresholds with its numbers multiplied.
pub(crate) fn numbers(mut sections: toml::Table) -> toml::Table {
    for (section, values) in &mut sections {
        for (name, value) in values.as_table_mut().into_iter().flatten() {
            if let Some(number) = value.as_float() {
                *value = toml::Value::Float(number * scale(&format!("{section}.{name}")));
            }
        }
    }
    sections
}
