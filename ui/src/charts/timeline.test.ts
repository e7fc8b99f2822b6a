import { describe, expect, it } from "vitest";
import { type Drawing, type DrawnColumn, drawn, golden } from "../../tests/drawn";
import { FIXTURES, fixture } from "../../tests/fixture";
import type { Report } from "../data/page.gen";
import type { Lane } from "./lane";
import { marks, phaseBoxes, placed, TABLES, timeline } from "./timeline";

const SECOND = 1e9;
const EDGES = Array.from({ length: 11 }, (_, index) => index * SECOND);
const NONE = Number.NaN;

/** Counters with the unit that their names have. */
const counters = (...names: string[]): DrawnColumn[] =>
  names.map((name) => ({ name, unit: unitOf(name) }));
const unitOf = (name: string) =>
  name.endsWith("_ns") ? "nanoseconds" : name.endsWith("_bytes") ? "bytes" : "count";

async function lanes(drawing: Partial<Drawing>): Promise<Map<string, Lane>> {
  const recording = await drawn({ edges: EDGES, tables: [], ...drawing });
  const all = timeline(recording, await recording.load(TABLES));
  return new Map(all.map((lane) => [lane.id, lane]));
}

const values = (lane: Lane | undefined, label: string) => [
  ...(lane?.lines.find((line) => line.label === label)?.values ?? []),
];

const MACHINE = { kind: "machine", path: "" } as const;
const GROUP = { kind: "cgroup", path: "/db", name: "db" } as const;

function report(change: Partial<Report>): Report {
  return { ...golden("cpu-saturated"), gaps: [], pressure: [], ...change };
}

