// Request times as the kernel saw them at sockets: counts in buckets of time, over any window, as
// quantiles, as a lane under the throughput, and as a table. Pure.

import { duration, integer, percent, rate } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { binAt, binCount, type Edges, edgeOf, growth, type Series, valueAt } from "../data/series";
import type { Interval } from "../data/signal";
import type { BinTable } from "../data/tables";
import {
  intersection,
  length,
  type Nanoseconds,
  SECOND,
  type Share,
  type Span,
} from "../data/units";
import { binLane, completed, seriesOf } from "./binLane";
import { bounds as allBounds, without } from "./bins";
import { unseen } from "./gaps";
import type { Lane, LaneHeat } from "./lane";

/** The tables of them, with whose sockets they are of; the first that is there is drawn. */
const SIDES = [
  {
    table: "request_times",
    recorded: "requests",
    role: "target",
    title: "Request times, target",
    what: "requests that the target answered, each from its arrival to the last byte of the reply",
  },
  {
    table: "call_times",
    recorded: "calls",
    role: "generator",
    title: "Request times, generator",
    what: "requests that the generator sent, each from its sending to the last byte received",
  },
] as const;

export const REQUEST_TABLES: readonly string[] = SIDES.map((side) => side.table);

/** What times in a column are below (crates/sensors/src/request.rs); `undefined` where it is no bucket. */
function boundOf(column: string): Nanoseconds | undefined {
  if (column === "longer") return Number.POSITIVE_INFINITY;
  const ns = column.match(/^under_(\d+)_ns$/)?.[1];
  return ns === undefined ? undefined : Number(ns);
}

/** A histogram's buckets in rising order: what their times are below, and how many there are. */
export type Buckets = readonly { readonly below: Nanoseconds; readonly count: number }[];

interface BucketSeries {
  readonly below: Nanoseconds;
  readonly series: readonly Series[];
}

function bucketsOf(table: BinTable): BucketSeries[] {
  return table.about.columns.flatMap(({ name }) => {
    const below = boundOf(name);
    return below === undefined ? [] : [{ below, series: seriesOf(table, [name]) }];
  });
}

function grown(all: readonly Series[], window: Span): number {
  return all.reduce((sum, series) => sum + (growth(series, window) ?? 0), 0);
}

/** From here on all requests are timed, and below it a sample (LONG_NS in crates/sensors/src/request.rs). */
const LONG: Nanoseconds = 2 ** 25;

/** The part of the shorter requests that was timed. The long ones, all of which were, weigh no more than that. */
function sampledPart(requests: number, timed: number, long: number): Share {
  const [short, sampled] = [requests - long, timed - long];
  return short > 0 && sampled > 0 ? Math.min(sampled / short, 1) : 1;
}

/** What is counted over a window: a histogram in which each request weighs the same. */
interface Times {
  readonly requests: number;
  readonly pipelined: number;
  readonly timed: number;
  readonly mean: Nanoseconds;
  readonly buckets: Buckets;
}

function timesOf(table: BinTable): (window: Span) => Times {
  const names = ["requests", "pipelined", "timed", "timed_ns", "long", "long_ns"] as const;
  const columns = names.map((name) => seriesOf(table, [name]));
  const buckets = bucketsOf(table);
  return (window) => {
    const sums = columns.map((series) => grown(series, window));
    const [requests = 0, pipelined = 0, timed = 0, timedNs = 0, long = 0, longNs = 0] = sums;
    const part = sampledPart(requests, timed, long);
    const weight = timed - long + part * long;
    return {
      requests,
      pipelined,
      timed,
      mean: weight > 0 ? (timedNs - longNs + part * longNs) / weight : Number.NaN,
      buckets: buckets.map(({ below, series }) => ({
        below,
        count: grown(series, window) * (long > 0 && below > LONG ? part : 1),
      })),
    };
  };
}

/** Where a series is known is said to this, ns. */
const MICROSECOND = 1e3;

const counted = new WeakMap<BinTable, readonly Interval[]>();

/** What a workload that says nothing would have said of each second, as the engine has it: from the sockets of the
    generator, else of the target. */
