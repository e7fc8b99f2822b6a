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
  /** Its number over a whole window, `NaN` where nothing is known; shown while there is no cursor. */
  readonly over?: (window: Span) => number;
  /** What no number means, where it does not mean that nothing was seen: `nothing completed`. */
  readonly nothing?: string;
}

/** How many there were of each size over time, painted behind the lines of a lane. */
export interface LaneHeat {
  /** Where its bins begin and the last one ends: finer than those of the lines. */
  readonly edges: Float64Array;
  /** What parts the sizes, rising, one more than there are rows; the axis is in factors of them. */
  readonly bounds: Float64Array;
  /** Per row, lowest first, and bin. */
  readonly counts: readonly Float64Array[];
}

/** One subject over time. */
export interface Lane {
  /** Unique on the page: `pressure-cpu`. */
  readonly id: string;
  readonly title: string;
  /** Instants, ns after the origin, ascending: the middles of bins. */
  readonly times: Float64Array;
  /** Where the bins begin and the last one ends, one more than `times`: with them lines are steps as
      wide as their bins, without them they run through `times`. */
  readonly edges?: Float64Array;
  /** Whether the lines are parts of a whole: painted on top of one another, the first at the bottom. */
  readonly stacked?: boolean;
  /** Whether the axis divides by powers of 1024: bytes. */
  readonly binary?: boolean;
  readonly lines: readonly LaneLine[];
  /** How its numbers are written, on the axis and in the tooltip. */
  readonly format: (value: number) => string;
  /** The axis reaches at least to here: 1 for shares. */
  readonly least: number;
  /** A value that a finding was held against. */
  readonly threshold?: { readonly value: number; readonly label: string };
  /** What is painted behind its lines, on an axis in factors. */
  readonly heat?: LaneHeat;
  /** Whether it belongs to the lane above it, and is lower than others. */
  readonly slim?: boolean;
  /** Where nothing was seen, and why. */
  readonly unseen: readonly { readonly span: Span; readonly why: string }[];
  /** The lane in a few words where nothing moves in it; it is folded to them. */
  readonly still?: string;
  /** The whole lane in one sentence, for who does not see it. */
  readonly alternative: string;
}