describe("pressure", () => {
  const columns = counters(
    "cpu_some_ns",
    "cpu_full_ns",
    "memory_some_ns",
    "memory_full_ns",
    "irq_full_ns",
  );
  const machine = {
    name: "pressure",
    entity: "machine",
    columns,
    series: [
      { entity: 0, column: "cpu_some_ns", values: 9e8 },
      { entity: 0, column: "cpu_full_ns", values: 5e8 },
      { entity: 0, column: "memory_some_ns", values: 0 },
      { entity: 0, column: "memory_full_ns", values: 0 },
      { entity: 0, column: "irq_full_ns", values: 1e7 },
    ],
  } as const;

  it("is some and full side by side, and never cpu full of the machine", async () => {
    const all = await lanes({ entities: [MACHINE], tables: [machine] });
    expect([...all.keys()]).toEqual(["pressure-cpu", "pressure-memory", "pressure-irq"]);
    const cpu = all.get("pressure-cpu");
    expect(cpu?.lines.map((line) => line.label)).toEqual(["some"]);
    expect(cpu?.stacked).toBeUndefined();
    expect(cpu?.least).toBe(1);
    expect(values(cpu, "some")).toEqual(Array(10).fill(0.9));
    expect(all.get("pressure-irq")?.lines.map((line) => line.label)).toEqual(["full"]);
    expect(all.get("pressure-memory")?.still).toBe("0 throughout");
    // What nobody could make out on an axis of 100 % is folded too, and its height is said.
    expect(all.get("pressure-irq")?.still).toBeUndefined();
    const [irq] = machine.series.filter(({ column }) => column === "irq_full_ns");
    const faint = {
      ...machine,
      series: [{ ...irq, column: "irq_full_ns", entity: 0, values: 2e6 }],
    };
    const folded = await lanes({ entities: [MACHINE], tables: [faint] });
    expect(folded.get("pressure-irq")?.still).toBe("at most 0.2 % throughout");
    expect(cpu?.title).toBe("CPU pressure, machine");
  });

  it("has stall density below it, finer and by itself, and never cpu full of the machine", async () => {
    const stall = (name: string, entity: number, some: readonly number[]) => ({
      name,
      entity: entity === 0 ? ("machine" as const) : ("cgroup" as const),
      columns,
      series: [
        { entity, column: "cpu_some_ns", values: some },
        { entity, column: "cpu_full_ns", values: 5e8 },
      ],
    });
    const burst = [0, 0, 0, 1e9, 0, 0, 0, 0, 0, 0];
    const share = { resource: "cpu", kind: "some", share: 0.5, fold_ns: 2e9 } as const;
    const all = await lanes({
      entities: [MACHINE, GROUP],
      report: report({ pressure: [{ ...share, entity: GROUP }] }),
      tables: [machine, stall("stall", 0, burst), stall("cgroup_stall", 1, burst)],
    });
    const order = ["group-stall-cpu", "pressure-cpu", "stall-cpu", "pressure-memory"];
    expect([...all.keys()].slice(0, 4)).toEqual(order);
    const own = all.get("stall-cpu");
    expect(own?.title).toBe("CPU stall density, machine");
    expect([own?.slim, own?.stacked, own?.least]).toEqual([true, undefined, 1]);
    expect(own?.lines.map((line) => line.label)).toEqual(["some"]);
    expect(values(own, "some")).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(own?.lines[0]?.over?.({ from: 2 * SECOND, to: 4 * SECOND })).toBe(0.5);
    expect(all.get("group-stall-cpu")?.title).toBe("CPU stall density, /db");
    expect(all.get("group-stall-cpu")?.lines.map((line) => line.label)).toEqual(["some", "full"]);
  });

  it("begins with the resource that the verdict is about", async () => {
    const { verdict } = golden("cpu-saturated");
    const findings = verdict.findings.map((it) => ({ ...it, cause: "memory.limit" }));
    const about = report({ verdict: { ...verdict, findings } });
    const all = await lanes({ entities: [MACHINE], tables: [machine], report: about });
    expect([...all.keys()]).toEqual(["pressure-memory", "pressure-cpu", "pressure-irq"]);
  });

  it("is that of the target's group too, which is named", async () => {
    const share = { resource: "cpu", kind: "some", share: 0.5, fold_ns: 2e9 } as const;
    const all = await lanes({
      entities: [MACHINE, GROUP],
      report: report({ pressure: [{ ...share, entity: GROUP }] }),
      tables: [
        machine,
        {
          name: "cgroup_pressure",
          entity: "cgroup",
          columns,
          series: [
            { entity: 1, column: "cpu_some_ns", values: 8e8 },
            { entity: 1, column: "cpu_full_ns", values: 6e8 },
          ],
        },
      ],
    });
    const group = all.get("group-pressure-cpu");
    expect(group?.title).toBe("CPU pressure, /db");
    expect(group?.lines.map((line) => line.label)).toEqual(["some", "full"]);
    expect([...all.keys()].slice(0, 2)).toEqual(["group-pressure-cpu", "pressure-cpu"]);
  });

  it("is hatched where it was not seen, and not bridged", async () => {
    const known = [2 * SECOND, 8 * SECOND] as const;
    const series = { entity: 0, column: "cpu_some_ns", values: Array(6).fill(5e8), known };
    const late = { ...machine, series: [{ ...series, firstBin: 2 }] };
    const origin = report({}).origin;
    const window = { start: origin + 4 * SECOND, end: origin + 6 * SECOND };
    const gap = {
      table: "pressure",
      what: "/proc/pressure/cpu",
      window,
      reason: "overrun",
    } as const;
    const all = await lanes({
      entities: [MACHINE],
      report: report({ gaps: [gap] }),
      tables: [late],
    });
    const cpu = all.get("pressure-cpu");
    const half = 0.5;
    expect(values(cpu, "some")).toEqual([
      NONE,
      NONE,
      half,
      half,
      NONE,
      NONE,
      half,
      half,
      NONE,
      NONE,
    ]);
    const hatched = cpu?.unseen.map(({ span, why }) => [span.from / SECOND, span.to / SECOND, why]);
    expect(hatched).toEqual([
      [0, 2, "nothing was read"],
      [4, 6, "the sampler was late"],
      [8, 10, "nothing was read"],
    ]);
  });
});

describe("the workload's own view", () => {
  const columns = ["interval_ns", "throughput_milli", "latency_mean_ns", "lag_mean_ns", "failed"];
  const row = (end: number, throughput: number, latency: number | null) =>
    [end * SECOND, 0, [SECOND, throughput * 1e3, latency, null, 0]] as const;
  const signal = {
    name: "signal",
    entity: "workload",
    columns: columns.map((name) => ({ name, kind: "gauge" as const })),
    rows: [row(1, 100, 2e6), row(2, 0, null), row(5, 50, 3e6)],
  } as const;

  it("comes first, with nothing where the workload said nothing", async () => {
    const all = await lanes({ tables: [signal] });
    expect([...all.keys()]).toEqual(["throughput", "latency"]);
    const throughput = all.get("throughput");
    expect([...(throughput?.edges ?? [])].map((edge) => edge / SECOND)).toEqual([0, 1, 2, 4, 5]);
    expect(values(throughput, "tps")).toEqual([100, 0, NONE, 50]);
    expect(throughput?.unseen.map((it) => it.span)).toEqual([{ from: 2 * SECOND, to: 4 * SECOND }]);
    expect(throughput?.lines[0]?.over?.({ from: 0, to: 2 * SECOND })).toBe(50);
  });

  it("has no latency where nothing was completed, which is no gap", async () => {
    const latency = (await lanes({ tables: [signal] })).get("latency");
    expect(values(latency, "mean")).toEqual([2e6, NONE, NONE, 3e6]);
    expect(latency?.lines[0]?.nothing).toBe("nothing completed");
    expect(latency?.unseen.map((it) => it.span.from / SECOND)).toEqual([2]);
    expect(latency?.lines.map((line) => line.label)).toEqual(["mean"]);
  });

  it("is left out where there was no workload: the machine comes first", async () => {
    const load = { name: "load", entity: "machine", columns: [{ name: "running", kind: "gauge" }] };
    const all = await lanes({
      entities: [MACHINE],
      tables: [{ ...load, series: [{ entity: 0, column: "running", values: 3 }] } as never],
    });
    expect([...all.keys()]).toEqual(["load"]);
    // Three tasks that always run are no stillness.
    expect(all.get("load")?.still).toBeUndefined();
  });
});

