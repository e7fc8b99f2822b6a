// What differs between the flame graphs of two windows, of one run or of two, and how much of that may be chance.
//
// Both are cut into blocks of time. If it made no difference in which window a block lies, shuffling the blocks
// between the windows would give differences like the one seen (a permutation test: Fisher 1935, The Design of
// Experiments). Each frame's differences are measured by their scatter over the shuffles, or large frames would hide
// small ones; of each shuffle the largest of any frame counts, so that one threshold holds for all of them together
// (Westfall and Young 1993, Resampling-Based Multiple Testing, max T). Blocks of a second hold what is alike from one
// moment to the next; a drift over the whole run is no noise to this test.

import type { Interval } from "../data/signal";
import type { SampleTable, StackTable } from "../data/stacks";
import { intersection, length, SECOND, type Share, type Span } from "../data/units";
import { ALL, byFrame, selfByFrame, weigh } from "./flame";

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
  /** Up to here differences may be chance; unknown of windows too short to tell. */
  readonly noise: Noise | undefined;
}

/** How large a difference chance makes; infinite of what was too small to be tested. */
export interface Noise {
  /** Of all that ran. */
  readonly all: number;
  readonly nodes: Float64Array;
  readonly frames: Float64Array;
}

export interface FunctionDifference {
  readonly total: number;
  readonly self: number;
}

/** A run: its samples, in the tree that it has in common with the other one. */
export interface Run {
  readonly samples: readonly SampleTable[];
  readonly edges: Float64Array;
  /** The workload's intervals, for the number of requests. */
  readonly intervals: readonly Interval[];
}

/** Windows of a run. */
export interface Side {
  readonly run: Run;
  readonly windows: readonly Span[];
}

interface Block {
  readonly span: Span;
  /** Requests, or seconds. */
  readonly units: number;
}

