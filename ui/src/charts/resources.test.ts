// Memory, network, filesystems and PostgreSQL: small specs, on one drawn recording.

import { describe, expect, it } from "vitest";
import { type DrawnColumn, drawn } from "../../tests/drawn";
import type { Tables } from "../data/recording";
import type { Span } from "../data/units";
import { databases, sessions } from "./database";
import { filesystems, room } from "./filesystems";
import { memory, memoryLanes } from "./memory";
import { interfaceLanes, interfaces, peers, remoteOf, softnet, tcp } from "./network";
import { sparkline, sparkPath } from "./sparkline";

const S = 1e9;
const WINDOW = { from: 0, to: 2 * S };
const gauges = (...names: string[]): DrawnColumn[] =>
  names.map((name) => ({ name, kind: "gauge", unit: "bytes" }));
const counters = (...names: string[]): DrawnColumn[] =>
  names.map((name) => ({ name, unit: "count" }));

async function opened() {
  const recording = await drawn({
    edges: [0, S, 2 * S],
    entities: [
      { kind: "machine", name: "vm", path: "/" },
      { kind: "interface", name: "lo", path: "lo" },
      { kind: "interface", name: "eth0", path: "eth0" },
      { kind: "cpu", name: "cpu0", path: "cpu0" },
      { kind: "process", name: "postgres", path: "pid:7@1", role: "target" },
      { kind: "connection", name: "10.0.0.1:5432-10.0.0.2:41000", path: "a", parent: 4 },
      { kind: "connection", name: "10.0.0.1:5432-10.0.0.2:41001", path: "b", parent: 4 },
      { kind: "connection", name: "[::1]:5432-[::1]:41002", path: "c", parent: 4 },
      { kind: "filesystem", name: "/", path: "/" },
      { kind: "filesystem", name: "/full", path: "/full" },
      { id: 31, kind: "process", name: "postgres", path: "pid:8@1", role: "target" },
    ],
    tables: [
      {
        name: "memory",
        entity: "machine",
        columns: gauges(
          "total_bytes",
          "free_bytes",
          "available_bytes",
          "cached_bytes",
          "shared_bytes",
          "anonymous_bytes",
        ),
        series: [
          { entity: 0, column: "total_bytes", values: 1000 },
          { entity: 0, column: "free_bytes", values: [300, 500] },
          {
            entity: 0,
            column: "available_bytes",
            values: [500, 700],
            low: [100, 700],
            high: [700, 700],
          },
          { entity: 0, column: "cached_bytes", values: 300 },
          { entity: 0, column: "shared_bytes", values: 100 },
          { entity: 0, column: "anonymous_bytes", values: 200 },
        ],
      },
      {
        name: "paging",
        entity: "machine",
        columns: counters("refault_anon", "refault_file", "oom_kills", "swap_in"),
        series: [
          { entity: 0, column: "refault_anon", values: 64 },
          { entity: 0, column: "refault_file", values: 192 },
          { entity: 0, column: "oom_kills", values: [0, 2] },
          { entity: 0, column: "swap_in", values: 0 },
        ],
      },
      {
        name: "network",
        entity: "interface",
        columns: counters("rx_bytes", "rx_packets", "rx_drops", "tx_bytes"),
        series: [
          { entity: 1, column: "rx_bytes", values: 0 },
          { entity: 2, column: "rx_bytes", values: 1500 },
          { entity: 2, column: "rx_packets", values: 1 },
          { entity: 2, column: "rx_drops", values: [0, 4] },
        ],
      },
      {
        name: "tcp",
        entity: "machine",
        columns: [...counters("out_segments", "timeouts"), ...gauges("established")],
        series: [
          { entity: 0, column: "out_segments", values: [100, 300] },
          { entity: 0, column: "established", values: [4, 7] },
        ],
      },
      {
        name: "softnet",
        entity: "cpu",
        columns: counters("processed", "dropped"),
        series: [{ entity: 3, column: "processed", values: 10 }],
      },
      {
        name: "connection",
        entity: "connection",
        columns: [
          ...counters("segments_out", "retransmitted_segments", "bytes_sent"),
          ...gauges("rtt_ns", "rtt_min_ns"),
        ],
        series: [
          { entity: 5, column: "segments_out", values: 300 },
          { entity: 5, column: "retransmitted_segments", values: 6 },
          { entity: 5, column: "rtt_min_ns", values: 1000 },
          { entity: 5, column: "bytes_sent", values: [100], known: [0, 0.1 * S] },
          { entity: 6, column: "bytes_sent", values: [300], known: [0.5 * S, 0.6 * S] },
          { entity: 6, column: "segments_out", values: 100 },
          { entity: 6, column: "retransmitted_segments", values: 0 },
          { entity: 6, column: "rtt_min_ns", values: 5000 },
          { entity: 7, column: "rtt_min_ns", values: 50 },
        ],
      },
      {
        name: "filesystem",
        entity: "filesystem",
        columns: gauges("total_bytes", "available_bytes", "inodes", "free_inodes"),
        series: [
          { entity: 8, column: "total_bytes", values: 4096 },
          { entity: 8, column: "available_bytes", values: [3072, 2048] },
          { entity: 8, column: "inodes", values: 0 },
          { entity: 8, column: "free_inodes", values: 0 },
          { entity: 9, column: "total_bytes", values: 4096 },
          { entity: 9, column: "available_bytes", values: 4000 },
          { entity: 9, column: "inodes", values: 100 },
          { entity: 9, column: "free_inodes", values: 1 },
        ],
      },
      {
        name: "database",
        entity: "process",
        columns: [...counters("commits", "blocks_hit", "blocks_read"), ...gauges("sessions")],
        series: [
          { entity: 4, column: "commits", values: 20 },
          { entity: 4, column: "blocks_hit", values: 75 },
          { entity: 4, column: "blocks_read", values: 25 },
          { entity: 4, column: "sessions", values: [5, 10] },
        ],
      },
      {
        name: "session",
        entity: "process",
        columns: gauges("state", "wait_class", "blocked_by", "transaction_age_ns"),
        series: [
          { entity: 4, column: "state", values: [2, 1] },
          { entity: 4, column: "wait_class", values: [6, 3] },
          { entity: 4, column: "blocked_by", values: [31], firstBin: 1, known: [S, 2 * S] },
        ],
      },
    ],
  });
  const names = recording.page.tables.map((table) => table.name);
  return { recording, tables: await recording.load(names) };
}

