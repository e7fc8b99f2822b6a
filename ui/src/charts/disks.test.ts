import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { disk, diskLanes, disks, law } from "./disks";

const S = 1e9;
const COUNTERS = [
  "reads",
  "read_bytes",
  "read_ns",
  "writes",
  "write_bytes",
  "write_ns",
  "busy_ns",
  "queue_ns",
  "flushes",
  "flush_ns",
];

async function opened() {
  const recording = await drawn({
    edges: [0, S, 2 * S],
    entities: [
      { kind: "disk", name: "vda", path: "vda" },
      { kind: "disk", name: "loop0", path: "loop0" },
      { kind: "disk", name: "never read", path: "never" },
    ],
    tables: [
      {
        name: "disk",
        entity: "disk",
        columns: COUNTERS.map((name) => ({ name })),
        series: [
          { entity: 0, column: "reads", values: [1000, 0] },
          { entity: 0, column: "read_bytes", values: [8_192_000, 0] },
          { entity: 0, column: "read_ns", values: [0.5 * S, 0] },
          { entity: 0, column: "writes", values: [200, 800] },
          { entity: 0, column: "write_ns", values: [0.1 * S, 1.6 * S] },
          { entity: 0, column: "flushes", values: [0, 200] },
          { entity: 0, column: "flush_ns", values: [0, 0.4 * S] },
          { entity: 0, column: "queue_ns", values: [0.6 * S, 2 * S] },
          { entity: 0, column: "busy_ns", values: [0.4 * S, 1.01 * S] },
          { entity: 1, column: "reads", values: 0 },
          { entity: 1, column: "writes", values: 0 },
        ],
      },
    ],
  });
  return { recording, tables: await recording.load(["disk"]) };
}

describe("disk", () => {
  it("has the engine's numbers, and they obey Little's law", async () => {
    const { recording, tables } = await opened();
    const first = disk(recording, tables, 0, { from: 0, to: S });
    expect(first).toMatchObject({
      reads: 1000,
      writes: 200,
      operations: 1200,
      readBytes: 8_192_000,
      readEach: 5e5,
      writeEach: 5e5,
      flushEach: undefined,
      each: 5e5,
      queue: 0.6,
      busy: 0.4,
    });
    expect(law(first)).toBe("1,200/s x 0.500 ms = 0.600 in progress");
    const second = disk(recording, tables, 0, { from: S, to: 2 * S });
    // Flushes are operations too, and a disk is not busy for longer than there is time.
    expect(second).toMatchObject({
      operations: 1000,
      each: 2e6,
      queue: 2,
      flushEach: 2e6,
      busy: 1,
    });
    expect(second.readEach).toBeUndefined();
  });

  it("is nothing where nothing is known, and quiet where nothing was done", async () => {
    const { recording, tables } = await opened();
    const all = disks(recording, tables, { from: 0, to: 2 * S });
    expect(all.map((node) => [node.value.name, node.quiet])).toEqual([
      ["vda", false],
      ["loop0", true],
    ]);
    const [, loop] = all;
    expect(loop && law(loop.value)).toBeUndefined();
    expect(loop?.value.queue).toBeUndefined();
  });

  it("has no mean time in a bin in which nothing ended", async () => {
    const { recording, tables } = await opened();
    const lanes = diskLanes(recording, tables, 0);
    const latency = lanes.find((lane) => lane.id === "disk-0-latency");
    const read = latency?.lines.find((line) => line.label === "read");
    expect([...(read?.values ?? [])]).toEqual([5e5, Number.NaN]);
    expect(read?.over?.({ from: 0, to: 2 * S })).toBe(5e5);
    expect(read?.over?.({ from: S, to: 2 * S })).toBeNaN();
    expect(lanes.map((lane) => lane.title)).toEqual([
      "Operations",
      "Traffic",
      "Mean time of an operation",
      "In progress",
      "In use",
    ]);
  });
});
