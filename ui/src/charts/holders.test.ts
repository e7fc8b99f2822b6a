import { describe, expect, it } from "vitest";
import { drawn, golden } from "../../tests/drawn";
import { hidden, holders } from "./holders";

const S = 1e9;
const HOLDERS = ["target", "generator", "rest", "nobody"];

function recorded() {
  const held = (entity: number, values: readonly number[]) =>
    HOLDERS.map((holder, place) => ({
      entity,
      column: `queued_${holder}_ns`,
      values: (values[place] ?? 0) * S,
    }));
  return drawn({
    edges: [0, S, 2 * S, 3 * S],
    entities: [
      { kind: "thread", path: "pid:1@0/tid:1" },
      { kind: "thread", path: "pid:1@0/tid:2" },
    ],
    tables: [
      {
        name: "thread_time",
        entity: "thread",
        columns: HOLDERS.map((holder) => ({ name: `queued_${holder}_ns` })),
        series: [...held(0, [0.1, 0.2, 0.1, 0]), ...held(1, [0.1, 0, 0.3, 0])],
      },
    ],
  });
}

describe("who had the CPUs that were waited for", () => {
  it("adds up over threads and the window to all that was waited", async () => {
    const recording = await recorded();
    const tables = await recording.load(["thread_time"]);
    const both = holders(tables, [0, 1], { from: S, to: 3 * S });
    expect(both.map(({ name, ns }) => [name, Math.round(ns / 1e6)])).toEqual([
      ["the target", 400],
      ["the generator", 400],
      ["others", 800],
    ]);
    expect(both.map(({ share }) => share)).toEqual([0.25, 0.25, 0.5]);
    const one = holders(tables, [1], { from: 0, to: S });
    expect(one.map(({ name, share }) => [name, share])).toEqual([
      ["the target", 0.25],
      ["others", 0.75],
    ]);
    expect(holders(tables, [7], { from: 0, to: S })).toEqual([]);
  });

  it("is not told where events were not counted", async () => {
    const recording = await drawn({ edges: [0, S], tables: [] });
    expect(holders(await recording.load([]), [0], { from: 0, to: S })).toEqual([]);
  });

  it("leaves what was hidden signed, of the window that the report is about and no other", () => {
    const report = golden("cpu-saturated");
    const subjects = report.subjects.map((subject) => ({
      ...subject,
      ...(subject.threads && {
        threads: { ...subject.threads, hidden: { label: "what it is", ns: -5e6 } },
      }),
    }));
    const { start, end } = report.window;
    const judged = { from: start - report.origin, to: end - report.origin };
    const told = { ...report, subjects };
    expect(hidden(told, "target", judged)).toEqual({ label: "what it is", ns: -5e6 });
    expect(hidden(told, "rest", judged)).toBeUndefined();
    expect(hidden(told, "target", { ...judged, to: judged.to - 1 })).toBeUndefined();
    expect(hidden(report, "target", judged), "not recorded").toBeUndefined();
  });
});
