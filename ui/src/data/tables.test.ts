import { describe, expect, it } from "vitest";
import { type DrawnTable, drawn, drawnPage, integers } from "../../tests/drawn";
import type { BinTable } from "./tables";
import { decodeBins, decodeEdges, decodeRows } from "./tables";

const EDGES = [0, 100, 200, 300, 400, 500].map((ms) => ms * 1e6);
const WALL = 500e6;

async function table(of: DrawnTable): Promise<BinTable> {
  const recording = await drawn({ edges: EDGES, tables: [of] });
  const found = (await recording.load([of.name])).bins(of.name);
  if (found === undefined) throw new Error("the table was drawn");
  return found;
}

describe("edges", () => {
  it("are differences, and may begin before the workload", () => {
    expect([...decodeEdges(integers([3, -5, 10, 20]))]).toEqual([-5, 5, 25]);
    expect([...decodeEdges(integers([0]))]).toEqual([]);
  });

  it("are refused where they were cut off", () => {
    expect(() => decodeEdges(integers([3, 1, 2]))).toThrow(RangeError);
  });
});

describe("tables in bins", () => {
  const counter = { name: "run_ns", scale: 1000 };
  const gauge = { name: "used_bytes", kind: "gauge" as const };

  it("hold one number for all bins, or one per bin, times the scale", async () => {
    const { columns } = await table({
      name: "thread",
      entity: "thread",
      columns: [counter],
      series: [
        { entity: 4, column: "run_ns", values: 7000 },
        { entity: 9, column: "run_ns", values: [1000, 0, 3000], firstBin: 1 },
      ],
    });
    const same = columns[0]?.get(4);
    expect(same).toMatchObject({ firstBin: 0, bins: 5, gauge: false });
    expect([...(same?.values ?? [])]).toEqual([7000]);
    expect(same?.known).toEqual({ from: 0, to: WALL });
    const other = columns[0]?.get(9);
    expect([...(other?.values ?? [])]).toEqual([1000, 0, 3000]);
    expect(other?.low).toBe(other?.values);
    expect(columns[0]?.get(5)).toBeUndefined();
  });

  it("hold gauges as differences, and lowest and highest around the mean", async () => {
    const { columns } = await table({
      name: "memory",
      entity: "machine",
      columns: [counter, gauge],
      series: [
        {
          entity: 0,
          column: "used_bytes",
          values: [50, 40, 45],
          low: [30, 40, 44],
          high: [90, 41, 45],
        },
        { entity: 0, column: "run_ns", values: [5000, 0], low: [1000, 0], high: [9000, 0] },
      ],
    });
    const used = columns[1]?.get(0);
    expect([...(used?.values ?? [])]).toEqual([50, 40, 45]);
    expect([...(used?.low ?? [])]).toEqual([30, 40, 44]);
    expect([...(used?.high ?? [])]).toEqual([90, 41, 45]);
    const run = columns[0]?.get(0);
    expect([...(run?.low ?? [])]).toEqual([1000, 0]);
    expect([...(run?.high ?? [])]).toEqual([9000, 0]);
  });

  it("are refused where they are damaged", () => {
    const { page } = drawnPage({
      edges: EDGES,
      tables: [{ name: "thread", entity: "thread", columns: [counter] }],
    });
    const about = page.tables[0];
    if (about === undefined) throw new Error("the table was drawn");
    const edges = Float64Array.from(EDGES);
    const decode = (numbers: number[]) => () => decodeBins(about, edges, integers(numbers));
    expect(decode([0, 3, 1, 0, 500, 0, 5, 0, 1])).toThrow("thread has no column 3");
    expect(decode([0, 0, 1, 0, 500, 0, 6, 0, 1])).toThrow("more bins than there are");
    expect(decode([0, 0, 1, 0, 500, 0, 5, 1, 1, 2])).toThrow("ends inside a number");
  });
});

describe("tables in rows", () => {
  it("hold times, entities and missing values", () => {
    const { page } = drawnPage({
      edges: EDGES,
      tables: [
        { name: "signal", entity: "workload", columns: [{ name: "a" }, { name: "b" }], rows: [] },
      ],
    });
    const about = page.tables[0];
    if (about === undefined) throw new Error("the table was drawn");
    const block = integers([2, 100, 3, 1, 7, 0, 50, 4, 0, 1, -8]);
    const { times, entities, columns } = decodeRows(about, block);
    expect([...times]).toEqual([100, 150]);
    expect([...entities]).toEqual([3, 4]);
    expect([...(columns[0] ?? [])]).toEqual([7, Number.NaN]);
    expect([...(columns[1] ?? [])]).toEqual([Number.NaN, -8]);
  });
});
