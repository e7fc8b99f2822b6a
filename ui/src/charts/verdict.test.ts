import { describe, expect, it } from "vitest";
import { golden } from "../../tests/drawn";
import type { Remedy, Report } from "../data/page.gen";
import { accountBar, withoutBar } from "./account";
import {
  facts,
  lastWord,
  meaning,
  named,
  noPressure,
  notes,
  outcome,
  pressureFacts,
  quantiles,
  remedyNote,
  remedyNumbers,
  shareOf,
  who,
} from "./verdict";

const GOLDEN = ["client-bound", "cpu-quota", "cpu-saturated", "phases", "rate-limited"];

function headline(report: Report) {
  const [finding] = report.verdict.findings;
  if (finding === undefined) throw new Error("a golden report has a headline");
  return finding;
}

/** Latency of a golden report, to be changed. */
function latency(report: Report) {
  const signal = report.signals.find((it) => it.name === "latency");
  if (signal === undefined) throw new Error("a golden report has a latency");
  return signal;
}

describe("the headline", () => {
  it("says whom it is about, groups by their path", () => {
    expect(who(headline(golden("cpu-quota")))).toBe("/stallscope-lab-10734");
    expect(who(headline(golden("cpu-saturated")))).toBe("postgres");
  });

  it("says how sure it is, in a word that is explained", () => {
    const exact = headline(golden("cpu-quota"));
    expect(meaning(exact)).toBe(
      "the kernel's exact account: its interval lies above the threshold, and nothing is evidence against it",
    );
    const [evidence] = exact.evidence;
    if (evidence === undefined) throw new Error("no evidence");
    const low = { ...evidence, value: 0.01, threshold: 0.15, passed: true };
    expect(meaning({ ...exact, evidence: [low], share_interval: null })).toBe(
      "the kernel's exact account: it stays below the threshold, and nothing is evidence against it",
    );
  });

  it("says when it was first named, where that was asked for", () => {
    const report = golden("cpu-quota");
    expect(named({ ...report, named_after_ns: 3e9 })).toEqual([
      "named after 3 s, and from then on",
    ]);
    expect(named({ ...report, named_after_ns: 1.5e9 })).toEqual([
      "named after 1.5 s, and from then on",
    ]);
    expect(named({ ...report, named_after_ns: null })).toEqual([]);
  });

  it("does not say its share again", () => {
    const quota = headline(golden("cpu-quota"));
    expect(quota.sentence).toContain("61 %");
    expect(shareOf(quota)).toEqual(["95 % interval 59 % to 63 %"]);
    expect(shareOf({ ...quota, sentence: "It is slow." })).toEqual([
      "put down to it 61 %",
      "95 % interval 59 % to 63 %",
    ]);
    expect(shareOf({ ...quota, share_interval: { low: 0.611, high: 0.612 } })).toEqual([]);
    expect(shareOf({ ...quota, sentence: "", share: 1.7, share_interval: null })).toEqual([
      "put down to it 100 %",
    ]);
    expect(shareOf({ ...quota, share: null })).toEqual([]);
  });

  it("is told apart from a healthy one and one that cannot be told", () => {
    expect(outcome(golden("rate-limited"))).toBe("healthy");
    expect(outcome(golden("cpu-quota"))).toBe("limited");
    const open = golden("cpu-quota");
    headline(open).cause = "undetermined";
    expect(outcome(open)).toBe("undetermined");
  });

  it("says what would help, from the low to the high end", () => {
    const report = golden("cpu-saturated");
    expect(
      headline(report).would_help.map((it) => [
        it.change,
        ...remedyNumbers(it, report),
        remedyNote(it),
      ]),
    ).toEqual([
      ["a third CPU", "about 114,000 tps", "+50 %", "+44 % to +56 %; CPU law"],
      [
        "pgbench on another machine",
        "about 99,500 tps",
        "+31 %",
        "+23 % to +40 %; CPU law; it takes 24 % of the CPU",
      ],
    ]);
    expect(remedyNumbers({ change: "a faster disk" }, report)).toEqual(["not known"]);
    const fixed: Remedy = {
      change: "a faster disk",
      gain: 0.4,
      gain_interval: { low: 0.3, high: 0.5 },
      gain_of: "response_time",
    };
    expect(remedyNumbers(fixed, report)).toEqual(["response time", "-40 %"]);
    expect(remedyNote(fixed)).toBe("-30 % to -50 %");
    const large = { change: "no wait", gain: 61.562 };
    expect(remedyNumbers(large, report)).toEqual(["+6,160 %"]);
  });
});

