//! What a request needs of a resource, and the throughput at which that resource is full.
//!
//! Utilisation law: busy time per request = units busy on average / throughput. By Little's law the same quotient of the
//! requests that stand in line is the time for which each waits (Denning and Buzen 1978, ACM Computing Surveys 10(3)).
//! What a resource does without requests is told from its demand by the throughputs at several loads: busy = background +
//! demand X (Rolia and Vetland 1995, regression of utilisation on throughput).

use model::{DemandAtLoad, DemandCourse, DemandReport, Interval, NoiseSource, ScalingEstimate};

use super::draws::{interval, known_as_well_as};
use super::measured::{LoadPoint, LoadRun, Measured};
use super::{REACH, Refusal};
use crate::number_format::{bound, duration, percent, rate};
use crate::stats::{Xorshift, f_test, mean, t_95};

/// Of throughputs nearer to each other than by this factor a background is not told from a demand.
const LEAST_SPREAD: f64 = 1.5;

/// A misfit that noise gives less often than this is one.
const IMPROBABLE: f64 = 0.01;

/// A demand that misses no load by more than this part is one number.
const NEAR: f64 = 0.05;

/// A varying demand at the largest load stands for a full resource where it was full to this part.
const NEARLY_FULL: f64 = 0.5;

const DRAWS: usize = 800;
const SEED: u64 = 0xDE3A_4D5E_DE3A_4D5E;

/// One load, with what a resource did in each run there.
#[derive(Clone, PartialEq, Debug)]
pub struct BusyPoint {
    /// Clients, instances or CPUs; above 0.
    pub load: f64,
    /// The runs at this load.
    pub runs: Vec<BusyRun>,
}

/// What a resource did in one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BusyRun {
    /// Requests per second; above 0.
    pub throughput: f64,
    /// Units of it that were busy on average: CPUs, or the part of the time in which a disk was; above 0. Of a line the
    /// requests that stood in it.
    pub busy: f64,
}

/// Why runs do not tell a demand.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum DemandRefusal {
    /// The resource was not used.
    #[error(
        "the resource did nothing at load {0}, so requests need nothing of it that was measured"
    )]
    Idle(f64),
    /// A size that is 0, below, or no number.
    #[error("{0} is no number of units that a resource has: it must be above 0")]
    NoUnits(f64),
    /// More units busy than there are.
    #[error("{busy} units were busy at load {load}, and the resource has fewer: correct its size")]
    BeyondFull {
        /// Where.
        load: f64,
        /// Units busy on average.
        busy: f64,
    },
    /// The throughput hardly changed.
    #[error(
        "throughput is nearly the same at all loads, so what a request needs is not told from what runs without requests: add a load that is lower"
    )]
    SameThroughput,
    /// Throughputs or loads that show nothing.
    #[error("{0}")]
    Points(#[from] Refusal),
}

/// A load: its throughput, and the busy time per request.
#[derive(Clone, Copy)]
struct Quotient {
    throughput: f64,
    per_request_s: f64,
    /// Variance of its logarithm.
    variance: f64,
}

/// Busy = background + demand X.
#[derive(Clone, Copy)]
struct Line {
    background: f64,
    demand_s: f64,
}

/// The time per request at each load, s, with its interval: of units that are busy the demand, of requests that stand in
/// line the time for which each waits.
///
/// # Errors
///
/// Runs without throughput or without what is divided by it, fewer than three loads, and runs of which none was repeated:
/// then no interval is known.
pub fn per_request(points: &[BusyPoint]) -> Result<Vec<ScalingEstimate>, DemandRefusal> {
    let measured = measured(points)?;
    if measured.noise_from == NoiseSource::Misfit {
        return Err(Refusal::FewRuns.into());
    }
    let sure = t_95(measured.degrees).ok_or(Refusal::FewRuns)?;
    let estimates = measured.points.iter().map(|it| {
        let half = sure * it.weight().powf(-0.5);
        ScalingEstimate {
            value: it.level.exp(),
            interval: Interval {
                low: (it.level - half).exp(),
                high: (it.level + half).exp(),
            },
        }
    });
    Ok(estimates.collect())
}

