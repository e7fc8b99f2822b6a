import { describe, expect, it } from "vitest";
import { random } from "../../tests/random";
import { condensed, isDense } from "./condense";
import type { Lane } from "./lane";

function lane(values: number[], stacked = false): Lane {
  return {
    id: "lane",
    title: "Lane",
    times: Float64Array.from(values, (_, bin) => bin + 0.5),
    edges: Float64Array.from({ length: values.length + 1 }, (_, bin) => bin),
    stacked,
    lines: [
      {
        label: "some",
        colour: "--cpu",
        fill: 0.3,
        style: "area",
        values: Float64Array.from(values),
      },
    ],
    format: String,
    least: 0,
    unseen: [],
    alternative: "",
  };
}

describe("a lane with more bins than pixels", () => {
  it("keeps a spike of one bin at any zoom, and the mean", () => {
    const next = random(7);
    const values = Array.from({ length: 4000 }, () => next());
    values[1234] = 99;
    for (const width of [1, 7, 300, 1000, 3999]) {
      const [line] = condensed(lane(values), { from: 0, to: 4000 }, width).lines;
      expect(line?.values.length).toBeLessThanOrEqual(width);
      expect(Math.max(...(line?.high ?? []))).toBe(99);
      expect(Math.min(...(line?.low ?? []))).toBe(Math.min(...values));
    }
    const [whole] = condensed(lane(values), { from: 0, to: 4000 }, 1).lines;
    const mean = values.reduce((sum, value) => sum + value, 0) / 4000;
    expect(whole?.values[0]).toBeCloseTo(mean);
  });

  it("weighs bins by their length, and leaves out what is not known", () => {
    const uneven = {
      ...lane([1, 4, Number.NaN, Number.NaN]),
      edges: Float64Array.of(0, 3, 4, 5, 6),
    };
    const merged = condensed(uneven, { from: 0, to: 6 }, 2);
    expect([...(merged.edges ?? [])]).toEqual([0, 4, 6]);
    expect([...(merged.lines[0]?.values ?? [])]).toEqual([7 / 4, Number.NaN]);
    expect([...merged.times]).toEqual([2, 5]);
  });

  it("keeps the extremes that bins already had", () => {
    const one = lane([1, 2]);
    const [line] = one.lines;
    if (line === undefined) throw new Error("it was drawn");
    const banded = { ...line, low: Float64Array.of(0, 1), high: Float64Array.of(7, 2) };
    const [merged] = condensed({ ...one, lines: [banded] }, { from: 0, to: 2 }, 1).lines;
    expect([merged?.low?.[0], merged?.values[0], merged?.high?.[0]]).toEqual([0, 1.5, 7]);
  });

  it("has means only where its lines are stacked", () => {
    const [line] = condensed(lane([1, 3], true), { from: 0, to: 2 }, 1).lines;
    expect([...(line?.values ?? [])]).toEqual([2]);
    expect(line?.high).toBeUndefined();
  });

  it("is looked at in the part that is in view", () => {
    const many = lane(Array.from({ length: 1000 }, (_, bin) => bin));
    expect(isDense(many, { from: 0, to: 1000 }, 400)).toBe(true);
    expect(isDense(many, { from: 0, to: 1000 }, 600)).toBe(false);
    expect(isDense(many, { from: 100, to: 300 }, 400)).toBe(false);
    const part = condensed(many, { from: 100, to: 300 }, 50);
    expect([...(part.edges ?? [])].slice(0, 2)).toEqual([100, 105]);
    expect((part.edges ?? []).length).toBeLessThanOrEqual(52);
    const { edges: _, ...points } = many;
    expect(isDense(points, { from: 0, to: 1000 }, 1)).toBe(false);
    expect(condensed(points, { from: 0, to: 1000 }, 1)).toBe(points);
  });
});
