import { describe, expect, it } from "vitest";
import { random } from "../../tests/random";
import { between, binOf, finest, following, instantIn, middleOf, moved } from "./cursor";

const edges = finest(Float64Array.from({ length: 21 }, (_, edge) => edge * 10 - 50));
const WHOLE = { from: -50, to: 150 };

describe("the cursor", () => {
  it("stands in the middle of bins, from the first to the last", () => {
    expect([-9, 0, 19, 99].map((bin) => middleOf(edges, bin))).toEqual([-45, -45, 145, 145]);
    expect(binOf(edges, 3)).toEqual({ from: 0, to: 10 });
  });

  it("moves bin by bin, by ten, and to the ends of what is in sight", () => {
    const view = { from: 0, to: 100 };
    const to = (key: string, cursor?: number) => moved(edges, view, cursor, key);
    expect(to("ArrowRight", 5)).toBe(15);
    expect(to("ArrowLeft", 5)).toBe(-5);
    expect(to("ArrowLeft", -45)).toBe(-45);
    expect(to("PageDown", 5)).toBe(105);
    expect(to("PageUp", 5)).toBe(-45);
    expect(to("Home", 55)).toBe(5);
    expect(to("End", 55)).toBe(95);
    expect(to("x", 55)).toBeUndefined();
    // Where there is none, the first key shows it.
    expect(to("ArrowRight")).toBe(5);
  });

  it("is found by the pointer, also at the very end", () => {
    const view = { from: 0, to: 100 };
    expect([-1, 0, 0.5, 1, 7].map((part) => instantIn(view, part))).toEqual([0, 0, 50, 99, 99]);
  });
});

describe("a window that is chosen", () => {
  it("holds both instants, and ends on edges", () => {
    const next = random(8);
    for (let round = 0; round < 200; round++) {
      const [a, b] = [instantIn(WHOLE, next()), instantIn(WHOLE, next())];
      const span = between(edges, a, b);
      expect(span).toEqual(between(edges, b, a));
      expect(span.from).toBeLessThanOrEqual(Math.min(a, b));
      expect(span.to).toBeGreaterThan(Math.max(a, b));
      expect([...edges.all]).toEqual(expect.arrayContaining([span.from, span.to]));
    }
  });
});

describe("what is in sight", () => {
  it("follows the cursor, as long as it is, and not beyond the recording", () => {
    const view = { from: 0, to: 40 };
    expect(following(view, WHOLE, 20)).toBe(view);
    const next = random(9);
    for (let round = 0; round < 200; round++) {
      const at = instantIn(WHOLE, next());
      const { from, to } = following(view, WHOLE, at);
      expect(to - from).toBeCloseTo(40);
      expect(from).toBeLessThanOrEqual(at);
      expect(to).toBeGreaterThanOrEqual(at);
      expect(from).toBeGreaterThanOrEqual(WHOLE.from);
      expect(to).toBeLessThanOrEqual(WHOLE.to);
    }
  });
});
