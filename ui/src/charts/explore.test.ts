import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { fixture } from "../../tests/fixture";
import { looked } from "./dictionary";
import {
  choicesOf,
  csvOf,
  explored,
  exploredLane,
  exploreLink,
  firstChoice,
  fragmentOf,
  isExplored,
  MOST_CHARTS,
} from "./explore";
import { scaleOf } from "./scale";

const S = 1e9;

function small() {
  return drawn({
    edges: [0, S, 2 * S, 3 * S],
    entities: [
      { kind: "cpu", name: "cpu0", path: "cpu0" },
      { kind: "cpu", name: "cpu1", path: "cpu1" },
      { kind: "workload", name: "=SUM(A1)", path: "w" },
    ],
    tables: [
      {
        name: "cpu",
        entity: "cpu",
        columns: [{ name: "user_ns" }, { name: "cpu", unit: "code", kind: "gauge" }],
        series: [
          { entity: 0, column: "user_ns", values: [0.125 * S, 0.25 * S, 0.5 * S] },
          { entity: 1, column: "user_ns", values: [0.75 * S, 0.75 * S, 0.75 * S] },
        ],
      },
      {
        name: "signal",
        entity: "workload",
        columns: [
          { name: "interval_ns", kind: "gauge" },
          { name: "latency_mean_ns", kind: "gauge" },
        ],
        rows: [
          [S, 2, [S, 5e6]],
          [3 * S, 2, [S, 7e6]],
        ],
      },
    ],
  });
}

describe("explore", () => {
  it("keeps its charts in the address", async () => {
    const recording = await small();
    const choices = [
      { table: "cpu", column: "user_ns", entities: [1, 0] },
      { table: "signal", column: "latency_mean_ns", entities: [] },
    ];
    expect(fragmentOf(choices)).toBe("#explore?chart=cpu.user_ns@1,0&chart=signal.latency_mean_ns");
    expect(choicesOf(fragmentOf(choices), recording)).toEqual(choices);
    expect(isExplored("#evidence")).toBe(false);
  });

  it("leaves out what an address names and the page has not", async () => {
    const recording = await small();
    const found = (fragment: string) => choicesOf(fragment, recording);
    expect(found("#explore?chart=cpu.nothing&chart=%E0%A4%A&&chart=&x=1")).toEqual([]);
    expect(found("#explore?chart=__proto__.constructor")).toEqual([]);
    // A workload is no CPU, and there is no entity 99.
    expect(found("#explore?chart=cpu.user_ns@2,99,0,0")).toEqual([
      { table: "cpu", column: "user_ns", entities: [0] },
    ]);
    expect(found(`#explore?${"chart=cpu.user_ns&".repeat(100)}`)).toHaveLength(MOST_CHARTS);
  });

  it("draws who has most where nobody was chosen", async () => {
    const recording = await small();
    const tables = await recording.load(["cpu"]);
    const window = { from: S, to: 3 * S };
    const choice = { table: "cpu", column: "user_ns", entities: [] };
    const shown = explored(choice, recording, tables, window);
    if (shown === undefined) throw new Error("nothing is shown");
    expect(shown.drawn).toEqual([1, 0]);
    expect(shown.all[1]).toMatchObject({ entity: 0, mean: 0.375, low: 0.25, high: 0.5 });
    const lane = exploredLane(shown, recording, tables);
    expect(lane?.lines.map((line) => line.label)).toEqual(["cpu1", "cpu0"]);
    expect([...(lane?.lines[1]?.values ?? [])]).toEqual([0.125, 0.25, 0.5]);
    expect(lane?.lines[1]?.over?.(window)).toBeCloseTo(0.375);
    expect(lane && csvOf(lane, window)).toBe(
      "from_s,to_s,cpu.user_ns cpu1,cpu.user_ns cpu0\n1.000,2.000,0.75,0.25\n2.000,3.000,0.75,0.5\n",
    );
  });

  it("leaves the time between rows empty", async () => {
    const recording = await small();
    const tables = await recording.load(["signal"]);
    const choice = { table: "signal", column: "latency_mean_ns", entities: [] };
    const shown = explored(choice, recording, tables, recording.whole);
    const lane = shown && exploredLane(shown, recording, tables);
    expect([...(lane?.edges ?? [])]).toEqual([0, S, 2 * S, 3 * S]);
    expect([...(lane?.lines[0]?.values ?? [])]).toEqual([5e6, Number.NaN, 7e6]);
    expect(lane?.unseen.map(({ span }) => span)).toEqual([{ from: S, to: 2 * S }]);
    expect(shown?.all[0]).toMatchObject({ mean: 6e6, low: 5e6, high: 7e6 });
  });

  it("pastes no formula into a spreadsheet", async () => {
    const recording = await small();
    const tables = await recording.load(["signal"]);
    const choice = { table: "signal", column: "latency_mean_ns", entities: [2] };
    const shown = explored(choice, recording, tables, recording.whole);
    const lane = shown && exploredLane(shown, recording, tables);
    const named = lane && { ...lane, title: '=HYPERLINK("x")' };
    expect(named && csvOf(named, recording.whole).split("\n")[0]).toBe(
      'from_s,to_s,"\'=HYPERLINK(""x"") =SUM(A1)"',
    );
  });

  it("draws every column of every table of a kept page", async () => {
    const recording = await fixture("gaps");
    for (const { name, columns } of recording.page.tables) {
      const tables = await recording.load([name]);
      for (const { name: column } of columns) {
        const choice = { table: name, column, entities: [] };
        const shown = explored(choice, recording, tables, recording.judged);
        expect(shown, `${name}.${column}`).toBeDefined();
        const lane = shown && exploredLane(shown, recording, tables);
        if (lane === undefined) continue;
        for (const line of lane.lines) expect(line.values.length).toBe(lane.times.length);
      }
    }
  });

  it("begins with the machine's pressure, and links from a number of the verdict", async () => {
    const recording = await fixture("cpu-saturated");
    expect(firstChoice(recording)).toMatchObject({ table: "pressure", column: "cpu_some_ns" });
    const [finding] = recording.page.report.verdict.findings;
    expect(exploreLink(recording, finding?.evidence[2])).toBe("#explore?chart=thread.wait_ns");
    expect(exploreLink(recording, undefined)).toBeUndefined();
  });
});

