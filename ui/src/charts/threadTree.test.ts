import { describe, expect, it } from "vitest";
import { type DrawnSeries, drawn } from "../../tests/drawn";
import { FIXTURES, fixture, said } from "../../tests/fixture";
import type { PageEntity, Quality } from "../data/page.gen";
import { ledgerColumns, ledgerWhole, threadTimes } from "./ledger";
import { kinOf, pattern } from "./processTree";
import { crowd, type Member } from "./threadTree";
import type { TreeNode } from "./tree";

const S = 1e9;
const EDGES = [0, S, 2 * S, 3 * S];
const CLASSES = ["on_cpu", "cpu_wait", "throttled", "futex", "input", "never_heard_of"];
const HOSTILE = "<script>alert(1)</script>/../\u202e";

const ENTITIES: readonly Partial<PageEntity>[] = [
  { kind: "machine", path: "/" },
  { kind: "process", name: "init", path: "pid:1@0" },
  { kind: "process", name: "postgres", path: "pid:10@5", role: "target", parent: 1 },
  { kind: "process", name: "postgres", path: "pid:11@6", role: "target", parent: 2, serving: true },
  { kind: "process", name: "postgres", path: "pid:12@6", role: "target", parent: 2, serving: true },
  { kind: "thread", name: "postgres", path: "pid:11@6/tid:11", role: "target", parent: 3 },
  { kind: "thread", name: "postgres", path: "pid:12@6/tid:12", role: "target", parent: 4 },
  { kind: "cgroup", name: HOSTILE, path: `/${HOSTILE}` },
  { kind: "process", name: HOSTILE, path: "pid:30@9", group: 7, parent: 1 },
  { kind: "process", name: "kworker/0:1-events", path: "pid:31@9" },
  { kind: "process", name: "kworker/1:2-mm", path: "pid:32@9" },
  { kind: "process", name: "sleeper", path: "pid:33@9", parent: 1 },
];

function ledger(entity: number, times: Readonly<Record<string, number>>): DrawnSeries[] {
  return Object.entries(times).map(([column, perSecond]) => ({
    entity,
    column: `${column}_ns`,
    values: perSecond * S,
  }));
}

async function opened(throttled: Quality = "estimated") {
  const recording = await drawn({
    edges: EDGES,
    entities: ENTITIES,
    tables: [
      {
        name: "ledger",
        entity: "thread",
        columns: CLASSES.map((name) => ({
          name: `${name}_ns`,
          quality: name === "throttled" ? throttled : "exact",
        })),
        series: [
          ...ledger(5, { on_cpu: 0.5, cpu_wait: 0.125, throttled: 0.25, input: 0.125 }),
          ...ledger(6, { on_cpu: 0.25, cpu_wait: 0.25, futex: 0.25, never_heard_of: 0.25 }),
        ],
      },
      {
        name: "process",
        entity: "process",
        columns: [
          { name: "user_ns" },
          { name: "system_ns" },
          { name: "read_bytes", unit: "bytes" },
          { name: "write_bytes", unit: "bytes" },
        ],
        series: [
          { entity: 3, column: "user_ns", values: 9 * S },
          { entity: 3, column: "read_bytes", values: 4096 },
          { entity: 8, column: "user_ns", values: 0.25 * S },
          { entity: 8, column: "system_ns", values: 0.75 * S },
          { entity: 9, column: "system_ns", values: 0.5 * S },
          { entity: 10, column: "system_ns", values: 0.25 * S },
          { entity: 11, column: "user_ns", values: 0 },
        ],
      },
    ],
  });
  return { recording, tables: await recording.load(["ledger", "process"]) };
}

const WINDOW = { from: S, to: 3 * S };

async function grown(): Promise<readonly TreeNode<Member>[]> {
  const { recording, tables } = await opened();
  return crowd(recording, tables, WINDOW);
}

function lines(nodes: readonly TreeNode<Member>[]): string[] {
  return nodes.flatMap(({ value, children }) => [
    `${value.kind} ${value.name} ${value.detail}`.trim(),
    ...lines(children).map((line) => `  ${line}`),
  ]);
}

