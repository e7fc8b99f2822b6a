import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import type { PageEntity } from "../data/page.gen";
import { type Group, groups, nested } from "./groups";
import type { TreeNode } from "./tree";

const S = 1e9;
const gauge = (name: string) => ({ name, kind: "gauge" as const });

const ENTITIES: readonly Partial<PageEntity>[] = [
  { kind: "cgroup", name: "/", path: "/" },
  { kind: "cgroup", name: "db.service", path: "/system.slice/db.service" },
  { kind: "cgroup", name: "system.slice", path: "/system.slice" },
  { kind: "cgroup", name: "<b>", path: "/system.slice-not/<b>" },
  { kind: "process", name: "db", path: "pid:1@1", role: "target", group: 1 },
  { kind: "group_disk", name: "254:0", path: "/system.slice/db.service:254:0", parent: 1 },
];

async function opened() {
  const recording = await drawn({
    edges: [0, S, 2 * S],
    entities: ENTITIES,
    tables: [
      {
        name: "cgroup_cpu",
        entity: "cgroup",
        columns: ["usage_ns", "periods", "throttled_periods", "throttled_ns"].map((name) => ({
          name,
        })),
        series: [
          { entity: 0, column: "usage_ns", values: 1.5 * S },
          { entity: 1, column: "usage_ns", values: 0.4 * S },
          { entity: 1, column: "periods", values: 10 },
          { entity: 1, column: "throttled_periods", values: 9 },
          { entity: 1, column: "throttled_ns", values: 1.2 * S },
          { entity: 2, column: "usage_ns", values: 0 },
          { entity: 3, column: "usage_ns", values: 0 },
        ],
      },
      {
        name: "cgroup_limit",
        entity: "cgroup",
        columns: [gauge("quota_ns"), gauge("period_ns"), gauge("cpus")],
        series: [
          { entity: 1, column: "quota_ns", values: [4e7], firstBin: 1, known: [S, 2 * S] },
          { entity: 1, column: "period_ns", values: 1e8 },
          { entity: 0, column: "cpus", values: 2 },
        ],
      },
      {
        name: "cgroup_pressure",
        entity: "cgroup",
        columns: ["cpu_some_ns", "cpu_full_ns", "io_some_ns"].map((name) => ({ name })),
        series: [
          { entity: 0, column: "cpu_some_ns", values: 0.9 * S },
          { entity: 0, column: "cpu_full_ns", values: 0.2 * S },
          { entity: 1, column: "cpu_some_ns", values: 0.8 * S },
          { entity: 1, column: "cpu_full_ns", values: 0.7 * S },
        ],
      },
      {
        name: "cgroup_stall",
        entity: "cgroup",
        columns: [{ name: "cpu_some_ns" }],
        series: [{ entity: 1, column: "cpu_some_ns", values: 0.3 * S }],
      },
      {
        name: "cgroup_memory",
        entity: "cgroup",
        columns: [gauge("usage_bytes"), gauge("limit_bytes"), gauge("high_bytes")],
        series: [
          { entity: 1, column: "usage_bytes", values: [100, 300] },
          { entity: 1, column: "limit_bytes", values: 1000 },
          { entity: 1, column: "high_bytes", values: 400 },
        ],
      },
      {
        name: "cgroup_io",
        entity: "group_disk",
        columns: [{ name: "read_bytes" }, { name: "write_bytes" }, gauge("limit_read_bytes")],
        series: [
          { entity: 5, column: "read_bytes", values: 4096 },
          { entity: 5, column: "limit_read_bytes", values: 1024 * 1024 },
        ],
      },
    ],
  });
  const names = ["cpu", "limit", "memory", "io", "pressure", "stall"].map(
    (name) => `cgroup_${name}`,
  );
  return { recording, tables: await recording.load(names) };
}

const WINDOW = { from: 0, to: 2 * S };

function paths(nodes: readonly TreeNode<Group>[]): string[] {
  return nodes.flatMap((node) => [node.id, ...paths(node.children).map((path) => `  ${path}`)]);
}

describe("groups", () => {
  it("are nested as their paths are, whole names only", async () => {
    const { recording, tables } = await opened();
    expect(paths(groups(recording, tables, WINDOW))).toEqual([
      "/",
      "  /system.slice",
      "    /system.slice/db.service",
      "  /system.slice-not/<b>",
    ]);
  });

  it("stand by themselves where nobody holds them", () => {
    const entity = (path: string): PageEntity => ({
      kind: "cgroup",
      name: path,
      path,
      role: "rest",
      serving: false,
      first_seen: 0,
    });
    const all = ["/a/b/c", "/x", "", "relative/path"].map(entity);
    const roots = nested(all, [0, 1, 3]);
    expect(roots.map((root) => root.place)).toEqual([0, 1, 3]);
    expect(nested(all, [0, 2]).map((root) => [root.place, root.children.length])).toEqual([[2, 1]]);
  });

  it("have use, limits, throttling and pressure", async () => {
    const { recording, tables } = await opened();
    const [root] = groups(recording, tables, WINDOW);
    const slice = root?.children[0];
    const db = slice?.children[0]?.value;
    expect(db).toMatchObject({
      target: true,
      cpus: 0.4,
      quota: 0.4,
      quotaSince: S,
      throttledPeriods: 0.9,
      throttledTime: 1.2,
      cpu: { some: 0.8, full: 0.7, density: 0.3 },
      used: 200,
      limit: 400,
      read: 4096,
      ioLimits: ["reads at most 1.05 MB/s on 254:0"],
    });
    expect(db?.io.some).toBeUndefined();
    expect(db?.written).toBeUndefined();
  });

  it("draws no full of CPU of the whole machine", async () => {
    const { recording, tables } = await opened();
    const [root] = groups(recording, tables, WINDOW);
    expect(root?.value.cpu).toEqual({ some: 0.9, full: undefined, density: undefined });
  });

  it("folds what did nothing, not what holds somebody who did", async () => {
    const { recording, tables } = await opened();
    const [root] = groups(recording, tables, WINDOW);
    expect(root?.children.map((node) => [node.value.name, node.quiet])).toEqual([
      ["system.slice", false],
      ["<b>", true],
    ]);
  });
});
