import { describe, expect, it } from "vitest";
import { amount, timesAsLong } from "./experiment";

describe("amount", () => {
  it("has the unit of its capacity", () => {
    expect(amount("cpu", 0.5)).toBe("0.50 CPUs");
    expect(amount("disk", 45)).toBe("45.0/s");
    expect(amount("clients", 8)).toBe("8");
    expect(amount("memory", 2 ** 30)).toMatch(/B$/);
  });
});

describe("timesAsLong", () => {
  const pair = (latency_ns: number | null, latency_changed_ns: number | null) => ({
    at: 0,
    lowered_to: 1,
    available: 2,
    throughput: 100,
    throughput_changed: 50,
    latency_ns,
    latency_changed_ns,
  });

  it("is the geometric mean of what is known", () => {
    expect(timesAsLong([pair(100, 400), pair(100, 100), pair(null, null)])).toBe("x 2.00");
    expect(timesAsLong([pair(null, null)])).toBe("");
    expect(timesAsLong([])).toBe("");
  });
});
