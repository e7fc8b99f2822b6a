import { describe, expect, it } from "vitest";
import { drawn, golden } from "../../tests/drawn";
import type { Tables } from "../data/recording";
import { comparable, intervals } from "../data/signal";
import { length } from "../data/units";
import { evidenceChart } from "./evidence";
import { explored } from "./explore";
import { over, perRequest, throughout } from "./quantity";

const S = 1e9;
/** Two days in seconds: more than a call takes arguments. */
const ROWS = 172_800;
const WHOLE = { from: 0, to: ROWS * S };
const COLUMNS = ["interval_ns", "throughput_milli", "latency_mean_ns", "lag_mean_ns", "failed"];

async function days() {
  const recording = await drawn({
    edges: [0, ROWS * S],
    entities: [{ kind: "workload", name: "w", path: "w" }],
    tables: [
      {
        name: "signal",
        entity: "workload",
        columns: COLUMNS.map((name) => ({ name, kind: "gauge" })),
        rows: [],
      },
    ],
  });
  const about = recording.table("signal");
  if (about === undefined) throw new Error("drawn without a signal");
  const column = (value: number) => new Float64Array(ROWS).fill(value);
  const table = {
    about,
    times: Float64Array.from({ length: ROWS }, (_, row) => (row + 1) * S),
    entities: new Int32Array(ROWS),
    columns: [S, 100_000, 0.02 * S, 0.002 * S, 0].map(column),
  };
  const tables: Tables = {
    bins: () => undefined,
    rows: () => table,
    stacks: () => undefined,
    samples: () => undefined,
    series: () => undefined,
  };
  return { recording, tables, all: intervals(table) };
}

describe("a recording of days", () => {
  it("has one window of all its intervals, and the time of all its requests", async () => {
    const { all } = await days();
    expect(all).toHaveLength(ROWS);
    expect(comparable(all, WHOLE)).toEqual(WHOLE);
    const took = throughout(
      all,
      perRequest(all, (it) => it.latency),
    );
    const quantity = { of: took, per: length, edges: new Float64Array() };
    expect(over(quantity, WHOLE)).toBeCloseTo(2);
  });

  it("is explored", async () => {
    const { recording, tables } = await days();
    const choice = { table: "signal", column: "latency_mean_ns", entities: [] };
    const [summary] = explored(choice, recording, tables, WHOLE)?.all ?? [];
    expect(summary).toMatchObject({ low: 0.02 * S, high: 0.02 * S });
    expect(summary?.mean).toBeCloseTo(0.02 * S);
  });

  it("shows its evidence", async () => {
    const { recording, tables } = await days();
    const [finding] = golden("cpu-saturated").verdict.findings;
    const [evidence] = finding?.evidence ?? [];
    if (finding === undefined || evidence === undefined) throw new Error("no evidence");
    const { origin } = recording.page.report;
    const lag = {
      ...evidence,
      what: "lag",
      formula: { of: { kind: "lag" as const }, per: { kind: "account" as const } },
      column: "signal.lag_mean_ns",
      unit: "share",
      window: { start: origin, end: origin + ROWS * S },
    };
    const one = { ...finding, evidence: [lag] };
    const { report } = recording.page;
    const chart = evidenceChart(one, [0, 0], { recording, report, tables });
    expect(chart).toMatchObject({ mean: "10 %", lane: { least: 0 } });
  });
});
