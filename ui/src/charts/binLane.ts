// A lane out of series of one table: what lanes of tables have in common.

import { type Edges, growth, type Series, sumOver } from "../data/series";
import type { BinTable } from "../data/tables";
import type { Span } from "../data/units";
import { blanks, bounds, middles, summed, without } from "./bins";
import type { Unseen } from "./gaps";
import type { Lane, LaneLine } from "./lane";

/** A line of a lane before it has numbers. */
export interface LineDraft extends Omit<LaneLine, "values" | "low" | "high" | "over"> {
  /** What is added up: one, or one per CPU or interface. */
  readonly series: readonly (Series | undefined)[];
  /** What a number is multiplied by: 1e-9 makes a share of nanoseconds per second. */
  readonly factor?: number;
}

export interface LaneDraft extends Omit<Lane, "times" | "edges" | "lines" | "alternative"> {
  readonly lines: readonly LineDraft[];
}

/** Lines whose series are all missing are left out; `undefined` without any line. */
export function binLane(table: BinTable, draft: LaneDraft): Lane | undefined {
  const lines = draft.lines.flatMap((line) => lineOf(line, table.edges) ?? []);
  return lines.length === 0 ? undefined : completed(draft, bounds(table.edges), lines);
}

/** All series of some columns of a table, of those entities that `which` wants. */
export function seriesOf(
  table: BinTable,
  columns: readonly string[],
  which: (entity: number) => boolean = () => true,
): Series[] {
  return columns.flatMap((name) => {
    const place = table.about.columns.findIndex((column) => column.name === name);
    const all = [...(table.columns[place] ?? [])];
    return all.flatMap(([entity, series]) => (which(entity) ? [series] : []));
  });
}

/** Hatches what no line knows, says the whole in words, and whether anything moves. */
export function completed(
  draft: Omit<Lane, "times" | "edges" | "lines" | "alternative">,
  edges: Float64Array,
  drawn: readonly LaneLine[],
): Lane {
  const gaps = draft.unseen.map((it) => it.span);
  const lines = drawn.map((line) => ({ ...line, ...without(line, edges, gaps) }));
  const lane = {
    ...draft,
    times: middles(edges),
    edges,
    lines,
    unseen: reasoned(blanksOf(edges, lines), draft.unseen),
    alternative: alternative(draft.title, lines, draft.format),
  };
  const still = stillness(lane);
  return still === undefined ? lane : { ...lane, still };
}

/** Where nothing is known of any line for which that means that it was not seen. */
function blanksOf(edges: Float64Array, lines: readonly LaneLine[]): Span[] {
  const seen = lines.filter((line) => line.nothing === undefined);
  return seen.length === 0
    ? []
    : blanks(
        edges,
        seen.map((line) => line.values),
      );
}

function lineOf(draft: LineDraft, edges: Edges): LaneLine | undefined {
  const { series, factor = 1, ...line } = draft;
  const known = series.filter((it) => it !== undefined);
  if (known.length === 0) return undefined;
  const over = (window: Span) => factor * (sumOver(known, window) ?? Number.NaN);
  return { ...line, ...summed(known, factor, edges), over };
}

/** Parts of the growth of several counters: of a CPU's time by state, the states. */
export function partOver(parts: readonly Series[], whole: readonly Series[], window: Span): number {
  const sum = (all: readonly Series[]) =>
    all.reduce((total, series) => total + (growth(series, window) ?? 0), 0);
  const total = sum(whole);
  // Without steal in the recording it is not known, not zero.
  return total > 0 && parts.length > 0 ? sum(parts) / total : Number.NaN;
}

/** Blank stretches with the reason of the gap that they lie in, and gaps that are not blank. */
function reasoned(spans: readonly Span[], gaps: readonly Unseen[]): Unseen[] {
  const blank = spans.map((span): Unseen => {
    const gap = gaps.find((it) => it.span.from < span.to && it.span.to > span.from);
    return { span, why: gap?.why ?? "nothing was read" };
  });
  const hatched = (gap: Unseen) =>
    spans.some((span) => span.from <= gap.span.from && span.to >= gap.span.to);
  return [...blank, ...gaps.filter((gap) => !hatched(gap))];
}

function known(numbers: Float64Array): { low: number; high: number } | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    if (number < low) low = number;
    if (number > high) high = number;
  }
  return low <= high ? { low, high } : undefined;
}

function rangeOf(line: LaneLine): { low: number; high: number } | undefined {
  const { low = line.values, high = line.values } = line;
  const [least, most] = [known(low), known(high)];
  return least && most && { low: least.low, high: most.high };
}

/** `CPU pressure of the machine: some 0 to 94 %, full 0.` */
export function alternative(
  title: string,
  lines: readonly LaneLine[],
  format: (value: number) => string,
): string {
  const said = lines.map((line) => {
    const range = rangeOf(line);
    const name = line.label === title ? "" : `${line.label} `;
    if (range === undefined) return `${name}${line.nothing ?? "not seen"}`;
    const [low, high] = [format(range.low), format(range.high)];
    return low === high ? `${name}${low}` : `${name}${low} to ${high}`;
  });
  return `${title}: ${said.join(", ")}.`;
}

/** Below this part of what its axis reaches at least, nothing of a lane can be made out. */
const SMALL = 0.005;

/** What a lane is folded to: nothing happens in it, or too little to be made out. An amount of memory may
    stand still at any height; a rate, a share or a time that never changes is worth seeing. */
function stillness(lane: Lane): string | undefined {
  const { format, lines } = lane;
  const most = Math.max(...lines.map((line) => rangeOf(line)?.high ?? 0));
  if (most <= SMALL * lane.least && format(most) !== format(0)) {
    return `at most ${format(most)} throughout`;
  }
  const values = lines.map((line) => {
    const range = rangeOf(line);
    if (range === undefined) return line.nothing ?? "not seen";
    const [low, high] = [format(range.low), format(range.high)];
    return low === high && (lane.binary || high === format(0)) ? high : undefined;
  });
  const [first] = values;
  if (first === undefined || values.includes(undefined)) return undefined;
  if (values.every((value) => value === first)) return `${first} throughout`;
  return `${lines.map((line, at) => `${line.label} ${values[at]}`).join(", ")} throughout`;
}
