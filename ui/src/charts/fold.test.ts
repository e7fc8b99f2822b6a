import { describe, expect, it } from "vitest";
import { type Amounts, cellSpan, fold, holesOf, ofSeries, rowMean } from "./fold";

const MS = 1e6;
const WHOLE = { from: 0, to: 5000 * MS };

/** Bins of 20 ms that have their whole time where they are named. */
function amounts(starts: readonly number[], bin = 20): Amounts {
  return {
    from: Float64Array.from(starts, (at) => at * MS),
    to: Float64Array.from(starts, (at) => (at + bin) * MS),
    amounts: new Float64Array(starts.length).fill(bin * MS),
    bin: bin * MS,
    known: WHOLE,
  };
}

const SECONDS = { period: 1000 * MS, view: WHOLE, whole: WHOLE, gaps: [] };

describe("a fold", () => {
  it("has what comes once a period in one row", () => {
    const made = fold(amounts([240, 1240, 2240, 3240, 4240]), SECONDS);
    expect([made.rows, made.cycles, made.cell]).toEqual([50, 5, 20 * MS]);
    expect([11, 12, 13].map((row) => rowMean(made, row))).toEqual([0, 1, 0]);
    expect(cellSpan(made, 3, 12)).toEqual({ from: 3240 * MS, to: 3260 * MS });
    // With another period it wanders.
    const off = fold(amounts([240, 1240, 2240, 3240, 4240]), { ...SECONDS, period: 900 * MS });
    expect(rowMean(off, 12)).toBeLessThan(0.3);
  });

  it("does not draw longer bins finer than they are", () => {
    const made = fold(amounts([200, 1200], 100), SECONDS);
    expect(made.rows).toBe(10);
    expect(made.rates[2]).toBe(1);
    expect(made.rates[3]).toBe(0);
  });

  it("divides a bin among the cells that it lies in", () => {
    const made = fold(amounts([990]), SECONDS);
    expect([made.rates[49], made.rates[50]]).toEqual([0.5, 0.5]);
  });

  it("tells what was not seen from nothing", () => {
    const gaps = [{ from: 1000 * MS, to: 1500 * MS }];
    const made = fold(amounts([240]), {
      ...SECONDS,
      whole: { from: 100 * MS, to: 4000 * MS },
      gaps,
    });
    const at = (cycle: number, row: number) => made.rates[cycle * made.rows + row];
    expect([at(0, 0), at(1, 10), at(4, 0)]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect([at(0, 5), at(0, 12), at(1, 30)]).toEqual([0, 1, 0]);
    expect(made.most).toBe(1);
    const late = fold({ ...amounts([240]), known: { from: 200 * MS, to: 300 * MS } }, SECONDS);
    expect([late.rates[0], late.rates[10], late.rates[20]]).toEqual([Number.NaN, 0, Number.NaN]);
  });

  it("has not seen what lies between bins that were counted whole", () => {
    const counted = amounts([0, 20, 80, 100]);
    expect(holesOf(counted)).toEqual([{ from: 40 * MS, to: 80 * MS }]);
    const made = fold({ ...counted, holes: holesOf(counted) }, { ...SECONDS, period: 100 * MS });
    expect([...made.rates].slice(0, 6)).toEqual([1, 1, Number.NaN, Number.NaN, 1, 1]);
  });

  it("adds counters up in their own bins", () => {
    const edges = { all: Float64Array.from([0, 100, 200, 300], (at) => at * MS), stride: 1 };
    const series = (values: readonly number[]) => ({
      edges,
      gauge: false,
      known: { from: 0, to: 300 * MS },
      firstBin: 0,
      bins: values.length,
      values: Float64Array.from(values),
      low: Float64Array.from(values),
      high: Float64Array.from(values),
    });
    const data = ofSeries([series([1, 2, 3]), series([10, 0])]);
    expect(data && [...data.amounts]).toEqual([11, 2, 3]);
    expect(data?.bin).toBe(100 * MS);
    expect(ofSeries([])).toBeUndefined();
  });
});