describe("scale", () => {
  it("draws counters as rates in a unit that people read", async () => {
    const recording = await fixture("cpu-saturated");
    const text = (table: string, name: string, perSecond: number) => {
      const column = recording.table(table)?.columns.find((other) => other.name === name);
      if (column === undefined) throw new Error(`no ${table}.${name}`);
      const scale = scaleOf(table, column);
      return scale.format(perSecond * scale.factor);
    };
    expect(text("pressure", "cpu_some_ns", 0.5e9)).toBe("50 %");
    expect(text("process", "user_ns", 2.5e9)).toBe("2.50 CPUs");
    expect(text("disk", "queue_ns", 3e9)).toBe("3.00");
    expect(text("disk", "read_bytes", 1024 * 1024)).toBe("1.05 MB/s");
    expect(text("paging", "faults", 12345)).toBe("12,345/s");
    expect(text("load", "load1_hundredths", 250)).toBe("2.50");
    expect(text("memory", "total_bytes", 1024 ** 3)).toBe("1.00 GiB");
    expect(text("recorder", "lateness_ns", 73093)).toBe("73.1 us");
  });
});

describe("dictionary", () => {
  it("finds columns by all words of a filter", async () => {
    const { page } = await fixture("cpu-saturated");
    const names = (filter: string) =>
      looked(page.tables, filter).flatMap(({ table, columns }) =>
        columns.map((column) => `${table.name}.${column.name}`),
      );
    expect(names("RUN-QUEUE delay")).toEqual(["thread.wait_ns"]);
    expect(names("cpu steal_ns")).toEqual(["cpu.steal_ns"]);
    expect(names("no such thing")).toEqual([]);
    expect(names("").length).toBe(page.tables.flatMap((table) => table.columns).length);
  });
});
