import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type DrawnSeries, type DrawnTable, drawn, golden } from "../../tests/drawn";
import type { Amount, EntityKind, PageEntity } from "../data/page.gen";
import { byFormula } from "./formula";
import { over } from "./quantity";

const S = 1e9;

interface Lane {
  readonly of: number;
  readonly counter?: string;
  readonly gauge?: string;
  readonly readings: readonly (number | null)[];
}

interface Cases {
  readonly seconds: readonly number[];
  readonly entities: readonly Partial<PageEntity>[];
  readonly tables: readonly { name: string; entity: EntityKind; series: readonly Lane[] }[];
  readonly signal: readonly Readonly<Record<string, number>>[];
  readonly cases: readonly {
    name: string;
    window: readonly [number, number];
    of: Amount;
    per: Amount;
    value: number | null;
  }[];
}

const FILE = new URL("../../../fixtures/formulas.json", import.meta.url);
const { seconds, entities, tables, signal, cases } = JSON.parse(
  readFileSync(FILE, "utf8"),
) as Cases;

/** Readings as what a bin between two of them holds: a counter's growth, a gauge's value. */
function binned(lane: Lane, known: readonly [number, number]): DrawnSeries {
  const { readings } = lane;
  const at = (place: number) => {
    const value = readings[place];
    if (typeof value === "number") return value;
    const [before, after] = [readings[place - 1], readings[place + 1]];
    // Counters are straight lines over what is missing.
    return ((before ?? 0) + (after ?? before ?? 0)) / 2;
  };
  const [first, last] = known;
  const bins = Array.from({ length: last - first }, (_, bin) => first + bin);
  return {
    entity: lane.of,
    column: lane.counter ?? lane.gauge ?? "",
    firstBin: first,
    known: [(seconds[first] ?? 0) * S, (seconds[last] ?? 0) * S],
    values: bins.map((bin) => (lane.counter ? at(bin + 1) - at(bin) : at(bin))),
  };
}

function table({ name, entity, series }: Cases["tables"][number]): DrawnTable {
  const has = (lane: Lane) => (place: number) => typeof lane.readings[place] === "number";
  const columns = new Map(series.map((lane) => [lane.counter ?? lane.gauge ?? "", lane]));
  const places = seconds.map((_, place) => place);
  return {
    name,
    entity,
    columns: [...columns].map(([name, { gauge }]) => ({
      name,
      kind: gauge === undefined ? "counter" : "gauge",
    })),
    series: series.map((lane) => {
      const rows = places.filter((place) =>
        series.some((other) => other.of === lane.of && has(other)(place)),
      );
      return binned(lane, [places.find(has(lane)) ?? 0, rows.at(-1) ?? 0]);
    }),
  };
}

const COLUMNS = ["interval_ns", "throughput_milli", "latency_mean_ns", "lag_mean_ns"];

describe("a formula", () => {
  const report = golden("cpu-saturated");
  report.verdict.account = null;
  const recording = drawn({
    edges: seconds.map((second) => second * S),
    report,
    entities: entities.map((entity) => ({ path: entity.name ?? "", ...entity })),
    tables: [
      ...tables.map(table),
      {
        name: "signal",
        entity: "workload",
        columns: COLUMNS.map((name) => ({ name, kind: "gauge" })),
        rows: signal.map((row) => [(row.second ?? 0) * S, 0, COLUMNS.map((it) => row[it] ?? null)]),
      },
    ],
  });
  for (const { name, window, of, per, value } of cases) {
    it(`gives what its case says: ${name}`, async () => {
      const span = { from: window[0] * S, to: window[1] * S };
      const [evidence] = report.verdict.findings[0]?.evidence ?? [];
      if (evidence === undefined) throw new Error("no evidence");
      const { origin } = report;
      const asked = { ...evidence, window: { start: origin + span.from, end: origin + span.to } };
      const recipe = byFormula({ of, per });
      const opened = await recording;
      const loaded = await opened.load([...recipe.tables, "cpu"]);
      const made = recipe.make({ evidence: asked, report, recording: opened, tables: loaded });
      const given = "why" in made ? Number.NaN : over(made.quantity, span);
      if (value === null) expect(given).toBeNaN();
      else expect(given).toBeCloseTo(value, 9);
    });
  }
});
