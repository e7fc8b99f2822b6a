import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { FIXTURES, fixture } from "../../tests/fixture";
import { Recording } from "./recording";

const EDGES = [-50, 0, 100, 200, 350].map((ms) => ms * 1e6);

describe("a recording", () => {
  it("snaps a window to the nearest edges, at least one bin long", async () => {
    const recording = await drawn({ edges: EDGES, tables: [] });
    const snapped = (from: number, to: number) => {
      const span = recording.snapped({ from: from * 1e6, to: to * 1e6 });
      return [span.from / 1e6, span.to / 1e6];
    };
    expect(recording.whole).toEqual({ from: -50e6, to: 350e6 });
    expect(snapped(40, 160)).toEqual([0, 200]);
    expect(snapped(160, 40)).toEqual([0, 200]);
    expect(snapped(95, 101)).toEqual([100, 200]);
    expect(snapped(-900, 900)).toEqual([-50, 350]);
    expect(snapped(340, 900)).toEqual([200, 350]);
  });

  it("gives tables that were asked for, and knows what was not recorded", async () => {
    const recording = await drawn({
      edges: EDGES,
      tables: [
        { name: "load", entity: "machine", columns: [{ name: "switches" }], series: [] },
        { name: "signal", entity: "workload", columns: [], rows: [] },
      ],
    });
    const tables = await recording.load(["load", "signal", "disk"]);
    expect(tables.bins("load")?.about.name).toBe("load");
    expect(tables.rows("load")).toBeUndefined();
    expect(tables.rows("signal")?.times).toHaveLength(0);
    expect(tables.bins("disk")).toBeUndefined();
    expect(tables.series("load", 0, "switches")).toBeUndefined();
    expect(tables.series("load", 0, "nothing")).toBeUndefined();
  });

  it("rejects a block that is damaged", async () => {
    const { page } = await drawn({ edges: EDGES, tables: [] });
    await expect(Recording.open(page, () => "AAAA")).rejects.toThrow();
  });
});

describe.each(FIXTURES)("the kept page %s", (name) => {
  it("opens, with every table that it names", async () => {
    const recording = await fixture(name);
    const names = recording.page.tables.map((table) => table.name);
    const tables = await recording.load(names);
    for (const each of names) {
      const stacks = tables.stacks(each) ?? tables.samples(each);
      expect(tables.bins(each) ?? tables.rows(each) ?? stacks, each).toBeDefined();
    }
    const edges = [...recording.edges];
    expect(edges).toEqual([...edges].sort((a, b) => a - b));
    // The judged window begins and ends on edges: its numbers are those of the report.
    expect(recording.snapped(recording.judged)).toEqual(recording.judged);
  });
});