const NOTHING: Tables = {
  bins: () => undefined,
  rows: () => undefined,
  stacks: () => undefined,
  samples: () => undefined,
  series: () => undefined,
};

describe("memory", () => {
  it("adds up to what there is, shared memory once", async () => {
    const { recording, tables } = await opened();
    const { use, leastAvailable, total } = memory(recording, tables, WINDOW);
    expect(use?.parts.map((part) => [part.key, part.value])).toEqual([
      ["anonymous", 200],
      ["shared", 100],
      ["other", 100],
      ["files", 200],
      ["free", 400],
    ]);
    expect([use?.total, total, leastAvailable]).toEqual([1000, 1000, 100]);
  });

  it("counts pages as bytes, kills as kills, and tells nothing from not seen", async () => {
    const { recording, tables } = await opened();
    const figures = memory(recording, tables, WINDOW).figures;
    const of = (label: string) => figures.find((figure) => figure.label === label);
    expect(of("refaulted")?.value).toBe("1.05 MB/s");
    expect(of("killed for want of memory")?.value).toBe("2");
    expect(of("swapped in")).toMatchObject({ value: "0", zero: true });
    expect(of("available")).toMatchObject({ value: "600 B", highest: "700 B" });
    expect(of("major faults")).toBeUndefined();
    expect(memory(recording, NOTHING, WINDOW)).toMatchObject({ use: undefined, total: undefined });
  });
});

describe("lanes", () => {
  it("stack memory by use, and tell received from sent", async () => {
    const { recording, tables } = await opened();
    const [use] = memoryLanes(recording, tables);
    expect(use?.stacked).toBe(true);
    expect(use?.lines.map((line) => [line.label, line.values[1]])).toEqual([
      ["programs", 200],
      ["page cache, shared", 300],
      ["free", 500],
    ]);
    const lanes = interfaceLanes(recording, tables, 2);
    expect(lanes.map((lane) => [lane.title, lane.lines.map((line) => line.label)])).toEqual([
      ["Traffic", ["received"]],
      ["Packets", ["received"]],
      ["Dropped", ["received"]],
    ]);
    expect(memoryLanes(recording, NOTHING)).toEqual([]);
  });
});

describe("network", () => {
  it("sums up interfaces, TCP and arrivals", async () => {
    const { recording, tables } = await opened();
    expect(interfaces(recording, tables, WINDOW).map((it) => [it.value.name, it.quiet])).toEqual([
      ["lo", true],
      ["eth0", false],
    ]);
    expect(interfaces(recording, tables, WINDOW)[1]?.value.dropped).toBe(2);
    const figures = tcp(recording, tables, WINDOW);
    expect(figures.map((it) => [it.label, it.value, it.highest])).toEqual([
      ["segments sent", "200/s", "300/s"],
      ["retransmission timers ran out", undefined, undefined],
      ["established", "7", "7"],
    ]);
    expect(softnet(recording, tables, WINDOW)).toEqual({
      processed: 10,
      dropped: undefined,
      squeezed: undefined,
    });
  });

  it("puts connections with one peer together, weighed by what they sent", async () => {
    const { recording, tables } = await opened();
    const [first, second] = peers(recording, tables, WINDOW);
    expect(first?.value).toMatchObject({
      holder: "postgres",
      role: "target",
      name: "10.0.0.2",
      connections: 2,
      least: 2000,
      again: 12 / 800,
      trip: undefined,
      // Over the window: what each sent in its own 0.1 s are no rates to add up.
      sent: 200,
    });
    expect(first?.children.map(({ value }) => value.sent)).toEqual([50, 150]);
    expect(second?.value).toMatchObject({ name: "[::1]:5432-[::1]:41002", least: 50 });
    expect(second?.children).toHaveLength(0);
  });

  it("takes hostile names for what they are", () => {
    expect(remoteOf("[::1]:5432-[fe80::2]:41002")).toBe("[fe80::2]");
    expect(remoteOf("<img src=x>")).toBe("<img src=x>");
    expect(remoteOf("-:1")).toBe("-:1");
    expect(remoteOf("")).toBe("");
  });
});

