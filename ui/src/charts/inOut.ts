// What comes in and what goes out, as one lane: filled, and dashed over it.

import type { Series } from "../data/series";
import type { BinTable } from "../data/tables";
import { binLane } from "./binLane";
import type { Unseen } from "./gaps";
import type { Lane } from "./lane";

/** What lanes of one part of the machine have in common. */
export interface InOut {
  readonly table: BinTable;
  /** Unique on the page; the lane's title is added to it. */
  readonly id: string;
  readonly colour: string;
  /** `read` and `written`. */
  readonly labels: readonly [string, string];
  readonly series: (column: string) => Series | undefined;
  readonly unseen: readonly Unseen[];
}

export function inOutLane(
  { table, id, colour, labels, series, unseen }: InOut,
  title: string,
  columns: readonly [string, string],
  format: (value: number) => string,
): Lane | undefined {
  return binLane(table, {
    id: `${id}-${title}`,
    title,
    lines: [
      { label: labels[0], colour, fill: 0.35, style: "area", series: [series(columns[0])] },
      {
        label: labels[1],
        colour,
        fill: 0,
        style: "steps",
        dash: [4, 2],
        series: [series(columns[1])],
      },
    ],
    format,
    least: 1,
    unseen,
  });
}
