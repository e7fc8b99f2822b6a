// What a chart says of one instant.

import { instant } from "../data/format";
import type { Nanoseconds } from "../data/units";
import { atMost } from "./instants";
import type { Lane, LaneLine } from "./lane";

/** The bin of a lane that holds an instant, or the nearest point; -1 where there is none. */
export function indexAt(lane: Lane, at: Nanoseconds): number {
  const { times, edges } = lane;
  if (edges !== undefined) {
    const bin = atMost(edges, at);
    return bin < times.length ? bin : -1;
  }
  const before = atMost(times, at);
  if (times.length === 0) return -1;
  if (before < 0) return 0;
  const [left, right] = [times[before] ?? 0, times[before + 1]];
  return right !== undefined && right - at < at - left ? before + 1 : before;
}

/** A line's number at an instant, as it is written; where nothing is known it says so. */
export function reading(lane: Lane, line: LaneLine, at: Nanoseconds): string {
  const index = indexAt(lane, at);
  return written(lane, line, index < 0 ? Number.NaN : (line.values[index] ?? Number.NaN));
}

/** A number of a line as it is written. */
export function written(lane: Lane, line: LaneLine, value: number): string {
  return Number.isNaN(value) ? (line.nothing ?? "not seen") : lane.format(value);
}

/** All lanes in which something moves, at an instant, in one sentence that is read aloud. */
export function spoken(lanes: readonly Lane[], at: Nanoseconds, step: Nanoseconds): string {
  const lane = (it: Lane) =>
    `${it.title}: ${it.lines.map((line) => named(it, line, at)).join(", ")}`;
  const moving = lanes.filter(({ still }) => still === undefined);
  return `At ${instant(at, step)}. ${moving.map(lane).join("; ")}.`;
}

function named(lane: Lane, line: LaneLine, at: Nanoseconds): string {
  const value = reading(lane, line, at);
  return line.label === "" || line.label === lane.title ? value : `${line.label} ${value}`;
}
