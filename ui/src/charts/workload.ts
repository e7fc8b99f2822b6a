// Throughput and latency over time: what the workload itself said, interval by interval.

import { duration, rate } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { type Interval, intervals, mean } from "../data/signal";
import type { Span } from "../data/units";
import { completed } from "./binLane";
import { unseen } from "./gaps";
import type { Lane, LaneLine } from "./lane";

/** The lanes of the signal; none without one. */
export function workloadLanes(recording: Recording, tables: Tables): Lane[] {
  const all = intervals(tables.rows("signal"));
  if (all.length === 0) return [];
  const { edges, at } = laidOut(all);
  const unit = recording.page.report.workload?.load.rate_unit || "per second";
  // What the sampler missed, the workload has said all the same.
  const gaps = unseen(recording, "signal").filter((gap) => !all.some((it) => covers(it, gap.span)));
  const column = (of: (interval: Interval) => number) =>
    Float64Array.from(at, (interval) => (interval === undefined ? Number.NaN : of(interval)));
  const throughput: LaneLine = {
    label: unit,
    colour: "--throughput",
    fill: 0.08,
    style: "area",
    values: column((it) => it.throughput),
    over: (window) => mean(all, window)?.throughput ?? Number.NaN,
  };
  const lane = completed(
    { id: "throughput", title: "Throughput", format: rate, least: 0, unseen: gaps },
    edges,
    [throughput],
  );
  const lanes = [lane];
  const times: LaneLine[] = [];
  const latency = column((it) => it.latency);
  if (!latency.every(Number.isNaN)) {
    times.push({
      label: "mean",
      colour: "--latency",
      fill: 0.12,
      style: "area",
      values: latency,
      nothing: "nothing completed",
      over: (window: Span) => mean(all, window)?.latency ?? Number.NaN,
    });
  }
  const lag = column((it) => it.lag);
  if (lag.some((value) => value > 0)) {
    times.push({
      label: "of it lag",
      colour: "--latency",
      fill: 0,
      style: "line",
      dash: [4, 3],
      values: lag,
      nothing: "not said",
      over: (window: Span) => mean(all, window)?.lag ?? Number.NaN,
    });
  }
  if (times.length > 0) {
    const draft = { id: "latency", title: "Latency", format: duration, least: 0 };
    lanes.push(completed({ ...draft, unseen: lane.unseen }, edges, times));
  }
  return lanes;
}

function covers(interval: Interval, span: Span): boolean {
  return interval.from < span.to && interval.to > span.from;
}

/** Intervals on one axis without holes: `undefined` stands where the workload said nothing. */
export function laidOut(all: readonly Interval[]): {
  edges: Float64Array;
  at: (Interval | undefined)[];
} {
  const edges: number[] = [];
  const at: (Interval | undefined)[] = [];
  for (const interval of all) {
    const end = edges[edges.length - 1];
    // Tools write times with few digits: what overlaps or lacks less than a hundredth is the same edge.
    const slack = (interval.to - interval.from) / 100;
    if (end === undefined) edges.push(interval.from);
    else if (interval.from > end + slack) {
      edges.push(interval.from);
      at.push(undefined);
    }
    if (interval.to <= (edges[edges.length - 1] ?? 0)) continue;
    edges.push(interval.to);
    at.push(interval);
  }
  return { edges: Float64Array.from(edges), at };
}
