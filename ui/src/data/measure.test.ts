import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { fastestIn, highestIn, lastIn, measured, ratio, slowestIn, sumOf } from "./measure";

const S = 1e9;

async function opened() {
  const recording = await drawn({
    edges: [0, S, 3 * S, 4 * S],
    entities: [{ kind: "machine", path: "/" }],
    tables: [
      {
        name: "t",
        entity: "machine",
        columns: [{ name: "counter" }, { name: "gauge", kind: "gauge" }],
        series: [
          {
            entity: 0,
            column: "counter",
            values: [10, 40],
            low: [10, 0],
            high: [10, 120],
            known: [0, 2 * S],
          },
          { entity: 0, column: "gauge", values: [5, 9], known: [0, 2 * S] },
        ],
      },
    ],
  });
  const tables = await recording.load(["t"]);
  const series = (name: string) => {
    const found = tables.series("t", 0, name);
    if (found === undefined) throw new Error(`${name} is not drawn`);
    return found;
  };
  return { tables, series };
}

describe("measured", () => {
  it("asks over what is known of the window", async () => {
    const { tables } = await opened();
    const of = measured(tables, "t", 0, { from: 0, to: 4 * S });
    expect([of.growth("counter"), of.rate("counter")]).toEqual([50, 25]);
    expect([of.mean("gauge"), of.last("gauge"), of.lowest("gauge")]).toEqual([7, 9, 5]);
    const after = measured(tables, "t", 0, { from: 3 * S, to: 4 * S });
    expect([after.rate("counter"), after.mean("gauge"), after.lowest("gauge")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(of.rate("missing")).toBeUndefined();
    expect(measured(tables, "other", 0, { from: 0, to: S }).rate("counter")).toBeUndefined();
  });

  it("knows the fastest and the slowest reading of a bin, per second", async () => {
    const { series } = await opened();
    const counter = series("counter");
    // The second bin is two seconds long, half of it known: 40 in it, at best as fast as 120 in the whole.
    expect([fastestIn(counter, 1), slowestIn(counter, 1)]).toEqual([60, 0]);
    expect(fastestIn(counter, 0)).toBe(10);
    expect(fastestIn(counter, 2)).toBeNaN();
    expect(highestIn(counter, { from: 0, to: 4 * S })).toBe(60);
    expect(highestIn(counter, { from: 0, to: S })).toBe(10);
    expect(highestIn(series("gauge"), { from: 0, to: 4 * S })).toBe(9);
    expect(lastIn(series("gauge"), { from: 0, to: S })).toBe(5);
  });
});

describe("sums and ratios", () => {
  it("tell nothing from zero", () => {
    expect([sumOf([undefined, 1, 2]), sumOf([undefined]), sumOf([])]).toEqual([
      3,
      undefined,
      undefined,
    ]);
    expect([ratio(1, 0), ratio(undefined, 1), ratio(0, 2)]).toEqual([undefined, undefined, 0]);
  });
});
