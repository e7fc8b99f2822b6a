// The few questions that are asked of an entity's rows over a window, as the engine asks them
// (crates/analysis/src/measure.rs). What was not recorded is `undefined`, never zero.

import type { Tables } from "./recording";
import {
  binAt,
  edgeOf,
  growth,
  knownPart,
  meanOver,
  rateOver,
  type Series,
  valueAt,
} from "./series";
import { length, SECOND, type Span } from "./units";

/** One table's numbers about one entity over a window. */
export interface Measured {
  readonly series: (column: string) => Series | undefined;
  /** A counter's growth per second of what is known of the window. */
  readonly rate: (column: string) => number | undefined;
  /** How much a counter grew. */
  readonly growth: (column: string) => number | undefined;
  /** A gauge's mean over time. */
  readonly mean: (column: string) => number | undefined;
  /** A gauge's last value. */
  readonly last: (column: string) => number | undefined;
  /** A gauge's lowest reading. */
  readonly lowest: (column: string) => number | undefined;
}

export function measured(tables: Tables, table: string, entity: number, window: Span): Measured {
  const series = (column: string) => tables.series(table, entity, column);
  const ask = (question: (series: Series, window: Span) => number | undefined) => {
    return (column: string) => {
      const found = series(column);
      return found && question(found, window);
    };
  };
  return {
    series,
    rate: ask(rateOver),
    growth: ask(growth),
    mean: ask(meanOver),
    last: ask(lastIn),
    lowest: ask(lowestIn),
  };
}

/** A gauge's value at the end of a window, or where it was last seen before; unknown before it was seen. */
export function lastIn(series: Series, window: Span): number | undefined {
  if (window.to <= series.known.from) return undefined;
  const last = Math.min(window.to, series.known.to);
  const bin = Math.min(binAt(series.edges, last - 1), series.firstBin + series.bins - 1);
  const value = valueAt(series, Math.max(bin, series.firstBin));
  return Number.isNaN(value) ? undefined : value;
}

export function lowestIn(series: Series, window: Span): number | undefined {
  let lowest: number | undefined;
  eachBin(series, window, (bin) => {
    const value = valueAt(series, bin, "low");
    if (!Number.isNaN(value)) lowest = Math.min(lowest ?? value, value);
  });
  return lowest;
}

/** A gauge's highest reading in a window, or a counter's fastest growth per second. */
export function highestIn(series: Series, window: Span): number | undefined {
  let highest: number | undefined;
  eachBin(series, window, (bin) => {
    const value = series.gauge ? valueAt(series, bin, "high") : fastestIn(series, bin);
    if (!Number.isNaN(value)) highest = Math.max(highest ?? value, value);
  });
  return highest;
}

/** The fastest growth per second that was seen in a bin; `NaN` where nothing is known. */
export function fastestIn(series: Series, bin: number): number {
  return Math.max(speedIn(series, bin), readingIn(series, bin, "high"));
}

/** The slowest growth per second that was seen in a bin; `NaN` where nothing is known. */
export function slowestIn(series: Series, bin: number): number {
  return Math.min(speedIn(series, bin), readingIn(series, bin, "low"));
}

/** Growth per second at one reading: `low` and `high` are what the whole bin would have had at it. */
function readingIn(series: Series, bin: number, of: "low" | "high"): number {
  if (series[of] === series.values) return speedIn(series, bin);
  const width = edgeOf(series.edges, bin + 1) - edgeOf(series.edges, bin);
  return valueAt(series, bin, of) / (width / SECOND);
}

/** Growth per second in a bin; `NaN` where nothing is known. */
export function speedIn(series: Series, bin: number): number {
  const part = knownPart(series, bin);
  return part === undefined ? Number.NaN : valueAt(series, bin) / (length(part) / SECOND);
}

/** Calls `each` with every bin that a window touches and the series has. */
export function eachBin(series: Series, window: Span, each: (bin: number) => void): void {
  const first = Math.max(binAt(series.edges, window.from), series.firstBin);
  const last = Math.min(binAt(series.edges, window.to - 1), series.firstBin + series.bins - 1);
  for (let bin = first; bin <= last; bin++) each(bin);
}

/** Adds what is known; `undefined` of nothing. */
export function sumOf(values: readonly (number | undefined)[]): number | undefined {
  let sum: number | undefined;
  for (const value of values) if (value !== undefined) sum = (sum ?? 0) + value;
  return sum;
}

/** `a / b`, `undefined` where that means nothing. */
export function ratio(a: number | undefined, b: number | undefined): number | undefined {
  return a !== undefined && b !== undefined && b > 0 ? a / b : undefined;
}
