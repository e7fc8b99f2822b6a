import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { comparable, inside, intervals, mean } from "./signal";
import { SECOND } from "./units";

const COLUMNS = ["interval_ns", "throughput_milli", "latency_mean_ns", "lag_mean_ns", "failed"].map(
  (name) => ({ name, kind: "gauge" as const }),
);

type Row = readonly [number, number, readonly (number | null)[]];

async function signal(rows: readonly Row[]) {
  const recording = await drawn({
    edges: [0, 4 * SECOND],
    tables: [{ name: "signal", entity: "workload", columns: COLUMNS, rows }],
  });
  return intervals((await recording.load(["signal"])).rows("signal"));
}

const second = (end: number, throughput: number, latency: number | null): Row => [
  end * SECOND,
  0,
  [SECOND, throughput * 1000, latency, null, 0],
];

describe("intervals", () => {
  it("end at the row's time; rows without a length or a throughput are none", async () => {
    const all = await signal([
      second(1, 100, 5e6),
      [2 * SECOND, 0, [null, 1000, 1, null, null]],
      [2.5 * SECOND, 0, [SECOND, null, 1, null, null]],
      second(3, 0, null),
    ]);
    expect(all).toHaveLength(2);
    expect(all[0]).toMatchObject({ from: 0, to: SECOND, throughput: 100, latency: 5e6 });
    expect(all[1]?.latency).toBeNaN();
    expect(intervals(undefined)).toEqual([]);
  });

  it("belong to a window in which they lie by at least half", async () => {
    const all = await signal([second(1, 1, 1), second(2, 1, 1), second(3, 1, 1)]);
    const ends = (from: number, to: number) =>
      inside(all, { from: from * SECOND, to: to * SECOND }).map((it) => it.to / SECOND);
    expect(ends(0.5, 2.5)).toEqual([1, 2, 3]);
    expect(ends(0.51, 2.49)).toEqual([2]);
    expect(comparable(all, { from: 0.6 * SECOND, to: 2.6 * SECOND })).toEqual({
      from: SECOND,
      to: 3 * SECOND,
    });
    const none = { from: 1.1 * SECOND, to: 1.3 * SECOND };
    expect(comparable(all, none)).toEqual(none);
    expect(mean(all, none)).toBeUndefined();
  });
});

describe("means", () => {
  it("are weighted by operations, and know of none where nothing was completed", async () => {
    const all = await signal([second(1, 100, 2e6), second(2, 300, 6e6), second(3, 0, null)]);
    const over = mean(all, { from: 0, to: 3 * SECOND });
    expect(over?.throughput).toBeCloseTo(400 / 3);
    expect(over?.latency).toBeCloseTo((100 * 2e6 + 300 * 6e6) / 400);
    expect(over?.lag).toBeNaN();
    const empty = mean(all, { from: 2 * SECOND, to: 3 * SECOND });
    expect(empty?.throughput).toBe(0);
    expect(empty?.latency).toBeNaN();
  });
});
