import { describe, expect, it } from "vitest";
import { random } from "../../tests/random";
import {
  binAt,
  binCount,
  type Edges,
  edgeOf,
  extremes,
  growth,
  knownPart,
  meanOver,
  rateOver,
  type Series,
  sumOver,
  valueAt,
} from "./series";

const edges: Edges = { all: Float64Array.from([0, 10, 20, 30, 40, 50, 60]), stride: 1 };

function series(values: number[], more: Partial<Series> = {}): Series {
  const numbers = Float64Array.from(values);
  return {
    edges,
    gauge: false,
    known: { from: 0, to: 60 },
    firstBin: 0,
    bins: values.length,
    values: numbers,
    low: numbers,
    high: numbers,
    ...more,
  };
}

describe("bins", () => {
  it("lie between every n-th edge, the last one up to the last edge", () => {
    const wide = { all: edges.all, stride: 4 };
    expect(binCount(edges)).toBe(6);
    expect(binCount(wide)).toBe(2);
    expect([0, 1, 2].map((bin) => edgeOf(wide, bin))).toEqual([0, 40, 60]);
  });

  it("are found by what lies in them", () => {
    expect([-5, 0, 9.9, 10, 35, 59, 60, 99].map((at) => binAt(edges, at))).toEqual([
      0, 0, 0, 1, 3, 5, 5, 5,
    ]);
  });

  it("hold nothing outside of the series' stretch", () => {
    const some = series([1, 2], { firstBin: 2 });
    expect([1, 2, 3, 4].map((bin) => valueAt(some, bin))).toEqual([Number.NaN, 1, 2, Number.NaN]);
    const same = series([5], { bins: 6 });
    expect([0, 5, 6].map((bin) => valueAt(same, bin))).toEqual([5, 5, Number.NaN]);
    expect(knownPart(series([1], { known: { from: 4, to: 60 } }), 0)).toEqual({ from: 4, to: 10 });
  });
});

describe("a counter", () => {
  const counter = series([10, 20, 0, 40, 0, 6]);

  it("grows on a straight line inside a bin", () => {
    expect(growth(counter, { from: 0, to: 60 })).toBe(76);
    expect(growth(counter, { from: 5, to: 15 })).toBe(15);
    expect(growth(counter, { from: 20, to: 30 })).toBe(0);
    expect(growth(counter, { from: 30, to: 35 })).toBe(20);
  });

  it("is divided by the part of the window in which it is known", () => {
    const late = series([10, 20, 0, 40, 0, 6], { known: { from: 5, to: 60 } });
    // What grew in the first bin grew in its known half.
    expect(growth(late, { from: 0, to: 10 })).toBe(10);
    expect(rateOver(late, { from: 0, to: 10 })).toBeCloseTo(10 / 5e-9);
    expect(rateOver(counter, { from: 60, to: 80 })).toBeUndefined();
    expect(rateOver(counter, { from: -20, to: 0 })).toBeUndefined();
  });

  it("adds up, however a window is divided", () => {
    const next = random(2);
    for (let round = 0; round < 300; round++) {
      const from = Math.floor(next() * 50);
      const to = from + 1 + Math.floor(next() * 9);
      const known = { from, to };
      const firstBin = binAt(edges, from);
      const bins = binAt(edges, to - 1) - firstBin + 1;
      const values = Array.from({ length: bins }, () => Math.floor(next() * 1000));
      const one = series(values, { known, firstBin });
      const total = values.reduce((sum, value) => sum + value, 0);
      const cuts = [0, next() * 60, next() * 60, 60].sort((a, b) => a - b);
      const parts = cuts
        .slice(1)
        .map((end, index) => growth(one, { from: cuts[index] ?? 0, to: end }) ?? 0);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 6);
      for (const part of parts) expect(part).toBeGreaterThanOrEqual(-1e-9);
    }
  });
});

describe("a gauge", () => {
  it("has a mean weighted by time", () => {
    const gauge = series([2, 4, 6], { gauge: true, known: { from: 0, to: 30 } });
    expect(meanOver(gauge, { from: 0, to: 30 })).toBeCloseTo(4);
    expect(meanOver(gauge, { from: 5, to: 15 })).toBeCloseTo(3);
    expect(meanOver(gauge, { from: 20, to: 60 })).toBeCloseTo(6);
    expect(meanOver(gauge, { from: 30, to: 60 })).toBeUndefined();
  });

  it("lies between its extremes over every window", () => {
    const next = random(3);
    const values = [3, 9, 1, 7, 7, 2];
    const gauge = series(values, {
      gauge: true,
      low: Float64Array.from(values, (value) => value - 1),
      high: Float64Array.from(values, (value) => value + 2),
    });
    for (let round = 0; round < 200; round++) {
      const from = next() * 59;
      const window = { from, to: from + 0.5 + next() * (60 - from) };
      const found = extremes(gauge, window);
      const mean = meanOver(gauge, window) ?? Number.NaN;
      expect(found?.low).toBeLessThanOrEqual(mean);
      expect(found?.high).toBeGreaterThanOrEqual(mean);
    }
    expect(extremes(gauge, { from: 10, to: 30 })).toEqual({ low: 0, high: 11 });
    expect(extremes(series([1], { firstBin: 3 }), { from: 0, to: 20 })).toBeUndefined();
  });
});

describe("a sum", () => {
  const life = (from: number, to: number, value: number, gauge = false) =>
    series([value], { known: { from, to }, firstBin: Math.floor(from / 10), gauge });

  it("is what all did per second of the time in which any was seen", () => {
    const lives = [life(0, 5, 10), life(5, 10, 20), life(10, 20, 30)];
    expect(sumOver(lives, { from: 0, to: 20 })).toBeCloseTo(60 / 20e-9);
    expect(sumOver(lives, { from: -20, to: 60 })).toBeCloseTo(60 / 20e-9);
    expect(sumOver(lives, { from: 5, to: 15 })).toBeCloseTo(35 / 10e-9);
    expect(sumOver(lives, { from: 20, to: 30 })).toBeUndefined();
    expect(sumOver([], { from: 0, to: 30 })).toBeUndefined();
  });

  it("of gauges weighs each by how long it was there, and of one is its own", () => {
    const both = [life(0, 10, 4, true), life(5, 10, 4, true)];
    expect(sumOver(both, { from: 0, to: 10 })).toBeCloseTo(6);
    const window = { from: 2, to: 60 };
    for (const one of [life(5, 10, 4, true), life(5, 10, 4)]) {
      const alone = one.gauge ? meanOver(one, window) : rateOver(one, window);
      expect(sumOver([one], window)).toBeCloseTo(alone ?? Number.NaN);
    }
  });
});
