// A small line without axes: how something went over the whole run.

import { growth, meanOver, type Series } from "../data/series";
import { length, SECOND, type Share, type Span } from "../data/units";

/** A small line, in parts of its height. */
export interface Sparkline {
  /** One per step of time, 0 to 1 of `most`; `NaN` where nothing is known. */
  readonly heights: Float64Array;
  /** The highest step. */
  readonly most: number;
  /** Where the window lies, as parts of the width. */
  readonly from: Share;
  readonly to: Share;
}

const STEPS = 60;

/** What some series add up to over a run: counters per second, gauges as they stand. */
export function sparkline(all: readonly Series[], run: Span, window: Span): Sparkline {
  const heights = new Float64Array(STEPS).fill(Number.NaN);
  for (const series of all) {
    const values = stepsOf(series, run);
    for (let i = 0; i < STEPS; i++) {
      const value = values[i] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const before = heights[i] ?? Number.NaN;
      heights[i] = Number.isNaN(before) ? value : before + value;
    }
  }
  let most = 0;
  for (const height of heights) if (height > most) most = height;
  if (most > 0) for (let i = 0; i < STEPS; i++) heights[i] = (heights[i] ?? Number.NaN) / most;
  const whole = Math.max(length(run), 1);
  return {
    heights,
    most,
    from: (window.from - run.from) / whole,
    to: (window.to - run.from) / whole,
  };
}

const steps = new WeakMap<Series, Float64Array>();

function stepsOf(series: Series, run: Span): Float64Array {
  let values = steps.get(series);
  if (values === undefined) {
    values = new Float64Array(STEPS);
    const width = length(run) / STEPS;
    for (let i = 0; i < STEPS; i++) {
      const step = { from: run.from + i * width, to: run.from + (i + 1) * width };
      const value = series.gauge
        ? meanOver(series, step)
        : // Over the step, not over what is known of it: a short life is a small part.
          growth(series, step);
      values[i] = (value ?? Number.NaN) / (series.gauge ? 1 : width / SECOND);
    }
    steps.set(series, values);
  }
  return values;
}

/** The line as an SVG path in a box of `width` by `height`, one piece per stretch that is known. */
export function sparkPath({ heights }: Sparkline, width: number, height: number): string {
  const step = width / heights.length;
  let path = "";
  let drawn = false;
  heights.forEach((value, i) => {
    if (Number.isNaN(value)) {
      drawn = false;
      return;
    }
    const y = (height - value * height).toFixed(1);
    path += `${drawn ? "V" : `M${(i * step).toFixed(1)} `}${y}H${((i + 1) * step).toFixed(1)}`;
    drawn = true;
  });
  return path;
}
