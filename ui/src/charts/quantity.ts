// Quantities: one amount in proportion to another. Over a whole window they give the verdict's number, bin
// by bin its chart.

import type { Series } from "../data/series";
import { type Interval, inside } from "../data/signal";
import { hull, length, type Nanoseconds, SECOND, type Span } from "../data/units";

/** How much of something a window holds; `NaN` where nothing of it is known. */
export type Amount = (window: Span) => number;

/** One amount in proportion to another. */
export interface Quantity {
  readonly of: Amount;
  readonly per: Amount;
  /** Where the bins of its chart begin, and the last one ends. */
  readonly edges: Float64Array;
}

export function over({ of, per }: Quantity, window: Span): number {
  const whole = per(window);
  return whole > 0 ? of(window) / whole : Number.NaN;
}

/** The quantity in each bin. */
export function perBin(quantity: Quantity): Float64Array {
  const { edges } = quantity;
  const values = new Float64Array(Math.max(edges.length - 1, 0));
  for (let bin = 0; bin < values.length; bin++) {
    values[bin] = over(quantity, { from: edges[bin] ?? 0, to: edges[bin + 1] ?? 0 });
  }
  return values;
}

/** What is taken of a series over a window. */
export type Taken = (series: Series, window: Span) => number | undefined;

/** What is taken of several series, added up; who has none is left out. */
export function added(all: readonly (Series | undefined)[], taken: Taken): Amount {
  return (window) => {
    let sum = 0;
    let known = false;
    for (const one of all) {
      const part = one && taken(one, window);
      if (part === undefined) continue;
      sum += part;
      known = true;
    }
    return known ? sum : Number.NaN;
  };
}

/** An amount that is nothing where it is not known: of what comes and goes, and of little. */
export function orNothing(amount: Amount): Amount {
  return (window) => amount(window) || 0;
}

/** What is left of a whole; not known while the part is not. */
export function rest(whole: Amount, part: Amount): Amount {
  return (window) => Math.max(whole(window) - part(window), 0);
}

/** What the workload's intervals of a window hold, each weighed. */
export function ofIntervals(
  all: readonly Interval[],
  amount: (interval: Interval) => number,
): Amount {
  return (window) => {
    const known = inside(overlapping(all, window), window)
      .map(amount)
      .filter((value) => !Number.isNaN(value));
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : Number.NaN;
  };
}

/** The part of all intervals that may lie in a window; they come in the order of time. */
function overlapping(all: readonly Interval[], window: Span): readonly Interval[] {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.to ?? 0) <= window.from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < all.length && (all[end]?.from ?? 0) < window.to) end += 1;
  return all.slice(low, end);
}

/** Operations completed in the workload's intervals, times something of each. */
export function perRequest(
  all: readonly Interval[],
  of: (interval: Interval) => number = () => 1,
): Amount {
  return ofIntervals(all, (it) => (of(it) * it.throughput * length(it)) / SECOND);
}

/** The same of the time that the intervals are about; where the workload was silent between two of them as
    much as beside, as the engine has it. */
export function throughout(all: readonly Interval[], amount: Amount): Amount {
  return (window) => {
    const chosen = inside(overlapping(all, window), window);
    const said = chosen.reduce((sum, interval) => sum + length(interval), 0);
    const whole = hull(chosen);
    return whole === undefined ? Number.NaN : amount(window) * Math.max(length(whole) / said, 1);
  };
}

/** The edges of the workload's intervals; what lies between two of them is a bin too, without numbers. */
export function edgesOfIntervals(all: readonly Interval[]): Float64Array {
  const edges: Nanoseconds[] = [];
  for (const { from, to } of all) {
    const last = edges[edges.length - 1];
    if (last === undefined || from > last) edges.push(from);
    if (last === undefined || to > last) edges.push(to);
  }
  return Float64Array.from(edges);
}
