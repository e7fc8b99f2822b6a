import { describe, expect, it } from "vitest";
import { drawn, golden } from "../../tests/drawn";
import { fixture, said } from "../../tests/fixture";
import type { Lane } from "./lane";
import { cellsIn, darkness, decades, heatReading, sizeAt } from "./laneHeat";
import { requestLanes } from "./requestLanes";
import { quantile, requestSentence, requestTimes, timesRows } from "./requestTimes";
import { TABLES, timeline } from "./timeline";

const S = 1e9;
const EDGES = Array.from({ length: 31 }, (_, bin) => (bin * S) / 10);
const COLUMNS = ["requests", "pipelined", "timed", "under_65536_ns", "under_81920_ns", "longer"];

/** Three seconds in tenths: forty requests a tenth, thirty of them timed; one without end. */
async function opened({ gap }: { readonly gap?: readonly [number, number] } = {}) {
  const each = (column: string, values: number | readonly number[]) => ({
    entity: 0,
    column,
    values,
  });
  const report = golden("cpu-saturated");
  const window = gap && { start: report.origin + gap[0], end: report.origin + gap[1] };
  const lost = window ? [{ table: "*", what: "", window, reason: "overrun" as const }] : [];
  const recording = await drawn({
    edges: EDGES,
    entities: [{ kind: "connection", name: "2 connections", role: "target" }],
    report: { ...report, gaps: lost },
    tables: [
      {
        name: "request_times",
        entity: "connection",
        columns: [...COLUMNS, "timed_ns"].map((name) => ({
          name,
          unit: name === "timed_ns" ? "nanoseconds" : "count",
        })),
        series: [
          each("requests", 40),
          each("pipelined", 2),
          each("timed", 30),
          each("timed_ns", 2.1e6),
          each("under_65536_ns", 0),
          each("under_81920_ns", Array(29).fill(30).concat(29)),
          each("longer", Array(29).fill(0).concat(1)),
        ],
      },
    ],
  });
  return { recording, tables: await recording.load(["request_times", "call_times"]) };
}

describe("long requests, all of which are timed", () => {
  it("weigh no more than the sample of the others", async () => {
    const names = ["requests", "timed", "timed_ns", "long", "long_ns"];
    const buckets = ["under_1048576_ns", "under_117440512_ns"];
    // 1 % of 10,000 a second took 100 ms; a tenth of the others was timed, 1 ms each.
    const values = [10_000, 990 + 100, 0.99e9 + 10e9, 100, 10e9, 990, 100];
    const recording = await drawn({
      edges: [0, S, 2 * S],
      entities: [{ kind: "connection", name: "2 connections", role: "target" }],
      report: { ...golden("cpu-saturated"), gaps: [] },
      tables: [
        {
          name: "request_times",
          entity: "connection",
          columns: [...names, ...buckets].map((name) => ({
            name,
            unit: name.endsWith("ed_ns") || name === "long_ns" ? "nanoseconds" : "count",
          })),
          series: [...names, ...buckets].map((column, at) => ({
            entity: 0,
            column,
            values: values[at] ?? 0,
          })),
        },
      ],
    });
    const tables = await recording.load(["request_times", "call_times"]);
    const [times] = requestTimes(tables, { from: 0, to: 2 * S });
    expect(times?.mean).toBeCloseTo(1.99e6, 0);
    expect(times?.p99).toBeLessThan(120e6);
    expect(quantile(times?.buckets ?? [], 0.98)).toBeLessThanOrEqual(1_048_576);
    expect(quantile(times?.buckets ?? [], 0.995)).toBeGreaterThan(50e6);
  });
});

