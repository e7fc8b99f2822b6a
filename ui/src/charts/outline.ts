// A lane as the points that are painted: uPlot's columns, x first.

import type { Span } from "../data/units";
import type { Lane, LaneLine } from "./lane";

export type Points = (number | null)[];

/** One painted series of a lane. */
export interface Stroke {
  readonly line: LaneLine;
  /** Its edge itself, or the lowest or highest of what lies between two instants. */
  readonly of: "values" | "low" | "high";
  readonly y: Points;
}

export interface Outline {
  readonly x: number[];
  /** In the order of painting. */
  readonly strokes: readonly Stroke[];
}

/** With edges every bin becomes a step from where it begins to where it ends. */
export function outline(lane: Lane): Outline {
  const { edges } = lane;
  const widths = edges === undefined ? 1 : 2;
  const x: number[] = [];
  for (let bin = 0; bin < lane.times.length; bin++) {
    if (edges === undefined) x.push(lane.times[bin] ?? 0);
    else x.push(edges[bin] ?? 0, edges[bin + 1] ?? 0);
  }
  const points = (numbers: Float64Array) => {
    const y: Points = new Array(numbers.length * widths);
    for (let bin = 0; bin < numbers.length; bin++) {
      const value = numbers[bin] ?? Number.NaN;
      y.fill(Number.isNaN(value) ? null : value, bin * widths, (bin + 1) * widths);
    }
    return y;
  };
  if (lane.stacked) {
    // The highest sum first, so that the others are painted over it.
    const sums = stack(lane.lines);
    const strokes = lane.lines.map(
      (line, index): Stroke => ({ line, of: "values", y: points(sums[index] ?? line.values) }),
    );
    return { x, strokes: strokes.reverse() };
  }
  const strokes = lane.lines.flatMap((line): Stroke[] => {
    const itself: Stroke = { line, of: "values", y: points(line.values) };
    if (line.low === undefined || line.high === undefined) return [itself];
    return [
      { line, of: "high", y: points(line.high) },
      { line, of: "low", y: points(line.low) },
      itself,
    ];
  });
  return { x, strokes };
}

/** Sums of the lines from the first on; nothing where one of them is not known. */
export function stack(lines: readonly LaneLine[]): Float64Array[] {
  const sums: Float64Array[] = [];
  for (const line of lines) {
    const below = sums[sums.length - 1];
    sums.push(line.values.map((value, bin) => value + (below?.[bin] ?? 0)));
  }
  const top = sums[sums.length - 1];
  return sums.map((sum) =>
    sum.map((value, bin) => (Number.isNaN(top?.[bin]) ? Number.NaN : value)),
  );
}

/** What the vertical axis reaches from and to. */
export function reach(lane: Lane): { low: number; high: number } {
  let low = 0;
  let high = Math.max(lane.least, lane.threshold?.value ?? 0);
  const columns = lane.stacked
    ? stack(lane.lines)
    : lane.lines.flatMap((line) => [line.values, line.low, line.high]);
  for (const column of columns) {
    for (const value of column ?? []) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  // Shares may exceed their interval by a little, which is carried and not clipped.
  if (high < lane.least * 1.05) high = lane.least;
  const base = lane.binary ? 1024 : 10;
  return { low: low < 0 ? -round(-low, base) : 0, high: round(high, base) };
}

/** The next number that reads well. */
function round(value: number, base: 10 | 1024): number {
  if (value <= 0) return 1;
  const unit = base ** Math.floor(Math.log(value) / Math.log(base) + 1e-9);
  if (base === 1024) {
    // 1, 2, 4 ... 512 of a unit, and halves of them.
    const power = 2 ** Math.floor(Math.log2(value / unit) + 1e-9);
    return [1, 1.5, 2].map((step) => step * power * unit).find((step) => step >= value) ?? value;
  }
  const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return steps.map((step) => step * unit).find((step) => step >= value * (1 - 1e-9)) ?? value;
}

const STEPS = [1, 2, 5].flatMap((step) => [1e6, 1e7, 1e8, 1e9].map((unit) => step * unit));
const LONG_STEPS = [1e10, 1.5e10, 3e10, 6e10, 1.2e11, 3e11, 6e11, 9e11, 1.8e12, 3.6e12, 7.2e12];

/** Instants at which the time axis is divided: at most `most`, on round numbers. */
export function ticks(view: Span, most: number): { at: number[]; step: number } {
  const length = view.to - view.from;
  const all = [...STEPS.sort((a, b) => a - b), ...LONG_STEPS];
  let step = all.find((it) => length / it <= most);
  if (step === undefined) {
    step = 4.32e13;
    while (length / step > most) step *= 2;
  }
  const at: number[] = [];
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) at.push(tick);
  return { at, step };
}