export function countedIntervals(tables: Tables): readonly Interval[] {
  const table = tables.bins("call_times") ?? tables.bins("request_times");
  if (table === undefined) return [];
  const known = counted.get(table);
  if (known !== undefined) return known;
  const times = timesOf(table);
  // The engine's seconds begin where the first request was counted; that is an edge.
  const since = seriesOf(table, ["requests"]).map(({ known }) => known.from);
  const first = since.length > 0 ? binAt(table.edges, Math.min(...since) + MICROSECOND) : 0;
  const seconds = bySecond(table.edges, first);
  const all = [...seconds.slice(1)].map((to, place): Interval => {
    const span = { from: seconds[place] ?? 0, to };
    const { requests, mean } = times(span);
    const throughput = requests / (length(span) / SECOND);
    return { ...span, throughput, latency: mean, lag: Number.NaN, failed: 0 };
  });
  counted.set(table, all);
  return all;
}

/** Of how many the longest are left to themselves (crates/analysis/src/quantiles.rs). */
const LEAST_BEYOND = 5;
/** The same for the lines of a lane, which are looked at for their course. */
const LEAST_BEYOND_IN_BIN = 2;

/** The time that a part of those that were timed does not exceed; `undefined` beyond the last bound. `sum` is the
    time of all: where most are in one bucket, it says where in it (crates/analysis/src/stats/histogram.rs). */
export function quantile(buckets: Buckets, q: Share, sum?: Nanoseconds): Nanoseconds | undefined {
  const all = buckets.reduce((sum, { count }) => sum + count, 0);
  const wanted = all * (1 - q);
  let above = all;
  let lower = 0;
  for (const { below, count } of buckets) {
    if (count > 0 && above - count <= wanted) {
      const part = partOf({ buckets, lower, below, count, sum }, above, wanted);
      const value = lower + (below - lower) * part;
      return Number.isFinite(value) ? value : undefined;
    }
    above -= count;
    lower = below;
  }
  // Parts of counts do not add up to the last digit: it is the highest.
  const highest = buckets.findLast(({ count }) => count > 0)?.below;
  return Number.isFinite(highest) ? highest : undefined;
}

/** The bucket that a quantile is in, among all. */
interface Bucket {
  readonly buckets: Buckets;
  readonly lower: Nanoseconds;
  readonly below: Nanoseconds;
  readonly count: number;
  readonly sum: Nanoseconds | undefined;
}

/** How far up in its bucket the value lies that `wanted` are above; `above` are above its lower end. */
function partOf(bucket: Bucket, above: number, wanted: number): Share {
  const { count } = bucket;
  const rest = above - count;
  const falls = Math.log(above / rest);
  const logLinear = rest > 0 ? 1 / falls - rest / count : 0.5;
  const mean = meanOf(bucket, logLinear);
  if (Math.abs(mean - logLinear) > 1e-9) return ((above - wanted) / count) ** (1 / mean - 1);
  return rest > 0 ? Math.log(above / wanted) / falls : (above - wanted) / count;
}

/** The mean of a bucket's values, as a part of its width: as near to `guess` as the sum allows. */
function meanOf({ buckets, lower, below, count, sum }: Bucket, guess: Share): Share {
  const width = below - lower;
  if (sum === undefined || !Number.isFinite(width)) return guess;
  let [least, most, from] = [0, 0, 0];
  for (const other of buckets) {
    if (other.count > 0 && from !== lower) {
      least += other.count * from;
      most += other.count * other.below;
    }
    from = other.below;
  }
  const part = (sum: number) => (sum / count - lower) / width;
  const [low, high] = [part(sum - most), part(sum - least)];
  if (low > 1 || high < 0) return guess;
  const [first, last] = [Math.max(low, 1e-3), Math.min(high, 1 - 1e-3)];
  return first > last ? guess : Math.min(Math.max(guess, first), last);
}

/** The same where enough were slower for it to mean something. */
function steady({ buckets, mean }: Times, q: Share, beyond: number): number {
  const all = buckets.reduce((sum, { count }) => sum + count, 0);
  const enough = all * (1 - q) >= beyond - 1e-6;
  const sum = Number.isNaN(mean) ? undefined : mean * all;
  return (enough ? quantile(buckets, q, sum) : undefined) ?? Number.NaN;
}

/** What was counted of requests over a window. */
export interface RequestTimes {
  /** `requests that the target answered, ...`. */
  readonly what: string;
  readonly requests: number;
  /** Of these, those that more than one may be in. */
  readonly pipelined: number;
  readonly timed: number;
  readonly mean: Nanoseconds;
  /** `NaN` where too few were timed. */
  readonly median: Nanoseconds;
  readonly p99: Nanoseconds;
  readonly buckets: Buckets;
}

