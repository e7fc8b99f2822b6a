import { describe, expect, it } from "vitest";
import type { Series } from "../data/series";
import { binned, blanks, bounds, middles, summed, without } from "./bins";

const edges = { all: Float64Array.from([0, 1e9, 2e9, 3e9, 4e9]), stride: 1 };
const NONE = Number.NaN;

function series(values: number[], more: Partial<Series> = {}): Series {
  const numbers = Float64Array.from(values);
  const known = { from: 0, to: 4e9 };
  const one = { edges, gauge: false, known, firstBin: 0, bins: values.length };
  return { ...one, values: numbers, low: numbers, high: numbers, ...more };
}

describe("series by bins", () => {
  it("are growth per second of what is known of the bin", () => {
    const late = series([5, 20, 30, 40], { known: { from: 0.5e9, to: 4e9 } });
    expect([...binned(late).values]).toEqual([10, 20, 30, 40]);
    expect([...binned(late, 1e-3).values]).toEqual([0.01, 0.02, 0.03, 0.04]);
  });

  it("are unknown outside of the series, never zero", () => {
    const short = series([7, 8], { firstBin: 1, known: { from: 1e9, to: 3e9 } });
    expect([...binned(short).values]).toEqual([NONE, 7, 8, NONE]);
  });

  it("leave out a bin of which next to nothing is known", () => {
    const sliver = series([1, 2, 3, 4], { known: { from: 0.999e9, to: 4e9 } });
    expect([...binned(sliver).values]).toEqual([NONE, 2, 3, 4]);
  });

  it("keep lowest and highest, so that a spike stays visible", () => {
    const spiky = series([10, 10, 10, 10], {
      low: Float64Array.of(0, 10, 10, 10),
      high: Float64Array.of(80, 10, 10, 10),
    });
    const { low, high } = binned(spiky, 2);
    expect([...(low ?? [])]).toEqual([0, 20, 20, 20]);
    expect([...(high ?? [])]).toEqual([160, 20, 20, 20]);
    expect(binned(series([1])).high).toBeUndefined();
  });

  it("are means of a gauge", () => {
    expect([...binned(series([5, 6], { gauge: true })).values]).toEqual([5, 6, NONE, NONE]);
  });

  it("are brought into the bins of another", () => {
    const wide = series([30, 70], { edges: { all: edges.all, stride: 2 } });
    expect([...binned(wide, 1, edges).values]).toEqual([15, 15, 35, 35]);
    expect([...binned(wide).values]).toEqual([15, 35]);
    const gauge = series([3, 7], { edges: { all: edges.all, stride: 2 }, gauge: true });
    expect([...binned(gauge, 1, edges).values]).toEqual([3, 3, 7, 7]);
  });

  it("are brought into bins that theirs are no multiple of, with their extremes", () => {
    const all = Float64Array.from([0, 1, 2, 3, 4, 5, 6], (at) => at * 1e9);
    const wide = series([30, 90], {
      edges: { all, stride: 3 },
      known: { from: 0, to: 6e9 },
      low: Float64Array.of(0, 60),
      high: Float64Array.of(60, 300),
    });
    const { values, low, high } = binned(wide, 1, { all, stride: 2 });
    // The second bin lies in both.
    expect([...values]).toEqual([10, 20, 30]);
    expect([...(low ?? [])]).toEqual([0, 0, 20]);
    expect([...(high ?? [])]).toEqual([20, 100, 100]);
  });
});

describe("sums", () => {
  const brief = (from: number, to: number, value: number, more: Partial<Series> = {}) => {
    const firstBin = Math.floor(from);
    return series([value], { known: { from: from * 1e9, to: to * 1e9 }, firstBin, ...more });
  };

  it("are over those that are known, and of nothing are unknown", () => {
    const all = [brief(0, 1, 1), brief(0, 1, 2), brief(1, 2, 3), brief(3, 4, 9)];
    expect([...summed(all).values]).toEqual([3, 3, NONE, 9]);
    expect(summed([])).toEqual({ values: new Float64Array() });
  });

  it("of those who live for a part of a bin are what they did in it", () => {
    // Four after each other, each 0.25 s long and 5 of something: 20 in the second, never 80/s.
    const all = [0, 0.25, 0.5, 0.75].map((from) => brief(from, from + 0.25, 5));
    expect([...summed(all).values]).toEqual([20, NONE, NONE, NONE]);
    const wide = { edges: { all: edges.all, stride: 2 }, firstBin: 0 };
    const lives = [0, 1].map((from) => brief(from, from + 1, 10, wide));
    expect([...summed(lives, 2).values]).toEqual([20, NONE]);
    expect([...summed(lives, 1, edges).values]).toEqual([10, 10, NONE, NONE]);
    const gauges = [0, 0.5].map((from) => brief(from, from + 0.5, 6, { gauge: true }));
    expect([...summed(gauges).values]).toEqual([6, NONE, NONE, NONE]);
  });

  it("begin where the first is seen, as one alone does", () => {
    const late = { known: { from: 0.5e9, to: 4e9 } };
    const all = [series([5, 20, 30, 40], late), series([5, 20, 30, 40], late)];
    expect([...summed(all).values]).toEqual([20, 40, 60, 80]);
  });

  it("have no extremes: those of the parts need not meet", () => {
    const spiky = series([1], { low: Float64Array.of(0), high: Float64Array.of(9) });
    expect(summed([spiky]).high).toBeDefined();
    expect(summed([spiky, spiky]).high).toBeUndefined();
  });
});

describe("what was not seen", () => {
  const all = bounds(edges);

  it("is where no line is known", () => {
    const a = Float64Array.of(NONE, NONE, 1, NONE);
    const b = Float64Array.of(NONE, NONE, NONE, NONE);
    expect(blanks(all, [a, b])).toEqual([
      { from: 0, to: 2e9 },
      { from: 3e9, to: 4e9 },
    ]);
    expect(blanks(all, [Float64Array.of(1, 1, 1, 1)])).toEqual([]);
    expect([...middles(all)]).toEqual([0.5e9, 1.5e9, 2.5e9, 3.5e9]);
  });

  it("is taken out of a line that was drawn through it", () => {
    const drawn = { values: Float64Array.of(1, 2, 3, 4) };
    const gap = { from: 0.9e9, to: 3e9 };
    expect([...without(drawn, all, [gap]).values]).toEqual([1, NONE, NONE, 4]);
    expect(without(drawn, all, [])).toBe(drawn);
  });
});
