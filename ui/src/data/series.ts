// One column of one entity over time, and the arithmetic on it that the engine does too
// (crates/model/src/series.rs): over a window that begins and ends on edges the results are equal.

import { hull, intersection, length, type Nanoseconds, SECOND, type Span } from "./units";

/** The instants that divide a recording into bins. */
export interface Edges {
  /** Every edge, ascending. */
  readonly all: Float64Array;
  /** Every how many of them a bin of this table has one. */
  readonly stride: number;
}

/** Numbers of one column and entity, one per bin. */
export interface Series {
  readonly edges: Edges;
  /** Whether its numbers are means of a bin; else growth in it. */
  readonly gauge: boolean;
  /** First and last seen; outside nothing is known. */
  readonly known: Span;
  readonly firstBin: number;
  readonly bins: number;
  /** Growth (counter) or mean (gauge) per bin; a single number stands for all bins. */
  readonly values: Float64Array;
  /** Lowest and highest per bin, where bins hold several readings; else `values`. */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Where a bin begins, or the last one ends. */
export function edgeOf({ all, stride }: Edges, bin: number): Nanoseconds {
  return all[Math.min(bin * stride, all.length - 1)] ?? 0;
}

/** How many bins there are. */
export function binCount({ all, stride }: Edges): number {
  return Math.ceil((all.length - 1) / stride);
}

/** The bin that an instant lies in; before the first 0, after the last the last. */
export function binAt(edges: Edges, at: Nanoseconds): number {
  let low = 0;
  let high = binCount(edges) - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edgeOf(edges, middle) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The number of a bin of the recording; `NaN` where nothing is known. */
export function valueAt(
  series: Series,
  bin: number,
  of: "values" | "low" | "high" = "values",
): number {
  const index = bin - series.firstBin;
  if (index < 0 || index >= series.bins) return Number.NaN;
  const numbers = series[of];
  return numbers[numbers.length === 1 ? 0 : index] ?? Number.NaN;
}

/** The part of a bin in which the series is known. */
export function knownPart(series: Series, bin: number): Span | undefined {
  return intersection(
    { from: edgeOf(series.edges, bin), to: edgeOf(series.edges, bin + 1) },
    series.known,
  );
}

/** How much a counter grew in the part of a window in which it is known; a gauge's value times time. */
export function growth(series: Series, window: Span): number | undefined {
  // Asked of thousands of series for each window: no spans are made on the way.
  const from = Math.max(window.from, series.known.from);
  const to = Math.min(window.to, series.known.to);
  return from < to ? reached(series, to) - reached(series, from) : undefined;
}

/** How fast a counter grew, per second of the part of a window in which it is known. */
export function rateOver(series: Series, window: Span): number | undefined {
  const grown = growth(series, window);
  return grown === undefined ? undefined : grown / (knownTime(series, window) / SECOND);
}

/** A gauge's mean over the part of a window in which it is known. */
export function meanOver(series: Series, window: Span): number | undefined {
  const grown = growth(series, window);
  return grown === undefined ? undefined : grown / knownTime(series, window);
}

export function knownTime({ known }: Series, window: Span): Nanoseconds {
  return Math.min(window.to, known.to) - Math.max(window.from, known.from);
}

/** From where the first of several is known to where the last is: the time in which their sum is. */
export function knownTogether(all: readonly Series[]): Span | undefined {
  return hull(all.map((series) => series.known));
}

/** What several of a kind add up to over a window: counters per second, gauges as they stand. Who came
    late or ended early had nothing before and after: rates over own lives do not add up. */
export function sumOver(all: readonly Series[], window: Span): number | undefined {
  const known = knownTogether(all);
  const covered = known && intersection(window, known);
  if (covered === undefined) return undefined;
  let sum: number | undefined;
  for (const series of all) {
    const part = growth(series, covered);
    if (part !== undefined) sum = (sum ?? 0) + part;
  }
  if (sum === undefined) return undefined;
  return (sum * (all[0]?.gauge ? 1 : SECOND)) / length(covered);
}

/** Lowest and highest of a series in a window, per bin: rates of a counter, readings of a gauge. */
export function extremes(series: Series, window: Span): { low: number; high: number } | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const last = binAt(series.edges, window.to - 1);
  for (let bin = binAt(series.edges, window.from); bin <= last; bin++) {
    const least = valueAt(series, bin, "low");
    if (Number.isNaN(least)) continue;
    low = Math.min(low, least);
    high = Math.max(high, valueAt(series, bin, "high"));
  }
  return low <= high ? { low, high } : undefined;
}

const sums = new WeakMap<Series, Float64Array>();

/** What a counter had grown to since it was first seen; of a gauge, the sum of value times nanoseconds. */
function reached(series: Series, at: Nanoseconds): number {
  const { edges, known, firstBin, bins } = series;
  const bin = Math.min(Math.max(binAt(edges, at), firstBin), firstBin + bins - 1);
  const before = sumsOf(series)[bin - firstBin] ?? 0;
  const from = Math.max(edgeOf(edges, bin), known.from);
  const to = Math.min(edgeOf(edges, bin + 1), known.to);
  if (from >= to) return before;
  const inside = Math.min(Math.max((at - from) / (to - from), 0), 1);
  return before + inside * amount(series, bin, to - from);
}

function amount(series: Series, bin: number, time: Nanoseconds): number {
  const value = valueAt(series, bin);
  return series.gauge ? value * time : value;
}

function sumsOf(series: Series): Float64Array {
  let sum = sums.get(series);
  if (sum === undefined) {
    const { edges, known, firstBin, bins } = series;
    sum = new Float64Array(bins);
    for (let index = 1; index < bins; index++) {
      const bin = firstBin + index - 1;
      const from = Math.max(edgeOf(edges, bin), known.from);
      const to = Math.min(edgeOf(edges, bin + 1), known.to);
      sum[index] = (sum[index - 1] ?? 0) + (from < to ? amount(series, bin, to - from) : 0);
    }
    sums.set(series, sum);
  }
  return sum;
}
