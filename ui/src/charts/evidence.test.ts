import { describe, expect, it } from "vitest";
import { drawn, golden } from "../../tests/drawn";
import { FIXTURES, fixture } from "../../tests/fixture";
import type { Amount, Evidence, Finding, LedgerClass, Report } from "../data/page.gen";
import { colourOf, evidenceChart, evidenceRows, evidenceTables, needs } from "./evidence";
import { over } from "./quantity";
import { recipeOf } from "./recipes";

/** Numbers that the page's ledger gives within this part of them: it divides time by samples. */
const NEAR = 0.05;
const S = 1e9;

/** Time of the target's serving threads in some classes. */
function waits(classes: LedgerClass[]): Amount {
  return { kind: "ledger", classes, whose: { kind: "serving", role: "target" } };
}

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
          const made = recipeOf(evidence).make({ evidence, report, recording, tables });
          // A source is drawn in its own scale, and is not the number.
          if ("why" in made || made.scale !== undefined) continue;
          const value = over(made.quantity, recording.span(evidence.window));
          const least = Math.max(Math.abs(evidence.value), 0.02) * NEAR;
          expect(Math.abs(value - evidence.value), evidence.what).toBeLessThanOrEqual(least);
          redone += 1;
        }
      }
      expect(redone).toBeGreaterThan(0);
    });
  }

  it("redoes what is said of an idle target, of its busy time", async () => {
    const report = golden("cpu-quota");
    report.verdict.account = null;
    report.workload = null;
    const [evidence] = report.verdict.findings[0]?.evidence ?? [];
    if (evidence === undefined) throw new Error("no evidence");
    const times = { on_cpu_ns: 1e7, cpu_wait_ns: 2e7, sleep_ns: 2 * S, futex_ns: 2.97 * S };
    const recording = await drawn({
      edges: [0, 5 * S, 10 * S],
      report,
      entities: [
        { kind: "process", name: "idle", path: "pid:1@1", role: "target", serving: true },
        { kind: "thread", name: "idle", path: "tid:1@1", parent: 0 },
      ],
      tables: [
        {
          name: "ledger",
          entity: "thread",
          columns: Object.keys(times).map((name) => ({ name })),
          series: Object.entries(times).map(([column, values]) => ({ entity: 1, column, values })),
        },
      ],
    });
    const window = { start: report.origin, end: report.origin + 10 * S };
    const redone = async (per: Amount["kind"]) => {
      const formula = { of: waits(["cpu_wait", "output"]), per: { kind: per } as Amount };
      const asked = { ...evidence, window, formula };
      const recipe = recipeOf(asked);
      const tables = await recording.load(recipe.tables);
      const made = recipe.make({ evidence: asked, report, recording, tables });
      return "why" in made ? made.why : over(made.quantity, recording.span(window));
    };
    expect(await redone("time")).toBeCloseTo(0.004, 9);
    expect(await redone("account")).toBeCloseTo(2 / 3, 9);
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
    expect(chart.how).toContain("busy time (user, nice, system, interrupts) / ");
  });

  it("asks the report that the finding stands in, not the recording's", async () => {
    const recording = await fixture("cpu-saturated");
    const { report } = recording.page;
    const [finding] = report.verdict.findings;
    const [evidence] = finding?.evidence ?? [];
    const { account } = report.verdict;
    if (!finding || !evidence || !account) throw new Error("no evidence, or no account");
    const own = waits(["cpu_wait"]);
    const both: Amount = { kind: "sum", amounts: [own, { kind: "generator_wait" }] };
    const waited = (of: Amount): Finding => {
      const formula = { of, per: { kind: "account" as const } };
      return { ...finding, evidence: [{ ...evidence, formula }] };
    };
    const tables = await recording.load(evidenceTables(waited(both)));
    const how = (basis: typeof account.basis, of: Amount) => {
      const one = waited(of);
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
      const one: Finding = { ...finding, evidence: [{ ...evidence, formula: null, ...changed }] };
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
