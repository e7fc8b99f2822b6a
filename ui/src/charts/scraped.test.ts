import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { changed, scrapedLanes } from "./scraped";

const S = 1e9;

async function opened() {
  const recording = await drawn({
    edges: [0, S, 2 * S, 3 * S],
    entities: [
      { kind: "series", name: "steady_total", path: "steady_total" },
      { kind: "series", name: "splits_total", path: "splits_total" },
      { kind: "series", name: "still", path: "still" },
      { kind: "series", name: "depth", path: "depth" },
      { kind: "series", name: "nothing_total", path: "nothing_total" },
    ],
    tables: [
      {
        name: "scraped",
        entity: "series",
        columns: [
          { name: "counter_millionths", unit: "millionths" },
          { name: "gauge_millionths", kind: "gauge", unit: "millionths" },
          { name: "type", kind: "gauge", unit: "code" },
        ],
        series: [
          { entity: 0, column: "counter_millionths", values: [9e9, 10e9, 11e9] },
          { entity: 1, column: "counter_millionths", values: [0, 0, 3e6] },
          { entity: 2, column: "gauge_millionths", values: 5e6 },
          { entity: 3, column: "gauge_millionths", values: [-1e6, -1e6, -4e6] },
          { entity: 4, column: "counter_millionths", values: 0 },
          { entity: 1, column: "type", values: 1 },
        ],
      },
    ],
  });
  return { recording, tables: await recording.load(["scraped"]) };
}

describe("series of an endpoint", () => {
  it("come by how much they vary in proportion to their mean, and not at all when they do not", async () => {
    const { recording, tables } = await opened();
    const order = (from: number, to: number) =>
      changed(recording, tables, { from, to }).map(({ entity }) => entity);
    expect(order(0, 3 * S)).toEqual([1, 3, 0]);
    expect(order(0, 2 * S)).toEqual([0]);
    expect(order(0.2 * S, 0.8 * S)).toEqual([]);
  });

  it("have a lane each in their own unit", async () => {
    const { recording, tables } = await opened();
    const all = changed(recording, tables, { from: 0, to: 3 * S });
    const lanes = scrapedLanes(recording, tables, all);
    expect(lanes.map(({ title }) => title)).toEqual(["splits_total", "depth", "steady_total"]);
    const [splits, depth] = lanes;
    expect([...(splits?.lines[0]?.values ?? [])]).toEqual([0, 0, 3]);
    expect([...(depth?.lines[0]?.values ?? [])]).toEqual([-1, -1, -4]);
    expect(splits?.lines[0]?.over?.({ from: 0, to: 3 * S })).toBeCloseTo(1);
    expect(depth?.lines[0]?.over?.({ from: 0, to: 3 * S })).toBeCloseTo(-2);
  });
});
