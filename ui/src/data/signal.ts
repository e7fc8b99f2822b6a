// The workload's own view over a window, as the engine works it out (crates/analysis/src/signals.rs).

import type { RowTable } from "./tables";
import { hull, length, type Nanoseconds, SECOND, type Span } from "./units";

/** One interval of the workload's signal; `NaN` is "not said" or "nothing was completed". */
export interface Interval extends Span {
  /** Operations per second. */
  readonly throughput: number;
  readonly latency: Nanoseconds;
  readonly lag: Nanoseconds;
  readonly failed: number;
}

/** Throughput and latency over a window. */
export interface Mean {
  readonly throughput: number;
  readonly latency: Nanoseconds;
  readonly lag: Nanoseconds;
  readonly failed: number;
}

const kept = new WeakMap<RowTable, readonly Interval[]>();

/** The intervals of a recording, in the order of time. */
export function intervals(table: RowTable | undefined): readonly Interval[] {
  if (table === undefined) return [];
  const all = kept.get(table) ?? read(table);
  kept.set(table, all);
  return all;
}

function read(table: RowTable): Interval[] {
  const column = (name: string) => {
    const place = table.about.columns.findIndex((other) => other.name === name);
    return (row: number) => table.columns[place]?.[row] ?? Number.NaN;
  };
  const width = column("interval_ns");
  const throughput = column("throughput_milli");
  const latency = column("latency_mean_ns");
  const lag = column("lag_mean_ns");
  const failed = column("failed");
  const all: Interval[] = [];
  for (let row = 0; row < table.times.length; row++) {
    const to = table.times[row] ?? 0;
    if (!(width(row) > 0) || Number.isNaN(throughput(row))) continue;
    all.push({
      from: to - width(row),
      to,
      throughput: throughput(row) / 1e3,
      latency: latency(row),
      lag: lag(row),
      failed: failed(row),
    });
  }
  return all.sort((a, b) => a.to - b.to);
}

/** Intervals that lie in a window by at least half. */
export function inside(all: readonly Interval[], window: Span): Interval[] {
  return all.filter((interval) => {
    const both = Math.min(window.to, interval.to) - Math.max(window.from, interval.from);
    return both > 0 && both >= length(interval) - Math.floor(length(interval) / 2);
  });
}

/** The window of the whole intervals that lie in it: threads and response times are compared over it. */
export function comparable(all: readonly Interval[], window: Span): Span {
  return hull(inside(all, window)) ?? window;
}

/** The means over a window, weighted by operations; `undefined` without intervals. */
export function mean(all: readonly Interval[], window: Span): Mean | undefined {
  const chosen = inside(all, window);
  const seconds = sum(chosen.map((interval) => length(interval) / SECOND));
  if (seconds <= 0) return undefined;
  return {
    throughput: sum(chosen.map(completed)) / seconds,
    latency: weighted(chosen, (interval) => interval.latency),
    lag: weighted(chosen, (interval) => interval.lag),
    failed: sum(chosen.map((interval) => interval.failed).filter((count) => !Number.isNaN(count))),
  };
}

function completed(interval: Interval): number {
  return (interval.throughput * length(interval)) / SECOND;
}

function weighted(chosen: readonly Interval[], of: (interval: Interval) => number): number {
  const known = chosen.filter((interval) => !Number.isNaN(of(interval)));
  const count = sum(known.map(completed));
  return count > 0 ? sum(known.map((it) => of(it) * completed(it))) / count : Number.NaN;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
