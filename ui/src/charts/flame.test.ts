import { describe, expect, it } from "vitest";
import { type DrawnSamples, drawnStacks } from "../../tests/drawnStacks";
import { fixture, said } from "../../tests/fixture";
import { random } from "../../tests/random";
import type { StackTable } from "../data/stacks";
import {
  ALL,
  boxes,
  byFrame,
  found,
  matcher,
  neighbour,
  selfByFrame,
  weigh,
  without,
} from "./flame";

const MS = 1e6;
const EDGES = Array.from({ length: 11 }, (_, bin) => bin * 100 * MS);
const WHOLE = { from: 0, to: 1000 * MS };

const LINES: readonly DrawnSamples[] = [
  { path: "server;main;parse", bin: 0, samples: 2 },
  { path: "server;main;run;read", bin: 1, samples: 3 },
  { path: "server;main;run;read;run", bin: 1, samples: 1, end: 1 },
  { path: "server;main;run", bin: 4, samples: 2 },
  { path: "server;+libc.so+0x12", bin: 5, samples: 1, end: -1 },
  { path: "client", bin: 9, samples: 1, end: -1 },
];

const named = (stacks: StackTable, node: number) =>
  node === ALL ? "all" : stacks.frames[stacks.frameOf[node] ?? 0]?.name;

describe("weights", () => {
  it("are of the window's samples, with what is below and without", async () => {
    const { stacks, samples, edges } = await drawnStacks(LINES, EDGES);
    const all = weigh(stacks, [samples], edges, [WHOLE]);
    const by = (values: Float64Array) =>
      Object.fromEntries(
        [...values.keys()].map((node) => [
          `${node} ${named(stacks, node)}`,
          (values[node] ?? 0) / MS,
        ]),
      );
    expect(by(all.total)).toEqual({
      "0 client": 1,
      "1 server": 9,
      "2 +libc.so+0x12": 1,
      "3 main": 8,
      "4 parse": 2,
      "5 run": 6,
      "6 read": 4,
      "7 run": 1,
    });
    expect(by(all.self)).toEqual({
      "0 client": 1,
      "1 server": 0,
      "2 +libc.so+0x12": 1,
      "3 main": 0,
      "4 parse": 2,
      "5 run": 2,
      "6 read": 3,
      "7 run": 1,
    });
    expect(all).toMatchObject({ samples: 10, ns: 10 * MS, whole: 7 / 8, unnamed: 0.2 });
    const two = weigh(stacks, [samples], edges, [
      { from: 0, to: 100 * MS },
      { from: 400 * MS, to: 500 * MS },
    ]);
    expect(two.samples).toBe(4);
    const none = weigh(stacks, [samples], edges, [{ from: 200 * MS, to: 300 * MS }]);
    expect(none).toMatchObject({ samples: 0, ns: 0, whole: undefined, unnamed: 0 });
  });

  it("of parts add up to those of the whole, wherever it is cut", async () => {
    const next = random(7);
    const { stacks, samples, edges } = await drawnStacks(drawnAtRandom(next, 400), EDGES);
    const whole = weigh(stacks, [samples], edges, [WHOLE]);
    for (let turn = 0; turn < 50; turn++) {
      const at = next() * WHOLE.to;
      const parts = [
        { from: 0, to: at },
        { from: at, to: WHOLE.to },
      ].map((window) => weigh(stacks, [samples], edges, [window]));
      expect(parts.reduce((sum, part) => sum + part.samples, 0)).toBe(whole.samples);
      const sum = whole.total.map((_, node) =>
        parts.reduce((sum, part) => sum + (part.total[node] ?? 0), 0),
      );
      expect(sum).toEqual(whole.total);
    }
  });

  it("are the engine's over windows of a real recording", async () => {
    const recording = await fixture("stacks");
    const tables = await recording.load(["stack", "cpu_sample"]);
    const [stacks, samples] = [tables.stacks("stack"), tables.samples("cpu_sample")];
    if (stacks === undefined || samples === undefined) throw new Error("it has stacks");
    for (const { from_ns, to_ns, stacks: of } of said("stacks")) {
      const window = { from: from_ns, to: to_ns };
      const weights = weigh(stacks, [samples], recording.edges, [window]);
      expect(of?.samples).toBeGreaterThan(20);
      expect(weights.samples).toBe(of?.samples);
      expect(weights.ns).toBe(of?.cpu_ns);
      expect(weights.whole).toBeCloseTo(of?.whole ?? 0, 12);
      expect(weights.unnamed).toBeCloseTo(of?.unnamed ?? 0, 12);
      for (const { process, frames, share } of of?.paths ?? []) {
        const path = [process, ...frames.toReversed()].join(";");
        const own = [...weights.self.keys()].find((node) => pathOf(stacks, node) === path);
        expect((weights.self[own ?? ALL] ?? 0) / weights.ns).toBeCloseTo(share, 12);
      }
    }
  });
});

function pathOf(stacks: StackTable, node: number): string {
  const frames: (string | undefined)[] = [];
  for (let at = node; at !== ALL; at = stacks.callers[at] ?? ALL) frames.push(named(stacks, at));
  return frames.reverse().join(";");
}

function drawnAtRandom(next: () => number, count: number): DrawnSamples[] {
  return Array.from({ length: count }, () => {
    const depth = 1 + Math.floor(next() * 8);
    const frames = Array.from({ length: depth }, () => `f${Math.floor(next() * 4)}`);
    const process = `p${Math.floor(next() * 2)}`;
    return {
      path: [process, ...frames].join(";"),
      bin: Math.floor(next() * 10),
      samples: 1 + Math.floor(next() * 5),
    };
  });
}