describe("request times", () => {
  it("are the engine's, of each window that it was asked about", async () => {
    const recording = await fixture("requests");
    const tables = await recording.load(["request_times", "call_times"]);
    const windows = said("requests");
    expect(windows).toHaveLength(3);
    for (const window of windows) {
      const found = requestTimes(tables, { from: window.from_ns, to: window.to_ns });
      for (const [side, right] of [window.requests, window.calls].entries()) {
        const times = found[side];
        if (right === null || times === undefined) throw new Error("both were counted");
        // Whole numbers of what lies between two readings, of each of the buckets.
        for (const name of ["requests", "pipelined", "timed"] as const) {
          expect(Math.abs(times[name] - right[name]), name).toBeLessThanOrEqual(1);
        }
        expect(times.mean / right.mean_ns).toBeCloseTo(1, 2);
        expect(times.median / right.median_ns).toBeCloseTo(1, 2);
        expect(times.p99 / right.p99_ns).toBeCloseTo(1, 1);
      }
    }
  });

  it("have quantiles as the engine works them out", () => {
    const buckets = [
      { below: 100, count: 0 },
      { below: 200, count: 50 },
      { below: 400, count: 50 },
    ];
    expect(quantile(buckets, 0.5)).toBe(200);
    expect(quantile(buckets, 0.99)).toBeCloseTo(200 + 200 * 0.98, 9);
    expect(quantile([{ below: Number.POSITIVE_INFINITY, count: 9 }], 0.5)).toBeUndefined();
    expect(quantile([], 0.5)).toBeUndefined();
  });

  it("lies around the mean where all are in one bucket", () => {
    const buckets = [
      { below: 16.8, count: 0 },
      { below: 21, count: 1000 },
      { below: 25, count: 0 },
    ];
    const [p50, p99] = [quantile(buckets, 0.5, 20_300), quantile(buckets, 0.99, 20_300)];
    expect(p50).toBeGreaterThan(20.3);
    expect(p50).toBeLessThan(20.6);
    expect(p99).toBeGreaterThan(p50 ?? 99);
    expect(p99).toBeLessThan(21);
    expect(quantile(buckets, 0.5, 9e9)).toBe(quantile(buckets, 0.5));
  });

  it("say what was sampled, what is more than one, and what too few were for", async () => {
    const { tables } = await opened();
    const [all] = requestTimes(tables, { from: 0, to: 3 * S });
    if (all === undefined) throw new Error("they were counted");
    expect([all.requests, all.timed, all.pipelined]).toEqual([1200, 900, 60]);
    const sentence = requestSentence(all);
    expect(sentence).toContain("1,200 requests that the target answered");
    expect(sentence).toContain(
      "75 % of them timed, sampled at random; 5 % of the replies answer more than one",
    );
    expect(sentence).toMatch(/: mean 70.0 us, p50 67.2 us, p99 76.6 us\.$/);
    const [few] = requestTimes(tables, { from: 0, to: S / 10 });
    expect(few?.p99, "of thirty").toBeNaN();
    const [none] = requestTimes(tables, { from: 4 * S, to: 5 * S });
    expect(none && requestSentence(none)).toMatch(/^No requests that the target answered/);
    expect(requestSentence({ ...all, timed: 1200, pipelined: 0.3 })).toContain(
      "; all of them timed: ",
    );
  });

  it("are a table by factors of two that adds up, the last without a bound", async () => {
    const { tables } = await opened();
    const [all] = requestTimes(tables, { from: 0, to: 3 * S });
    const rows = timesRows(all?.buckets ?? []);
    expect(rows.map((row) => [row.from, row.below, row.count])).toEqual([
      [65536, 81920, 899],
      [81920, Number.POSITIVE_INFINITY, 1],
    ]);
    expect(rows.reduce((sum, row) => sum + row.share, 0)).toBeCloseTo(1, 12);
    expect(rows[0]?.beyond).toBeCloseTo(1 / 900, 12);
    const quarters = [81920, 98304, 114688, 131072, 163840].map((below) => ({ below, count: 1 }));
    const joined = timesRows([{ below: 65536, count: 0 }, ...quarters]);
    expect(joined.map((row) => [row.from, row.below, row.count])).toEqual([
      [65536, 131072, 4],
      [131072, 163840, 1],
    ]);
    expect(timesRows([])).toEqual([]);
  });

  it("are a lane under the throughput, with quantiles by the second over the counts", async () => {
    const { recording, tables } = await opened();
    const [lane, ...rest] = requestLanes(recording, tables, true);
    expect(rest).toEqual([]);
    expect(lane?.lines.map((line) => line.label)).toEqual(["p99", "p50"]);
    expect([...(lane?.edges ?? [])]).toEqual([0, S, 2 * S, 3 * S]);
    // All in one bucket, from 65.5 us to 81.9 us, with a mean of 70 us.
    expect(lane?.lines[1]?.values[0]).toBeCloseTo(68_109.9, 1);
    expect([...(lane?.heat?.bounds ?? [])]).toEqual([65536, 81920, 163840]);
    expect(lane?.heat?.counts.map((row) => row[29])).toEqual([29, 1]);
    // A service that nobody speaks for has its throughput from here too.
    const alone = requestLanes(recording, tables, false);
    expect(alone.map((it) => it.id)).toEqual(["requests", "request-times"]);
    expect(alone[0]?.lines[0]?.values[3]).toBeCloseTo(400, 9);
    const whole = await fixture("requests");
    const ids = timeline(whole, await whole.load(TABLES)).map((it) => it.id);
    expect(ids.slice(0, 2)).toEqual(["throughput", "request-times"]);
    // The first screen ends with pressure; the workload's own latency follows.
    const pressure = ids.map((id) => id.includes("pressure-"));
    expect(pressure.indexOf(true)).toBe(2);
    expect(ids.indexOf("latency")).toBeGreaterThan(pressure.lastIndexOf(true));
    const without = await fixture("cpu-saturated");
    const old = timeline(without, await without.load(TABLES)).map((it) => it.id);
    expect(old, "nothing where nothing was timed").not.toContain("request-times");
  });

  it("are not drawn where nothing was seen", async () => {
    const { recording, tables } = await opened({ gap: [S, 2 * S] });
    const [lane] = requestLanes(recording, tables, true);
    const heat = heatIn(lane);
    expect(heat.counts[0]?.[9]).toBe(30);
    expect(heat.counts[0]?.[10]).toBeNaN();
    expect(lane?.lines[1]?.values[1]).toBeNaN();
    expect(lane?.unseen.map((it) => it.span)).toEqual([{ from: S, to: 2 * S }]);
    expect(heatReading(heat, 1.5 * S, undefined)).toBe("not seen");
    expect(heatReading(heat, 0.55 * S, 70_000)).toBe("30 of 65.5 us to 81.9 us within 100 ms");
    expect(heatReading(heat, 0.55 * S, undefined)).toBe(
      "30 timed within 100 ms, all under 81.9 us",
    );
    expect(heatReading(heat, 9 * S, undefined)).toBe("");
  });

  it("keep every request in cells of any width", async () => {
    const { recording, tables } = await opened();
    const heat = heatIn(requestLanes(recording, tables, true)[0]);
    for (const most of [1, 4, 7, 30, 1000]) {
      const { edges, rates, most: highest } = cellsIn(heat, { from: 0, to: 3 * S }, most);
      expect(edges.length - 1).toBeLessThanOrEqual(Math.max(most, 1));
      const sum = (row: number) =>
        [...(rates[row] ?? [])].reduce(
          (all, value, cell) => all + (value * ((edges[cell + 1] ?? 0) - (edges[cell] ?? 0))) / S,
          0,
        );
      expect(sum(0)).toBeCloseTo(899, 6);
      expect(sum(1), "a single slow one among the many").toBeCloseTo(1, 9);
      expect(darkness(Math.max(...(rates[1] ?? [])), highest)).toBeGreaterThan(0.1);
    }
    const { edges } = cellsIn(heat, { from: 1.02 * S, to: 1.28 * S }, 100);
    expect([edges[0], edges[edges.length - 1]].map((at) => Math.round((at ?? 0) / 1e8))).toEqual([
      10, 13,
    ]);
    expect([darkness(0, 9), darkness(9, 9)]).toEqual([0, 1]);
  });

  it("stand on an axis in factors", () => {
    const heat = { edges: new Float64Array(), bounds: Float64Array.of(2e4, 2e5, 2e6), counts: [] };
    expect(decades(heat)).toEqual([1e5, 1e6]);
    expect(sizeAt(heat, 0.5)).toBeCloseTo(2e5, 3);
    expect(decades({ ...heat, bounds: Float64Array.of(2e4, 3e4) })).toEqual([2e4, 3e4]);
  });
});

