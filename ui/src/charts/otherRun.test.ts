import { expect, it } from "vitest";
import { SECOND } from "../data/units";
import { otherRun } from "./otherRun";

it("has the requests of each bin as an interval", () => {
  const of = otherRun({
    recording: "b.stall",
    edges_ns: [0, 2 * SECOND, 3 * SECOND],
    requests: [200, 50],
  });
  expect(of.whole).toEqual({ from: 0, to: 3 * SECOND });
  expect(of.intervals.map(({ from, throughput }) => [from, throughput])).toEqual([
    [0, 100],
    [2 * SECOND, 50],
  ]);
  expect(otherRun({ recording: "b.stall", edges_ns: [0, 1] }).intervals).toEqual([]);
});
