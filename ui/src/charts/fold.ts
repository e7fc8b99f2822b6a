// A quantity over time, folded: a column for each cycle of a period, a row for each part of it, so that what comes
// again and again lies in a line. Pure; `views/Folded.tsx` paints.

import { rate as inWords } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { binCount, edgeOf, type Series, valueAt } from "../data/series";
import type { RowTable } from "../data/tables";
import {
  hull,
  intersection,
  length,
  type Nanoseconds,
  SECOND,
  type Share,
  type Span,
} from "../data/units";
import { meant } from "./entitySets";
import { ledgerColumns } from "./ledger";

/** Amounts in bins, ascending; where there is no bin there was none. */
export interface Amounts {
  readonly from: Float64Array;
  readonly to: Float64Array;
  readonly amounts: Float64Array;
  /** The usual length of a bin: a cell is no shorter. */
  readonly bin: Nanoseconds;
  /** Outside nothing is known. */
  readonly known: Span;
  /** Nor in these. */
  readonly holes?: readonly Span[];
}

/** Something that can be folded. */
export interface Foldable {
  readonly id: string;
  readonly title: string;
  /** What a cell's number is: `CPUs`, `requests/s`. */
  readonly unit: string;
  /** Its table, whose gaps are not seen. */
  readonly table: string;
  readonly data: Amounts;
}

/** A column of the fine bins, or the sum of some. */
export function ofRows({ about, columns, times }: RowTable, ...names: readonly string[]): Amounts {
  const place = (name: string) => about.columns.findIndex((column) => column.name === name);
  const bin = columns[place("bin_ns")]?.[0] || SECOND;
  const own = names.map((name) => columns[place(name)]);
  return {
    from: times,
    to: times.map((at) => at + bin),
    amounts: times.map((_, row) => own.reduce((sum, column) => sum + (column?.[row] || 0), 0)),
    bin,
    known: { from: times[0] ?? 0, to: (times[times.length - 1] ?? 0) + bin },
  };
}

/** What lies between bins that would follow each other if nothing were missing. */
export function holesOf({ from, to, bin }: Amounts): Span[] {
  const holes: Span[] = [];
  for (let at = 0; at + 1 < from.length; at++) {
    const hole = { from: to[at] ?? 0, to: from[at + 1] ?? 0 };
    // The clocks of bins and of the page drift a little against each other.
    if (length(hole) > bin / 10) holes.push(hole);
  }
  return holes;
}

/** The growth of several counters together, in their own bins. */
export function ofSeries(all: readonly Series[]): Amounts | undefined {
  // Those of others may have wider bins: the finest can be told.
  const stride = Math.min(...all.map(({ edges }) => edges.stride));
  const own = all.filter(({ edges, gauge }) => edges.stride === stride && !gauge);
  const [first] = own;
  if (first === undefined) return undefined;
  const bins = Array.from({ length: binCount(first.edges) }, (_, bin) => bin);
  const edge = (bin: number) => edgeOf(first.edges, bin);
  const lengths = bins.map((bin) => edge(bin + 1) - edge(bin)).sort((a, b) => a - b);
  return {
    from: Float64Array.from(bins, edge),
    to: Float64Array.from(bins, (bin) => edge(bin + 1)),
    amounts: Float64Array.from(bins, (bin) =>
      own.reduce((sum, series) => sum + (valueAt(series, bin) || 0), 0),
    ),
    bin: lengths[lengths.length >> 1] ?? SECOND,
    known: hull(own.map(({ known }) => known)) ?? { from: 0, to: 0 },
  };
}

/** Tables that are folded. */
export const FOLDED: readonly string[] = [
  "on_cpu",
  "cpu_bin",
  "blocked",
  "request_bin",
  "requests",
  "ledger",
];

/** So much of a recording must lie in on-windows for its exact bins to be drawn, and not samples of all of it. */
const MOSTLY: Share = 0.9;

/** The part of a recording that they cover. */
const covered = ({ from, bin }: Amounts, { whole }: Recording): Share =>
  (from.length * bin) / length(whole);

