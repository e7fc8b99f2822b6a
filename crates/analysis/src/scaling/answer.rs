//! What is known of a scaling curve, in sentences.

use model::{
    Interval, ParameterName, RejectedModel, ScalingEstimate, ScalingFit, ScalingModel,
    ScalingReport, StrayingPoint,
};

use crate::number_format::{bound, percent, rate};

/// A model as it is called in sentences.
pub(super) fn name(model: ScalingModel) -> &'static str {
    match model {
        ScalingModel::Linear => "a straight line",
        ScalingModel::Amdahl => "Amdahl's law",
        ScalingModel::Usl => "the USL",
        ScalingModel::HardCap => "a hard cap",
    }
}

/// The sentences of a report.
pub(super) fn answer(report: &ScalingReport) -> String {
    let Some((likeliest, others)) = report.fits.split_first() else {
        return none_fits(&report.straying, &report.rejected);
    };
    let mut sentences = vec![describes(likeliest)];
    match report.knee {
        Some(knee) => sentences.push(format!(
            "The knee lies at {}: from there on one more brings less than half of what the first brought.",
            with_interval(&knee, rate)
        )),
        None => sentences.extend(report.knee_between.map(|it| {
            format!("By the points alone the knee lies between {} and {}.", rate(it.low), rate(it.high))
        })),
    }
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|it| name(it.model)).collect();
        sentences.push(format!(
            "These points do not tell it from {}.",
            names.join(" and from ")
        ));
    }
    sentences.join(" ")
}

fn describes(fit: &ScalingFit) -> String {
    let value = |name: ParameterName| {
        let all = fit.parameters.iter();
        all.filter(|it| it.name == name)
            .map(|it| it.estimate)
            .next()
    };
    let of = |name: ParameterName, format: fn(f64) -> String| {
        value(name).map_or_else(|| "unknown".to_owned(), |it| with_interval(&it, format))
    };
    let last = fit.curve.last().map_or(0.0, |it| it.load);
    let begins = match fit.model {
        ScalingModel::Linear => format!(
            "Throughput grows in proportion to load up to {last}: {}/s for each.",
            of(ParameterName::Rate, bound)
        ),
        ScalingModel::Amdahl => format!(
            "Throughput follows Amdahl's law: {} of the work cannot be done side by side.",
            of(ParameterName::Contention, percent)
        ),
        ScalingModel::Usl => format!(
            "Throughput follows the USL: contention {}, coherency {}.",
            of(ParameterName::Contention, percent),
            of(ParameterName::Coherency, fine_percent)
        ),
        ScalingModel::HardCap => format!(
            "Throughput grows with load up to a hard cap of {}/s.",
            of(ParameterName::Capacity, bound)
        ),
    };
    match fit.peak {
        Some(peak) => format!(
            "{begins} It is highest at {} and falls beyond.",
            with_interval(&peak, rate)
        ),
        None => begins,
    }
}

fn none_fits(straying: &[StrayingPoint], rejected: &[RejectedModel]) -> String {
    const MOST: usize = 3;
    let off = |it: &StrayingPoint| {
        let side = if it.off < 0.0 { "below" } else { "above" };
        format!(
            "at {} it lies {} {side}",
            rate(it.load),
            percent(it.off.abs())
        )
    };
    let mut far: Vec<StrayingPoint> = straying.to_vec();
    far.sort_by(|one, other| other.off.abs().total_cmp(&one.off.abs()));
    far.truncate(MOST);
    far.sort_by(|one, other| one.load.total_cmp(&other.load));
    let far: Vec<String> = far.iter().map(off).collect();
    let tried = match rejected.iter().any(|it| it.reason.contains("needed")) {
        true => " Some models were not tried, since there are too few loads or runs for them.",
        false => "",
    };
    format!(
        "No model describes how throughput grows with load: {} the nearest curve.{tried}",
        far.join(", ")
    )
}

/// Parts of a percent, which a coherency is.
fn fine_percent(part: f64) -> String {
    format!("{} %", bound(100.0 * part))
}

fn with_interval(estimate: &ScalingEstimate, format: fn(f64) -> String) -> String {
    let ScalingEstimate {
        value,
        interval: Interval { low, high },
    } = *estimate;
    format!(
        "{} (95 % CI {} to {})",
        format(value),
        format(low),
        format(high)
    )
}
