import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { type DrawnSamples, drawnStacks } from "../../tests/drawnStacks";
import { fixture, said } from "../../tests/fixture";
import type { StackTable } from "../data/stacks";
import { SECOND } from "../data/units";
import { ALL, byFrame, found, matcher, selfByFrame, weigh } from "./flame";
import { difference, isBeyond } from "./flameDifference";
import { isIdle } from "./ledger";
import { classTimes, needed, ofClasses, tracing } from "./offCpu";

const MS = 1e6;
const EDGES = Array.from({ length: 11 }, (_, bin) => bin * 100 * MS);
const WHOLE = { from: 0, to: 1000 * MS };

const LINES: readonly DrawnSamples[] = [
  { path: "server;main;work", bin: 0, samples: 4 },
  { path: "server;main;lock", bin: 1, samples: 1 },
  { path: "server;main;lock", bin: 1, samples: 2, ns: 10 * MS, wait: "futex", deviation: 3 * MS },
  { path: "server;main;lock", bin: 2, samples: 1, ns: 5 * MS, wait: "futex", deviation: 4 * MS },
  { path: "server;main;commit", bin: 3, samples: 1, ns: 30 * MS, wait: "sync", end: 1 },
  { path: "server;main;poll", bin: 3, samples: 3, ns: 100 * MS, wait: "input" },
  { path: "client", bin: 9, samples: 1, ns: 7 * MS, wait: "later_class", end: -1 },
];

const isNeeded = (word: string) => !isIdle(word);

