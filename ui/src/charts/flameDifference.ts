// What differs between the flame graphs of two windows, and how much of that may be chance.
//
// Both are cut into blocks of time. If it made no difference in which window a block lies, shuffling the blocks
// between the windows would give differences like the one seen (a permutation test: Fisher 1935, The Design of
// Experiments). Of each shuffle the largest difference of any frame counts, so that one threshold holds for all of
// them together (Westfall and Young 1993, Resampling-Based Multiple Testing). Blocks of a second hold what is alike
// from one moment to the next; a drift over the whole run is no noise to this test.

import type { Interval } from "../data/signal";
import type { SampleTable, StackTable } from "../data/stacks";
import { intersection, length, SECOND, type Share, type Span } from "../data/units";
import { byFrame, selfByFrame, weigh } from "./flame";

/** A block is at least as long. */
const BLOCK = SECOND;
/** Blocks of a window, about: more tell little more, and each is weighed. */
const MOST_BLOCKS = 100;
/** With fewer blocks of each window than this, shuffling gives too few different answers. */
export const LEAST_BLOCKS = 4;
/** Frames of at least this part of the time of either window are tested. */
const TESTED: Share = 0.01;
const SHUFFLES = 499;
/** Part of the shuffles that may reach beyond the threshold. */
const CHANCE: Share = 0.05;

/** Time per request, or per second, of two windows: what is in the first less what is in the second. */
export interface Difference {
  readonly per: "request" | "second";
  /** By node, in ns per request or second, of each window. */
  readonly first: Float64Array;
  readonly second: Float64Array;
  /** By node the sum of both: what boxes are as wide as. */
  readonly both: Float64Array;
  /** By place in `frames`: the same of functions wherever they stand, with what they call and without. */
  readonly functions: readonly FunctionDifference[];
  /** All that ran, of each window. */
  readonly sums: readonly [number, number];
  /** Smaller differences may be chance; unknown of windows too short to tell. */
  readonly noise: number | undefined;
  /** By node, whether it was large enough to be tested. */
  readonly tested: Uint8Array;
}

export interface FunctionDifference {
  readonly total: number;
  readonly self: number;
  readonly tested: boolean;
}

/** What is compared. */
export interface Compared {
  readonly stacks: StackTable;
  readonly samples: readonly SampleTable[];
  readonly edges: Float64Array;
  /** The workload's intervals, for the number of requests. */
  readonly intervals: readonly Interval[];
}

interface Block {
  readonly span: Span;
  /** Requests, or seconds. */
  readonly units: number;
}

export function difference(
  of: Compared,
  first: readonly Span[],
  second: readonly Span[],
): Difference {
  const longest = Math.max(...[first, second].map((spans) => spans.reduce(sumOfLengths, 0)));
  const least = Math.max(BLOCK, longest / MOST_BLOCKS);
  const sides = [first, second].map((spans) =>
    spans.flatMap((it) => blocksOf(of.edges, it, least)),
  );
  const counted = sides.map((spans) => spans.map((span) => requestsIn(of.intervals, span)));
  const per = counted.flat().every((count) => count > 0) ? "request" : "second";
  const blocks = sides.map((spans, side) =>
    spans.map(
      (span, place): Block => ({
        span,
        units: per === "request" ? (counted[side]?.[place] ?? 0) : length(span) / SECOND,
      }),
    ),
  );
  const [a, b] = [0, 1].map((side) => weightsOf(of, blocks[side] ?? []));
  if (a === undefined || b === undefined) throw new RangeError("two windows are compared");
  const tested = testedOf(a.total, a.sum, b.total, b.sum);
  const testedFrames = testedOf(a.byFrame, a.sum, b.byFrame, b.sum);
  return {
    per,
    first: a.total,
    second: b.total,
    both: a.total.map((value, node) => value + (b.total[node] ?? 0)),
    functions: of.stacks.frames.map((_, frame) => ({
      total: (a.byFrame[frame] ?? 0) - (b.byFrame[frame] ?? 0),
      self: (a.selfByFrame[frame] ?? 0) - (b.selfByFrame[frame] ?? 0),
      tested: testedFrames[frame] === 1,
    })),
    sums: [a.sum, b.sum],
    noise: noiseOf(of, blocks, tested, testedFrames),
    tested,
  };
}

const sumOfLengths = (sum: number, span: Span) => sum + length(span);