describe("filesystems", () => {
  it("come the fullest first, by room or by files", async () => {
    const { recording, tables } = await opened();
    const [full, root] = filesystems(recording, tables, WINDOW);
    expect(full).toMatchObject({ name: "/full", files: 1, filesPart: 0.01 });
    expect(root).toMatchObject({ name: "/", free: 2048, freePart: 0.5, files: undefined });
    expect(room(2048, 4096, 0.5)).toBe("2.05 kB of 4.10 kB (50 %)");
    expect(filesystems(recording, NOTHING, WINDOW)).toEqual([]);
  });
});

describe("database", () => {
  it("has counters and the sessions as last seen", async () => {
    const { recording, tables } = await opened();
    const [server] = databases(recording, tables, WINDOW);
    expect(server?.hit).toBe(0.75);
    expect(server?.figures.map((it) => [it.label, it.value])).toEqual([
      ["commits", "20.0/s"],
      ["blocks found in buffers", "75.0/s"],
      ["blocks read", "25.0/s"],
      ["sessions", "7.50"],
    ]);
    expect(sessions(recording, tables, WINDOW)).toEqual([
      {
        name: "postgres 7",
        state: "active",
        waits: "Lock",
        blockedBy: "postgres 8",
        age: undefined,
      },
    ]);
    const [before] = sessions(recording, tables, { from: 0, to: S });
    expect(before).toMatchObject({ state: "idle", waits: "Client", blockedBy: "" });
  });
});

describe("sessions", () => {
  const gauge = (name: string) => ({ name, kind: "gauge" as const });
  const names = async (window: Span) => {
    const recording = await drawn({
      edges: [0, S, 2 * S],
      entities: ["old", "blocked", "gone", "mute"].map((name) => ({
        kind: "process",
        name,
        path: name,
      })),
      tables: [
        {
          name: "session",
          entity: "process",
          columns: ["state", "wait_class", "blocked_by", "transaction_age_ns"].map(gauge),
          series: [
            ...[0, 1, 3].map((entity) => ({ entity, column: "state", values: 1 })),
            { entity: 2, column: "state", values: [1], known: [0, S] },
            { entity: 0, column: "wait_class", values: 0 },
            { entity: 1, column: "wait_class", values: 3 },
            { entity: 1, column: "blocked_by", values: 9 },
            { entity: 0, column: "transaction_age_ns", values: 50 * S },
            { entity: 1, column: "transaction_age_ns", values: S },
          ],
        },
      ],
    });
    const tables = await recording.load(["session"]);
    return sessions(recording, tables, window).map(({ name, waits }) => [name, waits]);
  };

  it("that are blocked come first, then by age; who was gone before is left out", async () => {
    // Of a class of waits that was not known nothing is said: it is not "no wait".
    expect(await names({ from: S, to: 2 * S })).toEqual([
      ["blocked blocked", "Lock"],
      ["old old", ""],
      ["mute mute", "not seen"],
    ]);
    expect(await names({ from: 0, to: 2 * S })).toContainEqual(["gone gone", "not seen"]);
  });
});

describe("sparkline", () => {
  it("adds up counters, marks the window, and breaks where nothing is known", async () => {
    const { tables } = await opened();
    const sent = tables.series("tcp", 0, "out_segments");
    const blocked = tables.series("session", 4, "blocked_by");
    if (sent === undefined || blocked === undefined) throw new Error("not drawn");
    const line = sparkline([sent, sent], WINDOW, { from: S, to: 2 * S });
    expect([line.from, line.to]).toEqual([0.5, 1]);
    expect(line.most).toBeCloseTo(600, 6);
    expect(line.heights[0]).toBeCloseTo(200 / 600, 6);
    expect(line.heights[59]).toBeCloseTo(1, 6);
    expect(sparkPath(line, 60, 10)).toMatch(/^M0\.0 6\.7H1\.0V6\.7H2\.0/);
    const late = sparkline([blocked], WINDOW, WINDOW);
    expect(late.heights[0]).toBeNaN();
    expect(sparkPath(late, 60, 10)).toMatch(/^M30\.0 /);
    expect(sparkPath(sparkline([], WINDOW, WINDOW), 60, 10)).toBe("");
  });
});
