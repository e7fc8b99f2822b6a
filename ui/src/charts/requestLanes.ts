// Request times as a lane under the throughput: cells under quantiles. Pure.

import { duration, rate } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { type Edges, valueAt } from "../data/series";
import type { BinTable } from "../data/tables";
import { intersection, type Share, type Span } from "../data/units";
import { binLane, completed, seriesOf } from "./binLane";
import { bounds as allBounds, without } from "./bins";
import { unseen } from "./gaps";
import type { Lane, LaneHeat } from "./lane";
import {
  type BucketSeries,
  bucketsOf,
  bySecond,
  grown,
  LEAST_BEYOND,
  SIDES,
  steady,
  type Times,
  timesOf,
} from "./requestTimes";

/** As many must lie beyond a quantile of a line, which is looked at for its course. */
const LEAST_BEYOND_IN_BIN = 2;

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