/** What was counted over a window at each end; nothing where no requests were. */
export function requestTimes(tables: Tables, window: Span): RequestTimes[] {
  return SIDES.flatMap(({ table: name, what }) => {
    const table = tables.bins(name);
    if (table === undefined) return [];
    const times = timesOf(table)(window);
    return [
      {
        what,
        ...times,
        median: steady(times, 0.5, LEAST_BEYOND),
        p99: steady(times, 0.99, LEAST_BEYOND),
      },
    ];
  });
}

/** A smaller part is not said. */
const LEAST_SAID: Share = 0.0005;

/** Whether every request was timed or a sample of them; and whether replies answer more than one. */
export function reservations({ requests, pipelined, timed }: RequestTimes): string {
  const all = timed >= requests - 0.5;
  const sample = all
    ? "all of them timed"
    : `${percent(timed / requests)} of them timed, sampled at random`;
  const several =
    pipelined <= LEAST_SAID * requests
      ? ""
      : `; ${percent(pipelined / requests)} of the replies answer more than one`;
  return `${sample}${several}`;
}

/** `191,582 requests that ..., all of them timed. Mean 0.3 ms, p50 0.2 ms, p99 1.1 ms.` */
export function requestSentence(of: RequestTimes): string {
  if (!(of.requests >= 0.5)) return `No ${of.what}.`;
  const known = [
    ["mean", of.mean],
    ["p50", of.median],
    ["p99", of.p99],
  ] as const;
  const said = known.flatMap(([name, value]) =>
    Number.isNaN(value) ? [] : [`${name} ${duration(value)}`],
  );
  return `${integer(of.requests)} ${of.what}; ${reservations(of)}: ${said.join(", ") || "too few for a quantile"}.`;
}

/** One line of the table: how many took at least `from` and less than `below`. */
export interface TimesRow {
  readonly from: Nanoseconds;
  readonly below: Nanoseconds;
  readonly count: number;
  readonly share: Share;
  /** Part of all that took longer. */
  readonly beyond: Share;
}

/** A histogram by factors of two; without the empty ends. */
export function timesRows(buckets: Buckets): TimesRow[] {
  const all = buckets.reduce((sum, { count }) => sum + count, 0);
  const rows: { from: number; below: number; count: number }[] = [];
  // An empty one says where the first begins.
  const [lead] = buckets;
  const leads = lead?.count === 0;
  let from = leads ? lead.below : 0;
  for (const { below, count } of leads ? buckets.slice(1) : buckets) {
    const last = rows[rows.length - 1];
    // Four buckets make a factor of two, and end on a power of two.
    if (last === undefined || Number.isInteger(Math.log2(last.below)) || below > 2 * last.below)
      rows.push({ from, below, count });
    else {
      last.below = below;
      last.count += count;
    }
    from = below;
  }
  const first = rows.findIndex((row) => row.count >= 0.5);
  const end = rows.findLastIndex((row) => row.count >= 0.5) + 1;
  let above = all;
  return rows.slice(Math.max(first, 0), end).map((row) => {
    above -= row.count;
    return { ...row, share: row.count / all, beyond: Math.max(0, above / all) };
  });
}

/** The lane of request times: cells under quantiles; none where no requests were counted. Where the
    workload says nothing of its throughput, how many there were comes first. */
export function requestLanes(recording: Recording, tables: Tables, hasSignal: boolean): Lane[] {
  const sockets = recording.page.report.by_second?.sockets;
  const sides = SIDES.filter(({ table }) => tables.bins(table) !== undefined);
  const side = sides.find(({ role }) => role === sockets) ?? sides[0];
  const table = side && tables.bins(side.table);
  if (side === undefined || table === undefined) return [];
  const buckets = bucketsOf(table);
  const gaps = unseen(recording, side.recorded);
  const told = toldOf(recording, side.role);
  const times = timesLane(side.title, table, buckets, gaps, told);
  if (hasSignal) return times;
  const throughput = binLane(table, {
    id: "requests",
    title: "Requests answered",
    format: rate,
    least: 0,
    unseen: gaps,
    lines: [
      {
        label: "per second",
        colour: "--throughput",
        fill: 0.08,
        style: "area",
        series: seriesOf(table, ["requests"]),
      },
    ],
  });
  return throughput === undefined ? times : [throughput, ...times];
}

