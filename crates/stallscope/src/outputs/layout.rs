//! Lines of text within a width: wrapped, labelled, side by side.

use super::on_one_line;

/// Where the texts of the closing lines begin.
pub(super) const LABEL: usize = 14;

/// A name and its value.
pub(super) type Cell = (&'static str, String);

/// Rows of two cells side by side, or one below the other where they do not fit.
pub(super) fn two_columns(rows: &[(Option<Cell>, Option<Cell>)], width: usize) -> String {
    const LEFT: usize = 10;
    const RIGHT: usize = 7;
    let cell =
        |(name, value): &Cell, column: usize| format!("{name:<column$}  {}", on_one_line(value));
    let beside =
        |cells: &Option<Cell>, column| cells.as_ref().map_or(String::new(), |it| cell(it, column));
    let both = rows.iter().filter(|(_, right)| right.is_some());
    let widths = both.map(|(left, _)| beside(left, LEFT).chars().count());
    let left = widths.max().unwrap_or(0);
    let fits = |(first, second): &(Option<Cell>, Option<Cell>)| {
        second.is_none()
            || 2 + left + 2 + beside(second, RIGHT).chars().count() <= width
                && beside(first, LEFT).chars().count() <= left
    };
    let side_by_side = rows.iter().all(fits);
    let mut text = String::new();
    for (first, second) in rows {
        if side_by_side && first.is_some() && second.is_some() {
            let (first, second) = (beside(first, LEFT), beside(second, RIGHT));
            text.push_str(&format!("  {first:<left$}  {second}\n"));
            continue;
        }
        for it in [first, second].into_iter().flatten() {
            let lines = wrap(&cell(it, LEFT), width - 2);
            text.push_str(&format!("  {}\n", lines.join("\n    ")));
        }
    }
    text
}

/// A table with notes below it: names on the left, cut to what the numbers leave of the width.
pub(super) fn table(rows: &[impl AsRef<[String]>], notes: &[String], width: usize) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let numbers: usize = (1..columns).map(|column| widest(column) + 2).sum();
    let name = widest(0).min(width.saturating_sub(numbers + 2).max(8));
    let mut text = String::new();
    for (own, cells) in rows.iter().filter_map(|row| row.as_ref().split_first()) {
        text.push_str(&format!("  {:<name$}", cut(own, name)));
        for (cell, column) in cells.iter().zip(1..) {
            text.push_str(&format!("  {cell:>wide$}", wide = widest(column)));
        }
        text.push('\n');
    }
    for line in wrap(&notes.join("; "), width.saturating_sub(4)) {
        if !line.is_empty() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

/// A text of at most `most` characters: one that is longer ends with `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.chars().count() <= most {
        true => text.to_owned(),
        false => {
            let kept = text.chars().take(most.saturating_sub(1));
            kept.chain(['…']).collect()
        }
    }
}

/// A line with a note beside it, or below it where it leaves the note too little room.
pub(super) fn with_note(start: &str, note: &str, width: usize) -> String {
    const LEAST_ROOM: usize = 28;
    if note.is_empty() {
        return format!("{start}\n");
    }
    let beside = start.chars().count() + 2;
    let below = width.saturating_sub(beside) < LEAST_ROOM;
    let indent = if below { 6 } else { beside };
    let mut text = start.to_owned();
    for (index, line) in wrap(note, width.saturating_sub(indent)).iter().enumerate() {
        match (index, below) {
            (0, false) => text.push_str(&format!("  {line}")),
            _ => text.push_str(&format!("\n{:indent$}{line}", "")),
        }
    }
    text + "\n"
}

/// `  Label    text`, wrapped under the text; nothing for an empty text.
pub(super) fn labelled(label: &str, text: &str, width: usize) -> String {
    if text.is_empty() {
        return String::new();
    }
    let indent = LABEL.max(label.chars().count() + 4);
    let mut lines = wrap(text, width.saturating_sub(indent)).into_iter();
    let mut out = format!(
        "  {label:<rest$}{}\n",
        lines.next().unwrap_or_default(),
        rest = indent - 2
    );
    for line in lines {
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
    out
}

/// Lines of at most `width` characters; a longer word stands alone, and `34 %` is one word.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    const TIE: &str = "\u{a0}%";
    let mut lines = vec![String::new()];
    for word in on_one_line(text).replace(" %", TIE).split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| line.replace(TIE, " %")).collect()
}

/// `1 s`, `29.6 s`.
pub(super) fn seconds(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 {
        format!("{value:.0} s")
    } else {
        format!("{value:.1} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_ends_with_a_mark() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer", 5), "größ…");
        assert_eq!(cut("größer", 0), "…");
    }

    #[test]
    fn text_is_wrapped_between_words_and_a_percentage_is_one() {
        assert_eq!(wrap("one two 34 % four", 12), ["one two 34 %", "four"]);
        assert_eq!(wrap("one two 34 % four", 11), ["one two", "34 % four"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("unbreakable", 3), ["unbreakable"]);
    }
}