describe("crowd", () => {
  it("nests roles, services, pools, processes and threads, and leaves out only children", async () => {
    expect(lines(await grown())).toEqual([
      "role Target",
      "  service postgres pid 10",
      "    process postgres pid 11",
      "    process postgres pid 12",
      "role Rest",
      `  service ${HOSTILE} /${HOSTILE}`,
      "  service kworker",
      "    process kworker/0:1-events pid 31",
      "    process kworker/1:2-mm pid 32",
      "  service sleeper pid 33",
    ]);
  });

  it("adds up threads exactly, and takes processes' CPU time where no thread was watched", async () => {
    const [target, rest] = (await grown()).map((node) => node.value);
    expect(target?.whole?.total).toBe(4 * S);
    expect(target?.whole?.parts.map((it) => [it.key, it.value / S])).toEqual([
      ["on_cpu", 1.5],
      ["cpu_wait", 0.75],
      ["throttled", 0.5],
      ["futex", 0.5],
      ["input", 0.25],
      ["never_heard_of", 0.5],
    ]);
    expect(target?.whole?.parts.reduce((sum, it) => sum + it.width, 0)).toBe(10_000);
    // By the same classes as the bar: what a quota held back is no wait for a CPU.
    expect([target?.threads, target?.cpus, target?.blocked]).toEqual([2, 0.75, 0.25]);
    expect([target?.waiting, target?.withheld]).toEqual([0.375, 0.25]);
    expect(target?.busiest).toEqual({ name: "postgres", share: 0.5 });
    expect(target?.storage).toBe(4096);
    expect(rest?.whole).toBeUndefined();
    expect([rest?.cpus, rest?.busiest]).toEqual([1.75, undefined]);
    expect([rest?.waiting, rest?.withheld]).toEqual([undefined, undefined]);
  });

  it("adds up what many short lives moved by the window's time, not by their own", async () => {
    // Sixty compilers one after the other, each 1 s long and 5 MB: 5 MB/s, never 300.
    const edges = Array.from({ length: 61 }, (_, second) => second * S);
    const lives = Array.from({ length: 60 }, (_, second) => second);
    const recording = await drawn({
      edges,
      entities: lives.map((at) => ({ kind: "process", name: "cc1", path: `pid:${100 + at}@1` })),
      tables: [
        {
          name: "process",
          entity: "process",
          columns: [{ name: "user_ns" }, { name: "read_bytes", unit: "bytes" }],
          series: lives.flatMap((at) =>
            ["user_ns", "read_bytes"].map((column) => {
              const known = [at * S, (at + 1) * S] as const;
              return { entity: at, column, values: [5e6], firstBin: at, known };
            }),
          ),
        },
      ],
    });
    const tables = await recording.load(["process"]);
    const [rest] = crowd(recording, tables, { from: 0, to: 60 * S });
    expect(rest?.value.storage).toBeCloseTo(5e6);
    const [half] = crowd(recording, tables, { from: 0.5 * S, to: 30.5 * S });
    expect(half?.value.storage).toBeCloseTo(5e6);
  });

  it("hides who did nothing, and finds everybody by name, number and role", async () => {
    const nodes = await grown();
    const [target, rest] = nodes;
    const sleeper = rest?.children.find((node) => node.value.name === "sleeper");
    expect([target?.quiet, rest?.quiet, sleeper?.quiet]).toEqual([false, false, true]);
    const text = target?.children[0]?.children[0]?.value.text ?? "";
    for (const word of ["Target", "postgres", "pid 11"]) expect(text).toContain(word);
    expect(rest?.children[0]?.value.text).toContain(HOSTILE);
  });

  it("is empty where nothing was recorded", async () => {
    const recording = await drawn({ edges: EDGES, entities: ENTITIES, tables: [] });
    expect(crowd(recording, await recording.load(["ledger", "process"]), WINDOW)).toEqual([]);
  });
});

describe("ledger", () => {
  it("knows the wait for a CPU only as well as the quota that was taken out of it", async () => {
    const qualities = async (throttled: Quality) => {
      const { tables } = await opened(throttled);
      const table = tables.bins("ledger");
      if (table === undefined) throw new Error("drawn without a ledger");
      const columns = ledgerColumns(table);
      expect(threadTimes(columns, 99, WINDOW)).toBeUndefined();
      return [5, 6].map((thread) => {
        const times = threadTimes(columns, thread, WINDOW);
        const bar = times && ledgerWhole(columns, times);
        return bar?.parts.find((part) => part.key === "cpu_wait")?.quality;
      });
    };
    expect(await qualities("estimated")).toEqual(["estimated", "exact"]);
    expect(await qualities("exact"), "a quota that was counted").toEqual(["exact", "exact"]);
  });
});

describe("what explain says", () => {
  it.each(FIXTURES)("is what the rows of %s add up to", async (name) => {
    const recording = await fixture(name);
    const tables = await recording.load(["ledger", "process"]);
    let compared = 0;
    for (const window of said(name)) {
      const nodes = crowd(recording, tables, { from: window.from_ns, to: window.to_ns });
      for (const role of ["target", "generator"] as const) {
        const told = window[role];
        if (told === null) continue;
        const row = nodes.find((node) => node.value.role === role)?.value;
        const ns = (key: string) => row?.whole?.parts.find((part) => part.key === key)?.value ?? 0;
        // To a microsecond of each thread at both ends, the step of the page's numbers.
        const least = 4e3 * (told.threads + 1);
        expect(row?.threads ?? 0).toBe(told.threads);
        expect(Math.abs((row?.whole?.total ?? 0) - told.wall_ns)).toBeLessThan(least);
        expect(Math.abs(ns("on_cpu") - told.on_cpu_ns)).toBeLessThan(least);
        // A wait is counted when it ends: what a short bin has no room for is moved into those before
        // it, some of it over the window's edge.
        expect(Math.abs(ns("cpu_wait") - told.cpu_wait_ns)).toBeLessThan(
          0.02 * told.wall_ns + least,
        );
        expect(Math.abs(ns("throttled") - told.throttled_ns)).toBeLessThan(least);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(0);
  });
});

describe("kin", () => {
  const entity = (about: Partial<PageEntity>): PageEntity => ({
    kind: "process",
    name: "",
    path: "",
    role: "rest",
    serving: false,
    first_seen: 0,
    ...about,
  });

  it("ends where parents are each other's", () => {
    const ring = [
      entity({ name: "a", path: "pid:1@1", role: "target", parent: 1 }),
      entity({ name: "b", path: "pid:2@2", role: "target", parent: 0 }),
    ];
    expect(kinOf(ring, 0).service).toMatch(/^tree pid:/);
  });

  it("puts the kernel's threads together", () => {
    const kernel = [
      entity({ name: "kthreadd", path: "pid:2@1" }),
      entity({ name: "kswapd0", path: "pid:45@2", parent: 0 }),
    ];
    expect(kinOf(kernel, 1).serviceName).toBe("kernel threads");
  });

  it("calls a pool by what names have in common", () => {
    expect(pattern("tokio-runtime-w")).toBe("tokio-runtime-w");
    expect(pattern("rpc_tp_r12-7")).toBe("rpc_tp_r#-#");
    expect(pattern("kworker/u8:2-kvfree_rcu_reclaim")).toBe("kworker");
  });
});
