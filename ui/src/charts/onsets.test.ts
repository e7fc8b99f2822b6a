import { describe, expect, it } from "vitest";
import { rate } from "../data/format";
import type { Lane } from "./lane";
import { coursePaths, courses, stepsAround } from "./onsets";

const MS = 1e6;
const S = 1e9;
const STEPS = { from: -S, to: 2 * S, step: 500 * MS };

/** A lane with bins of half a second. */
function lane(...lines: readonly (readonly number[])[]): Lane {
  const count = (lines[0]?.length ?? 0) + 1;
  const edges = Float64Array.from({ length: count }, (_, at) => at * 500 * MS);
  return {
    id: "drawn",
    title: "Drawn",
    edges,
    times: edges.slice(1).map((it) => it - 250 * MS),
    lines: lines.map((values, at) => ({
      label: `line ${at}`,
      colour: "--cpu",
      fill: 0,
      style: "line",
      values: Float64Array.from(values),
    })),
    format: rate,
    least: 0,
    unseen: [],
    alternative: "",
  };
}

const spikes = [2 * S, 6 * S].map((from) => ({ from, to: from + S }));
/** Ones, and around each spike what is given for it. */
const around = (first: readonly number[], second: readonly number[]) => {
  const values = Array.from({ length: 20 }, () => 1);
  for (const [at, value] of first.entries()) values[4 + at] = value;
  for (const [at, value] of second.entries()) values[12 + at] = value;
  return values;
};

describe("steps around an onset", () => {
  it("are whole milliseconds, some a spike long before it and two after it", () => {
    expect(stepsAround(798.1 * MS, 99.999397 * MS)).toEqual({
      from: -S,
      to: 2 * S,
      step: 100 * MS,
    });
  });

  it("are no more than a small chart shows, however long spikes are", () => {
    for (const usual of [0, 1.9 * S, 61 * S, 3600 * S]) {
      const { from, to, step } = stepsAround(usual, 100 * MS);
      expect((to - from) / step).toBeLessThanOrEqual(123);
      expect(to).toBe(-2 * from);
      expect(-from).toBeGreaterThanOrEqual(usual);
    }
  });
});

describe("courses", () => {
  it("are medians and quartiles of the spikes, step by step", () => {
    const [course] = courses([lane(around([9, 5], [11, 5]))], spikes, STEPS);
    expect(course?.steps.map(([, middle]) => middle)).toEqual([1, 1, 10, 5, 1, 1]);
    expect(course?.steps[2]).toEqual([9.5, 10, 10.5]);
    expect(course).toMatchObject({ title: "Drawn: line 0", before: 1, after: 10, moves: true });
  });

  it("stand out only where they move farther than spikes differ before", () => {
    const restless = around([3], [3]).map((it, at) => (at === 2 || at === 3 ? 9 : it));
    expect(courses([lane(restless)], spikes, STEPS).map(({ moves }) => moves)).toEqual([false]);
    expect(courses([lane(around([0], [0]))], spikes, STEPS)[0]).toMatchObject({
      before: 1,
      after: 0,
      moves: true,
    });
  });

  it("of what is never above 0 or not known before are left out", () => {
    const nothing = Array.from({ length: 20 }, () => 0);
    expect(
      courses(
        [
          lane(
            nothing,
            nothing.map(() => Number.NaN),
          ),
        ],
        spikes,
        STEPS,
      ),
    ).toEqual([]);
    expect(courses([lane(around([9], [9]))], [], STEPS)).toEqual([]);
  });

  it("have no step where fewer than half of the spikes are known", () => {
    const early = [S / 2, 2 * S, 99 * S].map((from) => ({ from, to: from + S }));
    const [course] = courses([lane(around([9], []))], early, STEPS);
    if (course === undefined) throw new Error("it is above 0");
    expect(course.steps.map((step) => step.length)).toEqual([0, 3, 3, 3, 3, 3]);
  });

  it("are painted as high as their highest, in pieces where they are known", () => {
    const [course] = courses([lane(around([10], [10]))], spikes, STEPS);
    if (course === undefined) throw new Error("it is above 0");
    const { line, band } = coursePaths(course, 60, 10);
    expect(line).toBe("M0.0 9.0H10.0V9.0H20.0V0.0H30.0V9.0H40.0V9.0H50.0V9.0H60.0");
    expect(band.startsWith("M0.0 9.0V9.0H10.0V9.0Z")).toBe(true);
    const torn = { ...course, steps: course.steps.map((step, at) => (at === 3 ? [] : step)) };
    expect(coursePaths(torn, 60, 10).line).toContain("H30.0M40.0 9.0H50.0");
  });
});
