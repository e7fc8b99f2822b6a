//! What a machine allows, as a person reads it: what is missing first, with what fixes it.

use model::{Availability, Capability, DoctorReport, Fix};

use analysis::count;

use super::layout::{LABEL as INDENT, labelled, wrap};
use super::terminal::Detail;

/// The answer of `doctor`, ending in a line end: what is missing or not known with its fix, and the rest in a line
/// each. With `Detail::Full` every check.
pub(super) fn text(report: &DoctorReport, width: usize, detail: Detail) -> String {
    let mut text = String::new();
    for line in [&report.summary, &report.machine] {
        text.push_str(&(wrap(line, width).join("\n") + "\n"));
    }
    let all = || report.capabilities.iter();
    let of = |availability| all().filter(move |it| it.availability == availability);
    let missing = |hurts| of(Availability::Missing).filter(move |it| it.hurts() == hurts);
    let unknown = || of(Availability::CannotTell);
    match detail {
        Detail::Short => {
            text.push_str(&costs("Missing", missing(true), width));
            text.push_str(&costs("Not known", unknown(), width));
            let titles = |items: Vec<&Capability>| -> String {
                let titles: Vec<String> = items.into_iter().map(Capability::title).collect();
                titles.join(", ")
            };
            let unneeded = titles(missing(false).collect());
            text.push('\n');
            if !unneeded.is_empty() {
                let line = format!("Missing, and no verdict needs it: {unneeded}");
                text.push_str(&format!("{}\n", wrap(&line, width).join("\n  ")));
            }
            let fine = of(Availability::Fine).count() as u32;
            text.push_str(&format!("Fine: {} (-v lists them)\n", count(fine, "check")));
        }
        Detail::Full => {
            text.push_str(&section("Missing", missing(true), width));
            text.push_str(&section("Not known", unknown(), width));
            let title = "Missing, and no verdict of this version needs it";
            text.push_str(&section(title, missing(false), width));
            text.push_str(&section("Fine", of(Availability::Fine), width));
        }
    }
    super::harmless(&text)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// What each costs, and once for all that it fixes, the command.
fn costs<'a>(title: &str, items: impl Iterator<Item = &'a Capability>, width: usize) -> String {
    let items: Vec<&Capability> = items.collect();
    if items.is_empty() {
        return String::new();
    }
    // What several cost alike is said once.
    let mut all: Vec<(Vec<String>, &str, &Capability)> = Vec::new();
    for item in items {
        let words = match item.costs.as_str() {
            "" => item.sentence.as_str(),
            costs => costs,
        };
        match all
            .iter_mut()
            .find(|(_, known, other)| *known == words && other.fix == item.fix)
        {
            Some((titles, ..)) => titles.push(item.title()),
            None => all.push((vec![item.title()], words, item)),
        }
    }
    let mut text = format!("\n{title}\n");
    for (place, (titles, words, item)) in all.iter().enumerate() {
        match titles.as_slice() {
            [one] => text.push_str(&labelled(one, words, width)),
            many => {
                let titles = wrap(&many.join(", "), width - 2);
                text.extend(titles.iter().map(|line| format!("  {line}\n")));
                text.push_str(&indented(words, width));
            }
        }
        let later = all[place + 1..]
            .iter()
            .any(|(.., other)| other.fix == item.fix);
        if let Some(fix) = item.fix.as_ref().filter(|_| !later) {
            text.push_str(&on_a_line(fix, item.availability, width));
        }
    }
    text
}

/// A fix of one command on a line, where it fits; else as in the whole list.
fn on_a_line(fix: &Fix, availability: Availability, width: usize) -> String {
    let whole = remedy(fix, availability, width);
    let words = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let fits = INDENT + words.chars().count() <= width && fix.commands.len() == 1;
    match fits {
        true => format!("{:INDENT$}{words}\n", ""),
        false => whole,
    }
}

