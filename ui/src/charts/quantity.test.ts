import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import type { Amount, Evidence } from "../data/page.gen";
import { byFormula } from "./formula";
import { windowNumbers } from "./numbers";
import { over, perBin } from "./quantity";

const S = 1e9;
const WINDOW = { from: 0, to: S };

describe("a quantity in bins", () => {
  it("is not there while a part of it is not known yet", async () => {
    const recording = await drawn({
      edges: [0, S, 2 * S, 3 * S],
      entities: [
        { kind: "cpu", name: "cpu0", path: "cpu0" },
        { kind: "process", name: "target", path: "1", role: "target" },
        { kind: "thread", name: "target", path: "2", parent: 1 },
      ],
      tables: [
        {
          name: "cpu",
          entity: "cpu",
          columns: [{ name: "user_ns" }, { name: "idle_ns" }],
          series: [
            { entity: 0, column: "user_ns", values: 0.8 * S },
            { entity: 0, column: "idle_ns", values: 0.2 * S },
          ],
        },
        {
          name: "thread",
          entity: "thread",
          columns: [{ name: "run_ns" }],
          series: [
            { entity: 2, column: "run_ns", values: [0.6 * S], firstBin: 2, known: [2 * S, 3 * S] },
          ],
        },
      ],
    });
    const of = (table: string, column: string): Amount => ({
      kind: "recorded",
      reading: "growth",
      table,
      columns: [column],
      whose: { kind: "all" },
    });
    const busy = of("cpu", "user_ns");
    const recipe = byFormula({
      of: { kind: "rest", whole: busy, part: of("thread", "run_ns") },
      per: busy,
    });
    const tables = await recording.load([...recipe.tables, "cpu"]);
    const { report } = recording.page;
    const evidence = report.verdict.findings[0]?.evidence[0] as Evidence;
    const made = recipe.make({ evidence, report, recording, tables });
    if ("why" in made) throw new Error(made.why);
    const bins = perBin(made.quantity);
    expect([...bins.slice(0, 2)]).toEqual([Number.NaN, Number.NaN]);
    expect(bins[2]).toBeCloseTo(0.25);
    expect(over(made.quantity, { from: 2 * S, to: 3 * S })).toBeCloseTo(0.25);
    // What a recording has no column of is not zero.
    const steal = windowNumbers(recording, tables, WINDOW).find(({ id }) => id === "cpu-steal");
    expect(steal?.text).toBe("not seen");
  });
});
