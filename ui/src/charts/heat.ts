// CPUs over time as a heat map: one row per CPU, one cell per step. Pure; `views/HeatMap.tsx` paints.

import { fastestIn, slowestIn } from "../data/measure";
import type { Tables } from "../data/recording";
import { binAt, type Edges, edgeOf, knownPart, type Series, valueAt } from "../data/series";
import { length, type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import { BUSY, STATES } from "./cpuTime";

/** One CPU's cells, as parts of its time; `NaN` where nothing was seen. */
export interface HeatRow {
  readonly name: string;
  /** Where cells begin, and the last one ends. */
  readonly edges: Float64Array;
  readonly busy: Float32Array;
  /** At least so busy was the busiest reading of a cell: a burst that the mean hides. */
  readonly peak: Float32Array;
  readonly steal: Float32Array;
  readonly iowait: Float32Array;
}

/** A heat map. */
export interface Heat {
  readonly window: Span;
  readonly rows: readonly HeatRow[];
}

/** The heat map of some CPUs over a window, with at most `most` cells across; what lies in `gaps` was not
    seen, though counters are interpolated over it. */
export function heat(
  tables: Tables,
  cpus: readonly { readonly place: number; readonly name: string }[],
  { window, most, gaps }: { window: Span; most: number; gaps: readonly Span[] },
): Heat {
  const rows = cpus.map(({ place, name }) => {
    const series = (column: string) => tables.series("cpu", place, column);
    const edges = series("user_ns")?.edges;
    const cells = edges === undefined ? [] : cellsOf(edges, window, most);
    const bounds = Float64Array.from(cells, (bin) => (edges ? edgeOf(edges, bin) : 0));
    const unseen = (cell: number) =>
      gaps.some((gap) => gap.from <= (bounds[cell] ?? 0) && gap.to >= (bounds[cell + 1] ?? 0));
    return heatRow({ name, edges: bounds }, series, { cells, unseen });
  });
  return { window, rows };
}

/** Bins at which cells begin, then the bin at which the last one ends. */
function cellsOf(edges: Edges, window: Span, most: number): number[] {
  const first = binAt(edges, window.from);
  const end = binAt(edges, window.to - 1) + 1;
  const count = Math.max(1, Math.min(end - first, Math.floor(most)));
  const cells: number[] = [];
  for (let i = 0; i <= count; i++) cells.push(first + Math.round((i * (end - first)) / count));
  return cells;
}

function heatRow(
  about: { readonly name: string; readonly edges: Float64Array },
  series: (column: string) => Series | undefined,
  { cells, unseen }: { cells: readonly number[]; unseen: (cell: number) => boolean },
): HeatRow {
  const states = STATES.map(series);
  const [idle, iowait, steal] = states.slice(BUSY.length);
  const count = Math.max(0, cells.length - 1);
  const empty = () => new Float32Array(count).fill(Number.NaN);
  const row = { ...about, busy: empty(), peak: empty(), steal: empty(), iowait: empty() };
  const grown = new Float64Array(STATES.length);
  for (let cell = 0; cell < count; cell++) {
    if (unseen(cell)) continue;
    const [from, to] = [cells[cell] ?? 0, cells[cell + 1] ?? 0];
    const total = grow(states, from, to, grown);
    if (!(total > 0)) continue;
    const busy = grown.subarray(0, BUSY.length).reduce((a, b) => a + b, 0) / total;
    row.busy[cell] = busy;
    row.iowait[cell] = iowait === undefined ? Number.NaN : (grown[BUSY.length + 1] ?? 0) / total;
    row.steal[cell] = steal === undefined ? Number.NaN : (grown[BUSY.length + 2] ?? 0) / total;
    let peak = busy;
    for (let bin = from; idle !== undefined && bin < to; bin++) {
      peak = Math.max(peak, busiest(states, { idle, iowait, steal }, bin));
    }
    row.peak[cell] = Math.min(1, peak);
  }
  return row;
}

/** Growth of each series over bins, into `grown`; their sum. */
function grow(
  all: readonly (Series | undefined)[],
  from: number,
  to: number,
  grown: Float64Array,
): Nanoseconds {
  let total = 0;
  all.forEach((series, place) => {
    let sum = 0;
    for (let bin = from; series !== undefined && bin < to; bin++) {
      sum += valueAt(series, bin) || 0;
    }
    grown[place] = sum;
    total += sum;
  });
  return total;
}

/** What is left of the bin's reading at which the CPU was idle least, less what may have been stolen,
    waited for, or accounted to nothing then; 0 where that is not known. */
function busiest(
  states: readonly (Series | undefined)[],
  rest: {
    readonly idle: Series;
    readonly iowait: Series | undefined;
    readonly steal: Series | undefined;
  },
  bin: number,
): Share {
  const part = knownPart(rest.idle, bin);
  if (part === undefined) return 0;
  let accounted = 0;
  for (const series of states) accounted += series === undefined ? 0 : valueAt(series, bin) || 0;
  const lost = Math.max(0, 1 - accounted / length(part));
  const other = highest(rest.steal, bin) + highest(rest.iowait, bin);
  return 1 - slowestIn(rest.idle, bin) / SECOND - other - lost || 0;
}

function highest(series: Series | undefined, bin: number): Share {
  return series === undefined ? 0 : fastestIn(series, bin) / SECOND || 0;
}

/** The cell of a row that holds an instant; -1 where there is none. */
export function cellAt({ edges }: HeatRow, at: Nanoseconds): number {
  let cell = -1;
  while (cell + 1 < edges.length && (edges[cell + 1] ?? 0) <= at) cell += 1;
  return cell < edges.length - 1 ? cell : -1;
}

/** Pixels of a row, so that few CPUs are easy to read and many still fit. */
export function rowHeight(rows: number): number {
  return rows <= 4 ? 28 : rows <= 16 ? 20 : rows <= 64 ? 10 : 4;
}
