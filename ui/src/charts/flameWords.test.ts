import { describe, expect, it } from "vitest";
import { drawn, golden } from "../../tests/drawn";
import { drawnStacks, stackTables } from "../../tests/drawnStacks";
import type { Interval } from "../data/signal";
import { SECOND, type Span } from "../data/units";
import { ALL, weigh } from "./flame";
import { difference } from "./flameDifference";
import {
  differenceWords,
  functionRows,
  isMissing,
  nameOf,
  notSampled,
  signed,
  summary,
  testWords,
  waitSummary,
  weightWords,
  withoutStacks,
} from "./flameWords";

const EDGES = Array.from({ length: 21 }, (_, bin) => bin * SECOND);
const FIRST = { from: 0, to: 10 * SECOND };
const SECOND_HALF = { from: 10 * SECOND, to: 20 * SECOND };

/** A function that runs for 100 ms a second, and from the middle on for 300; another one for 1. */
function recorded() {
  const bins = Array.from({ length: 20 }, (_, bin) => bin);
  return drawnStacks(
    bins.flatMap((bin) => [
      { path: "server;main;/lib/a.so!run", bin, samples: bin < 10 ? 100 : 300 },
      { path: "server;+main+0x1", bin, samples: 1, end: 1 },
    ]),
    EDGES,
  );
}

