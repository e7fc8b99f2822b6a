//! What configurations give, as a person reads it in a terminal.

use analysis::{percent, rate};
use model::{FigureUnit, ResourceDemand, SizedConfiguration, SizingEstimate, SizingReport};

use super::comparison::amount;
use super::layout::{labelled, wrap};
use super::sweep::{Shown, lines};
use super::{Detail, harmless, on_one_line};

/// Pressure below this everywhere says little.
const LEAST_PRESSURE: f64 = 0.01;
/// What tells recordings apart.
pub(crate) const RECORDING: &str = "recording";
/// Estimates nearer to each other than this are one number to a reader.
const ALIKE: f64 = 1.1;

/// The answer, ending in a line end.
pub(super) fn text(report: &SizingReport, width: usize, detail: Detail) -> String {
    let mut text = String::new();
    for answer in &report.answers {
        wrap(answer, width)
            .iter()
            .for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text.push_str(&format!("\n{}", table(report, width, detail)));
    text.push_str(&demands(report, width, detail));
    text.push('\n');
    for refused in report
        .configurations
        .iter()
        .filter_map(|it| it.refused.as_ref())
    {
        text.push_str(&labelled("Refused", refused, width));
    }
    text.push_str(&labelled("Predicted", &predicted(report), width));
    text.push_str(&labelled("Memory", &memory(report), width));
    for caveat in &report.caveats {
        text.push_str(&labelled("Caveat", caveat, width));
    }
    if !report.next.is_empty() {
        text.push_str("  To measure what is not known\n");
    }
    // A command is copied, and stands on one line.
    for command in &report.next {
        text.push_str(&format!("    {}\n", on_one_line(command)));
    }
    let text = harmless(&text);
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// What is shown of each configuration, and how wide.
struct Table<'a> {
    report: &'a SizingReport,
    detail: Detail,
}

impl Table<'_> {
    /// A column; `None` where nothing is known of any configuration.
    fn column(
        &self,
        head: &str,
        cell: &dyn Fn(&SizedConfiguration) -> Option<String>,
    ) -> Option<Shown> {
        let cells = self.report.configurations.iter().map(cell);
        let cells: Vec<Option<String>> = cells.collect();
        let is_known = cells.iter().any(Option::is_some);
        let cells = cells.into_iter().map(|it| it.unwrap_or("-".to_owned()));
        is_known.then(|| Shown {
            head: head.to_owned(),
            cells: cells.collect(),
            is_name: false,
        })
    }

    /// With its interval only where everything is shown.
    fn shown(&self, it: &SizingEstimate, unit: FigureUnit) -> String {
        match self.detail {
            Detail::Full => with_interval(it, unit),
            _ => amount(it.value, unit),
        }
    }

    fn pressure(&self, head: &str, of: fn(&SizedConfiguration) -> Option<f64>) -> Option<Shown> {
        let mut known = self.report.configurations.iter().filter_map(of);
        let says = known.any(|it| it >= LEAST_PRESSURE);
        says.then(|| self.column(head, &|it| of(it).map(percent)))
            .flatten()
    }

    /// What each gives, and how far that is from all it can.
    fn gives(&self) -> Vec<Option<Shown>> {
        let report = self.report;
        let time = |it: &SizingEstimate| self.shown(it, FigureUnit::Nanoseconds);
        let goal = report.asked.goal.map(|it| it.of.to_string());
        let goal = goal.filter(|it| it != "mean");
        vec![
            self.column(&throughput_head(report), &|it| {
                Some(with_interval(&it.throughput?, FigureUnit::Rate))
            }),
            self.column("mean", &|it| it.latency_ns.as_ref().map(time)),
            goal.and_then(|head| self.column(&head, &|it| it.goal_latency_ns.as_ref().map(time))),
            self.column("nearest to full", &|it| {
                let nearest = it.nearest.as_ref()?;
                let busy = self.shown(&nearest.busy, FigureUnit::Share);
                Some(format!("{} {busy}", nearest.label))
            }),
            self.column("headroom", &|it| {
                let times = self.shown(it.headroom.as_ref()?, FigureUnit::Number);
                Some(format!("x {times}"))
            }),
            self.column(&price_head(report), &|it| it.per_hour.map(rate)),
            self.column("enough", &|it| enough(report, it)),
            limits(report).filter(|_| matches!(self.detail, Detail::Full)),
        ]
    }

    /// Who waits in each, and for how much of the time.
    fn waits(&self) -> Vec<Option<Shown>> {
        vec![
            self.column("waiting for a CPU", &|it| {
                Some(self.shown(it.waiting.as_ref()?, FigureUnit::Number))
            }),
            self.pressure("CPU some", |it| it.cpu_some),
            self.pressure("I/O some", |it| it.io_some),
            self.pressure("memory some", |it| it.memory_some),
        ]
    }

    fn lines(&self, columns: Vec<Option<Shown>>, width: usize) -> String {
        let columns: Vec<Shown> = columns.into_iter().flatten().collect();
        if columns.is_empty() {
            return String::new();
        }
        let mut all = parameters(self.report);
        all.extend(columns);
        // With all intervals a line is as long as it must be.
        let width = match self.detail {
            Detail::Full => usize::MAX,
            _ => width,
        };
        lines(&all, self.report.configurations.len(), width)
    }
}