/** The difference of two sides, whose samples are all in one tree. */
export function difference(stacks: StackTable, first: Side, second: Side): Difference {
  const both = [first, second];
  const longest = Math.max(...both.map(({ windows }) => windows.reduce(sumOfLengths, 0)));
  const least = Math.max(BLOCK, longest / MOST_BLOCKS);
  const counted = both.map(({ run, windows }) =>
    windows
      .flatMap((it) => blocksOf(run.edges, it, least))
      .map((span) => ({ span, requests: requestsIn(run.intervals, span) })),
  );
  const per = counted.flat().every(({ requests }) => requests > 0) ? "request" : "second";
  const sides = both.map(({ run }, side) => ({
    run,
    blocks: (counted[side] ?? []).map(
      ({ span, requests }): Block => ({
        span,
        units: per === "request" ? requests : length(span) / SECOND,
      }),
    ),
  }));
  const [a, b] = sides.map((side) => weightsOf(stacks, side));
  if (a === undefined || b === undefined) throw new RangeError("two windows are compared");
  const tested = {
    nodes: testedOf(a.total, a.sum, b.total, b.sum),
    frames: testedOf(a.byFrame, a.sum, b.byFrame, b.sum),
  };
  return {
    per,
    first: a.total,
    second: b.total,
    both: a.total.map((value, node) => value + (b.total[node] ?? 0)),
    functions: stacks.frames.map((_, frame) => ({
      total: (a.byFrame[frame] ?? 0) - (b.byFrame[frame] ?? 0),
      self: (a.selfByFrame[frame] ?? 0) - (b.selfByFrame[frame] ?? 0),
    })),
    sums: [a.sum, b.sum],
    noise: noiseOf(stacks, sides, tested),
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

/** A side by its blocks. */
interface Blocks {
  readonly run: Run;
  readonly blocks: readonly Block[];
}

/** What a side's frames weigh per request or second. */
function weightsOf(stacks: StackTable, { run: { samples, edges }, blocks }: Blocks) {
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

/** The places of what is large enough in either window. */
function testedOf(a: Float64Array, ofA: number, b: Float64Array, ofB: number): number[] {
  const large = (value: number, of: number) => of > 0 && value >= TESTED * of;
  return [...a.keys()].filter((at) => large(a[at] ?? 0, ofA) || large(b[at] ?? 0, ofB));
}

/** How large chance makes differences; `undefined` where there are too few blocks. */
function noiseOf(
  stacks: StackTable,
  sides: readonly Blocks[],
  { nodes, frames }: { readonly nodes: readonly number[]; readonly frames: readonly number[] },
): Noise | undefined {
  if (sides.some(({ blocks }) => blocks.length < LEAST_BLOCKS)) return undefined;
  const row = ({ samples, edges }: Run, { span, units }: Block) => {
    const { total, ns } = weigh(stacks, samples, edges, [span]);
    const ofFrames = byFrame(stacks, total);
    const values = [
      ns,
      ...nodes.map((node) => total[node] ?? 0),
      ...frames.map((it) => ofFrames[it] ?? 0),
    ];
    return { values, units };
  };
  const rows = sides.flatMap(({ run, blocks }) => blocks.map((block) => row(run, block)));
  const [all = 0, ...each] = thresholds(rows, sides[0]?.blocks.length ?? 0);
  const placed = (places: readonly number[], count: number, from: number) => {
    const by = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    places.forEach((place, at) => {
      by[place] = each[from + at] ?? 0;
    });
    return by;
  };
  return {
    all,
    nodes: placed(nodes, stacks.frameOf.length, 0),
    frames: placed(frames, stacks.frames.length, nodes.length),
  };
}

/** The difference of each value that shuffling leaves to chance; the first `first` rows are one side. */
export function thresholds(
  rows: readonly { readonly values: readonly number[]; readonly units: number }[],
  first: number,
): number[] {
  const count = rows[0]?.values.length ?? 0;
  const whole = new Float64Array(count);
  let units = 0;
  for (const row of rows) {
    for (let at = 0; at < count; at++) whole[at] = (whole[at] ?? 0) + (row.values[at] ?? 0);
    units += row.units;
  }
  const draw = xorshift();
  const order = rows.map((_, place) => place);
  const turns: Float64Array[] = [];
  for (let turn = 0; turn < SHUFFLES; turn++) {
    const sums = new Float64Array(count);
    let own = 0;
    // The first of a random order (Fisher and Yates), no further than they are needed.
    for (let place = 0; place < first; place++) {
      const other = place + (draw() % (order.length - place));
      [order[place], order[other]] = [order[other] ?? 0, order[place] ?? 0];
      const row = rows[order[place] ?? 0];
      for (let at = 0; at < count; at++) sums[at] = (sums[at] ?? 0) + (row?.values[at] ?? 0);
      own += row?.units ?? 0;
    }
    turns.push(
      sums.map((sum, at) => Math.abs(sum / own - ((whole[at] ?? 0) - sum) / (units - own))),
    );
  }
  const scatter = Array.from({ length: count }, (_, at) =>
    Math.sqrt(turns.reduce((sum, turn) => sum + (turn[at] ?? 0) ** 2, 0) / SHUFFLES),
  );
  const largest = turns.map((turn) =>
    scatter.reduce((most, one, at) => (one > 0 ? Math.max(most, (turn[at] ?? 0) / one) : most), 0),
  );
  largest.sort((a, b) => a - b);
  const most = largest[Math.ceil((1 - CHANCE) * (SHUFFLES + 1)) - 1] ?? 0;
  return scatter.map((one) => most * one);
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

/** How large chance makes the difference of a node, or of all; `undefined` where that is not known. */
export function noiseAt({ noise }: Difference, node: number): number | undefined {
  return node === ALL ? noise?.all : noise?.nodes[node];
}

/** Whether a difference is larger than chance makes it. */
export function isBeyond(by: number, noise: number | undefined): boolean {
  return noise !== undefined && Math.abs(by) > noise;
}
