import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import type { Evidence, Finding } from "../data/page.gen";
import { windowNumbers } from "./numbers";
import { type Amount, over, perBin, rest, sum } from "./quantity";
import { usedByOthers } from "./recipes/cpu";

const S = 1e9;
const unknown: Amount = () => Number.NaN;
const of =
  (value: number): Amount =>
  () =>
    value;
const WINDOW = { from: 0, to: S };

describe("amounts", () => {
  it("are not known while a part is not", () => {
    expect(sum(of(1), of(2))(WINDOW)).toBe(3);
    expect(sum(of(1), unknown)(WINDOW)).toBeNaN();
    expect(rest(of(3), of(1))(WINDOW)).toBe(2);
    expect(rest(of(3), unknown)(WINDOW)).toBeNaN();
    expect(rest(of(3), of(4))(WINDOW)).toBe(0);
  });
});

describe("what others used", () => {
  it("is not everything while target and generator are not seen yet", async () => {
    const roles = ["target", "generator", "target", "generator"] as const;
    const recording = await drawn({
      edges: [0, S, 2 * S, 3 * S],
      entities: [
        { kind: "machine", name: "machine", path: "" },
        { kind: "cpu", name: "cpu0", path: "cpu0" },
        ...roles.map((role, place) => ({
          kind: place < 2 ? ("process" as const) : ("thread" as const),
          name: role,
          path: `${place}`,
          role,
          ...(place < 2 ? {} : { parent: place }),
        })),
      ],
      tables: [
        {
          name: "cpu",
          entity: "cpu",
          columns: [{ name: "user_ns" }, { name: "idle_ns" }],
          series: [
            { entity: 1, column: "user_ns", values: 0.8 * S },
            { entity: 1, column: "idle_ns", values: 0.2 * S },
          ],
        },
        {
          name: "thread",
          entity: "thread",
          columns: [{ name: "run_ns" }],
          series: [
            {
              entity: 4,
              column: "run_ns",
              values: [0.4 * S, 0.4 * S],
              firstBin: 1,
              known: [S, 3 * S],
            },
            { entity: 5, column: "run_ns", values: [0.2 * S], firstBin: 2, known: [2 * S, 3 * S] },
          ],
        },
      ],
    });
    const tables = await recording.load(["cpu", "thread", "recorder"]);
    const { report } = recording.page;
    const [finding] = report.verdict.findings;
    const [evidence] = finding?.evidence ?? [];
    const asked = { evidence: evidence as Evidence, finding: finding as Finding };
    const made = usedByOthers({ ...asked, report, recording, tables });
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