/** Whole bins of at least a length together; what is left at the end belongs to the last block. */
function blocksOf(edges: Float64Array, window: Span, least: number): Span[] {
  const blocks: Span[] = [];
  let from = window.from;
  for (const edge of edges) {
    if (edge - from < least * 0.99 || edge > window.to) continue;
    blocks.push({ from, to: edge });
    from = edge;
  }
  const last = blocks.pop();
  return [...blocks, { from: last?.from ?? window.from, to: window.to }];
}

function requestsIn(intervals: readonly Interval[], span: Span): number {
  let sum = 0;
  for (const interval of intervals) {
    const both = intersection(interval, span);
    if (both !== undefined) sum += (interval.throughput * length(both)) / SECOND;
  }
  return sum;
}

/** What a window's frames weigh per request or second. */
function weightsOf({ stacks, samples, edges }: Compared, blocks: readonly Block[]) {
  const units = blocks.reduce((sum, block) => sum + block.units, 0);
  const spans = blocks.map(({ span }) => span);
  const { total, self, ns } = weigh(stacks, samples, edges, spans);
  const each = (values: Float64Array) => values.map((value) => (units > 0 ? value / units : 0));
  return {
    total: each(total),
    byFrame: each(byFrame(stacks, total)),
    selfByFrame: each(selfByFrame(stacks, self)),
    sum: units > 0 ? ns / units : 0,
  };
}

function testedOf(a: Float64Array, ofA: number, b: Float64Array, ofB: number): Uint8Array {
  const large = (value: number, of: number) => of > 0 && value >= TESTED * of;
  return Uint8Array.from(a, (value, place) =>
    large(value, ofA) || large(b[place] ?? 0, ofB) ? 1 : 0,
  );
}

/** The threshold below which a difference may be chance; `undefined` where there are too few blocks. */
function noiseOf(
  { stacks, samples, edges }: Compared,
  sides: readonly (readonly Block[])[],
  tested: Uint8Array,
  testedFrames: Uint8Array,
): number | undefined {
  if (sides.some((blocks) => blocks.length < LEAST_BLOCKS)) return undefined;
  const nodes = placesOf(tested);
  const frames = placesOf(testedFrames);
  const rows = sides.flat().map(({ span, units }) => {
    const { total } = weigh(stacks, samples, edges, [span]);
    const ofFrames = byFrame(stacks, total);
    const values = [
      ...nodes.map((node) => total[node] ?? 0),
      ...frames.map((it) => ofFrames[it] ?? 0),
    ];
    return { values, units };
  });
  return threshold(rows, sides[0]?.length ?? 0);
}

function placesOf(marks: Uint8Array): number[] {
  return [...marks.keys()].filter((place) => marks[place] === 1);
}

/** The largest difference of any value that shuffling leaves to chance; the first `first` rows are one side. */
export function threshold(
  rows: readonly { readonly values: readonly number[]; readonly units: number }[],
  first: number,
): number {
  const count = rows[0]?.values.length ?? 0;
  const whole = new Float64Array(count);
  let units = 0;
  for (const row of rows) {
    for (let at = 0; at < count; at++) whole[at] = (whole[at] ?? 0) + (row.values[at] ?? 0);
    units += row.units;
  }
  const draw = xorshift();
  const order = rows.map((_, place) => place);
  const largest: number[] = [];
  const sums = new Float64Array(count);
  for (let turn = 0; turn < SHUFFLES; turn++) {
    sums.fill(0);
    let own = 0;
    // The first of a random order (Fisher and Yates), no further than they are needed.
    for (let place = 0; place < first; place++) {
      const other = place + (draw() % (order.length - place));
      [order[place], order[other]] = [order[other] ?? 0, order[place] ?? 0];
      const row = rows[order[place] ?? 0];
      for (let at = 0; at < count; at++) sums[at] = (sums[at] ?? 0) + (row?.values[at] ?? 0);
      own += row?.units ?? 0;
    }
    let most = 0;
    for (let at = 0; at < count; at++) {
      const sum = sums[at] ?? 0;
      most = Math.max(most, Math.abs(sum / own - ((whole[at] ?? 0) - sum) / (units - own)));
    }
    largest.push(most);
  }
  largest.sort((a, b) => a - b);
  return largest[Math.ceil((1 - CHANCE) * (SHUFFLES + 1)) - 1] ?? 0;
}

/** Random numbers, the same each time: a page must always say the same (Marsaglia 2003, `xorshift32`). */
function xorshift(): () => number {
  let state = 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Whether a difference is larger than chance makes it. */
export function isBeyondNoise({ noise }: Difference, by: number, tested: boolean): boolean {
  return tested && noise !== undefined && Math.abs(by) > noise;
}
