import { describe, expect, it } from "vitest";
import { random } from "../../tests/random";
import type { Lane, LaneLine } from "./lane";
import { outline, reach, stack, ticks } from "./outline";

const line = (values: number[], more: Partial<LaneLine> = {}): LaneLine => ({
  label: "some",
  colour: "--cpu",
  fill: 0.3,
  style: "area",
  values: Float64Array.from(values),
  ...more,
});

const lane = (lines: LaneLine[], more: Partial<Lane> = {}): Lane => ({
  id: "lane",
  title: "Lane",
  times: Float64Array.from(lines[0]?.values ?? [], (_, bin) => bin * 10 + 5),
  lines,
  format: String,
  least: 0,
  unseen: [],
  alternative: "",
  ...more,
});

const EDGES = Float64Array.from([0, 10, 20, 40]);

describe("outlines", () => {
  it("run through instants, and break where nothing is known", () => {
    const { x, strokes } = outline(lane([line([1, Number.NaN, 3])]));
    expect(x).toEqual([5, 15, 25]);
    expect(strokes.map((stroke) => stroke.y)).toEqual([[1, null, 3]]);
  });

  it("are steps as wide as their bins where the edges are known", () => {
    const { x, strokes } = outline(lane([line([1, Number.NaN, 3])], { edges: EDGES }));
    expect(x).toEqual([0, 10, 10, 20, 20, 40]);
    expect(strokes[0]?.y).toEqual([1, 1, null, null, 3, 3]);
  });

  it("have highest and lowest below the line", () => {
    const extremes = { low: Float64Array.of(0, 1), high: Float64Array.of(4, 9) };
    const { strokes } = outline(lane([line([2, 5], extremes)]));
    expect(strokes.map(({ of, y }) => [of, y])).toEqual([
      ["high", [4, 9]],
      ["low", [0, 1]],
      ["values", [2, 5]],
    ]);
  });

  it("stack parts of a whole, the whole painted first", () => {
    const user = line([1, 2, Number.NaN], { label: "user" });
    const system = line([3, Number.NaN, 1], { label: "system" });
    const { strokes } = outline(lane([user, system], { stacked: true }));
    expect(strokes.map(({ line: { label }, y }) => [label, y])).toEqual([
      ["system", [4, null, null]],
      ["user", [1, null, null]],
    ]);
    expect(stack([user]).map((sum) => [...sum])).toEqual([[1, 2, Number.NaN]]);
  });
});

describe("the vertical axis", () => {
  it("reaches to a number that reads well, past line, band and threshold", () => {
    expect(reach(lane([line([0.2])], { least: 1 }))).toEqual({ low: 0, high: 1 });
    expect(reach(lane([line([23])]))).toEqual({ low: 0, high: 25 });
    expect(
      reach(lane([line([23], { low: Float64Array.of(1), high: Float64Array.of(71) })])),
    ).toEqual({ low: 0, high: 80 });
    expect(reach(lane([line([2])], { threshold: { value: 9, label: "" } })).high).toBe(10);
    expect(reach(lane([line([-7, 3])]))).toEqual({ low: -8, high: 3 });
    expect(reach(lane([line([Number.NaN])]))).toEqual({ low: 0, high: 1 });
    expect(reach(lane([line([3]), line([4])], { stacked: true })).high).toBe(8);
    expect(reach(lane([line([700 * 1024])], { binary: true })).high).toBe(768 * 1024);
  });

  it("takes the little by which a share exceeds its interval for nothing", () => {
    expect(reach(lane([line([1.02])], { least: 1 })).high).toBe(1);
    expect(reach(lane([line([1.3])], { least: 1 })).high).toBe(1.5);
  });

  it("holds every value, and at most three times the highest", () => {
    const next = random(5);
    for (let round = 0; round < 500; round++) {
      const value = 10 ** (next() * 24 - 6);
      for (const binary of [false, true]) {
        const { high } = reach(lane([line([value])], { binary }));
        expect(high).toBeGreaterThanOrEqual(value * (1 - 1e-9));
        expect(high).toBeLessThanOrEqual(value * 3);
      }
    }
  });
});

describe("instants that are marked", () => {
  it("are round and not too many, whatever is in sight", () => {
    const next = random(6);
    for (let round = 0; round < 300; round++) {
      const from = (next() - 0.3) * 1e12;
      const length = 10 ** (7 + next() * 8);
      const most = 2 + Math.floor(next() * 12);
      const { at, step } = ticks({ from, to: from + length }, most);
      expect(at.length).toBeLessThanOrEqual(most + 1);
      for (const tick of at) {
        expect(tick).toBeGreaterThanOrEqual(from);
        expect(tick).toBeLessThanOrEqual(from + length);
        expect(Math.abs(tick / step - Math.round(tick / step))).toBeLessThan(1e-6);
      }
    }
  });

  it("are whole seconds and minutes of a long run", () => {
    expect(ticks({ from: 0, to: 20e9 }, 10).step).toBe(2e9);
    expect(ticks({ from: 0, to: 3600e9 }, 10).step).toBe(600e9);
  });
});
