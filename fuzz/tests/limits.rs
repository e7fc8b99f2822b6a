//! `docs/limits.md` says what the sources say.

use std::fs;

use stallscope_fuzz::repository;

/// `4,000,000`, `64 KiB`, `256 bytes`: the number that a cell begins with.
fn written(cell: &str) -> u64 {
    let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
    let number: u64 = number.replace(',', "").parse().expect(cell);
    match unit {
        "KiB" => number << 10,
        "MiB" => number << 20,
        "GiB" => number << 30,
        _ => number,
    }
}

/// `64 << 20`, `64 * 1024`, `16_000_000`.
fn value(expression: &str) -> u64 {
    let number = |text: &str| -> u64 { text.trim().replace('_', "").parse().expect(expression) };
    if let Some((left, right)) = expression.split_once("<<") {
        number(left) << number(right)
    } else {
        expression.split('*').map(number).product()
    }
}

/// What `const NAME: type = VALUE;` says in a source.
fn constant(name: &str, source: &str) -> u64 {
    let text = fs::read_to_string(repository().join(source)).expect(source);
    let start = format!("const {name}: ");
    let line = text.lines().find(|line| line.contains(&start));
    let line = line.unwrap_or_else(|| panic!("{source} has no {name}"));
    let (_, said) = line.split_once(" = ").expect(line);
    value(said.trim_end_matches(';'))
}

#[test]
fn the_page_and_the_sources_agree() {
    let page = fs::read_to_string(repository().join("docs/limits.md")).expect("the page");
    let mut compared = 0;
    for row in page.lines().filter(|line| line.contains("` in `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (name, source) = cells[3].split_once("` in `").expect(row);
        let (name, source) = (name.trim_matches('`'), source.trim_matches('`'));
        assert_eq!(written(cells[2]), constant(name, source), "{row}");
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} limits are compared");
}
