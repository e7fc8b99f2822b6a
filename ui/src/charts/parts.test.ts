import { describe, expect, it } from "vitest";
import { apportioned, type Paint, type PartAbout, sentence, whole } from "./parts";

const paint: Paint = { fill: "--cpu", ink: "--cpu", mark: "none", strong: true };
const part = (key: string, value: number): PartAbout => ({
  key,
  label: key,
  value,
  paint,
  quality: "exact",
  help: "",
});

describe("apportioned", () => {
  it("gives every seat, to the largest remainders", () => {
    expect(apportioned([1, 1, 1], 100)).toEqual([34, 33, 33]);
    expect(apportioned([2, 1], 10)).toEqual([7, 3]);
    expect(apportioned([0.5, 0, 1e-12], 100)).toEqual([100, 0, 0]);
    expect(apportioned([], 100)).toEqual([]);
    expect(apportioned([0, 0], 100)).toEqual([0, 0]);
  });

  it("adds up whatever the numbers", () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    for (let turn = 0; turn < 500; turn++) {
      const values = Array.from({ length: 1 + Math.floor(random() * 17) }, () =>
        random() < 0.3 ? 0 : 10 ** (random() * 18 - 3),
      );
      if (values.every((value) => value === 0)) continue;
      const seats = apportioned(values, 10_000);
      expect(seats.reduce((a, b) => a + b, 0)).toBe(10_000);
      values.forEach((value, i) => {
        const exact = (value / values.reduce((a, b) => a + b, 0)) * 10_000;
        expect(Math.abs((seats[i] ?? 0) - exact)).toBeLessThan(1);
      });
    }
  });
});

describe("whole", () => {
  it("leaves out what is nothing, and fills the bar", () => {
    const bar = whole([part("a", 1), part("b", 0), part("c", 2)]);
    expect(bar?.parts.map((it) => [it.key, it.width])).toEqual([
      ["a", 3333],
      ["c", 6667],
    ]);
    expect(bar?.parts.reduce((sum, it) => sum + it.share, 0)).toBeCloseTo(1, 12);
    expect(bar && sentence(bar)).toBe("67 % c, 33 % a");
  });

  it("is nothing of nothing", () => {
    expect(whole([part("a", 0)])).toBeUndefined();
    expect(whole([])).toBeUndefined();
  });
});
