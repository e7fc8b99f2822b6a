// A lane with more bins than there are pixels, as one bin per pixel: the mean as the line, lowest and
// highest as the band around it, so that a short spike stays visible however far one looks from.

import type { Pixels, Span } from "../data/units";
import { atMost } from "./instants";
import type { Lane, LaneLine } from "./lane";

/** Bins per pixel above which a line would only be a smear. */
const DENSE = 2;

/** How many bins of a lane lie in a view. */
function inView({ edges }: Lane, view: Span): { from: number; to: number } {
  if (edges === undefined) return { from: 0, to: 0 };
  const last = edges.length - 2;
  return {
    from: Math.max(atMost(edges, view.from), 0),
    to: Math.min(Math.max(atMost(edges, view.to), 0), last) + 1,
  };
}

/** Whether a lane is to be condensed where `width` pixels show `view`. */
export function isDense(lane: Lane, view: Span, width: Pixels): boolean {
  const { from, to } = inView(lane, view);
  return to - from > DENSE * Math.max(width, 1);
}

/** The part of a lane that is in view, in about `width` bins. Stacked lines have means only. */
export function condensed(lane: Lane, view: Span, width: Pixels): Lane {
  const { edges } = lane;
  if (edges === undefined) return lane;
  const { from, to } = inView(lane, view);
  const per = Math.ceil((to - from) / Math.max(width, 1));
  const starts: number[] = [];
  for (let bin = from; bin < to; bin += per) starts.push(bin);
  starts.push(to);
  const bounds = Float64Array.from(starts, (bin) => edges[bin] ?? 0);
  const lines = lane.lines.map((line) => merged(line, edges, starts, lane.stacked === true));
  const times = bounds.slice(1).map((end, bin) => (end + (bounds[bin] ?? 0)) / 2);
  return { ...lane, edges: bounds, times, lines };
}

function merged(
  line: LaneLine,
  edges: Float64Array,
  starts: readonly number[],
  meansOnly: boolean,
): LaneLine {
  const count = starts.length - 1;
  const values = new Float64Array(count).fill(Number.NaN);
  const low = values.slice();
  const high = values.slice();
  const { low: lowest = line.values, high: highest = line.values } = line;
  for (let column = 0; column < count; column++) {
    let sum = 0;
    let known = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let bin = starts[column] ?? 0; bin < (starts[column + 1] ?? 0); bin++) {
      const value = line.values[bin] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const length = (edges[bin + 1] ?? 0) - (edges[bin] ?? 0);
      sum += value * length;
      known += length;
      least = Math.min(least, lowest[bin] ?? value);
      most = Math.max(most, highest[bin] ?? value);
    }
    if (known === 0) continue;
    values[column] = sum / known;
    low[column] = least;
    high[column] = most;
  }
  const { low: _low, high: _high, ...rest } = line;
  return meansOnly ? { ...rest, values } : { ...rest, values, low, high };
}
