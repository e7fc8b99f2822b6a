// A lane: one subject over time, as numbers to be painted. Pure; `views/LaneChart.tsx` paints.

import type { Pixels, Span } from "../data/units";

/** How a line of a lane is drawn. */
export type LineStyle = "line" | "area" | "steps";

/** One line of a lane. */
export interface LaneLine {
  /** What it is called in legend and tooltip: `some`. */
  readonly label: string;
  /** The colour, as a custom property of theme/tokens.css: `--cpu`. */
  readonly colour: string;
  /** How strongly an area is filled, 0 to 1: full is darker than some. */
  readonly fill: number;
  readonly style: LineStyle;
  /** Dashes in CSS pixels, so that lines differ without colour too. */
  readonly dash?: readonly Pixels[];
  /** One value per instant of the lane; `NaN` where nothing is known. */
  readonly values: Float64Array;
  /** Lowest and highest of what lies between two instants, drawn as a band. */
  readonly low?: Float64Array;
  readonly high?: Float64Array;
}

/** One subject over time. */
export interface Lane {
  /** Unique on the page: `pressure-cpu`. */
  readonly id: string;
  readonly title: string;
  /** Instants, ns after the origin, ascending: the middles of bins. */
  readonly times: Float64Array;
  readonly lines: readonly LaneLine[];
  /** How its numbers are written, on the axis and in the tooltip. */
  readonly format: (value: number) => string;
  /** The axis reaches at least to here: 1 for shares. */
  readonly least: number;
  /** A value that a finding was held against. */
  readonly threshold?: { readonly value: number; readonly label: string };
  /** Where nothing was seen, and why. */
  readonly unseen: readonly { readonly span: Span; readonly why: string }[];
  /** The whole lane in one sentence, for who does not see it. */
  readonly alternative: string;
}
