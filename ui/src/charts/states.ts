// Columns whose numbers stand for something, like a thread's state: they have no mean. What is drawn is who
// was in which of them, and what is said is where they were most of the time, and at the end.

import { lastIn } from "../data/measure";
import type { PageColumn } from "../data/page.gen";
import { binAt, edgeOf, knownPart, type Series, valueAt } from "../data/series";
import type { BinTable } from "../data/tables";
import { intersection, length, type Nanoseconds, type Share, type Span } from "../data/units";
import { bounds, middles } from "./bins";
import type { LaneLine } from "./lane";

/** Whether a column's numbers are only names. */
export function isCode({ unit }: PageColumn): boolean {
  return unit === "code";
}

/** What a code means, in the words of its column or of the column's description; the bare number where
    neither has one. */
export function wordsOf({ help, words: own = {} }: PageColumn): (code: number) => string {
  const letters = /\bASCII\b/.test(help);
  const words = new Map<string, string>();
  for (const part of help.split(/[:;,.]\s*/)) {
    // `1 established`, `R runnable`, `4 and 5 closed by this end`.
    const [, first, second, word] =
      /^(-?\d+|[A-Z])(?: and (-?\d+))? ([a-z(].*|[A-Z].+)$/.exec(part) ?? [];
    for (const code of [first, second]) if (code && word) words.set(code, word);
  }
  for (const [code, word] of Object.entries(own)) words.set(code, word);
  return (code) => {
    const written = letters ? String.fromCharCode(code) : String(code);
    return words.get(written) ?? written;
  };
}

/** Part of the time in which a code stood. */
export interface Stood {
  readonly code: number;
  readonly share: Share;
}

/** How a series spent a window, what it was most first. */
export function stood(series: Series, window: Span): Stood[] {
  const times = new Map<number, Nanoseconds>();
  let whole = 0;
  const last = binAt(series.edges, window.to - 1);
  for (let bin = binAt(series.edges, window.from); bin <= last; bin++) {
    const code = valueAt(series, bin);
    const known = knownPart(series, bin);
    const part = known && intersection(known, window);
    if (part === undefined || Number.isNaN(code)) continue;
    times.set(code, (times.get(code) ?? 0) + length(part));
    whole += length(part);
  }
  return [...times]
    .map(([code, time]) => ({ code, share: time / whole }))
    .sort((a, b) => b.share - a.share || a.code - b.code);
}

/** What an entity's codes were over a window. */
export interface States {
  readonly most: Stood | undefined;
  readonly last: number | undefined;
  /** How many it was in: those with most are worth looking at. */
  readonly several: number;
}

export function states(series: Series, window: Span): States {
  const all = stood(series, window);
  return { most: all[0], last: lastIn(series, window), several: all.length };
}

/** Paints of states, the most frequent at the bottom; what is not among so many is one line. */
const PAINTS = [
  ["--cpu", 0.85],
  ["--io", 0.45],
  ["--memory", 0.7],
  ["--cpu", 0.3],
  ["--latency", 0.6],
  ["--network", 0.8],
  ["--io", 0.9],
] as const;

/** How many of some stand at each code, one on top of the other; of one alone, its code. */
export function stateLines(
  table: BinTable,
  all: readonly Series[],
  words: (code: number) => string,
): LaneLine[] {
  const whole = { from: edgeOf(table.edges, 0), to: table.edges.all.at(-1) ?? 0 };
  const shares = new Map<number, number>();
  for (const series of all) {
    for (const { code, share } of stood(series, whole)) {
      shares.set(code, (shares.get(code) ?? 0) + share);
    }
  }
  const codes = [...shares].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([code]) => code);
  const shown = codes.length > PAINTS.length + 1 ? codes.slice(0, PAINTS.length) : codes;
  const rest = new Set(codes.slice(shown.length));
  const line = (label: string, place: number, is: (code: number) => boolean): LaneLine => {
    const [colour, fill] = PAINTS[place] ?? ["--muted", 0.3];
    return { label, colour, fill, style: "area", ...counted(table, all, is) };
  };
  const named = shown.map((one, place) => line(words(one), place, (code) => code === one));
  if (rest.size === 0) return named;
  const others = `${rest.size} others`;
  return [...named, line(others, PAINTS.length, (code) => rest.has(code))];
}

/** How many series stand at a code that `is` wanted, per bin and over a window. */
function counted(
  { edges }: BinTable,
  all: readonly Series[],
  is: (code: number) => boolean,
): Pick<LaneLine, "values" | "over"> {
  const values = middles(bounds(edges)).map((at, bin) => {
    const whole = { from: edgeOf(edges, bin), to: edgeOf(edges, bin + 1) };
    let count = Number.NaN;
    for (const series of all) {
      const code = valueAt(series, binAt(series.edges, at));
      if (Number.isNaN(code) || intersection(series.known, whole) === undefined) continue;
      count = (Number.isNaN(count) ? 0 : count) + Number(is(code));
    }
    return count;
  });
  const over = (window: Span) => {
    let count = Number.NaN;
    for (const series of all) {
      const found = stood(series, window);
      if (found.length === 0) continue;
      const share = found.reduce((sum, it) => sum + (is(it.code) ? it.share : 0), 0);
      count = (Number.isNaN(count) ? 0 : count) + share;
    }
    return count;
  };
  return { values, over };
}