describe("the workload's numbers", () => {
  const said = (report: Report) =>
    facts(report).map((fact) => `${fact.name}: ${fact.value} ${fact.unit}. ${fact.note}`);

  it("are those of the terminal, with where they come from", () => {
    expect(said(golden("rate-limited"))).toEqual([
      "throughput: 503 tps. ",
      "latency: 0.199 ms mean. from pgbench; no percentiles",
      "lag: 86.1 us mean. behind the schedule, part of the latency",
    ]);
  });

  it("name the option for percentiles, and what is no evidence", () => {
    const report = golden("cpu-saturated");
    if (report.workload) report.workload.quantiles_option = "--quantiles";
    expect(said(report)[1]).toContain("from pgbench; p99 needs --quantiles");
    latency(report).provenance = "derived";
    expect(said(report)[1]).toContain("from clients and throughput: no evidence");
    latency(report).provenance = "kernel";
    expect(said(report)[1]).toContain("request times seen in the kernel");
    latency(report).mean = null;
    expect(said(report)[1]).toContain("no data: nothing was completed");
    expect(said({ ...report, signals: [] })).toEqual([]);
  });

  it("have quantiles where the tool gives them", () => {
    const report = golden("cpu-saturated");
    expect(quantiles(report)).toEqual({ all: [], of: "" });
    latency(report).quantiles = [
      { q: 0.5, value: 1.01e5, sampled: 46012 },
      { q: 0.999, value: 4e6, sampled: 46012 },
      { q: 1, value: 1.2e7, sampled: 46012 },
    ];
    expect(quantiles(report)).toEqual({
      all: [
        { name: "p50", value: "0.101 ms" },
        { name: "p99.9", value: "4.00 ms" },
        { name: "max", value: "12.0 ms" },
      ],
      of: "of 46,012 sampled",
    });
    expect(said(report)[1]).toBe("latency: 0.111 ms mean. from pgbench");
  });

  it("have the goals, and whether they were met", () => {
    const report = golden("cpu-saturated");
    report.goals = [
      { goal: { of: "mean", below_ns: 5e6 }, value: 1.11e5, met: true },
      { goal: { of: { quantile: 0.999 }, below_ns: 1e7 }, value: 2.3e7, met: false },
      { goal: { of: { quantile: 1 }, below_ns: 1e9 }, value: null, met: null },
    ];
    expect(said(report).slice(-3)).toEqual([
      "goal: met mean < 5.00 ms. it was 0.111 ms",
      "goal: missed p99.9 < 10.0 ms. it was 23.0 ms",
      "goal: not known max < 1.00 s. it was not measured",
    ]);
  });

  it("say what failed", () => {
    const report = golden("cpu-saturated");
    const failed = report.signals.find((it) => it.name === "failed");
    if (failed) failed.mean = 2.5;
    expect(said(report)[2]).toBe("failed: 2.50 per second. ");
  });
});

describe("pressure", () => {
  it("is that of the machine without cpu full, and of the target's group", () => {
    const all = pressureFacts(golden("cpu-quota"));
    expect(all.map((it) => [it.whose, it.path])).toEqual([
      ["machine", ""],
      ["its group", "/stallscope-lab-10734"],
    ]);
    expect(all.map((it) => it.resources[0])).toEqual([
      { resource: "cpu", some: "97 %", full: "" },
      { resource: "cpu", some: "83 %", full: "76 %" },
    ]);
  });

  it("says why it is not there", () => {
    const report = { ...golden("cpu-quota"), pressure: [] };
    expect(pressureFacts(report)).toEqual([]);
    expect(noPressure(report)).toBe("too short a time to tell");
    const gap = { table: "pressure", what: "/proc/pressure/cpu", reason: "unsupported" } as const;
    expect(noPressure({ ...report, gaps: [{ ...gap, detail: "boot with psi=1" }] })).toBe(
      "not recorded",
    );
  });
});

