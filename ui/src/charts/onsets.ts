// Lanes laid over each other at the onsets of spikes: the middle course of each line, and how far spikes differ. Pure.

import { binAt } from "../data/series";
import type { Nanoseconds, Span } from "../data/units";
import type { Lane } from "./lane";

/** One line of a lane around an onset. */
export interface Course {
  /** `Latency: mean`. */
  readonly title: string;
  readonly colour: string;
  readonly format: (value: number) => string;
  /** Per step the lower quartile, the median and the upper quartile of the spikes; empty where fewer than half of
      them are known. */
  readonly steps: readonly (readonly number[])[];
  /** The highest of the upper quartiles. */
  readonly most: number;
  /** The median before the onset, and the median after it that is farthest from that. */
  readonly before: number;
  readonly after: number;
  /** Whether that is farther than spikes differ from each other before. */
  readonly moves: boolean;
}

/** Equal steps of time relative to an onset, from below 0 to above it. */
export interface Steps extends Span {
  readonly step: Nanoseconds;
}

/** Steps at most: more than that no small chart shows. */
const MOST_STEPS = 120;
/** More spikes than that make a course no clearer. */
const MOST_SPIKES = 500;
/** What changes by a smaller part of its height cannot be made out. */
const LEAST_MOVE = 0.05;

/** From one length of a spike before the onset, at least ten intervals, to two after it. */
export function stepsAround(usual: Nanoseconds, interval: Nanoseconds): Steps {
  // Whole milliseconds: intervals are measured, and nobody reads 999.9 ms.
  const fine = Math.max(Math.round(interval / 1e6), 1) * 1e6;
  const unit = Math.max(usual, 10 * fine);
  const step = fine * Math.ceil((3 * unit) / fine / MOST_STEPS);
  const before = Math.ceil(unit / step) * step;
  return { from: -before, to: 2 * before, step };
}

/** The course of every line that is ever above 0, lane by lane. */
export function courses(
  lanes: readonly Lane[],
  spikes: readonly Span[],
  { from, to, step }: Steps,
): Course[] {
  const onsets = spikes.slice(0, MOST_SPIKES);
  const offsets = Array.from({ length: Math.round((to - from) / step) }, (_, at) => at);
  return lanes.flatMap((lane) => {
    const bins = offsets.map((at) =>
      onsets.map((spike) => binOf(lane, spike.from + from + (at + 0.5) * step)),
    );
    return lane.lines.flatMap(({ label, colour, values }): Course[] => {
      const steps = bins.map((own) => quartiles(own.map((bin) => values[bin] ?? Number.NaN)));
      const onset = Math.round(-from / step);
      const calm = steps.slice(0, onset).filter(isKnown);
      const most = highest(steps.map(([, , high = 0]) => high));
      const before = quartiles(calm.map(([, middle]) => middle))[1];
      if (before === undefined || most <= 0) return [];
      const after = steps
        .slice(onset)
        .filter(isKnown)
        .reduce(
          (far, [, it]) => (Math.abs(it - before) > Math.abs(far - before) ? it : far),
          before,
        );
      const spread = highest(calm.map(([low, , high]) => high - low));
      const moves = Math.abs(after - before) > Math.max(spread, LEAST_MOVE * most);
      const title = label === lane.title ? label : `${lane.title}: ${label}`;
      return [{ title, colour, format: lane.format, steps, most, before, after, moves }];
    });
  });
}

type Quartiles = readonly [low: number, middle: number, high: number];

function isKnown(step: readonly number[]): step is Quartiles {
  return step.length > 0;
}

function highest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

/** Where in a lane an instant lies; -1 outside. */
function binOf({ edges, times }: Lane, at: Nanoseconds): number {
  const all = edges ?? times;
  const isInside = at >= (all[0] ?? 0) && at < (all[all.length - 1] ?? 0);
  return isInside ? binAt({ all, stride: 1 }, at) : -1;
}

/** Quartiles of what is known, between neighbours in proportion; nothing where that is less than half. */
function quartiles(values: readonly number[]): readonly number[] {
  const known = values.filter((it) => !Number.isNaN(it)).sort((a, b) => a - b);
  if (known.length === 0 || known.length < values.length / 2) return [];
  return [0.25, 0.5, 0.75].map((part) => {
    const place = part * (known.length - 1);
    const [below, above] = [known[Math.floor(place)] ?? 0, known[Math.ceil(place)] ?? 0];
    return below + (place % 1) * (above - below);
  });
}

/** A course as SVG paths in a box: the band of the middle half, and the median; nothing where it is not known. */
export function coursePaths(
  { steps, most }: Course,
  width: number,
  height: number,
): { band: string; line: string } {
  const x = (step: number) => ((step * width) / steps.length).toFixed(1);
  const y = (value: number) => (height - (height * value) / most).toFixed(1);
  let [band, line] = ["", ""];
  steps.forEach((step, at) => {
    if (!isKnown(step)) return;
    const [low, middle, high] = step;
    line += `${steps[at - 1]?.length ? "V" : `M${x(at)} `}${y(middle)}H${x(at + 1)}`;
    band += `M${x(at)} ${y(low)}V${y(high)}H${x(at + 1)}V${y(low)}Z`;
  });
  return { band, line };
}
