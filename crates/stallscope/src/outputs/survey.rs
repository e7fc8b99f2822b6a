//! What a machine allows, as a person reads it: what lacks first, with what mends it.

use model::{Availability, Capability, Mend, Survey};

use super::layout::{LABEL as INDENT, labelled, wrap};

/// The whole answer of `doctor`, ending in a line end.
pub(super) fn text(survey: &Survey, width: usize) -> String {
    let mut text = String::new();
    for line in [&survey.summary, &survey.machine] {
        text.push_str(&(wrap(line, width).join("\n") + "\n"));
    }
    let all = || survey.capabilities.iter();
    let of = |availability| all().filter(move |it| it.availability == availability);
    let lacking = |hurts| of(Availability::Lacking).filter(move |it| it.hurts() == hurts);
    text.push_str(&section("Lacking", lacking(true), width));
    text.push_str(&section(
        "Cannot be told",
        of(Availability::CannotTell),
        width,
    ));
    text.push_str(&section(
        "Not there, and not needed by this version",
        lacking(false),
        width,
    ));
    text.push_str(&section("Fine", of(Availability::Fine), width));
    super::harmless(&text)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
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
    let mut mended: Vec<(&Mend, String)> = Vec::new();
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
        let Some(mend) = &item.mend else { continue };
        match mended.iter().find(|(known, _)| *known == mend) {
            Some((_, other)) => {
                text.push_str(&indented(&format!("Mended as `{other}` is."), width))
            }
            None => text.push_str(&remedy(mend, item.availability, width)),
        }
        mended.push((mend, item.title()));
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

fn remedy(mend: &Mend, availability: Availability, width: usize) -> String {
    let aim = match availability {
        Availability::CannotTell => "To find out",
        _ => "To mend it",
    };
    let how = match (mend.how.as_str(), mend.commands.is_empty()) {
        ("", _) => format!("{aim}:"),
        (how, true) => format!("{aim}: {how}."),
        (how, false) => format!("{aim} ({how}):"),
    };
    let mut text = indented(&how, width);
    for command in &mend.commands {
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
