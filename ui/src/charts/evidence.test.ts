import { describe, expect, it } from "vitest";
import { drawn, golden } from "../../tests/drawn";
import { FIXTURES, fixture } from "../../tests/fixture";
import type { Amount, Evidence, Finding, Report } from "../data/page.gen";
import { colourOf, evidenceChart, evidenceRows, evidenceTables, needs } from "./evidence";
import { over } from "./quantity";
import { recipeOf } from "./recipes";

/** Numbers that the page's ledger gives within this part of them: it divides time by samples. */
const NEAR = 0.05;

describe("evidence", () => {
  // The counters of the hostile recording jump, and its numbers are no measure.
  for (const name of FIXTURES.filter((it) => it !== "hostile")) {
    it(`redoes the numbers of ${name}`, async () => {
      const recording = await fixture(name);
      let redone = 0;
      const { report } = recording.page;
      for (const finding of report.verdict.findings) {
        const tables = await recording.load(evidenceTables(finding));
        for (const evidence of finding.evidence) {
          const asked = { evidence, finding, report, recording, tables };
          const made = recipeOf(evidence).make(asked);
          if ("why" in made || !made.comparable) continue;
          const value = over(made.quantity, recording.span(evidence.window));
          const least = Math.max(Math.abs(evidence.value), 0.02) * NEAR;
          expect(Math.abs(value - evidence.value), evidence.what).toBeLessThanOrEqual(least);
          redone += 1;
        }
      }
      expect(redone).toBeGreaterThan(0);
    });
  }

  it("redoes what is said of an idle target, a neighbour with children, and a limit", async () => {
    const S = 1e9;
    const counters = (...names: string[]) => names.map((name) => ({ name }));
    const report = golden("cpu-quota");
    report.verdict.account = null;
    report.workload = null;
    const at = report.origin;
    const window = { start: at, end: at + 10 * S };
    const recording = await drawn({
      edges: [0, 5 * S, 10 * S],
      report,
      entities: [
        { kind: "cpu", name: "cpu0", path: "cpu0" },
        { kind: "process", name: "idle", path: "pid:1@1", role: "target", serving: true },
        { kind: "thread", name: "idle", path: "tid:1@1", parent: 1 },
        { kind: "process", name: "make", path: "pid:2@1" },
        { kind: "process", name: "cc1", path: "pid:3@1", parent: 3 },
        { kind: "process", name: "own", path: "pid:4@1", parent: 4, role: "generator" },
        { kind: "cgroup", name: "limited", path: "/limited" },
        { kind: "group_disk", name: "8:0", path: "/limited/8:0", parent: 6 },
        { kind: "group_disk", name: "8:16", path: "/limited/8:16", parent: 6 },
        // The root has the same reads.
        { kind: "group_disk", name: "8:0", path: "/8:0" },
      ],
      tables: [
        {
          name: "cpu",
          entity: "cpu",
          columns: counters("user_ns", "idle_ns"),
          series: [
            { entity: 0, column: "user_ns", values: 4 * S },
            { entity: 0, column: "idle_ns", values: 1 * S },
          ],
        },
        {
          name: "process",
          entity: "process",
          columns: counters("user_ns", "system_ns"),
          series: [
            { entity: 3, column: "user_ns", values: 0 },
            { entity: 4, column: "user_ns", values: 2 * S },
            { entity: 5, column: "user_ns", values: 2 * S },
          ],
        },
        {
          name: "cgroup_io",
          entity: "group_disk",
          columns: [...counters("reads"), { name: "limit_reads", unit: "count", kind: "gauge" }],
          series: [
            { entity: 7, column: "reads", values: 400 * 5 },
            { entity: 7, column: "limit_reads", values: 500 },
            { entity: 8, column: "reads", values: 5 },
            { entity: 8, column: "limit_reads", values: 500 },
            { entity: 9, column: "reads", values: 400 * 5 },
          ],
        },
        {
          name: "ledger",
          entity: "thread",
          columns: counters("on_cpu_ns", "cpu_wait_ns", "sleep_ns", "futex_ns"),
          series: [
            { entity: 2, column: "on_cpu_ns", values: 1e7 },
            { entity: 2, column: "cpu_wait_ns", values: 2e7 },
            { entity: 2, column: "sleep_ns", values: 2 * S },
            { entity: 2, column: "futex_ns", values: 2.97 * S },
          ],
        },
        {
          name: "thread_time",
          entity: "thread",
          columns: counters("queued_rest_ns", "queued_target_ns", "queued_nobody_ns"),
          series: [
            { entity: 2, column: "queued_rest_ns", values: 3 * S },
            { entity: 2, column: "queued_target_ns", values: 1 * S },
            { entity: 2, column: "queued_nobody_ns", values: 4 * S },
          ],
        },
        {
          name: "process_time",
          entity: "process",
          columns: counters("delay_caused_ns"),
          series: [
            { entity: 3, column: "delay_caused_ns", values: 1 * S },
            { entity: 4, column: "delay_caused_ns", values: 2 * S },
            { entity: 5, column: "delay_caused_ns", values: 1 * S },
          ],
        },
      ],
    });
    const [finding] = report.verdict.findings;
    if (finding === undefined) throw new Error("no finding");
    const of = { kind: "ledger" as const, classes: ["cpu_wait" as const, "output" as const] };
    const redone = async (column: string, unit: string, per?: Amount["kind"], place = 1) => {
      const { kind, name, path } = recording.page.entities[place] ?? {};
      if (!kind || name === undefined || path === undefined) throw new Error("nobody");
      const entity = { kind, name, path };
      const formula = per && { formula: { of, per: { kind: per } as Amount } };
      const number = { column, unit, what: "a number", entity, window, value: 0, passed: true };
      const evidence: Evidence = { ...number, ...formula };
      const tables = await recording.load(evidenceTables({ ...finding, evidence: [evidence] }));
      const asked = { evidence, finding, report, recording, tables };
      const made = recipeOf(evidence).make(asked);
      return "why" in made ? made.why : over(made.quantity, recording.span(window));
    };
    expect(await redone("thread.wait_ns", "count", "time")).toBeCloseTo(0.004, 9);
    expect(await redone("thread.wait_ns", "share", "account")).toBeCloseTo(2 / 3, 9);
    const share = await redone("process.user_ns + system_ns", "share", undefined, 3);
    expect(share).toBeCloseTo(0.5, 9);
    // Of the limit of one device, and no sum over all.
    expect(await redone("cgroup_io.reads", "share", undefined, 6)).toBeCloseTo(0.8, 9);
    const others = await redone("thread_time.queued_rest_ns", "share");
    expect(others, "of what somebody had").toBeCloseTo(0.75, 9);
    const held = await redone("process_time.delay_caused_ns", "share", undefined, 3);
    expect(held, "with those below it").toBeCloseTo(0.75, 9);
  });

  it("draws the threshold where the number is compared with it", async () => {
    const recording = await fixture("cpu-saturated");
    const [finding] = recording.page.report.verdict.findings;
    if (finding === undefined) throw new Error("no finding");
    const tables = await recording.load(evidenceTables(finding));
    const chart = evidenceChart(finding, [0, 0], {
      recording,
      report: recording.page.report,
      tables,
    });
    if ("why" in chart) throw new Error(chart.why);
    expect(chart.lane.id).toBe("evidence-0-0-chart");
    expect(chart.lane.threshold).toEqual({ value: 0.9, label: "at least 90 %" });
    expect(chart.lane.alternative).toContain("CPUs busy");
    expect(chart.how).toContain("all 2 CPUs");
  });

  it("asks the report that the finding stands in, not the recording's", async () => {
    const recording = await fixture("cpu-saturated");
    const { report } = recording.page;
    const [finding] = report.verdict.findings;
    const [evidence] = finding?.evidence ?? [];
    const { account } = report.verdict;
    if (!finding || !evidence || !account) throw new Error("no evidence, or no account");
    const own: Amount = { kind: "ledger", classes: ["cpu_wait"] };
    const both: Amount = { kind: "sum", amounts: [own, { kind: "generator_wait" }] };
    const waits = (of: Amount): Finding => {
      const formula = { of, per: { kind: "account" as const } };
      return { ...finding, evidence: [{ ...evidence, formula }] };
    };
    const tables = await recording.load(evidenceTables(waits(both)));
    const how = (basis: typeof account.basis, of: Amount) => {
      const one = waits(of);
      const window: Report = {
        ...report,
        verdict: { ...report.verdict, account: { ...account, basis } },
      };
      const chart = evidenceChart(one, [0, 0], { recording, report: window, tables });
      return "how" in chart ? chart.how : chart.why;
    };
    expect(how("busy_time", own)).toContain("/ their busy time");
    expect(how("response_time", own)).toContain("/ time that requests took");
    expect(how("response_time", own)).not.toContain("generator");
    expect(how("response_time", both)).toContain("the generator's");
  });

  it("says why where there is nothing to draw", async () => {
    const recording = await fixture("cpu-saturated");
    const [finding] = recording.page.report.verdict.findings;
    const [evidence] = finding?.evidence ?? [];
    if (finding === undefined || evidence === undefined) throw new Error("no evidence");
    const made = (changed: Partial<Evidence>) => {
      const one: Finding = { ...finding, evidence: [{ ...evidence, ...changed }] };
      return recording
        .load(evidenceTables(one))
        .then((tables) =>
          evidenceChart(one, [0, 0], { recording, report: recording.page.report, tables }),
        );
    };
    expect(await made({ column: "workload.outcome.complaints" })).toHaveProperty("why");
    expect(await made({ column: "no_table.no_column" })).toEqual({
      why: "the recording has no no_table.no_column",
    });
    expect(await made({ column: "__proto__.x", what: "constructor" })).toHaveProperty("why");
  });

  it("writes rows with what is asked of each number", async () => {
    const recording = await fixture("cpu-saturated");
    const [finding] = recording.page.report.verdict.findings;
    if (finding === undefined) throw new Error("no finding");
    expect(evidenceRows(finding, 0, recording)[0]).toMatchObject({
      id: "evidence-0-0",
      what: "CPUs busy",
      value: "99.9 %",
      needs: "at least 90 %",
      passed: true,
      source: "cpu",
    });
  });

  it("knows which side of a threshold passes", () => {
    const [evidence] = golden("cpu-saturated").verdict.findings[0]?.evidence ?? [];
    if (evidence === undefined) throw new Error("no evidence");
    const share = { ...evidence, unit: "share", threshold: 0.15 };
    expect(needs({ ...share, value: 0.35, passed: true })).toBe("at least 15 %");
    expect(needs({ ...share, value: 0.06, passed: true })).toBe("under 15 %");
    expect(needs({ ...share, value: 0.35, passed: false })).toBe("under 15 %");
    expect(needs({ ...share, threshold: 0, value: 0.3, passed: true })).toBe("");
    expect(needs({ ...share, threshold: null, value: 0.3, passed: true })).toBe("");
  });

  it("takes the colour of what a number is about", () => {
    expect(colourOf("thread.wait_ns")).toBe("--cpu");
    expect(colourOf("thread.syscall")).toBe("--io");
    expect(colourOf("pressure.io_full_ns")).toBe("--io");
    expect(colourOf("cpu.steal_ns")).toBe("--steal");
    expect(colourOf("signal.latency_mean_ns")).toBe("--latency");
    expect(colourOf("cgroup_memory.usage_bytes")).toBe("--memory");
  });
});
