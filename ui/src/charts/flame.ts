// Flame graphs: the weight of samples by place in the tree of call stacks, and the boxes that are drawn of it.
// Weights are CPU time, blocked time, or both: tables of samples over the same stacks.

import { binAt } from "../data/series";
import type { Frame, SampleTable, StackTable } from "../data/stacks";
import { length, type Nanoseconds, type Share, type Span } from "../data/units";

/** What samples of a window weigh. */
export interface Weights {
  /** By node of the tree, with all below it. */
  readonly total: Float64Array;
  /** By node, without what is below it. */
  readonly self: Float64Array;
  /** Samples in the page; in a page that holds one of several, so many fewer. */
  readonly samples: number;
  readonly ns: Nanoseconds;
  /** Part of the stacks in user space that lead to the outermost function; unknown without any. */
  readonly whole: Share | undefined;
  /** Part of the time whose innermost frame has no name. */
  readonly unnamed: Share;
  /** The standard deviation of `ns`, as far as waits stand for others. */
  readonly deviation: Nanoseconds;
}

/** What the samples of windows weigh together; a bin belongs to the window that holds its middle. */
export function weigh(
  stacks: StackTable,
  tables: readonly SampleTable[],
  edges: Float64Array,
  windows: readonly Span[],
): Weights {
  const self = new Float64Array(stacks.frameOf.length);
  let [count, unwound, whole, variance] = [0, 0, 0, 0];
  for (const samples of tables) {
    const scale = 1 / (samples.traced?.(windows) || 1);
    for (const window of windows) {
      const [first, last] = rowsOf(samples, edges, window);
      for (let row = first; row < last; row++) {
        const of = samples.samples[row] ?? 0;
        const node = samples.stacks[row] ?? 0;
        self[node] = (self[node] ?? 0) + scale * (samples.ns[row] ?? 0);
        count += of;
        variance += (scale * (samples.deviations?.[row] ?? 0)) ** 2;
        const end = samples.ends[row] ?? -1;
        if (end >= 0) unwound += of;
        if (end === 0) whole += of;
      }
    }
  }
  const total = withBelow(stacks, self);
  let [ns, unnamed] = [0, 0];
  for (let node = 0; node < self.length; node++) {
    const own = self[node] ?? 0;
    ns += own;
    if (own > 0 && frameOf(stacks, innermost(stacks, node))?.kind !== "function") unnamed += own;
  }
  return {
    total,
    self,
    samples: count,
    ns,
    whole: unwound > 0 ? whole / unwound : undefined,
    unnamed: ns > 0 ? unnamed / ns : 0,
    deviation: Math.sqrt(variance),
  };
}

const frameOf = ({ frames, frameOf }: StackTable, node: number): Frame | undefined =>
  frames[frameOf[node] ?? 0];

/** The node itself, or who waited where it is what was waited for. */
function innermost(stacks: StackTable, node: number): number {
  return frameOf(stacks, node)?.kind === "class" ? (stacks.callers[node] ?? 0) : node;
}

/** What each node weighs with all below it. */
function withBelow({ callers }: StackTable, self: Float64Array): Float64Array {
  const total = self.slice();
  for (let node = total.length - 1; node >= 0; node--) {
    const caller = callers[node] ?? -1;
    if (caller >= 0) total[caller] = (total[caller] ?? 0) + (total[node] ?? 0);
  }
  return total;
}

/** The first row of a window, and the first behind it. */
function rowsOf({ bins }: SampleTable, edges: Float64Array, window: Span): [number, number] {
  const middle = (bin: number) => ((edges[bin] ?? 0) + (edges[bin + 1] ?? 0)) / 2;
  const all = { all: edges, stride: 1 };
  const [from, to] = [binAt(all, window.from), binAt(all, window.to)];
  const firstBin = middle(from) < window.from ? from + 1 : from;
  const endBin = middle(to) < window.to ? to + 1 : to;
  return [rowAt(bins, firstBin), rowAt(bins, endBin)];
}

/** The first row of a bin or a later one. */
function rowAt(bins: Int32Array, bin: number): number {
  let [low, high] = [0, bins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bins[middle] ?? 0) < bin) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The box of all that ran. */
export const ALL = -1;

/** One box: left edge and width as parts of the graph's width. */
export interface Box {
  /** The node of the tree, or `ALL`. */
  readonly node: number;
  /** Boxes between it and the edge at which the graph begins. */
  readonly level: number;
  readonly left: Share;
  readonly width: Share;
}

/** The boxes in sight: what called `root` as wide as the graph, then `root`, and below it what is at least as wide
    as `least`. What is narrower is passed over with all below it, so the work depends on what is seen. */