/// A line for each configuration, in two tables.
fn table(report: &SizingReport, width: usize, detail: Detail) -> String {
    let table = Table { report, detail };
    let waits = table.lines(table.waits(), width);
    let waits = match waits.is_empty() {
        true => waits,
        false => {
            format!("\n  Threads that wait, and pressure\n{waits}")
        }
    };
    format!("{}{waits}", table.lines(table.gives(), width))
}

fn parameters(report: &SizingReport) -> Vec<Shown> {
    let all = &report.configurations;
    let each = report.parameters.iter().enumerate().map(|(place, it)| {
        let cells = all.iter().map(|own| own.values.get(place).cloned());
        Shown {
            head: it.name.clone(),
            cells: cells.map(Option::unwrap_or_default).collect(),
            is_name: false,
        }
    });
    each.collect()
}

fn limits(report: &SizingReport) -> Option<Shown> {
    let limit = |it: &SizedConfiguration| {
        it.limit.as_ref().map_or("-".to_owned(), |limit| {
            format!("{} ({})", limit.cause, limit.entity.name)
        })
    };
    let all = report.configurations.iter();
    all.clone().any(|it| it.limit.is_some()).then(|| Shown {
        head: "limit".to_owned(),
        cells: all.map(limit).collect(),
        is_name: true,
    })
}

fn throughput_head(report: &SizingReport) -> String {
    let mut all = report.configurations.iter();
    let is_known = all.any(|it| it.throughput.is_some_and(|it| it.interval.is_some()));
    match is_known {
        true => format!("{} (95 % interval)", report.rate_unit),
        false => report.rate_unit.clone(),
    }
}

fn price_head(report: &SizingReport) -> String {
    let currency = report.currency.as_deref().unwrap_or_default();
    format!("{currency} an hour").trim().to_owned()
}