describe("the machine", () => {
  it("has CPUs whose parts are stacked, as they are parts of a whole", async () => {
    const names = ["user_ns", "system_ns", "idle_ns", "steal_ns"];
    const series = [
      [0, [8e8, 1e8, 1e8, 0]],
      [1, [2e8, 1e8, 5e8, 2e8]],
    ] as const;
    const all = await lanes({
      entities: [
        { kind: "cpu", path: "cpu0" },
        { kind: "cpu", path: "cpu1" },
      ],
      tables: [
        {
          name: "cpu",
          entity: "cpu",
          columns: counters(...names),
          series: series.flatMap(([entity, grown]) =>
            names.map((column, at) => ({ entity, column, values: grown[at] ?? 0 })),
          ),
        },
      ],
    });
    const cpu = all.get("cpu");
    expect(cpu?.stacked).toBe(true);
    expect(cpu?.title).toBe("2 CPUs by what they did");
    expect(values(cpu, "user")[3]).toBeCloseTo(0.5);
    expect(values(cpu, "system")[3]).toBeCloseTo(0.1);
    expect(
      cpu?.lines.find((line) => line.label === "user")?.over?.({ from: 0, to: 3e9 }),
    ).toBeCloseTo(0.5);
    expect(values(all.get("steal"), "steal")[9]).toBeCloseTo(0.1);
  });

  it("shows the disk that was busiest, by its name", async () => {
    const all = await lanes({
      entities: [
        { kind: "disk", path: "a", name: "vda" },
        { kind: "disk", path: "b", name: "vdb" },
      ],
      tables: [
        {
          name: "disk",
          entity: "disk",
          columns: counters("busy_ns", "read_bytes"),
          series: [
            { entity: 0, column: "busy_ns", values: 1e8 },
            { entity: 1, column: "busy_ns", values: 7e8 },
            { entity: 1, column: "read_bytes", values: 4096 },
          ],
        },
      ],
    });
    expect(all.get("disk-busy")?.title).toBe("Disk vdb in use");
    expect(values(all.get("disk-busy"), "of the time")[0]).toBeCloseTo(0.7);
    expect(all.get("disk-bytes")?.alternative).toBe("Disk vdb, traffic: read 4.10 kB/s.");
    expect(all.has("disk-operations")).toBe(false);
  });

  it("folds memory that stands still, at any height", async () => {
    const available = { name: "available_bytes", kind: "gauge", unit: "bytes" } as const;
    const all = await lanes({
      entities: [MACHINE],
      tables: [
        {
          name: "memory",
          entity: "machine",
          columns: [available],
          series: [{ entity: 0, column: "available_bytes", values: 2 ** 31 }],
        },
      ],
    });
    expect(all.get("memory-available")?.still).toBe("2.00 GiB throughout");
  });

  it("keeps the loopback apart from the network", async () => {
    const all = await lanes({
      entities: [
        { kind: "interface", path: "eth0", name: "eth0" },
        { kind: "interface", path: "eth1", name: "eth1" },
        { kind: "interface", path: "lo", name: "lo" },
      ],
      tables: [
        {
          name: "network",
          entity: "interface",
          columns: counters("rx_bytes", "tx_bytes"),
          series: [0, 1, 2].flatMap((entity) => [
            { entity, column: "rx_bytes", values: 100 * (entity + 1) },
            { entity, column: "tx_bytes", values: 1 },
          ]),
        },
      ],
    });
    expect(values(all.get("network"), "received")[0]).toBe(300);
    expect(values(all.get("loopback"), "received")[0]).toBe(300);
    expect(all.get("loopback")?.lines).toHaveLength(1);
  });
});

