// Single numbers with their course: what a table of a resource is made of.

import { highestIn, type Measured } from "../data/measure";
import type { PageTable } from "../data/page.gen";
import type { Series } from "../data/series";
import type { Span } from "../data/units";

/** A number over a window. */
export interface Figure {
  readonly label: string;
  readonly help: string;
  /** As it is written; `undefined` where it was not seen. */
  readonly value: string | undefined;
  /** Its highest, where that says more. */
  readonly highest: string | undefined;
  /** Whether it is nothing at all. */
  readonly zero: boolean;
  /** What it is the sum of, for its course. */
  readonly series: readonly Series[];
}

/** A figure before it has numbers. */
export interface FigureDraft {
  /** The columns that are added up. */
  readonly columns: readonly string[];
  readonly label: string;
  /** What it is, where the first column's own words do not say it. */
  readonly help?: string;
  /** `rate`: a counter per second; `count`: how much it grew; `mean`, `last`: of a gauge. */
  readonly of: "rate" | "count" | "mean" | "last";
  readonly format: (value: number) => string;
}

/** The figures that a table has the columns for. */
export function figures(
  about: PageTable,
  of: Measured,
  window: Span,
  drafts: readonly FigureDraft[],
): Figure[] {
  return drafts.flatMap((draft) => {
    const columns = draft.columns.filter((name) => about.columns.some((it) => it.name === name));
    if (columns.length === 0) return [];
    const series = columns.map(of.series).filter((it) => it !== undefined);
    const ask = { rate: of.rate, count: of.growth, mean: of.mean, last: of.last }[draft.of];
    const values = columns.map(ask).filter((it) => it !== undefined);
    const value = values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0);
    const [only] = series;
    const highest =
      series.length === 1 && only !== undefined && draft.of !== "count"
        ? highestIn(only, window)
        : undefined;
    const help = about.columns.find((it) => it.name === columns[0])?.help ?? "";
    return [
      {
        label: draft.label,
        help: draft.help ?? help,
        value: value === undefined ? undefined : draft.format(value),
        highest: highest === undefined ? undefined : draft.format(highest),
        zero: value === 0 && !(highest !== undefined && highest > 0),
        series,
      },
    ];
  });
}