function heatIn(lane: Lane | undefined) {
  if (lane?.heat === undefined) throw new Error("there is one");
  return lane.heat;
}

describe("seconds as the report has them", () => {
  const told = (sockets: "target" | "generator") => ({
    provenance: "kernel" as const,
    sockets,
    stalled_ns: 0,
    stalls: [],
    seconds: [0, 1, 2].map((second) => ({
      window: { start: second * S, end: (second + 1) * S },
      throughput: 400,
      p99_ns: second === 1 ? null : 70_000 + second,
      max_ns: 81_920 * (second + 1),
    })),
  });

  async function lane(sockets: "target" | "generator") {
    const { recording, tables } = await opened();
    const { origin } = recording.page.report;
    const by_second = told(sockets);
    for (const { window } of by_second.seconds) {
      window.start += origin;
      window.end += origin;
    }
    recording.page.report.by_second = by_second;
    return requestLanes(recording, tables, true)[0];
  }

  it("are the lines of p99 and of the longest, over a window the highest", async () => {
    const drawn = await lane("target");
    expect(drawn?.lines.map((line) => line.label)).toEqual(["max", "p99", "p50"]);
    const [max, p99] = drawn?.lines ?? [];
    expect([...(max?.values ?? [])]).toEqual([81_920, 163_840, 245_760]);
    expect([...(p99?.values ?? [])]).toEqual([70_000, Number.NaN, 70_002]);
    expect(max?.over?.({ from: 0, to: 2 * S })).toBe(163_840);
  });

  it("of other sockets are not drawn over these", async () => {
    const drawn = await lane("generator");
    expect(drawn?.lines.map((line) => line.label)).toEqual(["p99", "p50"]);
  });
});
