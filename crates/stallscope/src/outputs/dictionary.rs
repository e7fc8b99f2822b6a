//! What tables and columns mean, as Markdown: `docs/data.md`, and the README of exported tables.

use model::{Column, Table};

use super::json::word;

/// A table's section. `when` says how often it gets rows.
pub(crate) fn section(table: &Table, when: &str) -> String {
    let mut text = format!("## {}\n\n{}", cell(&table.name), cell(&table.help));
    text += &format!(" About: {}.", table.entity.word().replace('_', " "));
    if !when.is_empty() {
        text += &format!(" Read: {when}.");
    }
    text += "\n\n| column | unit | kind | quality | what it is | read from |\n|---|---|---|---|---|---|\n";
    let alike = |one: &Column, next: &Column| {
        (&one.unit, &one.kind, &one.help) == (&next.unit, &next.kind, &next.help)
    };
    for columns in table.columns.chunk_by(alike) {
        let column = &columns[0];
        let mut source = cell(&column.source);
        if !column.since.is_empty() {
            source += &format!(" (since Linux {})", cell(&column.since));
        }
        let mut name = format!("`{}`", cell(&column.name));
        // Buckets of a histogram.
        if let [_, .., last] = columns {
            name += &format!(" to `{}`, {} columns", cell(&last.name), columns.len());
        }
        text += &format!(
            "| {name} | {} | {} | {} | {} | {source} |\n",
            word(&column.unit).replace('_', " "),
            word(&column.kind),
            column.quality.word(),
            cell(&column.help),
        );
    }
    text.push('\n');
    text
}

/// A text in a cell of a table: descriptions of a recording from elsewhere may hold anything.
fn cell(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(plain).collect();
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sensors::Period;

    use super::*;

    const INTRODUCTION: &str = "\
# The data

Every table that a recording can hold, with each column's unit, meaning and source. A test generates this page from the code: `UPDATE_EXPECT=1 cargo test -p stallscope dictionary`.

A row is (time, entity, one integer or nothing per column). Rows exist only where something changed, so a missing row without a gap means \"unchanged\"; a missing value was not read, and is never zero. Times are nanoseconds on CLOCK_BOOTTIME. In the recording's own files times and counters are stored as differences ([recording.md](recording.md)); `stallscope export` writes them out as totals ([export.md](export.md)).

- **unit**: nanoseconds, bytes, count; *hundredths* of one; *milli per second*: thousandths of an event per second; *code*: a number whose meaning the text gives.
- **kind**: a *counter* only grows, and differences are the measure; a *gauge* stands for an instant or for its own interval.
- **quality**: *exact*: counted at every change; *sampled*: observed at intervals or in part; *estimated*: calculated with an assumption, or counted in ticks.
- **Read** is the default period; where sampling would cost too much, periods grow, and `recorder.period_ns` says so. *near*: the machine, target and generator.

The list of entities and the gaps are described in [recording.md](recording.md).

";

    /// A period in words.
    fn in_words(period: Duration) -> String {
        match period.as_millis() {
            ms if ms % 1000 == 0 => format!("{} s", ms / 1000),
            ms => format!("{ms} ms"),
        }
    }

    /// How often a sensor's table gets rows.
    fn every(period: Period) -> String {
        match (in_words(period.tracked), in_words(period.background)) {
            (near, rest) if near == rest => format!("every {near}"),
            (near, rest) => format!("every {near} near, every {rest} for the rest"),
        }
    }

    /// Every table, with when it gets rows.
    fn tables() -> impl Iterator<Item = (&'static Table, String)> {
        let of_sensors = sensors::all().iter();
        let of_sensors = of_sensors.map(|sensor| (sensor.table, every(sensor.period)));
        let others = sensors::others().map(|other| {
            let period = in_words(other.period);
            (other.table, format!("every {period}{}", other.when))
        });
        let of_workloads: [(&'static Table, &str); _] = [
            (
                &workloads::SIGNAL,
                "as often as the workload reports; pgbench every 1 s",
            ),
            (
                &workloads::SIGNAL_BY_LABEL,
                "as often as the workload reports; from a file of results every 1 s, or longer where it holds much",
            ),
            (
                &workloads::LATENCY_SAMPLE,
                "one row per sampled operation, with `--quantiles` or a file of results that JMeter or k6 wrote",
            ),
        ];
        let of_workloads = of_workloads.map(|(table, when)| (table, when.to_owned()));
        of_sensors.chain(others).chain(of_workloads)
    }

    #[test]
    fn the_data_dictionary_is_fresh() {
        let tables: Vec<(&Table, String)> = tables().collect();
        let mut text = INTRODUCTION.to_owned();
        text += "| table | about | what |\n|---|---|---|\n";
        for (table, _) in &tables {
            let name = &table.name;
            let about = table.entity.word().replace('_', " ");
            text += &format!("| [{name}](#{name}) | {about} | {} |\n", table.help);
        }
        text.push('\n');
        for (table, when) in &tables {
            text += &section(table, when);
        }
        let text = format!("{}\n", text.trim_end());
        expect_test::expect_file!["../../../../docs/data.md"].assert_eq(&text);
    }

    #[test]
    fn descriptions_from_elsewhere_stay_in_their_cell() {
        let mut table = workloads::LATENCY_SAMPLE.clone();
        table.columns.to_mut()[0].help = "a | b\n<script>".into();
        let text = section(&table, "");
        assert!(text.contains("| a \\| b &lt;script> |"), "{text}");
    }
}