describe("waits", () => {
  it("are weighed with what they were for below who waited", async () => {
    const { stacks, waits, edges } = await drawnStacks(LINES, EDGES);
    const weights = weigh(stacks, [waits], edges, [WHOLE]);
    expect(weights).toMatchObject({ samples: 8, ns: 362 * MS, whole: 6 / 7, deviation: 5 * MS });
    expect(weights.unnamed, "the client has no frame").toBeCloseTo(7 / 362, 12);
    const self = selfByFrame(stacks, weights.self);
    const total = byFrame(stacks, weights.total);
    const of = (name: string) => {
      const frame = stacks.frames.findIndex((it) => it.name === name);
      return [(self[frame] ?? 0) / MS, (total[frame] ?? 0) / MS];
    };
    expect(of("lock"), "a function waits itself").toEqual([25, 25]);
    expect(of("main")).toEqual([0, 355]);
    expect(of("futex"), "by the class's label").toEqual([0, 25]);
    const matches = matcher("fsync");
    expect(matches && found(stacks, weights, matches).share).toBeCloseTo(30 / 362, 12);
  });

  it("are told apart by class, and those for work are left out", async () => {
    const { stacks, waits, edges } = await drawnStacks(LINES, EDGES);
    const classes = classTimes(stacks, weigh(stacks, [waits], edges, [WHOLE]));
    expect(classes.map(({ word, ns }) => [word, ns / MS])).toEqual([
      ["input", 300],
      ["sync", 30],
      ["futex", 25],
      ["later_class", 7],
    ]);
    expect(classes[3]?.label, "this page does not know it").toBe("later_class");
    expect(needed(classes)).toBe(62 * MS);
    const part = weigh(stacks, [ofClasses(stacks, waits, isNeeded)], edges, [WHOLE]);
    expect(part).toMatchObject({ samples: 5, ns: 62 * MS });
    const one = ofClasses(stacks, waits, (word) => word === "sync");
    expect([...one.bins], "in the bin in which they ended").toEqual([3]);
    expect(weigh(stacks, [one], edges, [WHOLE])).toMatchObject({ ns: 30 * MS, deviation: 0 });
  });

  it("stand with what ran in the same functions", async () => {
    const { stacks, samples, waits, edges } = await drawnStacks(LINES, EDGES);
    const both = weigh(stacks, [samples, ofClasses(stacks, waits, isNeeded)], edges, [WHOLE]);
    expect(both.ns).toBe(67 * MS);
    const lock = stacks.frameOf.indexOf(stacks.frames.findIndex(({ name }) => name === "lock"));
    expect([both.self[lock], both.total[lock]]).toEqual([MS, 26 * MS]);
  });

  it("stand for all of the time where they were traced in a part of it", async () => {
    const { stacks, waits, edges } = await drawnStacks(LINES, EDGES);
    const scaled = { ...waits, traced: () => 0.25 };
    expect(weigh(stacks, [scaled], edges, [WHOLE])).toMatchObject({
      ...{ samples: 8, ns: 4 * 362 * MS, deviation: 20 * MS },
    });
    const none = { ...waits, traced: () => 0 };
    expect(weigh(stacks, [none], edges, [WHOLE]).ns, "nothing to scale by").toBe(362 * MS);
  });

  it("of two windows differ in the function that waits longer", async () => {
    const edges = Array.from({ length: 41 }, (_, bin) => bin * SECOND);
    const lines = edges.slice(0, -1).flatMap((_, bin): DrawnSamples[] => [
      { path: "server;lock", bin, ns: (bin < 20 ? 10 + (bin % 3) : 40) * MS, wait: "futex" },
      { path: "server;commit", bin, ns: (10 + (bin % 3)) * MS, wait: "sync" },
    ]);
    const of = await drawnStacks(lines, edges);
    const run = { samples: [of.waits], edges: of.edges, intervals: [] };
    const side = (from: number) => ({
      run,
      windows: [{ from: from * SECOND, to: (from + 20) * SECOND }],
    });
    const found = difference(of.stacks, side(20), side(0));
    const differs = (name: string) => {
      const frame = of.stacks.frames.findIndex((it) => it.name === name);
      return isBeyond(found.functions[frame]?.total ?? 0, found.noise?.frames[frame]);
    };
    expect(["lock", "commit"].map(differs)).toEqual([true, false]);
  });

  it("are the engine's over windows of a recording", async () => {
    const recording = await fixture("stacks");
    const tables = await recording.load(["stack", "wait_sample"]);
    const [stacks, waits] = [tables.stacks("stack"), tables.samples("wait_sample")];
    if (stacks === undefined || waits === undefined) throw new Error("it has waits");
    for (const { from_ns, to_ns, stacks: of } of said("stacks")) {
      const engine = of?.waits;
      if (!engine) throw new Error("the engine has waits");
      const window = { from: from_ns, to: to_ns };
      const weights = weigh(stacks, [waits], recording.edges, [window]);
      const classes = classTimes(stacks, weights);
      expect(engine.waits).toBeGreaterThan(20);
      expect(weights.samples).toBe(engine.waits);
      expect(weights.ns).toBe(engine.blocked_ns);
      expect((1.96 * weights.deviation) / engine.error_ns).toBeCloseTo(1, 6);
      expect(weights.whole).toBeCloseTo(engine.whole ?? 0, 12);
      expect(needed(classes)).toBe(engine.needed_ns);
      const idle = engine.blocked_ns - engine.needed_ns;
      for (const { process, frames, share, class: word } of engine.paths) {
        const own = nodeOf(stacks, [process, ...frames.toReversed()], word);
        const whole = isIdle(word) ? idle : engine.needed_ns;
        expect((weights.self[own] ?? 0) / whole).toBeCloseTo(share, 12);
      }
    }
  });

  it("say in which part of the time they were traced", async () => {
    const column = { name: "thread_time_ns", kind: "counter" as const };
    // Half of the time from the second bin on, when it was first read.
    const values = [0, 100, 0, 100, 0, 50, 50, 0, 100, 50].map((ms) => ms * MS);
    const known = [100 * MS, 1000 * MS] as const;
    const series = [{ entity: 0, column: column.name, values, known }];
    const recording = await drawn({
      edges: EDGES,
      tables: [{ name: "coverage", entity: "machine", columns: [column], series }],
      entities: [{ kind: "machine" }],
    });
    const tables = await recording.load(["coverage"]);
    const traced = tracing(recording, tables);
    expect(traced?.([WHOLE])).toBeCloseTo(450 / 900, 9);
    const apart = [
      { from: 100 * MS, to: 200 * MS },
      { from: 400 * MS, to: 600 * MS },
    ];
    expect(traced?.(apart)).toBeCloseTo(150 / 300, 9);
    expect(traced?.(apart.slice(0, 1))).toBe(1);
    expect(tracing(recording, await recording.load([]))).toBeUndefined();
  });
});

function nodeOf(stacks: StackTable, path: readonly string[], word: string): number {
  const frame = (node: number) => stacks.frames[stacks.frameOf[node] ?? 0];
  const names = (node: number): string[] =>
    node === ALL ? [] : [...names(stacks.callers[node] ?? ALL), frame(node)?.name ?? ""];
  const wanted = path.join(";");
  return stacks.frameOf.findIndex(
    (_, node) =>
      frame(node)?.word === word && names(stacks.callers[node] ?? ALL).join(";") === wanted,
  );
}