function timesLane(
  title: string,
  table: BinTable,
  buckets: readonly BucketSeries[],
  gaps: Lane["unseen"],
  told: readonly Second[] | undefined,
): Lane[] {
  const heat = heatOf(table.edges, buckets, gaps);
  if (heat === undefined) return [];
  const seconds = told === undefined ? bySecond(table.edges) : edgesOf(told);
  const times = timesOf(table);
  const bins = [...seconds.slice(1)].map((to, bin): Times => {
    return times({ from: seconds[bin] ?? 0, to });
  });
  const style = { colour: "--ink", fill: 0, style: "line" as const, nothing: "too few" };
  const line = (label: string, q: Share, own?: readonly (number | null | undefined)[]) => ({
    ...style,
    label,
    ...(q > 0.5 && { dash: [5, 2] }),
    values: Float64Array.from(bins, (bin, at) =>
      own === undefined ? steady(bin, q, LEAST_BEYOND_IN_BIN) : (own[at] ?? Number.NaN),
    ),
    over: (window: Span) => steady(times(window), q, LEAST_BEYOND),
  });
  const longest = told && [
    {
      ...style,
      label: "max",
      dash: [1, 3],
      values: Float64Array.from(told, (it) => it.max ?? Number.NaN),
      over: (window: Span) => highest(told, window),
    },
  ];
  const draft = { id: "request-times", title, format: duration, least: 0, unseen: gaps };
  const p99 = told?.map((it) => it.p99);
  const lines = [...(longest ?? []), line("p99", 0.99, p99), line("p50", 0.5)];
  return [{ ...completed(draft, seconds, lines), heat }];
}

/** One second as the report has it. */
interface Second {
  readonly span: Span;
  readonly p99: number | null | undefined;
  readonly max: number | null | undefined;
}

/** The report's seconds, where they are of these sockets (crates/analysis/src/by_second.rs). */
function toldOf(recording: Recording, role: string): Second[] | undefined {
  const told = recording.page.report.by_second;
  if (!told || told.sockets !== role || told.seconds.length === 0) return undefined;
  return told.seconds.map(({ window, p99_ns, max_ns }) => ({
    span: recording.span(window),
    p99: p99_ns,
    max: max_ns,
  }));
}

function edgesOf(told: readonly Second[]): Float64Array {
  const [first] = told;
  return Float64Array.from([first?.span.from ?? 0, ...told.map((it) => it.span.to)]);
}

/** The highest of the seconds of which any part is in a window. */
function highest(told: readonly Second[], window: Span): number {
  const inside = told.filter(({ span }) => intersection(span, window) !== undefined);
  return inside.reduce((most, { max }) => Math.max(most, max ?? 0), 0) || Number.NaN;
}

/** Edges at least a second apart: a quantile of a tenth of one would be chance. */
function bySecond(edges: Edges, first = 0): Float64Array {
  const chosen = [edgeOf(edges, first)];
  for (let bin = first + 1; bin <= binCount(edges); bin++) {
    const at = edgeOf(edges, bin);
    if (at - (chosen[chosen.length - 1] ?? 0) >= SECOND * (1 - 1e-6)) chosen.push(at);
  }
  // What is left at the end belongs to the last.
  const end = edgeOf(edges, binCount(edges));
  if (chosen.length > 1) chosen[chosen.length - 1] = end;
  else chosen.push(end);
  return Float64Array.from(chosen);
}

/** Every bucket's count in every bin. */
function heatOf(
  edges: Edges,
  buckets: readonly BucketSeries[],
  gaps: Lane["unseen"],
): LaneHeat | undefined {
  const met = buckets.filter(({ series }) => series.some((it) => grown([it], it.known) > 0));
  const [first] = met;
  if (first === undefined) return undefined;
  const before = buckets[buckets.indexOf(first) - 1]?.below;
  // The shortest and the longest have no end of their own: they are drawn one factor of two high.
  const lowest = before ?? first.below / 2;
  const rows = buckets.slice(
    buckets.indexOf(first),
    buckets.indexOf(met[met.length - 1] ?? first) + 1,
  );
  const bounds = [lowest];
  for (const { below } of rows) {
    bounds.push(Number.isFinite(below) ? below : 2 * (bounds[bounds.length - 1] ?? 1));
  }
  const all = allBounds(edges);
  return {
    edges: all,
    bounds: Float64Array.from(bounds),
    counts: rows.map(({ series }) => {
      const counts = new Float64Array(all.length - 1);
      for (const own of series) {
        for (let bin = 0; bin < counts.length; bin++) {
          counts[bin] = (counts[bin] ?? 0) + (valueAt(own, bin) || 0);
        }
      }
      // Counters are interpolated over what was not seen.
      return without(
        { values: counts },
        all,
        gaps.map((gap) => gap.span),
      ).values;
    }),
  };
}

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