fn section<'a>(title: &str, items: impl Iterator<Item = &'a Capability>, width: usize) -> String {
    // What several checks say alike is said once.
    let mut said: Vec<(Vec<String>, &Capability)> = Vec::new();
    for item in items {
        match said
            .iter_mut()
            .find(|(_, known)| known.sentence == item.sentence)
        {
            Some((titles, _)) => titles.push(item.title()),
            None => said.push((vec![item.title()], item)),
        }
    }
    if said.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{title}\n");
    let mut fixed: Vec<(&Fix, String)> = Vec::new();
    for (titles, item) in said {
        match titles.as_slice() {
            [one] => text.push_str(&labelled(one, &item.sentence, width)),
            many => {
                let titles = wrap(&many.join(", "), width - 2);
                text.extend(titles.iter().map(|line| format!("  {line}\n")));
                text.push_str(&indented(&item.sentence, width));
            }
        }
        text.push_str(&indented(&lost(item), width));
        let Some(fix) = &item.fix else { continue };
        match fixed.iter().find(|(known, _)| *known == fix) {
            Some((_, other)) => text.push_str(&indented(&format!("Fixed as `{other}` is."), width)),
            None => text.push_str(&remedy(fix, item.availability, width)),
        }
        fixed.push((fix, item.title()));
    }
    text
}

fn lost(item: &Capability) -> String {
    match (item.costs.as_str(), item.availability) {
        ("", _) => String::new(),
        (costs, Availability::CannotTell) => format!("At stake: {costs}"),
        (costs, _) => format!("Costs: {costs}"),
    }
}

fn remedy(fix: &Fix, availability: Availability, width: usize) -> String {
    let aim = match availability {
        Availability::CannotTell => "To find out",
        _ => "To fix it",
    };
    let how = match (fix.how.as_str(), fix.commands.is_empty()) {
        ("", _) => format!("{aim}:"),
        (how, true) => format!("{aim}: {how}."),
        (how, false) => format!("{aim} ({how}):"),
    };
    let mut text = indented(&how, width);
    for command in &fix.commands {
        text.push_str(&shell_lines(command, width));
    }
    text
}

/// A command that can be copied as it stands, continued where it is long.
fn shell_lines(command: &str, width: usize) -> String {
    const CONTINUED: &str = " \\";
    let margin = INDENT + 2;
    let room = width.saturating_sub(margin + CONTINUED.len());
    let mut text = String::new();
    let mut line = String::new();
    for word in shell_words(command) {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            text.push_str(&format!("{:margin$}{line}{CONTINUED}\n", ""));
            line = "   ".to_owned();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    text + &format!("{:margin$}{line}\n", "")
}

/// The words between which a shell lets a line be continued; an option of one letter stays with its
/// value.
fn shell_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quote = None;
    for part in command.split(' ') {
        let is_option = |word: &String| word.len() == 2 && word.starts_with('-');
        match words.last_mut() {
            Some(last) if quote.is_some() || is_option(last) => *last = format!("{last} {part}"),
            _ => words.push(part.to_owned()),
        }
        for letter in part.chars().filter(|it| ['\'', '"'].contains(it)) {
            quote = match quote {
                None => Some(letter),
                Some(open) if open == letter => None,
                open => open,
            };
        }
    }
    words
}

fn indented(words: &str, width: usize) -> String {
    if words.is_empty() {
        return String::new();
    }
    let lines = wrap(words, width.saturating_sub(INDENT));
    lines
        .iter()
        .map(|line| format!("{:INDENT$}{line}\n", ""))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_is_continued_as_a_shell_reads_it() {
        let long = "docker run --pid=host --cgroupns=host --cap-add=SYS_PTRACE IMAGE";
        let lines = shell_lines(long, 60);
        assert!(
            lines.lines().all(|line| line.chars().count() <= 60),
            "{lines}"
        );
        let joined: Vec<_> = lines
            .replace("\\\n", " ")
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(joined.join(" "), long);
        assert_eq!(shell_lines("sudo reboot", 60).trim(), "sudo reboot");
    }

    #[test]
    fn quoted_words_and_values_of_options_are_not_parted() {
        let words = shell_words("echo 'a \"b c' | sudo tee -a /x y");
        assert_eq!(
            words,
            ["echo", "'a \"b c'", "|", "sudo", "tee", "-a /x", "y"]
        );
    }
}
