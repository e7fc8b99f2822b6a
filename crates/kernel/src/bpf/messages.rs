//! What libbpf prints while a program is loaded: a part of the refusal, not of the terminal.

use std::sync::Mutex;

use libbpf_rs::{PrintLevel, set_print};
use model::sentence;

use super::refusal::Refusal;

/// libbpf's messages while a program is loaded.
static MESSAGES: Mutex<String> = Mutex::new(String::new());
/// Longer verifier logs are cut off here, bytes.
const MOST_MESSAGES: usize = 65_536;

/// Loads something; libbpf's messages go into the refusal, not to the user's terminal.
pub(super) fn quietly<T>(load: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    fn append(_: PrintLevel, text: String) {
        if let Ok(mut messages) = MESSAGES.lock()
            && messages.len() < MOST_MESSAGES
        {
            messages.push_str(&text);
        }
    }
    let before = set_print(Some((PrintLevel::Warn, append)));
    let loaded = load();
    set_print(before);
    let messages = MESSAGES
        .lock()
        .map(|mut messages| std::mem::take(&mut *messages));
    loaded.map_err(|refusal| match messages.as_deref().map(first_reason) {
        Ok(Some(reason)) if refusal != Refusal::of_rights() => {
            Refusal::new(sentence!("{} ({})", &refusal, reason.to_owned()))
        }
        _ => refusal,
    })
}

/// The most informative line of libbpf's messages.
fn first_reason(messages: &str) -> Option<&str> {
    let lines = || {
        messages
            .lines()
            .map(|line| line.trim_start_matches("libbpf: "))
    };
    let has_reason = |line: &&str| line.contains("failed") || line.contains("not supported");
    lines().find(has_reason).or_else(|| lines().next())
}
