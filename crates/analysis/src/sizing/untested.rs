//! Loads that filled nothing, and the sweep that would.

use model::{PointSetting, SizedConfiguration, Sweep, SweepPoint};

use super::axes::Axes;
use super::choice::Group;

/// The parameter of a sweep over clients where there is none.
const CLIENTS: &str = "clients";

/// A configuration that no load filled.
pub(super) struct Untested<'a> {
    /// The values without the load.
    pub(super) own: Vec<String>,
    /// Its point with the highest throughput.
    pub(super) point: &'a SweepPoint,
    /// What that gave.
    pub(super) sized: &'a SizedConfiguration,
}

/// The configurations that no load filled, of those that were measured; the one that did most comes first.
pub(super) fn untested<'a>(
    sweep: &'a Sweep,
    axes: &Axes,
    configurations: &'a [SizedConfiguration],
    groups: &[Group],
) -> Vec<Untested<'a>> {
    let own = groups.iter().filter_map(|group| {
        let is_empty = |it: &usize| configurations[*it].tested == Some(false);
        let measured = || {
            group
                .members
                .iter()
                .filter(|it| configurations[**it].runs > 0)
        };
        if measured().count() == 0 || !measured().all(is_empty) {
            return None;
        }
        let rate = |it: &&usize| configurations[**it].throughput.map_or(0.0, |it| it.value);
        let most = measured().max_by(|one, other| rate(one).total_cmp(&rate(other)))?;
        let sized = &configurations[*most];
        let point = sweep.points.iter().find(|it| it.values == sized.values)?;
        Some(Untested {
            own: axes.without_load(&sized.values),
            point,
            sized,
        })
    });
    let mut all: Vec<Untested<'_>> = own.collect();
    let rate = |it: &Untested<'_>| it.sized.throughput.map_or(0.0, |it| it.value);
    all.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    all
}

/// How a sweep is made again: what its folder knows beside its JSON.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Made {
    /// Options with their values, that the runs were made with: `--apply`, `./set-nodes.sh {nodes}`.
    pub options: Vec<(String, String)>,
    /// Whether the parameters are those of a sweep, and not names of recordings.
    pub is_sweep: bool,
    /// Whether these are all its options: a sweep's JSON has none.
    pub is_complete: bool,
    /// Names of parameters that were set together; the others each by itself.
    pub together: Vec<Vec<String>>,
    /// Whether its runs are stretches of time that a store of metrics has of several nodes.
    pub is_stored: bool,
}