describe("boxes", () => {
  it("stand below what called them, as wide as their part, and none is narrower than asked", async () => {
    const next = random(11);
    const { stacks, samples, edges } = await drawnStacks(drawnAtRandom(next, 2000), EDGES);
    const { total, ns } = weigh(stacks, [samples], edges, [WHOLE]);
    for (const least of [0, 0.001, 0.02]) {
      const all = boxes(stacks, total, { root: ALL, least });
      const byNode = new Map(all.map((box) => [box.node, box]));
      expect(byNode.size).toBe(all.length);
      const wide = [...total.keys()].filter((node) => (total[node] ?? 0) / ns >= least);
      expect(all.length).toBe(1 + wide.length);
      for (const box of all.slice(1)) {
        const caller = byNode.get(stacks.callers[box.node] ?? ALL);
        if (caller === undefined) throw new Error("its caller is wider");
        expect(box.width).toBeCloseTo((total[box.node] ?? 0) / ns, 12);
        expect(box.level).toBe(caller.level + 1);
        expect(box.left).toBeGreaterThanOrEqual(caller.left - 1e-12);
        expect(box.left + box.width).toBeLessThanOrEqual(caller.left + caller.width + 1e-12);
      }
      for (const [place, box] of all.entries()) {
        const before = all.slice(0, place).findLast((other) => other.level === box.level);
        if (before) expect(box.left).toBeGreaterThanOrEqual(before.left + before.width - 1e-12);
      }
    }
  });

  it("of a chosen one fill the width, with all that called it above", async () => {
    const { stacks, samples, edges } = await drawnStacks(LINES, EDGES);
    const { total } = weigh(stacks, [samples], edges, [WHOLE]);
    const all = boxes(stacks, total, { root: 5, least: 0 });
    const told = all.map(({ node, level, left, width }) => [
      named(stacks, node),
      level,
      left,
      width,
    ]);
    expect(told).toEqual([
      ["all", 0, 0, 1],
      ["server", 1, 0, 1],
      ["main", 2, 0, 1],
      ["run", 3, 0, 1],
      ["read", 4, 0, 4 / 6],
      ["run", 5, 0, 1 / 6],
    ]);
    const nothing = boxes(stacks, new Float64Array(total.length), { root: ALL, least: 0 });
    expect(nothing).toHaveLength(1);
  });

  it("are walked by keys: up, down to the widest, and along", async () => {
    const { stacks, samples, edges } = await drawnStacks(LINES, EDGES);
    const { total } = weigh(stacks, [samples], edges, [WHOLE]);
    const all = boxes(stacks, total, { root: ALL, least: 0 });
    const walk = (way: Parameters<typeof neighbour>[2][]) =>
      named(stacks, all[way.reduce((at, step) => neighbour(all, at, step), 0)]?.node ?? ALL);
    expect(walk(["called"])).toBe("server");
    expect(walk(["called", "called", "called"])).toBe("run");
    expect(walk(["called", "before"])).toBe("client");
    expect(walk(["called", "before", "before", "called", "called"])).toBe("client");
    expect(walk(["called", "called", "called", "before", "caller"])).toBe("main");
    expect(walk(["caller"])).toBe("all");
  });
});

describe("a search", () => {
  it("finds the time in stacks that hold a match, nested ones once", async () => {
    const { stacks, samples, edges } = await drawnStacks(LINES, EDGES);
    const weights = weigh(stacks, [samples], edges, [WHOLE]);
    const search = (query: string) => {
      const matches = matcher(query);
      return matches && found(stacks, weights, matches);
    };
    expect(search("RUN")).toMatchObject({ count: 1, share: 0.6 });
    expect(search("rea")).toMatchObject({ count: 1, share: 0.4 });
    expect(search("/^r/")).toMatchObject({ count: 2, share: 0.6 });
    expect(search("/^R/")).toMatchObject({ count: 0, share: 0 });
    expect(search("/^R/i")).toMatchObject({ count: 2, share: 0.6 });
    expect(search("/(/")).toBeUndefined();
    expect(search("c.s")?.count, "a text is no expression").toBe(1);
    expect(search("c?s")?.count).toBe(0);
  });
});

describe("functions", () => {
  it("weigh what they do wherever they stand, their own calls of themselves once", async () => {
    const next = random(3);
    const { stacks, samples, edges } = await drawnStacks(drawnAtRandom(next, 300), EDGES);
    const { total, self } = weigh(stacks, [samples], edges, [WHOLE]);
    const sums = byFrame(stacks, total);
    const own = selfByFrame(stacks, self);
    for (const [frame, { name }] of stacks.frames.entries()) {
      let [all, alone] = [0, 0];
      for (const node of self.keys()) {
        if (pathOf(stacks, node).split(";").includes(name)) all += self[node] ?? 0;
        if (named(stacks, node) === name) alone += self[node] ?? 0;
      }
      expect(sums[frame], name).toBe(all);
      expect(own[frame], name).toBe(alone);
    }
  });
});

describe("a window without another", () => {
  it("is what lies before and behind it", () => {
    const window = { from: 10, to: 20 };
    expect(without(window, { from: 12, to: 15 })).toEqual([
      { from: 10, to: 12 },
      { from: 15, to: 20 },
    ]);
    expect(without(window, { from: 0, to: 15 })).toEqual([{ from: 15, to: 20 }]);
    expect(without(window, { from: 0, to: 30 })).toEqual([]);
    expect(without(window, { from: 30, to: 40 })).toEqual([window]);
  });
});