describe("what is said beside the verdict", () => {
  it("stands in the order of the terminal", () => {
    const report = golden("rate-limited");
    const sentence = report.verdict.findings[0]?.sentence ?? "";
    report.verdict.caveats = [
      { gate: "gate.short", sentence: "the run was short." },
      { gate: "gate.said", sentence },
    ];
    expect(notes(report).map((note) => note.label)).toEqual([
      "Headroom",
      "Ruled out",
      "Caveats",
      "Not collected",
    ]);
    expect(notes(report)[2]?.items).toEqual(["the run was short"]);
    expect(lastWord(report)?.label).toBe("Next");
    expect(lastWord(golden("cpu-quota"))?.label).toBe("To confirm");
  });

  it("says why each cause is not it where it cannot be told, like reasons together", () => {
    const report = golden("cpu-quota");
    headline(report).cause = "undetermined";
    const absent = { answer: "absent", concerns: true } as const;
    report.verdict.judged = [
      { ...absent, cause: "io.sync", sentence: "nobody waited for a disk" },
      { ...absent, cause: "io.latency", sentence: "nobody waited for a disk" },
      { ...absent, cause: "load.rate", sentence: "no rate" },
      { ...absent, concerns: false, cause: "net.rtt", sentence: "no network" },
      { ...absent, answer: "present", cause: "cpu.steal", sentence: "steal" },
    ];
    expect(notes(report).find((note) => note.label === "Also ruled out")?.items).toEqual([
      "io.sync, io.latency: nobody waited for a disk",
    ]);
  });
});

describe("where the response time went", () => {
  it("is not said to be of nobody where a target did nothing", () => {
    const report = golden("cpu-quota");
    expect(withoutBar(report)).toContain("did nothing in this window");
    expect(withoutBar({ ...report, subjects: [] })).toContain("no target was found");
  });

  it.each(GOLDEN)("adds up to the whole in %s", (name) => {
    const report = golden(name);
    const bar = accountBar(report);
    const widths = bar?.parts.map((part) => part.width) ?? [];
    expect(widths.reduce((sum, width) => sum + width, 0)).toBe(10_000);
    expect(bar?.title).toMatch(/^Where the [\d.]+ ms went$/);
    for (const part of bar?.parts ?? []) expect(bar?.alternative).toContain(part.label);
  });

  it("says what each part is of one response, and how well it is known", () => {
    const [first, ...rest] = accountBar(golden("cpu-quota"))?.parts ?? [];
    expect(first).toMatchObject({
      label: "postgres held back by a CPU quota",
      each: "0.316 ms",
      quality: "estimated",
    });
    expect(rest.at(-1)?.note).toContain("pgbench's 2 threads");
    // Whose it is stands once.
    expect([first, ...rest].map((part) => part?.short)).toEqual([
      "postgres held back by a CPU quota",
      ...rest.map(({ label }) => label.replace(/^postgres /, "")),
    ]);
  });

  it("is of the non-idle time where no response time is known", () => {
    const report = golden("cpu-quota");
    const { account } = report.verdict;
    if (account) {
      account.basis = "busy_time";
      account.response_ns = null;
    }
    const bar = accountBar(report);
    expect(bar?.title).toBe("Where the non-idle time of postgres went");
    expect(bar?.parts[0]?.each).toBe("");
    expect(
      accountBar({ ...report, verdict: { ...report.verdict, account: null } }),
    ).toBeUndefined();
  });

  it("keeps the report's shares where they are more than all of it", () => {
    const report = golden("cpu-saturated");
    const [first] = report.verdict.account?.items ?? [];
    if (first) first.share = 4.8;
    const bar = accountBar(report);
    expect(bar?.parts[0]?.share).toBe(4.8);
    expect(bar?.parts.reduce((sum, part) => sum + part.width, 0)).toBe(10_000);
  });
});
