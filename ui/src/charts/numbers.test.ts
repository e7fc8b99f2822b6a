import { describe, expect, it } from "vitest";
import { FIXTURES, fixture, said } from "../../tests/fixture";
import { compared, NUMBER_TABLES, typedTime, windowNumbers } from "./numbers";

describe.each(FIXTURES)("%s", (name) => {
  it("has the numbers that explain has, for every window that was asked about", async () => {
    const recording = await fixture(name);
    const tables = await recording.load(NUMBER_TABLES);
    for (const window of said(name)) {
      const span = { from: window.from_ns, to: window.to_ns };
      const numbers = new Map(
        windowNumbers(recording, tables, span).map(({ id, value }) => [id, value]),
      );
      const same = (id: string, value: number | null | undefined, tolerance: number) => {
        if (value === null || value === undefined) return;
        const here = numbers.get(id) ?? Number.NaN;
        expect(Math.abs(here - value), `${id}: ${here} for ${value}`).toBeLessThanOrEqual(
          tolerance,
        );
      };
      // What only the kernel counted has a lane and a table of its own (requestTimes.ts).
      if (recording.table("signal") === undefined) expect(numbers.has("throughput")).toBe(false);
      else {
        same("throughput", window.throughput, 1e-6 * (window.throughput ?? 0));
        same("latency", window.latency_ns, 1e-6 * (window.latency_ns ?? 0));
      }
      // Pages keep times in whole microseconds.
      const length = span.to - span.from;
      for (const { kind, column, share } of window.pressure) {
        const id = `${kind === "machine" ? "machine" : "group"}-${column.replace("_ns", "").replace("_", "-")}`;
        if (numbers.has(id)) same(id, share, 2e3 / length);
      }
      expect([...numbers.keys()].filter((id) => id.startsWith("machine-"))).toHaveLength(
        window.pressure.filter(
          ({ kind, column }) => kind === "machine" && !/cpu_full|irq/.test(column),
        ).length,
      );
      // The hostile page's threads ran for longer than they lived, so bins cannot add up to windows.
      if (name === "hostile") continue;
      same("target-on-cpu", window.target?.on_cpu_ns, 1e-4 * length);
      same("target-cpu-wait", window.target?.cpu_wait_ns, 1e-4 * length);
      // Without a quota nobody was ever held back.
      if (numbers.has("target-throttled"))
        same("target-throttled", window.target?.throttled_ns, 1e-4 * length);
      else expect(window.target?.throttled_ns ?? 0).toBe(0);
    }
  });
});

describe("the window that is compared", () => {
  it("is that of the workload's whole intervals, as explain takes it", async () => {
    const recording = await fixture("cpu-quota");
    const tables = await recording.load(NUMBER_TABLES);
    const [, middle] = said("cpu-quota");
    if (middle === undefined) throw new Error("the fixture has three windows");
    const window = { from: middle.from_ns, to: middle.to_ns };
    expect(compared(recording, tables, window)).toEqual(window);
    const ragged = { from: window.from + 3e8, to: window.to - 3e8 };
    expect(compared(recording, tables, ragged)).toEqual(window);
  });

  it("is the selected one where no interval lies in it by half", async () => {
    const recording = await fixture("cpu-quota");
    const tables = await recording.load(NUMBER_TABLES);
    const short = { from: 3.1e9, to: 3.3e9 };
    expect(compared(recording, tables, short)).toEqual(short);
    const numbers = windowNumbers(recording, tables, short);
    const throughput = numbers.find(({ id }) => id === "throughput");
    expect(throughput?.value).toBeNaN();
    expect(throughput?.text).toBe("not seen");
  });
});

describe("times as they are typed", () => {
  it("are exact and short", () => {
    expect(typedTime(3e9)).toBe("3s");
    expect(typedTime(8000123456)).toBe("8.000123456s");
    expect(typedTime(1.5e9)).toBe("1.5s");
    expect(typedTime(0)).toBe("0s");
    expect(typedTime(-500_000_000)).toBe("-0.5s");
  });

  it("give back every nanosecond", () => {
    for (let ns = 1; ns < 1e13; ns = ns * 7 + 3) {
      expect(Math.round(Number(typedTime(ns).replace("s", "")) * 1e9)).toBe(ns);
    }
  });
});