describe("phases and marks", () => {
  it("are a strip where a run changed, in the words of the terminal", async () => {
    const recording = await drawn({ edges: EDGES, tables: [], report: golden("phases") });
    const boxes = phaseBoxes(recording);
    expect(boxes.map((box) => [box.word, box.numbers, box.verdict, box.judged])).toEqual([
      ["warm-up", "15,484 tps, 0.571 ms", "", false],
      ["steady", "30,212 tps, 0.331 ms", "cpu.saturated 41 % (postgres, measured)", false],
      ["ramp", "24,480 tps, 0.409 ms", "undetermined (postgres, suspected)", false],
      ["steady", "18,503 tps, 0.519 ms", "cpu.quota 61 % (stallscope-lab-10734, measured)", true],
      ["end", "", "", false],
    ]);
    expect(marks(recording).map((mark) => mark.text)).toEqual([
      "ramp: from 30,212 tps, 0.331 ms to 24,480 tps, 0.409 ms",
      "steady: from 24,480 tps, 0.409 ms to 18,503 tps, 0.519 ms",
    ]);
  });

  it("say what changed where one begins", async () => {
    const about = golden("phases");
    const phases = about.phases.map((phase, place) =>
      place === 2
        ? {
            ...phase,
            change: {
              at: phase.window.start,
              sentence: "Throughput fell from 30,212 to 24,480 tps (-19 %).",
              marks: [{ at: phase.window.start, text: "moved" }],
              differences: [],
              settled: "",
            },
            disks: [
              {
                entity: { kind: "disk", name: "vda", path: "vda" } as const,
                sentence: "log: 16 KiB, sequential",
                parts: [],
              },
            ],
          }
        : phase,
    );
    const recording = await drawn({ edges: EDGES, tables: [], report: { ...about, phases } });
    expect(phaseBoxes(recording).map(({ border }) => border)).toEqual([
      "",
      "",
      "Throughput fell from 30,212 to 24,480 tps (-19 %). Marked: moved. On disk then: vda (log: 16 KiB, sequential).",
      expect.stringMatching(
        /^Throughput fell from 24,480 to 18,503 tps .* Throughput settled at once\.$/,
      ),
      "",
    ]);
  });

  it("are none where it did not", async () => {
    const recording = await drawn({ edges: EDGES, tables: [], report: golden("cpu-quota") });
    expect(phaseBoxes(recording)).toEqual([]);
    expect(marks(recording)).toEqual([]);
  });

  it("are events and what nobody saw, in the order of time", async () => {
    const about = report({});
    const at = (seconds: number) => about.origin + seconds * SECOND;
    about.gaps.push({ table: "*", window: { start: at(3), end: at(4) }, reason: "overrun" });
    about.gaps.push({ table: "disk", window: { start: at(1), end: at(2) }, reason: "overrun" });
    const recording = await drawn({
      edges: EDGES,
      tables: [],
      report: about,
      page: { events: [{ at: at(5), kind: "target_found", text: "postgres was found" }] },
    });
    expect(marks(recording)).toEqual([
      { kind: "gap", span: { from: 3e9, to: 4e9 }, text: "the sampler was late" },
      { kind: "event", span: { from: 5e9, to: 5e9 }, text: "postgres was found" },
    ]);
  });

  it("have a place in what is in sight", () => {
    const view = { from: 100, to: 300 };
    expect(placed({ from: 150, to: 200 }, view)).toEqual({ left: 0.25, width: 0.25 });
    expect(placed({ from: 0, to: 999 }, view)).toEqual({ left: 0, width: 1 });
    expect(placed({ from: 0, to: 100 }, view)).toBeUndefined();
  });
});

describe.each(FIXTURES)("the kept page %s", (name) => {
  it("has lanes with one number per bin, and names of their own", async () => {
    const recording = await fixture(name);
    const all = timeline(recording, await recording.load(TABLES));
    expect(all.length).toBeGreaterThan(5);
    expect(new Set(all.map((lane) => lane.id)).size).toBe(all.length);
    for (const lane of all) {
      expect(lane.edges).toHaveLength(lane.times.length + 1);
      for (const line of lane.lines) {
        expect(line.values, `${lane.id} ${line.label}`).toHaveLength(lane.times.length);
        expect(line.low?.length ?? lane.times.length).toBe(lane.times.length);
      }
      expect(lane.alternative.startsWith(`${lane.title}: `)).toBe(true);
    }
  });
});
