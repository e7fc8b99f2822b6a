// Request times as the kernel saw them at sockets: counts in buckets of time, over any window, as
// quantiles and as a table. Pure.

import { duration, integer, percent } from "../data/format";
import type { Tables } from "../data/recording";
import { binAt, binCount, type Edges, edgeOf, growth, type Series } from "../data/series";
import type { Interval } from "../data/signal";
import type { BinTable } from "../data/tables";
import { length, type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import { seriesOf } from "./binLane";

/** The tables of them, with whose sockets they are of; the first that is there is drawn. */
export const SIDES = [
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

export interface BucketSeries {
  readonly below: Nanoseconds;
  readonly series: readonly Series[];
}

export function bucketsOf(table: BinTable): BucketSeries[] {
  return table.about.columns.flatMap(({ name }) => {
    const below = boundOf(name);
    return below === undefined ? [] : [{ below, series: seriesOf(table, [name]) }];
  });
}

export function grown(all: readonly Series[], window: Span): number {
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
export interface Times {
  readonly requests: number;
  readonly pipelined: number;
  readonly timed: number;
  readonly mean: Nanoseconds;
  readonly buckets: Buckets;
}

export function timesOf(table: BinTable): (window: Span) => Times {
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
/** Edges at least a second apart: a quantile of a tenth of one would be chance. */
export function bySecond(edges: Edges, first = 0): Float64Array {
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
export const LEAST_BEYOND = 5;
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
export function steady({ buckets, mean }: Times, q: Share, beyond: number): number {
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
