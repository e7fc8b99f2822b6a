import { describe, expect, it } from "vitest";
import { type DrawnTable, drawn, integers } from "../../tests/drawn";
import { drawnStacks, stackTables } from "../../tests/drawnStacks";
import { Damaged } from "./recording";
import { decodeStacks } from "./stacks";

const EDGES = [0, 100, 200].map((ms) => ms * 1e6);

describe("stacks", () => {
  it("are a tree, each node before what it called, siblings by name", async () => {
    const { stacks, samples } = await drawnStacks(
      [
        { path: "b;main;z", bin: 1, samples: 3, ns: 7, end: -1 },
        { path: "b;main;/lib/c.so!a", bin: 0, end: 2 },
        { path: "a\u202e;+main+0x1", bin: 0 },
      ],
      EDGES,
    );
    const names = [...stacks.frameOf].map((frame) => stacks.frames[frame]?.name);
    // Nothing of a recording turns the order of what stands behind it.
    expect(names).toEqual(["a\ufffd", "+main+0x1", "b", "main", "a", "z"]);
    expect([...stacks.callers]).toEqual([-1, 0, -1, 2, 3, 3]);
    expect([...stacks.levels]).toEqual([0, 1, 0, 1, 2, 2]);
    expect([...stacks.ends]).toEqual([2, 2, 6, 6, 5, 6]);
    const frames = names.map((name) => stacks.frames.find((frame) => frame.name === name));
    expect(frames.map((frame) => frame?.kind)).toEqual([
      "process",
      "address",
      "process",
      "function",
      "function",
      "function",
    ]);
    expect(frames[4]?.file).toBe("/lib/c.so");
    expect([...samples.bins]).toEqual([0, 0, 1]);
    expect([...samples.stacks]).toEqual([1, 4, 5]);
    expect([...samples.ends]).toEqual([0, 2, -1]);
    expect([...samples.samples]).toEqual([1, 1, 3]);
    expect([...samples.ns]).toEqual([1e6, 1e6, 21]);
  });

  it("of waits end in what was waited for", async () => {
    const { stacks, samples, waits } = await drawnStacks(
      [
        { path: "p;main", bin: 0, wait: "sync_queue", samples: 3, ns: 5, deviation: 2 },
        { path: "p;main", bin: 1 },
      ],
      EDGES,
      8,
    );
    const frames = [...stacks.frameOf].map((frame) => stacks.frames[frame]);
    expect(frames[2]).toMatchObject({
      ...{ kind: "class", name: "behind another's fsync", word: "sync_queue", entity: undefined },
    });
    expect(frames[1]?.word).toBeUndefined();
    expect([...waits.stacks, ...waits.ns, ...(waits.deviations ?? [])]).toEqual([2, 15, 2]);
    expect([waits.oneOf, waits.leastNs]).toEqual([1, 8]);
    expect([[...samples.stacks], samples.deviations]).toEqual([[1], undefined]);
  });

  it("are refused where they are no tree, or cut off anywhere", async () => {
    const [table] = stackTables([{ path: "p;main", bin: 0 }]);
    const recording = await drawn({ edges: EDGES, tables: [table as DrawnTable] });
    const about = recording.table("stack");
    if (about === undefined) throw new Error("it was drawn");
    const block = table?.made?.block ?? new Uint8Array();
    expect(() => decodeStacks(about, block)).not.toThrow();
    for (let end = 0; end < block.length; end++)
      expect(() => decodeStacks(about, block.subarray(0, end))).toThrow(RangeError);
    const beforeItsCaller = integers([0, 1, 1, 0, 0, 1, 1, 0]);
    expect(() => decodeStacks(about, beforeItsCaller)).toThrow(RangeError);
    const ofNoFrame = integers([0, 0, 1, 0, 0]);
    expect(() => decodeStacks(about, ofNoFrame)).toThrow(RangeError);
  });

  it("that are damaged are said to be, by name", async () => {
    const [stack, samples] = stackTables([{ path: "p;main", bin: 0 }]);
    const cut = { ...samples, made: { form: samples?.made?.form, block: integers([2, 1]) } };
    const recording = await drawn({ edges: EDGES, tables: [stack, cut] as DrawnTable[] });
    const { tables, damaged } = await recording.readable(["stack", "cpu_sample"]);
    expect(tables.stacks("stack")).toBeDefined();
    expect(tables.samples("cpu_sample")).toBeUndefined();
    expect(damaged).toEqual([expect.any(Damaged)]);
    expect(damaged[0]?.table).toBe("cpu_sample");
  });
});
