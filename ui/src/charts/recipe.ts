// What a number of the verdict is redone from: the words that all recipes use.

import type { Evidence, Finding, Report } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import type { Series } from "../data/series";
import { type Interval, intervals } from "../data/signal";
import { length } from "../data/units";
import { bounds } from "./bins";
import type { Amount, Quantity } from "./quantity";
import type { Scale } from "./scale";

/** A number of a finding, with what is at hand to redo it. */
export interface Asked {
  readonly evidence: Evidence;
  readonly finding: Finding;
  /** The report that the finding stands in: of a served window another than the recording's. */
  readonly report: Report;
  readonly recording: Recording;
  readonly tables: Tables;
}

/** A quantity that can be drawn, or why there is none. */
export type Made =
  | {
      readonly quantity: Quantity;
      /** What is drawn, in words. */
      readonly how: string;
      /** Whether it is what the threshold is about. */
      readonly comparable: boolean;
      /** How it is drawn where that is not the number's own unit. */
      readonly scale?: Scale;
      /** Whose single series it is: its lowest and highest are known too. */
      readonly single?: Series;
    }
  | { readonly why: string };

export interface Recipe {
  readonly tables: readonly string[];
  readonly make: (asked: Asked) => Made;
}

export const per1s: Amount = (window) => length(window) / 1e9;

/** A quantity with the bins of a table where it has none of its own. */
export function drawn(
  tables: Tables,
  table: string,
  {
    quantity,
    ...about
  }: {
    quantity: Omit<Quantity, "edges"> & { edges?: Float64Array };
    how: string;
    comparable?: boolean;
    scale?: Scale;
  },
): Made {
  const binned = tables.bins(table);
  const edges =
    quantity.edges !== undefined && quantity.edges.length > 0
      ? quantity.edges
      : binned && bounds(binned.edges);
  if (edges === undefined || edges.length < 2) return { why: `no numbers of ${table} are here` };
  return { comparable: true, ...about, quantity: { ...quantity, edges } };
}

export function notSeen(evidence: Evidence): Made {
  return { why: `${evidence.entity.name} has no ${evidence.column} in this page` };
}

export function signalOf({ tables }: Asked): readonly Interval[] {
  return intervals(tables.rows("signal"));
}

export function at(tables: Tables, table: string, place: number | undefined, column: string) {
  return place === undefined ? undefined : tables.series(table, place, column);
}

export function series(
  tables: Tables,
  table: string,
  places: readonly (number | undefined)[],
  columns: readonly string[],
): (Series | undefined)[] {
  return columns.flatMap((column) => places.map((place) => at(tables, table, place, column)));
}