/** What of a recording can be folded. */
export function foldables(recording: Recording, tables: Tables): Foldable[] {
  const all: Foldable[] = [];
  const add = (about: Omit<Foldable, "data">, data: Amounts | undefined) => {
    if (data?.amounts.some((it) => it > 0)) all.push({ ...about, data });
  };
  const counted = tables.rows("cpu_bin");
  const waited = counted && counted.times.length > 0 ? ofRows(counted, "cpu_wait_ns") : undefined;
  const holes = waited ? holesOf(waited) : [];
  const sampled = tables.rows("on_cpu");
  const isCounted =
    waited !== undefined && (sampled === undefined || covered(waited, recording) > MOSTLY);
  const onCpu = (id: string, whose: string, ...columns: readonly string[]) => {
    const about = { id, title: `on-CPU, ${whose}`, unit: "CPUs" };
    if (isCounted && counted)
      add({ ...about, table: "cpu_bin" }, { ...ofRows(counted, ...columns), holes });
    else add({ ...about, table: "cpu_sample" }, sampled && ofRows(sampled, ...columns));
  };
  onCpu("cpu", "all", "target_ns", "generator_ns", "others_ns");
  onCpu("cpu-target", "target", "target_ns");
  onCpu("cpu-generator", "load generator", "generator_ns");
  onCpu("cpu-others", "others", "others_ns");
  const answered = tables.rows("request_bin");
  const requests = tables.bins("requests");
  const place = requests?.about.columns.findIndex(({ name }) => name === "requests") ?? -1;
  const ofRequests = { id: "requests", title: "requests", unit: "requests/s" };
  if (answered) add({ ...ofRequests, table: "request_bin" }, ofRows(answered, "requests"));
  else {
    const all = [...(requests?.columns[place]?.values() ?? [])];
    add({ ...ofRequests, table: "requests" }, ofSeries(all));
  }
  const blocked = tables.rows("blocked");
  const ledger = tables.bins("ledger");
  if (ledger !== undefined) {
    const threads = new Set(meant(recording, "thread", { kind: "role", role: "target" }));
    for (const { key, label, state, series } of ledgerColumns(ledger)) {
      const about = (table: string) => {
        return { id: key, title: `target: ${label}`, unit: "threads", table };
      };
      const fine = blocked?.about.columns.some(({ name }) => name === `${key}_ns`);
      const own = () => [...series].flatMap(([thread, it]) => (threads.has(thread) ? [it] : []));
      if (key === "cpu_wait" && waited) add(about("cpu_bin"), { ...waited, holes });
      else if (blocked !== undefined && fine) {
        // Waits are taken where the CPUs' bins are counted.
        const known = waited?.known ?? recording.whole;
        add(about("wait_sample"), { ...ofRows(blocked, `${key}_ns`), known, holes });
      } else if (key === "cpu_wait" || state === "blocked") {
        add(about("thread_time"), ofSeries(own()));
      }
    }
  }
  return all;
}

/** Cells at most, in one direction. */
const MOST_CYCLES = 4000;
const MOST_ROWS = 500;

/** A folded quantity. */
export interface Fold {
  readonly period: Nanoseconds;
  /** The time of a row's cell. */
  readonly cell: Nanoseconds;
  readonly rows: number;
  /** The number of the first cycle since the origin. */
  readonly first: number;
  readonly cycles: number;
  /** Per cycle and row: the mean amount per ns, `NaN` where it was not seen. */
  readonly rates: Float64Array;
  readonly most: number;
}

/** Folds what lies in view; what lies in `gaps`, or outside of `whole`, was not seen. */
export function fold(
  data: Amounts,
  {
    period,
    view,
    whole,
    gaps,
  }: { period: Nanoseconds; view: Span; whole: Span; gaps: readonly Span[] },
): Fold {
  const rows = Math.max(1, Math.min(MOST_ROWS, Math.floor(period / data.bin + 1e-9)));
  const cell = period / rows;
  const first = Math.floor(view.from / period);
  const cycles = Math.min(MOST_CYCLES, Math.max(1, Math.ceil(view.to / period) - first));
  const origin = first * period;
  const sums = new Float64Array(rows * cycles);
  const seen = new Float64Array(rows * cycles);
  const spread = (into: Float64Array, span: Span, amount: number) => {
    const all = length(span);
    const begin = Math.max(0, Math.floor((span.from - origin) / cell));
    for (let at = begin; at < into.length && origin + at * cell < span.to; at++) {
      const part = intersection(span, { from: origin + at * cell, to: origin + (at + 1) * cell });
      if (part !== undefined && all > 0) into[at] = (into[at] ?? 0) + (amount * length(part)) / all;
    }
  };
  const known = intersection(whole, data.known);
  if (known !== undefined) spread(seen, known, length(known));
  for (const gap of [...gaps, ...(data.holes ?? [])]) {
    const inside = known && intersection(gap, known);
    if (inside !== undefined) spread(seen, inside, -length(inside));
  }
  for (let bin = 0; bin < data.from.length; bin++) {
    const span = { from: data.from[bin] ?? 0, to: data.to[bin] ?? 0 };
    if (span.to > origin && (data.amounts[bin] ?? 0) > 0)
      spread(sums, span, data.amounts[bin] ?? 0);
  }
  let most = 0;
  const rates = sums.map((sum, at) => {
    const time = seen[at] ?? 0;
    if (time < cell / 2) return Number.NaN;
    most = Math.max(most, sum / time);
    return sum / time;
  });
  return { period, cell, rows, first, cycles, rates, most };
}

/** When a cell was. */
export function cellSpan({ period, cell, first }: Fold, cycle: number, row: number): Span {
  const from = (first + cycle) * period + row * cell;
  return { from, to: from + cell };
}

/** A cell's number with its unit: `0.4 CPUs`. */
export function rateWords(rate: number, unit: string): string {
  if (Number.isNaN(rate)) return "not seen";
  return `${inWords(unit.endsWith("/s") ? rate * SECOND : rate)} ${unit}`;
}

/** A row of a fold: its mean over the cycles that were seen, to compare phases of the period. */
export function rowMean({ rows, cycles, rates }: Fold, row: number): number {
  let [sum, count] = [0, 0];
  for (let cycle = 0; cycle < cycles; cycle++) {
    const rate = rates[cycle * rows + row] ?? Number.NaN;
    if (!Number.isNaN(rate)) [sum, count] = [sum + rate, count + 1];
  }
  return count > 0 ? sum / count : Number.NaN;
}