describe("words", () => {
  it("say what a graph rests on, and what was left out", async () => {
    const { stacks, samples, edges } = await recorded();
    const weights = weigh(stacks, [samples], edges, [FIRST]);
    expect(summary(weights, samples)).toBe(
      "1,010 samples of what ran on the CPUs stand for 1.01 s of CPU time; 99 % of the stacks in user space are whole; 1 % of the time is in functions without a name.",
    );
    const recording = await drawn({
      edges: EDGES,
      tables: stackTables([{ path: "server;main", bin: 0 }], 4),
    });
    const thinned = (await recording.load(["cpu_sample"])).samples("cpu_sample");
    if (thinned === undefined) throw new Error("they were drawn");
    expect(thinned.ns[0]).toBe(4e6);
    expect(summary(weights, thinned)).toContain(
      "The page holds one of 4 samples, drawn at random, and weighs it as 4; the recording has all.",
    );
  });

  it("say what waits rest on, and what is not in them", async () => {
    const line = { path: "server;main", bin: 0, samples: 9, ns: 1e8, deviation: 4.5e6 };
    const lines = [
      { ...line, wait: "futex" },
      { ...line, samples: 1, deviation: 0, wait: "input" },
    ];
    const of = await drawnStacks(lines, EDGES);
    const weights = weigh(of.stacks, [of.waits], of.edges, [FIRST]);
    const with9 = { neededNs: 9e8, traced: 1 };
    expect(waitSummary(weights, of.waits, with9)).toBe(
      "10 waits stand for 900 ms of blocked time of all threads of target and generator (sampled, within 0.9 %), and for 100 ms in which they waited for work; 100 % of the stacks in user space are whole. Waiting for a CPU is not in it.",
    );
    expect(waitSummary(weights, of.waits, { ...with9, traced: 0.06 })).toContain(
      "Waits were traced in 6 % of the time: the graph scales them to all of it.",
    );
    expect(waitSummary({ ...weights, deviation: 0 }, of.waits, with9)).not.toContain("sampled");
    const thinned = await drawnStacks(lines, EDGES, 4e6);
    expect(waitSummary(weights, thinned.waits, with9)).toContain(
      "Of waits that stand for less than 4.00 ms the page holds some, drawn at random, and weighs each as that; the recording has all.",
    );
  });

  it("say when not all was sampled", async () => {
    const report = golden("cpu-saturated");
    const gap = (from: number) => ({
      ...{ table: "cpu_sample", what: "", reason: "dropped" as const, detail: 12 },
      window: { start: report.origin + from * SECOND, end: report.origin + (from + 1) * SECOND },
    });
    const of = async (gaps: readonly ReturnType<typeof gap>[]) =>
      notSampled(
        await drawn({ edges: EDGES, tables: [], report: { ...report, gaps: [...gaps] } }),
        FIRST,
        "cpu_sample",
      );
    expect(await of([])).toBe("");
    expect(await of([gap(12)])).toBe("");
    expect(await of([gap(3), gap(12)])).toBe("Not all was sampled (3 s to 4 s: 12 dropped).");
    expect(await of([1, 2, 3, 4, 5].map(gap))).toMatch(/3 s to 4 s: 12 dropped; and 2 more\)\.$/);
  });

  it("name a box, and say what it weighs", async () => {
    const { stacks, samples, edges } = await recorded();
    const weights = weigh(stacks, [samples], edges, [FIRST]);
    const run = stacks.frameOf.indexOf(stacks.frames.findIndex(({ name }) => name === "run"));
    expect(nameOf(stacks, run, "on")).toEqual({ name: "run", file: "/lib/a.so" });
    expect(nameOf(stacks, 0, "on")).toEqual({ name: "server", file: "process" });
    expect(nameOf(stacks, ALL, "on").name).toBe("all that ran");
    expect(nameOf(stacks, ALL, "off").name).toBe("all that waited");
    expect(weightWords(weights, run, "on")).toBe("99 % of the CPU time: 1.00 s, 1.00 s in itself");
    expect(weightWords(weights, ALL, "on")).toBe("100 % of the CPU time: 1.01 s");
    expect([signed(0), signed(800), signed(-800)]).toEqual(["0", "+0.800 us", "-0.800 us"]);
  });

  it("say of a difference what it is of, and whether it may be chance", async () => {
    const of = await recorded();
    const interval = (second: number): Interval => ({
      ...{ from: second * SECOND, to: (second + 1) * SECOND, throughput: 100 },
      ...{ latency: 0, lag: 0, failed: 0 },
    });
    const intervals = Array.from({ length: 20 }, (_, second) => interval(second));
    const side = (window: Span, of_run = intervals) => ({
      run: { samples: [of.samples], edges: of.edges, intervals: of_run },
      windows: [window],
    });
    const found = difference(of.stacks, side(SECOND_HALF), side(FIRST));
    const run = of.stacks.frameOf.indexOf(of.stacks.frames.findIndex(({ name }) => name === "run"));
    expect(differenceWords(found, run, "on")).toBe(
      "+2.00 ms of CPU time per request (3.00 ms against 1.00 ms), beyond noise",
    );
    expect(testWords(found)).toMatch(/^Grey is what may be chance/);
    const weights = weigh(of.stacks, [of.samples], of.edges, [SECOND_HALF]);
    const rows = functionRows(of.stacks, weights, found);
    expect(rows.map(({ name, judged }) => [name, judged])).toEqual([
      ["main", "beyond noise"],
      ["run", "beyond noise"],
    ]);
    const shortly = { from: 0, to: 2 * SECOND };
    const short = difference(of.stacks, side(shortly, []), side(SECOND_HALF, []));
    expect(differenceWords(short, run, "on")).toContain("per second");
    expect(differenceWords(short, run, "on")).toContain("not tested");
    expect(testWords(short)).toBe(
      "Per second, because the workload did not report throughput all along. Too short to tell a difference from noise: each window needs 4 s. All boxes are grey.",
    );
  });

  it("say why waits have no stacks, or what ran has none", async () => {
    const of = async (programs: Record<string, string>) => {
      const report = golden("cpu-saturated");
      const cost = { ...report.cost, programs };
      return drawn({ edges: EDGES, tables: [], report: { ...report, cost } });
    };
    const refused = await of({ wait_stacks: "sched_exit_tp is not there before Linux 6.15" });
    expect(isMissing(refused, "off")).toBe(
      "No off-CPU stacks: sched_exit_tp is not there before Linux 6.15.",
    );
    expect(isMissing(refused, "on")).toBe("No on-CPU stacks: nothing was recorded.");
  });

  it("say why there are no stacks, and the command that gets them", async () => {
    const of = async (typed: readonly string[], refused?: string) => {
      const recording = await drawn({ edges: EDGES, tables: [], page: { typed: [...typed] } });
      const { report } = recording.page;
      const programs = refused === undefined ? {} : { cpu_samples: refused };
      return withoutStacks({
        ...recording,
        page: { ...recording.page, report: { ...report, cost: { ...report.cost, programs } } },
      } as typeof recording);
    };
    expect(await of(["stallscope", "run", "--stacks", "off", "--", "pgbench", "-S"])).toEqual({
      why: "it was recorded with --stacks off",
      command: "stallscope run --stacks on -- pgbench -S",
    });
    expect(await of(["stallscope", "record", "--stacks=off", "--for", "9s"])).toEqual({
      why: "it was recorded with --stacks=off",
      command: "stallscope record --stacks on --for 9s",
    });
    expect(await of([], "perf_event_paranoid is 3")).toEqual({
      why: "perf_event_paranoid is 3",
      command: "stallscope run --stacks on -- COMMAND",
    });
    expect((await of(["stallscope", "run", "--", "x"])).command).toBe(
      "stallscope run --stacks on -- x",
    );
  });
});