/// What a request needs of a resource with so many units, and the throughput at which it is full.
///
/// # Errors
///
/// As of [`per_request`]; besides, more busy than there is, and throughputs that are all alike.
pub fn service_demand(points: &[BusyPoint], units: f64) -> Result<DemandReport, DemandRefusal> {
    /// A busy unit is sampled a little too long now and then.
    const ROUNDING: f64 = 1.02;
    if !units.is_finite() || units <= 0.0 {
        return Err(DemandRefusal::NoUnits(units));
    }
    let times = per_request(points)?;
    let over = |it: &BusyPoint| {
        it.runs
            .iter()
            .map(|it| it.busy)
            .find(|it| *it > units * ROUNDING)
    };
    if let Some((point, busy)) = points.iter().find_map(|it| Some((it, over(it)?))) {
        return Err(DemandRefusal::BeyondFull {
            load: point.load,
            busy,
        });
    }
    let measured = measured(points)?;
    let quotients = quotients(points, &measured);
    let throughputs = quotients.iter().map(|it| it.throughput);
    let most = throughputs.clone().fold(0.0, f64::max);
    if most < LEAST_SPREAD * throughputs.fold(f64::INFINITY, f64::min) {
        return Err(DemandRefusal::SameThroughput);
    }
    let rows = measured.points.iter().zip(&quotients).zip(&times);
    let loads = rows.map(|((point, quotient), per_request_s)| DemandAtLoad {
        load: point.load,
        throughput: quotient.throughput,
        utilisation: quotient.throughput * quotient.per_request_s / units,
        per_request_s: *per_request_s,
    });
    let loads: Vec<DemandAtLoad> = loads.collect();
    let mut report = described(&measured, &quotients, loads, units);
    report.full_at = report.full_at.filter(|it| it.value <= REACH * most);
    report.answer = answer(&report);
    Ok(report)
}

fn measured(points: &[BusyPoint]) -> Result<Measured, DemandRefusal> {
    let is_amount = |it: f64| it.is_finite() && it > 0.0;
    for point in points {
        if let Some(run) = point.runs.iter().find(|it| !is_amount(it.throughput)) {
            return Err(DemandRefusal::Points(Refusal::NoThroughput {
                load: point.load,
                throughput: run.throughput,
            }));
        }
        if point.runs.iter().any(|it| !is_amount(it.busy)) {
            return Err(DemandRefusal::Idle(point.load));
        }
    }
    let quotient = |run: &BusyRun| LoadRun {
        throughput: run.busy / run.throughput,
        standard_error: None,
    };
    let points = points.iter().map(|it| LoadPoint {
        load: it.load,
        runs: it.runs.iter().map(quotient).collect(),
    });
    let points: Vec<LoadPoint> = points.collect();
    Ok(Measured::new(&points)?)
}

fn quotients(points: &[BusyPoint], measured: &Measured) -> Vec<Quotient> {
    let each = measured.points.iter().map(|point| {
        let runs = points.iter().filter(|it| it.load == point.load);
        let levels = runs.flat_map(|it| it.runs.iter().map(|it| it.throughput.ln()));
        Quotient {
            throughput: mean(&levels.collect::<Vec<_>>()).unwrap_or_default().exp(),
            per_request_s: point.level.exp(),
            variance: 1.0 / point.weight(),
        }
    });
    each.collect()
}

/// A demand and what follows from it, by the simplest course that the loads allow.
fn described(
    measured: &Measured,
    quotients: &[Quotient],
    loads: Vec<DemandAtLoad>,
    units: f64,
) -> DemandReport {
    let constant = Line {
        background: 0.0,
        demand_s: constant(quotients),
    };
    let with_background = line(quotients);
    let course = match with_background {
        _ if fits(constant, quotients, 1.0, measured, false) => DemandCourse::Constant,
        Some(line) if fits(line, quotients, 2.0, measured, true) => DemandCourse::Background,
        _ => DemandCourse::Varying,
    };
    let mut report = DemandReport {
        answer: String::new(),
        loads,
        course,
        demand_s: None,
        background: None,
        full_at: None,
    };
    let solve = |drawn: &[Quotient]| match course {
        DemandCourse::Background => line(drawn).unwrap_or(Line {
            background: 0.0,
            demand_s: self::constant(drawn),
        }),
        _ => Line {
            background: 0.0,
            demand_s: self::constant(drawn),
        },
    };
    if course == DemandCourse::Varying {
        report.full_at = at_largest(&report.loads, units);
        return report;
    }
    let found = solve(quotients);
    let parameters = if course == DemandCourse::Background {
        2.0
    } else {
        1.0
    };
    let scale = scale(found, quotients, parameters, measured);
    let drawn = drawn(found, quotients, scale, solve);
    let estimate = |of: &dyn Fn(&Line) -> f64| ScalingEstimate {
        value: of(&found),
        interval: interval(of(&found), drawn.iter().map(of).collect()),
    };
    report.demand_s = Some(estimate(&|it| it.demand_s));
    if course == DemandCourse::Background {
        report.background = Some(estimate(&|it| it.background));
    }
    report.full_at = Some(estimate(&|it| {
        (units - it.background).max(0.0) / it.demand_s
    }));
    report
}

/// The weighted mean, of logarithms.
fn constant(quotients: &[Quotient]) -> f64 {
    let (mut weight, mut sum) = (0.0, 0.0);
    for it in quotients {
        weight += 1.0 / it.variance;
        sum += it.per_request_s.ln() / it.variance;
    }
    (sum / weight).exp()
}