fn enough(report: &SizingReport, it: &SizedConfiguration) -> Option<String> {
    let is_asked = report.asked != model::SizingAsk::default();
    let said = match it.meets {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    is_asked.then(|| said.to_owned())
}

fn with_interval(it: &SizingEstimate, unit: FigureUnit) -> String {
    let value = amount(it.value, unit);
    match it.interval {
        Some(it) => format!(
            "{value} ({} to {})",
            amount(it.low, unit),
            amount(it.high, unit)
        ),
        None => value,
    }
}

/// What a request needs, a line for each resource.
fn demands(report: &SizingReport, width: usize, detail: Detail) -> String {
    if report.demands.is_empty() {
        return String::new();
    }
    let label = report.demands.iter().map(|it| it.label.chars().count());
    let label = label.max().unwrap_or(0);
    let mut text = "\n  What a request needs\n".to_owned();
    for it in &report.demands {
        let line = |named| {
            format!(
                "  {:<label$}  {}\n",
                it.label,
                needs(report, it, detail, named)
            )
        };
        // Where the names leave no room they are left out.
        let is_narrow = |line: &String| line.chars().count() <= width + 1;
        let whole = Some(line(true)).filter(|it| detail == Detail::Full || is_narrow(it));
        text.push_str(&whole.unwrap_or_else(|| line(false)));
        for course in &it.courses {
            for line in wrap(course, width.saturating_sub(4)) {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    text
}

/// `0.113 ms`, or from the least to the most, where wanted with the configurations that have them.
fn needs(report: &SizingReport, it: &ResourceDemand, detail: Detail, named: bool) -> String {
    let shown = |it: &SizingEstimate, unit| match detail {
        Detail::Full => with_interval(it, unit),
        _ => amount(it.value, unit),
    };
    let most = with_interval(&it.most, it.unit);
    if it.least_at == it.most_at || it.most.value <= ALIKE * it.least.value {
        return most;
    }
    let (least, most) = (shown(&it.least, it.unit), shown(&it.most, it.unit));
    match named {
        true => format!(
            "{least} ({}) to {most} ({})",
            values(report, &it.least_at),
            values(report, &it.most_at)
        ),
        false => format!("{least} to {most}"),
    }
}

/// `nodes=3 cpus=4`
fn values(report: &SizingReport, values: &[String]) -> String {
    let named = report.parameters.iter().zip(values);
    let each = named.map(|(it, value)| match it.name.as_str() {
        // The name of a recording is enough.
        RECORDING => value.clone(),
        name => format!("{name}={value}"),
    });
    each.collect::<Vec<_>>().join(" ")
}

/// By what, and how well that did.
fn predicted(report: &SizingReport) -> String {
    let mut said: Vec<String> = Vec::new();
    let predicted = report
        .configurations
        .iter()
        .filter_map(|it| Some((it, it.model.as_ref()?)));
    for (it, model) in predicted {
        let sentence = format!(
            "by {}; {} configurations, each held back once, are missed by {} on average",
            model.name,
            model.held_back,
            percent(model.missed_by)
        );
        match said.iter().any(|it| it.contains(&sentence)) {
            true => {}
            false => said.push(format!("{} {sentence}", values(report, &it.values))),
        }
    }
    said.join(". ")
}

/// Memory is no demand of a request.
fn memory(report: &SizingReport) -> String {
    let all = report.configurations.iter();
    let used = all.clone().filter_map(|it| Some((it, it.memory_in_use?)));
    let Some((it, most)) = used.max_by(|one, other| one.1.total_cmp(&other.1)) else {
        return String::new();
    };
    let pressure = all.filter_map(|it| it.memory_some).reduce(f64::max);
    let pressure = match pressure {
        None => "pressure not recorded".to_owned(),
        Some(0.0) => "without pressure".to_owned(),
        Some(it) => format!("pressure at most {} (some)", percent(it)),
    };
    format!(
        "at most {} in use ({}), {pressure}; that is no demand of a request, and nothing follows from it for other sizes",
        percent(most),
        values(report, &it.values)
    )
}

#[cfg(test)]
mod tests {
    use analysis::sizing::{Made, Wanted, size};
    use expect_test::{ExpectFile, expect_file};
    use model::{Goal, Latency, SizingAsk, Sweep};

    use super::*;

    fn check(json: &str, wanted: &Wanted, expected: &ExpectFile) {
        let sweep: Sweep = serde_json::from_str(json).expect("it is a sweep");
        let text = text(&size(&sweep, wanted), 100, Detail::Short);
        expected.assert_eq(&text);
        let command = |it: &&str| !it.starts_with("    stallscope ");
        let lines = text.lines().filter(command);
        let longest = lines.map(|it| it.chars().count()).max();
        assert!(longest.is_some_and(|it| it <= 100), "{text}");
    }

    fn of_sweep(options: &[(&str, &str)]) -> Wanted {
        let options = options.iter();
        Wanted {
            made: Made {
                options: options
                    .map(|(name, it)| ((*name).to_owned(), (*it).to_owned()))
                    .collect(),
                is_sweep: true,
                ..Made::default()
            },
            ..Wanted::default()
        }
    }

    #[test]
    fn a_sweep_of_before_says_what_it_carries() {
        let json = include_str!("../../fixtures/sweeps/clients.json");
        let expected = expect_file!["../../fixtures/sweeps/clients-size.txt"];
        check(json, &of_sweep(&[]), &expected);
    }

    #[test]
    fn one_recording() {
        let json = include_str!("../../fixtures/sweeps/recording.json");
        let expected = expect_file!["../../fixtures/sweeps/recording-size.txt"];
        check(json, &Wanted::default(), &expected);
    }

    #[test]
    fn ten_clients_on_nodes_and_cpus() {
        let json = include_str!("../../fixtures/sweeps/nodes.json");
        let apply = [("--apply", "./set-nodes.sh {nodes} {cpus}")];
        let mut wanted = of_sweep(&apply);
        let expected = expect_file!["../../fixtures/sweeps/nodes-size.txt"];
        check(json, &wanted, &expected);
        wanted.asked = SizingAsk {
            rate: Some(5_000.0),
            goal: Some(Goal {
                of: Latency::Quantile(0.99),
                below_ns: 10_000_000,
            }),
        };
        wanted.at = vec![vec!["4".to_owned(), "4".to_owned()]];
        let expected = expect_file!["../../fixtures/sweeps/nodes-size-rate.txt"];
        check(json, &wanted, &expected);
    }
}
