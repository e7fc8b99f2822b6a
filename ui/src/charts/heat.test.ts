import { describe, expect, it } from "vitest";
import { type DrawnSeries, drawn } from "../../tests/drawn";
import { cpuSentence, cpus, together } from "./cpus";
import { cellAt, heat } from "./heat";

const MS = 1e6;
const BIN = 100 * MS;
const COLUMNS = [
  "user_ns",
  "nice_ns",
  "system_ns",
  "idle_ns",
  "iowait_ns",
  "irq_ns",
  "softirq_ns",
  "steal_ns",
];

async function opened(bins: number, series: readonly DrawnSeries[], stride = 1) {
  const recording = await drawn({
    edges: Array.from({ length: bins + 1 }, (_, i) => i * BIN),
    entities: [
      { kind: "cpu", name: "cpu10", path: "cpu10" },
      { kind: "cpu", name: "cpu9", path: "cpu9" },
    ],
    tables: [
      {
        name: "cpu",
        entity: "cpu",
        columns: COLUMNS.map((name) => ({ name })),
        stride,
        series,
      },
    ],
  });
  return { recording, tables: await recording.load(["cpu"]) };
}

const CPU = [{ place: 0, name: "cpu10" }];

describe("heat", () => {
  it("keeps a burst of one bin in the cell that it falls into", async () => {
    const idle = Array.from({ length: 1000 }, (_, i) => (i === 617 ? 0 : BIN));
    const user = idle.map((ns) => BIN - ns);
    const { tables } = await opened(1000, [
      { entity: 0, column: "idle_ns", values: idle },
      { entity: 0, column: "user_ns", values: user },
    ]);
    const window = { from: 0, to: 1000 * BIN };
    const [row] = heat(tables, CPU, { window, most: 10, gaps: [] }).rows;
    expect(row?.busy).toHaveLength(10);
    expect(row?.busy[6]).toBeCloseTo(0.01, 6);
    expect(row?.peak[6]).toBe(1);
    expect(row?.peak[5]).toBe(0);
    expect(row && cellAt(row, 617 * BIN)).toBe(6);
    expect(row && cellAt(row, 1000 * BIN)).toBe(-1);
  });

  it("keeps a burst of one reading within a bin, as far as iowait and steal leave it certain", async () => {
    const series = (column: string, value: number, low: number, high: number): DrawnSeries => ({
      entity: 0,
      column,
      values: [value * BIN],
      low: [low * BIN],
      high: [high * BIN],
    });
    const idle = series("idle_ns", 0.9, 0.1, 1);
    const user = series("user_ns", 0.1, 0, 0.9);
    const steal = series("steal_ns", 0, 0, 0.3);
    const window = { from: 0, to: BIN };
    const plain = await opened(1, [user, idle]);
    const [certain] = heat(plain.tables, CPU, { window, most: 10, gaps: [] }).rows;
    expect(certain?.peak[0]).toBeCloseTo(0.9, 6);
    const stolen = await opened(1, [user, idle, steal]);
    const [less] = heat(stolen.tables, CPU, { window, most: 10, gaps: [] }).rows;
    expect(less?.peak[0]).toBeCloseTo(0.6, 6);
  });

  it("shows nothing where nothing was seen", async () => {
    const { tables } = await opened(4, [
      { entity: 0, column: "idle_ns", values: [BIN, BIN], firstBin: 2, known: [2 * BIN, 4 * BIN] },
      { entity: 0, column: "user_ns", values: [0, 0], firstBin: 2, known: [2 * BIN, 4 * BIN] },
    ]);
    const window = { from: 0, to: 4 * BIN };
    const gaps = [{ from: 3 * BIN, to: 5 * BIN }];
    const [row] = heat(tables, CPU, { window, most: 10, gaps }).rows;
    expect([...(row?.busy ?? [])]).toEqual([Number.NaN, Number.NaN, 0, Number.NaN]);
  });

  it("has room for 256 CPUs and 4,000 bins, never more cells than pixels", async () => {
    const { tables } = await opened(4000, [
      { entity: 0, column: "idle_ns", values: BIN },
      { entity: 0, column: "user_ns", values: 0 },
    ]);
    const many = Array.from({ length: 256 }, () => ({ place: 0, name: "cpu" }));
    const window = { from: 0, to: 4000 * BIN };
    const map = heat(tables, many, { window, most: 555.5, gaps: [] });
    expect(map.rows).toHaveLength(256);
    expect(map.rows[255]?.busy).toHaveLength(555);
  });
});

describe("time that is accounted to no state", () => {
  it("makes no CPU busier than all of them, and no burst", async () => {
    const { recording, tables } = await opened(4, [
      { entity: 0, column: "idle_ns", values: 0.6 * BIN },
      { entity: 0, column: "user_ns", values: 0.2 * BIN },
      { entity: 1, column: "idle_ns", values: 0.45 * BIN },
      { entity: 1, column: "user_ns", values: 0.05 * BIN },
    ]);
    const window = { from: 0, to: 4 * BIN };
    const all = cpus(recording, tables, window);
    expect(all.map((cpu) => cpu.busy)).toEqual([0.1, 0.25]);
    expect(together(all, tables, window)?.busy).toBeCloseTo(0.25 / 1.3, 9);
    const [row] = heat(tables, CPU, { window, most: 10, gaps: [] }).rows;
    expect([row?.busy[0], row?.peak[0]]).toEqual([0.25, 0.25]);
  });
});

describe("cpus", () => {
  it("are sorted by number, with the engine's parts", async () => {
    const { recording, tables } = await opened(2, [
      { entity: 0, column: "idle_ns", values: 0.25 * BIN },
      { entity: 0, column: "user_ns", values: 0.5 * BIN },
      { entity: 0, column: "steal_ns", values: 0.25 * BIN },
      { entity: 1, column: "idle_ns", values: 0.75 * BIN },
      { entity: 1, column: "iowait_ns", values: 0.25 * BIN },
    ]);
    const window = { from: 0, to: 2 * BIN };
    const all = cpus(recording, tables, window);
    expect(all.map((cpu) => [cpu.name, cpu.busy, cpu.steal])).toEqual([
      ["cpu9", 0, undefined],
      ["cpu10", 0.5, 0.25],
    ]);
    expect(together(all, tables, window)).toEqual({ busy: 0.25, steal: 0.125, iowait: 0.125 });
    expect(cpuSentence(all, tables, window)).toBe(
      "2 CPUs, 25 % busy in all; busiest cpu10 50 %, least busy cpu9 0; steal 13 %, iowait 13 %.",
    );
    expect(cpuSentence([], tables, window)).toBe("No CPU was seen in this window.");
  });
});