/// The line through what is busy at each throughput, by least squares weighted by relative errors; `None` where that has no
/// background, or no demand.
fn line(quotients: &[Quotient]) -> Option<Line> {
    // Divided by what was busy: 1 = background / busy + demand X / busy.
    let (mut aa, mut ab, mut bb, mut a, mut b) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for it in quotients {
        let busy = it.throughput * it.per_request_s;
        let (one, other, weight) = (1.0 / busy, 1.0 / it.per_request_s, 1.0 / it.variance);
        aa += weight * one * one;
        ab += weight * one * other;
        bb += weight * other * other;
        a += weight * one;
        b += weight * other;
    }
    let determinant = aa * bb - ab * ab;
    let found = Line {
        background: (a * bb - b * ab) / determinant,
        demand_s: (b * aa - a * ab) / determinant,
    };
    (determinant > 0.0 && found.background > 0.0 && found.demand_s > 0.0).then_some(found)
}

impl Line {
    fn per_request_s(&self, throughput: f64) -> f64 {
        self.demand_s + self.background / throughput
    }
}

/// Sum of squares of the logarithms of what the loads miss a line by, each in units of its variance.
fn squares(line: Line, quotients: &[Quotient]) -> f64 {
    let off = |it: &Quotient| {
        (it.per_request_s / line.per_request_s(it.throughput))
            .ln()
            .powi(2)
            / it.variance
    };
    quotients.iter().map(off).sum()
}

/// Whether noise alone gives such a misfit; where `or_near`, also whether no load is missed by much.
fn fits(
    line: Line,
    quotients: &[Quotient],
    parameters: f64,
    measured: &Measured,
    or_near: bool,
) -> bool {
    let degrees = quotients.len() as f64 - parameters;
    let p = f_test(
        squares(line, quotients) / degrees,
        degrees,
        measured.degrees,
    );
    let is_near =
        |it: &Quotient| (it.per_request_s / line.per_request_s(it.throughput) - 1.0).abs() <= NEAR;
    p.is_some_and(|it| it >= IMPROBABLE) || (or_near && quotients.iter().all(is_near))
}

/// By what variances are multiplied to be those that the line shows, and the degrees of freedom of that.
fn scale(line: Line, quotients: &[Quotient], parameters: f64, measured: &Measured) -> [f64; 2] {
    let degrees = quotients.len() as f64 - parameters;
    let squares = squares(line, quotients);
    match f_test(squares / degrees, degrees, measured.degrees) {
        Some(p) if p < IMPROBABLE => [squares / degrees, degrees],
        _ => {
            let all = degrees + measured.degrees;
            [(squares + measured.squares) / all, all]
        }
    }
}

/// What the same loads give with other noise.
fn drawn(
    found: Line,
    quotients: &[Quotient],
    [scale, degrees]: [f64; 2],
    solve: impl Fn(&[Quotient]) -> Line,
) -> Vec<Line> {
    let mut random = Xorshift::new(SEED);
    let draw = |_| {
        let known = known_as_well_as(degrees, &mut random);
        let drawn = quotients.iter().map(|it| {
            let noise = known * (scale * it.variance).sqrt() * random.normal();
            Quotient {
                per_request_s: found.per_request_s(it.throughput) * noise.clamp(-20.0, 20.0).exp(),
                ..*it
            }
        });
        solve(&drawn.collect::<Vec<_>>())
    };
    (0..DRAWS).map(draw).collect()
}

/// What a resource allows whose demand varies: by that of the load at which it was fullest, where it was nearly full.
fn at_largest(loads: &[DemandAtLoad], units: f64) -> Option<ScalingEstimate> {
    let fullest = loads
        .iter()
        .max_by(|one, other| one.utilisation.total_cmp(&other.utilisation))?;
    let time = fullest.per_request_s;
    (fullest.utilisation >= NEARLY_FULL).then(|| ScalingEstimate {
        value: units / time.value,
        interval: Interval {
            low: units / time.interval.high,
            high: units / time.interval.low,
        },
    })
}

fn answer(report: &DemandReport) -> String {
    let time = |it: &ScalingEstimate| {
        let [value, low, high] =
            [it.value, it.interval.low, it.interval.high].map(|it| duration(it * 1e9));
        format!("{value} (95 % CI {low} to {high})")
    };
    let ends =
        [report.loads.first(), report.loads.last()].map(|it| it.map(|it| time(&it.per_request_s)));
    let needs = match (report.course, report.demand_s, report.background, ends) {
        (DemandCourse::Varying, _, _, [Some(first), Some(last)]) => format!(
            "A request takes {first} of it at the smallest load and {last} at the largest, so that it has no one demand."
        ),
        (_, Some(demand), Some(background), _) => format!(
            "A request needs {} of it, and {} units are busy without requests.",
            time(&demand),
            rate(background.value)
        ),
        (_, Some(demand), _, _) => format!("A request needs {} of it.", time(&demand)),
        _ => String::new(),
    };
    let utilisation = report
        .loads
        .iter()
        .fold(0.0, |most: f64, it| most.max(it.utilisation));
    let allows = match report.full_at {
        Some(full) => format!(
            "It is full at about {}/s (95 % CI {} to {}).",
            bound(full.value),
            bound(full.interval.low),
            bound(full.interval.high)
        ),
        None => format!(
            "It was never more than {} busy, so the throughput at which it is full is not predicted.",
            percent(utilisation)
        ),
    };
    format!("{needs} {allows}")
}
