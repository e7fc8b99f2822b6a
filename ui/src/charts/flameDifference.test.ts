import { describe, expect, it } from "vitest";
import { type DrawnSamples, drawnStacks } from "../../tests/drawnStacks";
import { random } from "../../tests/random";
import type { Interval } from "../data/signal";
import { SECOND, type Span } from "../data/units";
import {
  type Difference,
  difference,
  isBeyond,
  noiseAt,
  type Run,
  type Side,
  thresholds,
} from "./flameDifference";

/** Two bins a second. */
const EDGES = Array.from({ length: 81 }, (_, bin) => (bin * SECOND) / 2);
const FIRST: Span = { from: 0, to: 20 * SECOND };
const SECOND_HALF: Span = { from: 20 * SECOND, to: 40 * SECOND };

function interval(second: number, throughput: number): Interval {
  const from = second * SECOND;
  return { from, to: from + SECOND, throughput, latency: 0, lag: 0, failed: 0 };
}

/** A server at 100 requests per second in the first half, and at 200 in the second; `cost` says how many samples of
    a function a bin has. */
async function run(
  cost: (name: "parse" | "run" | "rare", bin: number) => number,
  rates: readonly [number, number] = [100, 200],
) {
  const lines: DrawnSamples[] = [];
  for (let bin = 0; bin < EDGES.length - 1; bin++) {
    for (const name of ["parse", "run", "rare"] as const) {
      const samples = Math.round(cost(name, bin));
      if (samples > 0) lines.push({ path: `server;main;${name}`, bin, samples });
    }
  }
  const of = await drawnStacks(lines, EDGES);
  const intervals = Array.from({ length: 40 }, (_, second) =>
    interval(second, rates[second < 20 ? 0 : 1]),
  );
  return { ...of, samples: [of.samples], intervals };
}

const side = (run: Run, windows: readonly Span[]): Side => ({ run, windows });

/** Whether a function's difference is beyond noise, in its box and in the table. */
function said(of: Awaited<ReturnType<typeof run>>, found: Difference, name: string): boolean {
  const frame = of.stacks.frames.findIndex((it) => it.name === name);
  const node = of.stacks.frameOf.indexOf(frame);
  const by = (found.first[node] ?? 0) - (found.second[node] ?? 0);
  const inTable = found.functions[frame];
  expect(inTable?.total).toBeCloseTo(by, 6);
  const inBox = isBeyond(by, noiseAt(found, node));
  expect(isBeyond(by, found.noise?.frames[frame])).toBe(inBox);
  return inBox;
}

describe("the difference of two windows", () => {
  it("is per request: twice the load at the same cost differs by nothing", async () => {
    const next = random(5);
    const of = await run((name, bin) =>
      name === "rare" ? 0 : (bin < 40 ? 20 : 40) + 6 * (next() - 0.5),
    );
    const found = difference(of.stacks, side(of, [FIRST]), side(of, [SECOND_HALF]));
    expect(found.per).toBe("request");
    // 80 samples of 1 ms a second are for 100 requests.
    expect(found.sums[0] / 1e6).toBeCloseTo(0.8, 1);
    expect(found.sums[1] / 1e6).toBeCloseTo(0.8, 1);
    for (const name of ["main", "parse", "run"]) expect(said(of, found, name), name).toBe(false);
  });

  it("names the function that costs more, and no other", async () => {
    const next = random(6);
    const of = await run((name, bin) => {
      const noise = 6 * (next() - 0.5);
      if (name === "rare") return bin % 40 === 0 ? 1 : 0;
      return (bin < 40 ? 20 : name === "run" ? 60 : 40) + noise;
    });
    const found = difference(of.stacks, side(of, [SECOND_HALF]), side(of, [FIRST]));
    expect(said(of, found, "run")).toBe(true);
    expect(said(of, found, "parse")).toBe(false);
    expect(said(of, found, "rare"), "under one percent nothing is tested").toBe(false);
    const back = difference(of.stacks, side(of, [FIRST]), side(of, [SECOND_HALF]));
    // Other shuffles, and about the same.
    expect((back.noise?.all ?? 0) / (found.noise?.all ?? 1)).toBeCloseTo(1, 0);
    expect(said(of, back, "run")).toBe(true);
  });

  it("is per second where requests are not known all along", async () => {
    const of = await run((name) => (name === "rare" ? 0 : 10), [100, 0]);
    const found = difference(of.stacks, side(of, [FIRST]), side(of, [SECOND_HALF]));
    expect(found.per).toBe("second");
    expect(found.sums.map((sum) => sum / 1e6)).toEqual([40, 40]);
    expect(found.both.slice(0, 1)[0]).toBe(80e6);
  });

  it("cannot be told from chance in windows of few seconds", async () => {
    const of = await run((name) => (name === "rare" ? 0 : 10));
    const short = { from: 0, to: 3 * SECOND };
    const found = difference(of.stacks, side(of, [short]), side(of, [SECOND_HALF]));
    expect(found.noise).toBeUndefined();
    expect(said(of, found, "run")).toBe(false);
    const parts = [short, { from: 10 * SECOND, to: 11 * SECOND }];
    expect(difference(of.stacks, side(of, parts), side(of, [SECOND_HALF])).noise).toBeDefined();
  });

  it("of an empty window is no number's end", async () => {
    const of = await run((name) => (name === "rare" ? 0 : 10));
    const found = difference(of.stacks, side(of, [FIRST]), side(of, []));
    expect(found.noise).toBeUndefined();
    expect(found.sums[1]).toBe(0);
    expect([...found.both].every(Number.isFinite)).toBe(true);
  });
});

describe("the thresholds", () => {
  it("of a small frame is not that of a large one", () => {
    const next = random(11);
    const rows = Array.from({ length: 24 }, (_, at) => ({
      units: 1,
      values: [1000 + 400 * next(), at < 12 ? 10 : 12 + next()],
    }));
    const [large = 0, small = 0] = thresholds(rows, 12);
    expect(large).toBeGreaterThan(50);
    expect(small, "the halves differ by 2.5").toBeLessThan(2);
  });

  it("are crossed by one in twenty of differences that are chance, however many frames there are", () => {
    const next = random(9);
    const TURNS = 200;
    let crossed = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      const rows = Array.from({ length: 16 }, () => ({
        units: 1,
        values: Array.from({ length: 20 }, (_, at) => (at + 1) * next()),
      }));
      const mean = (part: typeof rows, at: number) =>
        part.reduce((sum, { values }) => sum + (values[at] ?? 0), 0) / part.length;
      const seen = Array.from({ length: 20 }, (_, at) =>
        Math.abs(mean(rows.slice(0, 6), at) - mean(rows.slice(6), at)),
      );
      const largest = thresholds(rows, 6);
      if (seen.some((by, at) => by > (largest[at] ?? 0))) crossed += 1;
    }
    // 10 are expected; of 200 turns more than 20 would come once in a thousand times.
    expect(crossed).toBeLessThanOrEqual(20);
    expect(crossed).toBeGreaterThan(0);
  });
});
