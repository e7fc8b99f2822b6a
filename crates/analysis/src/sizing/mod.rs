//! How large a machine or a cluster must be for a load: what a request needs, what each configuration gives, which is the
//! smallest that is enough, and which load did not test what it was put on.
//!
//! It starts from a sweep, also where the runs are recordings that were there: then each is a configuration. Nothing here
//! knows where they come from. What was not measured is predicted by what predicts best what was held back, or refused.
//! Why it is done so: `docs/decisions/sizing.md`.

mod axes;
mod choice;
mod demands;
mod headroom;
mod measured;
mod of_cluster;
mod phrases;
mod prediction;
mod prices;
mod sentences;
#[cfg(test)]
mod tests;
mod untested;

use model::{
    Goal, Interval, Latency, SIZING_SCHEMA, SizedConfiguration, SizingAsk, SizingEstimate,
    SizingReport, Sweep,
};

use self::axes::Axes;
use self::prediction::{NoPrediction, Prediction, Predictions};
use crate::stats::median;

pub use of_cluster::of_cluster;
pub use prices::{Price, Prices};
pub use untested::Made;

/// What is wanted of a sweep.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Wanted {
    /// What a configuration must do.
    pub asked: SizingAsk,
    /// Configurations besides those that were measured: a value for each parameter.
    pub at: Vec<Vec<String>>,
    /// What they cost.
    pub prices: Option<Prices>,
    /// How the sweep was made.
    pub made: Made,
}

/// Sizes by the runs of a sweep.
pub fn size(sweep: &Sweep, wanted: &Wanted) -> SizingReport {
    let axes = Axes::of(sweep);
    let prices = wanted.prices.as_ref();
    let goal = wanted.asked.goal;
    let points = sweep.points.iter();
    let mut configurations: Vec<SizedConfiguration> = points
        .map(|it| measured::configuration(sweep, &axes, prices, goal, it))
        .collect();
    headroom::of_demand(sweep, &axes, &mut configurations);
    let mut predictions = Predictions::of(sweep, &axes);
    for values in &wanted.at {
        if configurations.iter().all(|it| it.values != *values) {
            let prediction = predictions.predict(values);
            configurations.push(predicted(sweep, &axes, wanted, values, prediction));
        }
    }
    let groups = choice::groups(&axes, &configurations, wanted.asked);
    for group in &groups {
        for member in &group.members {
            configurations[*member].meets = group.meets;
        }
    }
    let enough = choice::enough_groups(&configurations, &groups, wanted.asked);
    let chosen = enough.first().map(|it| groups[*it].at);
    let untested = untested::untested(sweep, &axes, &configurations, &groups);
    let said = sentences::Said {
        sweep,
        axes: &axes,
        wanted,
        configurations: &configurations,
        groups: &groups,
        enough: &enough,
        untested: &untested,
    };
    SizingReport {
        schema: SIZING_SCHEMA.to_owned(),
        command: sweep.command.clone(),
        parameters: sweep.parameters.clone(),
        load: axes.load.map(|it| sweep.parameters[it].name.clone()),
        rate_unit: rate_unit(sweep).to_owned(),
        asked: wanted.asked,
        answers: said.answers(),
        demands: demands::demands(sweep, &axes),
        chosen,
        currency: prices.map(|it| it.currency.clone()),
        next: said.next(),
        caveats: said.caveats(),
        configurations,
    }
}

fn rate_unit(sweep: &Sweep) -> &str {
    let mut runs = sweep.points.iter().flat_map(|it| &it.runs);
    runs.next().map_or("requests/s", |it| it.rate_unit.as_str())
}

/// A configuration that was not measured.
fn predicted(
    sweep: &Sweep,
    axes: &Axes,
    wanted: &Wanted,
    values: &[String],
    prediction: Result<Prediction, NoPrediction>,
) -> SizedConfiguration {
    let prices = wanted.prices.as_ref();
    let mut sized = SizedConfiguration {
        values: values.to_vec(),
        runs: 0,
        units: axes.units(values),
        per_hour: prices.and_then(|it| it.of(&sweep.parameters, values)),
        throughput: None,
        latency_ns: None,
        goal_latency_ns: None,
        nearest: None,
        waiting: None,
        cpu_some: None,
        io_some: None,
        memory_some: None,
        memory_in_use: None,
        headroom: None,
        tested: None,
        limit: None,
        meets: None,
        model: None,
        refused: None,
    };
    match prediction {
        Ok(it) => {
            sized.latency_ns = latency(sweep, axes, values, &it.throughput);
            let is_mean = wanted.asked.goal.is_some_and(is_of_mean);
            sized.goal_latency_ns = sized.latency_ns.filter(|_| is_mean);
            sized.throughput = Some(it.throughput);
            sized.model = Some(it.model);
        }
        Err(why) => sized.refused = Some(why.sentence(sweep, values)),
    }
    sized
}

fn is_of_mean(goal: Goal) -> bool {
    goal.of == Latency::Mean
}

/// The mean latency of a closed loop: response time law, R = N / X - Z, with the think time Z that was measured (Lazowska et
/// al. 1984, Quantitative System Performance, chapter 3). `None` where the number of clients is not known.
fn latency(
    sweep: &Sweep,
    axes: &Axes,
    values: &[String],
    throughput: &SizingEstimate,
) -> Option<SizingEstimate> {
    let clients: Option<Vec<f64>> = sweep
        .points
        .iter()
        .map(|it| it.setting.as_ref()?.clients.map(f64::from))
        .collect();
    let clients = clients.filter(|it| !it.is_empty())?;
    let own = match axes.load {
        Some(_) => axes.load_of(values)?,
        None => clients
            .iter()
            .all(|it| *it == clients[0])
            .then_some(clients[0])?,
    };
    let thinks = sweep
        .points
        .iter()
        .zip(&clients)
        .filter_map(|(it, clients)| {
            let rate = it.figure("throughput")?.value;
            let latency = it.figure("latency")?.value;
            Some((clients / rate * 1e9 - latency).max(0.0))
        });
    let think = median(&thinks.collect::<Vec<f64>>())?;
    let at = |rate: f64| own / rate * 1e9 - think;
    let interval = throughput.interval.map(|it| Interval {
        low: at(it.high),
        high: at(it.low),
    });
    (at(throughput.value) > 0.0).then_some(SizingEstimate {
        value: at(throughput.value),
        interval: interval.map(|it| Interval {
            low: it.low.max(0.0),
            high: it.high,
        }),
    })
}