/// The sweep that tests what was not, over more clients; `None` where the command or its clients are not known.
pub(super) fn command(
    sweep: &Sweep,
    axes: &Axes,
    made: &Made,
    untested: &[Untested<'_>],
) -> Option<String> {
    let first = untested.first()?;
    // What was swept may be a part of what was asked: the clients of one instance.
    let clients = untested
        .iter()
        .filter_map(|it| axes.load_of(&it.point.values).or(asked(axes, it.point)))
        .fold(0.0, f64::max);
    let (name, command) = match axes.load {
        Some(load) => (sweep.parameters[load].name.clone(), sweep.command.clone()),
        None => {
            let setting = first.point.setting.as_ref()?;
            (CLIENTS.to_owned(), with_braces(&sweep.command, setting)?)
        }
    };
    if clients < 1.0 || command.is_empty() {
        return None;
    }
    let mut words = vec!["stallscope sweep".to_owned()];
    if made.is_sweep {
        let wanted: Vec<&[String]> = untested
            .iter()
            .map(|it| it.point.values.as_slice())
            .collect();
        words.extend(sets(sweep, made, axes.load, &wanted));
    }
    let more = format!("{clients},{}..{}", 2.0 * clients, 8.0 * clients);
    words.push(format!("--set {name}={more}"));
    words.extend(options(made));
    words.push(format!("-- {command}"));
    Some(words.join(" "))
}

/// The options that the runs were made with, as a shell reads them.
pub(super) fn options(made: &Made) -> Vec<String> {
    let options = made.options.iter();
    options
        .map(|(option, text)| format!("{option} {}", quoted(text)))
        .collect()
}

/// Whether a parameter stands in no command that is known: then an `--apply` sets it that is not.
pub(super) fn is_apply_missing(sweep: &Sweep, axes: &Axes, made: &Made) -> bool {
    let places = (0..sweep.parameters.len()).filter(|it| axes.load != Some(*it));
    let mut names = places.map(|it| format!("{{{}}}", sweep.parameters[it].name));
    let texts = || made.options.iter().map(|it| &it.1).chain([&sweep.command]);
    made.is_sweep && !made.is_complete && names.any(|name| texts().all(|it| !it.contains(&name)))
}

/// `--set nodes=3,6 --set cpus+memory=4/8G`: the values of these configurations, without the parameter at the place that is
/// left out; measured ones in the order of the sweep, and each once.
pub(super) fn sets(
    sweep: &Sweep,
    made: &Made,
    left_out: Option<usize>,
    wanted: &[&[String]],
) -> Vec<String> {
    let bundles = bundles(sweep, made, left_out).into_iter();
    let each = bundles.map(|places| {
        let joint = |values: &[String]| {
            let parts = places.iter().map(|it| values[*it].as_str());
            parts.collect::<Vec<_>>().join("/")
        };
        let wanted: Vec<String> = wanted.iter().map(|it| joint(it)).collect();
        let measured = sweep.points.iter().map(|it| joint(&it.values));
        let known = measured.filter(|it| wanted.contains(it));
        let mut all: Vec<String> = Vec::new();
        for it in known.chain(wanted.iter().cloned()) {
            if !all.contains(&it) {
                all.push(it);
            }
        }
        let names = places.iter().map(|it| sweep.parameters[*it].name.as_str());
        let names = names.collect::<Vec<_>>().join("+");
        format!("--set {names}={}", all.join(","))
    });
    each.collect()
}

/// The places of parameters that are set together, without the one that is left out.
fn bundles(sweep: &Sweep, made: &Made, left_out: Option<usize>) -> Vec<Vec<usize>> {
    let mut bundles: Vec<(Option<&Vec<String>>, Vec<usize>)> = Vec::new();
    for (place, parameter) in sweep.parameters.iter().enumerate() {
        if left_out == Some(place) {
            continue;
        }
        let own = made.together.iter().find(|it| it.contains(&parameter.name));
        match bundles.iter_mut().find(|it| own.is_some() && it.0 == own) {
            Some((_, places)) => places.push(place),
            None => bundles.push((own, vec![place])),
        }
    }
    bundles.into_iter().map(|(_, places)| places).collect()
}

/// Clients of a closed loop, or the load that was swept.
pub(super) fn asked(axes: &Axes, point: &SweepPoint) -> Option<f64> {
    let clients = point.setting.as_ref().and_then(|it| it.clients);
    clients.map(f64::from).or(axes.load_of(&point.values))
}

/// The command with `{clients}` in the place of their number; `None` where that is not found.
fn with_braces(command: &str, setting: &PointSetting) -> Option<String> {
    let (option, clients) = (setting.clients_option.as_deref()?, setting.clients?);
    let braces = format!("{{{CLIENTS}}}");
    let number = clients.to_string();
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    for at in 0..words.len() {
        for joint in ["", "="] {
            if words[at] == format!("{option}{joint}{number}") {
                words[at] = format!("{option}{joint}{braces}");
                return Some(words.join(" "));
            }
        }
        if words[at] == option && words.get(at + 1) == Some(&number) {
            words[at + 1] = braces;
            return Some(words.join(" "));
        }
    }
    None
}

/// As a shell reads it as one word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_clients_is_found_however_it_is_written() {
        let setting = PointSetting {
            clients: Some(10),
            clients_option: Some("-c".to_owned()),
            ..PointSetting::default()
        };
        let of = |command: &str| with_braces(command, &setting);
        assert_eq!(
            of("pgbench -S -c 10 -T 10 b").as_deref(),
            Some("pgbench -S -c {clients} -T 10 b")
        );
        assert_eq!(
            of("pgbench -c10 b").as_deref(),
            Some("pgbench -c{clients} b")
        );
        assert_eq!(of("pgbench -j 10 b"), None);
        assert_eq!(of("pgbench -c 100 b"), None);
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
