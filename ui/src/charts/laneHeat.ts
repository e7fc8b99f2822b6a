// A heat: counts by size over time, as it is painted and read. Pure.

import { duration, integer } from "../data/format";
import { length, type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import type { LaneHeat } from "./lane";

/** A heat as it is painted: cells at least so wide that they can be told apart. */
export interface HeatCells {
  readonly edges: Float64Array;
  /** Per bucket and cell: requests per second. */
  readonly rates: readonly Float64Array[];
  /** The highest of them. */
  readonly most: number;
}

/** What of a heat is in view, in at most `most` cells across. */
export function cellsIn({ edges, counts }: LaneHeat, view: Span, most: number): HeatCells {
  const last = edges.length - 1;
  let from = 0;
  let to = last;
  while (from < last && (edges[from + 1] ?? 0) <= view.from) from += 1;
  while (to > from && (edges[to - 1] ?? 0) >= view.to) to -= 1;
  const per = Math.max(1, Math.ceil((to - from) / Math.max(most, 1)));
  const starts: number[] = [];
  for (let bin = from; bin < to; bin += per) starts.push(bin);
  starts.push(to);
  const bounds = Float64Array.from(starts, (bin) => edges[bin] ?? 0);
  let highest = 0;
  const rates = counts.map((row) =>
    Float64Array.from(starts.slice(1), (end, cell) => {
      const start = starts[cell] ?? 0;
      const sum = row.subarray(start, end).reduce((a, b) => a + (b || 0), 0);
      const time = (bounds[cell + 1] ?? 0) - (bounds[cell] ?? 0);
      const value = time > 0 ? (sum * SECOND) / time : 0;
      highest = Math.max(highest, value);
      return value;
    }),
  );
  return { edges: bounds, rates, most: highest };
}

/** The size at a height of the axis, 0 at its foot and 1 at its head. */
export function sizeAt({ bounds }: LaneHeat, height: Share): number {
  const [low, high] = [bounds[0] ?? 1, bounds[bounds.length - 1] ?? 1];
  return low * (high / low) ** height;
}

/** Where the axis of a heat is divided: at powers of ten. */
export function decades({ bounds }: LaneHeat): number[] {
  const [low, high] = [bounds[0] ?? 1, bounds[bounds.length - 1] ?? 1];
  const all: number[] = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high; power++) {
    all.push(10 ** power);
  }
  return all.length > 0 ? all : [low, high];
}

/** How dark a cell is, 0 to 1: by factors, so that the rare slow ones are seen beside the many. */
export function darkness(value: number, most: number): number {
  return value > 0
    ? 0.12 + 0.88 * (Math.log1p(value) / Math.log1p(Math.max(most, value))) ** 1.5
    : 0;
}

/** What lies at an instant and a time: `134 requests of 0.41 to 0.49 ms`. */
export function heatReading(
  { edges, bounds, counts }: LaneHeat,
  at: Nanoseconds,
  time: Nanoseconds | undefined,
): string {
  const bin = edges.findIndex((edge, place) => edge <= at && at < (edges[place + 1] ?? 0));
  if (bin < 0) return "";
  if (counts.every((own) => Number.isNaN(own[bin]))) return "not seen";
  const span = length({ from: edges[bin] ?? 0, to: edges[bin + 1] ?? 0 });
  const within = `within ${duration(span)}`;
  const row =
    time === undefined
      ? -1
      : bounds.findIndex((low, place) => low <= time && time < (bounds[place + 1] ?? 0));
  if (row >= 0) {
    const [low, high] = [bounds[row] ?? 0, bounds[row + 1] ?? 0];
    return `${integer(counts[row]?.[bin] ?? 0)} of ${duration(low)} to ${duration(high)} ${within}`;
  }
  const all = counts.reduce((sum, own) => sum + (own[bin] ?? 0), 0);
  const slowest = counts.findLastIndex((own) => (own[bin] ?? 0) >= 0.5);
  const under = slowest < 0 ? "" : `, all under ${duration(bounds[slowest + 1] ?? 0)}`;
  return `${integer(all)} timed ${within}${under}`;
}
