// What each disk did, by the engine's arithmetic (crates/analysis/src/io.rs).

import { duration, rate } from "../data/format";
import { measured, ratio, sumOf } from "../data/measure";
import type { Recording, Tables } from "../data/recording";
import { type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import { completed } from "./binLane";
import { binned, bounds } from "./bins";
import { unseen } from "./gaps";
import type { Lane } from "./lane";
import { inOut, type LaneRecipe, recipeLanes } from "./laneRecipe";
import type { TreeNode } from "./tree";

/** A block device over a window; rates are per second. */
export interface Disk {
  readonly place: number;
  readonly name: string;
  readonly reads: number | undefined;
  readonly writes: number | undefined;
  readonly flushes: number | undefined;
  readonly readBytes: number | undefined;
  readonly writeBytes: number | undefined;
  /** Operations of every kind completed. */
  readonly operations: number | undefined;
  /** Mean time of a read, a write, a flush, from queueing to completion. */
  readonly readEach: Nanoseconds | undefined;
  readonly writeEach: Nanoseconds | undefined;
  readonly flushEach: Nanoseconds | undefined;
  /** Mean time of any operation: queue / operations. */
  readonly each: Nanoseconds | undefined;
  /** Mean operations in progress. */
  readonly queue: number | undefined;
  /** Part of the time with an operation in progress. */
  readonly busy: Share | undefined;
}

export function disk(recording: Recording, tables: Tables, place: number, window: Span): Disk {
  const of = measured(tables, "disk", place, window);
  const [reads, writes] = [of.rate("reads"), of.rate("writes")];
  const operations = sumOf([reads, writes, of.rate("discards"), of.rate("flushes")]);
  const queue = of.rate("queue_ns");
  const busy = of.rate("busy_ns");
  const each = (time: string, count: string) => ratio(of.rate(time), of.rate(count));
  return {
    place,
    name: recording.entity(place)?.name ?? "",
    reads,
    writes,
    flushes: of.rate("flushes"),
    readBytes: of.rate("read_bytes"),
    writeBytes: of.rate("write_bytes"),
    operations,
    readEach: each("read_ns", "reads"),
    writeEach: each("write_ns", "writes"),
    flushEach: each("flush_ns", "flushes"),
    each: ratio(queue, operations),
    queue: queue === undefined ? undefined : queue / SECOND,
    busy: busy === undefined ? undefined : Math.min(busy / SECOND, 1),
  };
}

/** The disks, those that did nothing quiet. */
export function disks(recording: Recording, tables: Tables, window: Span): TreeNode<Disk>[] {
  return recording.page.entities.flatMap((entity, place) => {
    if (entity.kind !== "disk" || tables.series("disk", place, "reads") === undefined) return [];
    const value = disk(recording, tables, place, window);
    const quiet = !((value.operations ?? 0) > 0);
    return [{ id: entity.path, value, children: [], quiet }];
  });
}

/** `1,204/s x 0.830 ms = 1.00 in progress`: Little's law, by which the numbers of a disk belong together. */
export function law({ operations, each, queue }: Disk): string | undefined {
  if (operations === undefined || each === undefined || queue === undefined) return undefined;
  return `${rate(operations)}/s x ${duration(each)} = ${rate((operations * each) / SECOND)} in progress`;
}

/** A disk's lanes. */
export function diskLanes(recording: Recording, tables: Tables, place: number): Lane[] {
  const latency = latencyLane(recording, tables, place);
  const [moved, busy] = [MOVED, BUSY].map((lanes) => {
    const recipes = { table: "disk", colour: "--io", prefix: `disk-${place}-`, lanes };
    return recipeLanes(recording, tables, recipes, (entity) => entity === place);
  });
  return [...(moved ?? []), ...(latency ? [latency] : []), ...(busy ?? [])];
}

const READ_WRITTEN = ["read", "written"] as const;
const MOVED: readonly LaneRecipe[] = [
  inOut("Operations", READ_WRITTEN, ["reads", "writes"]),
  inOut("Traffic", READ_WRITTEN, ["read_bytes", "write_bytes"]),
];
const BUSY: readonly LaneRecipe[] = [
  { id: "queue", title: "In progress", lines: [["mean", "queue_ns"]] },
  { id: "busy", title: "In use", lines: [["of the time", "busy_ns"]] },
];

/** Mean time of an operation that ended in a bin; nothing where none did. */
function latencyLane(recording: Recording, tables: Tables, place: number): Lane | undefined {
  const table = tables.bins("disk");
  const series = (column: string) => tables.series("disk", place, column);
  const edges = series("reads")?.edges;
  if (table === undefined || edges === undefined) return undefined;
  const line = (label: string, time: string, count: string, dash?: readonly number[]) => {
    const [ns, ended] = [series(time), series(count)].map((it) => it && binned(it).values);
    if (ns === undefined || ended === undefined) return [];
    const values = ns.map((value, bin) => {
      const count = ended[bin] ?? Number.NaN;
      return count > 0 ? value / count : Number.NaN;
    });
    const over = (window: Span) => {
      const of = measured(tables, "disk", place, window);
      return ratio(of.rate(time), of.rate(count)) ?? Number.NaN;
    };
    const nothing = "none";
    const look = { colour: "--io", fill: 0, style: "steps" as const, ...(dash && { dash }) };
    return [{ ...look, label, values, over, nothing }];
  };
  const lines = [
    ...line("read", "read_ns", "reads"),
    ...line("written", "write_ns", "writes", [4, 2]),
    ...line("flushed", "flush_ns", "flushes", [1, 2]),
  ];
  if (lines.length === 0) return undefined;
  const draft = {
    id: `disk-${place}-latency`,
    title: "Mean time of an operation",
    format: duration,
    least: 0,
    unseen: unseen(recording, "disk"),
  };
  return completed(draft, bounds(edges), lines);
}
