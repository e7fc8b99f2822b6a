// Series as numbers per bin, ready to be drawn.

import {
  binAt,
  binCount,
  type Edges,
  edgeOf,
  growth,
  knownPart,
  knownTogether,
  meanOver,
  rateOver,
  type Series,
  valueAt,
} from "../data/series";
import { intersection, length, SECOND, type Span } from "../data/units";

/** A series by bins; `NaN` where nothing is known. */
export interface Binned {
  readonly values: Float64Array;
  readonly low?: Float64Array;
  readonly high?: Float64Array;
}

/** A known part of a bin that is shorter than this says nothing about the bin. */
const LEAST_PART = 0.01;

/** Where the bins begin, and the last one ends. */
export function bounds(edges: Edges): Float64Array {
  return Float64Array.from({ length: binCount(edges) + 1 }, (_, bin) => edgeOf(edges, bin));
}

/** The middles between bounds. */
export function middles(all: Float64Array): Float64Array {
  return all.slice(1).map((end, bin) => (end + (all[bin] ?? 0)) / 2);
}

/** A counter per second, a gauge as it is, each times `factor`; in bins of its own, or in others. */
export function binned(series: Series, factor = 1, edges: Edges = series.edges): Binned {
  const count = binCount(edges);
  const values = new Float64Array(count).fill(Number.NaN);
  if (edges.stride !== series.edges.stride) {
    const over = series.gauge ? meanOver : rateOver;
    for (let bin = 0; bin < count; bin++) {
      const window = { from: edgeOf(edges, bin), to: edgeOf(edges, bin + 1) };
      values[bin] = factor * (over(series, window) ?? Number.NaN);
    }
    return series.low === series.values ? { values } : reached(series, factor, { edges, values });
  }
  const spread = series.low !== series.values;
  const low = spread ? values.slice() : undefined;
  const high = spread ? values.slice() : undefined;
  const end = Math.min(series.firstBin + series.bins, count);
  for (let bin = series.firstBin; bin < end; bin++) {
    const part = knownPart(series, bin);
    if (part === undefined) continue;
    const whole = edgeOf(edges, bin + 1) - edgeOf(edges, bin);
    if (length(part) < LEAST_PART * whole) continue;
    values[bin] = valueAt(series, bin) * (series.gauge ? factor : (factor * SECOND) / length(part));
    // Lowest and highest are what the whole bin would have had.
    const scale = series.gauge ? factor : (factor * SECOND) / whole;
    if (low !== undefined) low[bin] = valueAt(series, bin, "low") * scale;
    if (high !== undefined) high[bin] = valueAt(series, bin, "high") * scale;
  }
  return low === undefined || high === undefined ? { values } : { values, low, high };
}

/** Lowest and highest in bins that are not a series' own: of those of its own that lie in them. */
function reached(
  series: Series,
  factor: number,
  { edges, values }: { readonly edges: Edges; readonly values: Float64Array },
): Binned {
  const own = binned(series, factor);
  const low = new Float64Array(values.length).fill(Number.NaN);
  const high = low.slice();
  for (let bin = 0; bin < values.length; bin++) {
    if (Number.isNaN(values[bin] ?? Number.NaN)) continue;
    const last = binAt(series.edges, edgeOf(edges, bin + 1) - 1);
    for (let at = binAt(series.edges, edgeOf(edges, bin)); at <= last; at++) {
      const [least, most] = [own.low?.[at] ?? Number.NaN, own.high?.[at] ?? Number.NaN];
      if (!((low[bin] ?? Number.NaN) <= least)) low[bin] = least;
      if (!((high[bin] ?? Number.NaN) >= most)) high[bin] = most;
    }
  }
  return { values, low, high };
}

/** Takes out what lies in stretches that were not seen: counters are interpolated over them. */
export function without(line: Binned, all: Float64Array, unseen: readonly Span[]): Binned {
  if (unseen.length === 0) return line;
  const inside = (bin: number) => {
    const [from, to] = [all[bin] ?? 0, all[bin + 1] ?? 0];
    return unseen.some((span) => span.from <= from && span.to >= to);
  };
  const cut = (numbers: Float64Array) =>
    numbers.map((value, bin) => (inside(bin) ? Number.NaN : value));
  const { low, high } = line;
  const values = cut(line.values);
  return low === undefined || high === undefined
    ? { values }
    : { values, low: cut(low), high: cut(high) };
}

/** Several of a kind added up, over those that are known, per second of the time in which any is: who lives
    for a part of a bin only adds what it did. The extremes of a sum are not those of its parts. */
export function summed(all: readonly Series[], factor = 1, edges?: Edges): Binned {
  const [first, ...rest] = all;
  if (first === undefined) return { values: new Float64Array() };
  const shown = edges ?? first.edges;
  if (rest.length === 0) return binned(first, factor, shown);
  const values = new Float64Array(binCount(shown)).fill(Number.NaN);
  for (const series of all) addTo(values, series, shown);
  const known = knownTogether(all);
  for (let bin = 0; bin < values.length; bin++) {
    const whole = widthOf(shown, bin);
    const part = known && intersection(whole, known);
    const enough = part !== undefined && length(part) >= LEAST_PART * length(whole);
    const scale = enough ? (factor * (first.gauge ? 1 : SECOND)) / length(part) : Number.NaN;
    values[bin] = (values[bin] ?? Number.NaN) * scale;
  }
  return { values };
}

/** Adds what a counter grew in each bin, or a gauge's value times time. */
function addTo(sums: Float64Array, series: Series, edges: Edges): void {
  const own = edges.stride === series.edges.stride;
  const first = own ? series.firstBin : 0;
  const end = own ? Math.min(first + series.bins, sums.length) : sums.length;
  for (let bin = first; bin < end; bin++) {
    // In bins of its own the number stands there; in others it has to be looked for.
    const amount = own ? amountIn(series, bin) : growth(series, widthOf(edges, bin));
    if (amount === undefined || Number.isNaN(amount)) continue;
    const before = sums[bin] ?? Number.NaN;
    sums[bin] = Number.isNaN(before) ? amount : before + amount;
  }
}

function amountIn(series: Series, bin: number): number | undefined {
  const part = knownPart(series, bin);
  return part && valueAt(series, bin) * (series.gauge ? length(part) : 1);
}

function widthOf(edges: Edges, bin: number): Span {
  return { from: edgeOf(edges, bin), to: edgeOf(edges, bin + 1) };
}

/** The stretches in which none of several lines is known. */
export function blanks(all: Float64Array, lines: readonly Float64Array[]): Span[] {
  const found: { from: number; to: number }[] = [];
  for (let bin = 0; bin < all.length - 1; bin++) {
    if (!lines.every((line) => Number.isNaN(line[bin] ?? Number.NaN))) continue;
    const [from, to] = [all[bin] ?? 0, all[bin + 1] ?? 0];
    const last = found[found.length - 1];
    if (last?.to === from) last.to = to;
    else found.push({ from, to });
  }
  return found;
}
