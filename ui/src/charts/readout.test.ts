import { describe, expect, it } from "vitest";
import type { Lane } from "./lane";
import { indexAt, reading, spoken } from "./readout";

const some = {
  label: "some",
  colour: "--io",
  fill: 0.3,
  style: "area",
  values: Float64Array.of(0.5, Number.NaN, 0.25),
} as const;

const steps: Lane = {
  id: "io",
  title: "I/O pressure",
  times: Float64Array.of(5e8, 15e8, 30e8),
  edges: Float64Array.of(0, 1e9, 2e9, 4e9),
  lines: [some, { ...some, label: "full", values: Float64Array.of(0, 0.1, 0.2), nothing: "none" }],
  format: (value) => `${value * 100} %`,
  least: 1,
  unseen: [],
  alternative: "",
};

describe("a lane at an instant", () => {
  it("is the bin that holds it", () => {
    expect([-1, 0, 9e8, 1e9, 39e8, 4e9].map((at) => indexAt(steps, at))).toEqual([
      -1, 0, 0, 1, 2, -1,
    ]);
  });

  it("is the nearest point where there are no bins", () => {
    const { edges, ...points } = steps;
    expect(edges).toBeDefined();
    expect([-9e9, 5e8, 9e8, 11e8, 22e8, 23e8, 9e9].map((at) => indexAt(points, at))).toEqual([
      0, 0, 0, 1, 1, 2, 2,
    ]);
    expect(indexAt({ ...points, times: new Float64Array() }, 1)).toBe(-1);
  });

  it("says where nothing was seen, and never zero", () => {
    expect(reading(steps, some, 5e8)).toBe("50 %");
    expect(reading(steps, some, 15e8)).toBe("not seen");
    expect(reading(steps, some, 99e9)).toBe("not seen");
    expect(reading(steps, { ...some, nothing: "nothing completed" }, 15e8)).toBe(
      "nothing completed",
    );
  });

  it("is spoken as one sentence", () => {
    const still = { ...steps, title: "Swap", still: "0 throughout" };
    expect(spoken([steps, still], 3e9, 1e8)).toBe("At 3.0 s. I/O pressure: some 25 %, full 20 %.");
    const one = { ...steps, lines: [{ ...some, label: "I/O pressure" }] };
    expect(spoken([one], 3e9, 1e8)).toBe("At 3.0 s. I/O pressure: 25 %.");
  });
});