export function boxes(
  stacks: StackTable,
  total: Float64Array,
  { root, least }: { root: number; least: Share },
): Box[] {
  const all: Box[] = [];
  const above: number[] = [];
  for (let node = root; node !== ALL; node = stacks.callers[node] ?? ALL) above.push(node);
  above.push(ALL);
  for (const [level, node] of above.reverse().entries())
    all.push({ node, level, left: 0, width: 1 });
  const whole = root === ALL ? sumOfRoots(stacks, total) : (total[root] ?? 0);
  if (!(whole > 0)) return all;
  const base = root === ALL ? -1 : (stacks.levels[root] ?? 0);
  const end = root === ALL ? total.length : (stacks.ends[root] ?? 0);
  // Where the next box of each level begins.
  const next = [0];
  for (let node = root + 1; node < end; ) {
    const level = (stacks.levels[node] ?? 0) - base - 1;
    const width = (total[node] ?? 0) / whole;
    const left = next[level] ?? 0;
    next[level] = left + width;
    next[level + 1] = left;
    if (width >= least && width > 0) {
      all.push({ node, level: above.length + level, left, width });
      node += 1;
    } else node = Math.max(stacks.ends[node] ?? 0, node + 1);
  }
  return all;
}

function sumOfRoots({ ends }: StackTable, total: Float64Array): number {
  let sum = 0;
  for (let node = 0; node < total.length; node = Math.max(ends[node] ?? 0, node + 1))
    sum += total[node] ?? 0;
  return sum;
}

/** Where keys lead from a box: to what called it, to the widest of what it called, to its neighbours. */
export type Way = "caller" | "called" | "before" | "after";

export function neighbour(all: readonly Box[], place: number, way: Way): number {
  const from = all[place];
  if (from === undefined) return 0;
  const at = (level: number) =>
    all.map((box, place) => ({ ...box, place })).filter((box) => box.level === level);
  const middle = from.left + from.width / 2;
  const holds = (box: Box) => box.left <= middle && box.left + box.width >= middle;
  if (way === "caller") return at(from.level - 1).find(holds)?.place ?? place;
  if (way === "called") {
    const [widest] = at(from.level + 1)
      .filter((box) => box.left >= from.left - 1e-9 && box.left < from.left + from.width)
      .sort((a, b) => b.width - a.width);
    return widest?.place ?? place;
  }
  const row = at(from.level);
  const own = row.findIndex((box) => box.place === place);
  return row[own + (way === "after" ? 1 : -1)]?.place ?? place;
}

/** What a search finds. */
export interface Found {
  /** By place in `frames`, whether its name matches. */
  readonly frames: Uint8Array;
  /** How many functions match. */
  readonly count: number;
  /** Part of the time in stacks that hold one of them, whatever the number of them. */
  readonly share: Share;
}

/** How names are searched: a text in any case, or a regular expression between slashes. */
export function matcher(query: string): ((name: string) => boolean) | undefined {
  const expression = /^\/(.+)\/(i?)$/.exec(query);
  if (expression === null) {
    const wanted = query.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
  }
  try {
    const pattern = new RegExp(expression[1] ?? "", expression[2]);
    return (name) => pattern.test(name);
  } catch {
    return undefined;
  }
}

export function found(
  stacks: StackTable,
  { total, ns }: { readonly total: Float64Array; readonly ns: Nanoseconds },
  matches: (name: string) => boolean,
): Found {
  const frames = Uint8Array.from(stacks.frames, ({ name }) => (matches(name) ? 1 : 0));
  let sum = 0;
  for (let node = 0; node < total.length; ) {
    if (frames[stacks.frameOf[node] ?? 0] !== 1) node += 1;
    else {
      sum += total[node] ?? 0;
      node = Math.max(stacks.ends[node] ?? 0, node + 1);
    }
  }
  const count = frames.reduce((sum, one) => sum + one, 0);
  return { frames, count, share: ns > 0 ? sum / ns : 0 };
}

/** By place in `frames` what each weighs wherever it stands; in a function that calls itself only the outermost call
    counts. */
export function byFrame(stacks: StackTable, total: Float64Array): Float64Array {
  const sums = new Float64Array(stacks.frames.length);
  // Up to where the outermost call of each frame reaches.
  const open = new Int32Array(stacks.frames.length);
  for (let node = 0; node < total.length; node++) {
    const frame = stacks.frameOf[node] ?? 0;
    if (node < (open[frame] ?? 0)) continue;
    open[frame] = stacks.ends[node] ?? 0;
    sums[frame] = (sums[frame] ?? 0) + (total[node] ?? 0);
  }
  return sums;
}

/** By place in `frames` what runs, or waits, in each itself. */
export function selfByFrame(stacks: StackTable, self: Float64Array): Float64Array {
  const sums = new Float64Array(stacks.frames.length);
  for (let node = 0; node < self.length; node++) {
    const frame = stacks.frameOf[innermost(stacks, node)] ?? 0;
    sums[frame] = (sums[frame] ?? 0) + (self[node] ?? 0);
  }
  return sums;
}

/** What is left of a window without another. */
export function without(window: Span, other: Span): Span[] {
  return [
    { from: window.from, to: Math.min(window.to, other.from) },
    { from: Math.max(window.from, other.to), to: window.to },
  ].filter((span) => length(span) > 0);
}
