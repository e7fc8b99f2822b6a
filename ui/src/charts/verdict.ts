// The verdict in the words of the terminal (crates/stallscope/src/outputs/terminal.rs), for the first
// screen. Sentences come from the report; only numbers and names are put together here.

import { bound, duration, integer, percent, rate } from "../data/format";
import type {
  Confidence,
  Finding,
  GoalReport,
  Quantile,
  Remedy,
  Report,
  Resource,
  Signal,
  StallKind,
} from "../data/page.gen";
import { instantWords } from "./run";

/** What the word of a finding is bound to. */
export function meaning(finding: Finding): string {
  return finding.confidence === "measured"
    ? `${exactly(finding)}, and nothing is evidence against it`
    : CONFIDENCE[finding.confidence];
}

function exactly({ evidence, share_interval: interval }: Finding): string {
  const below = evidence.some(
    ({ passed, threshold, value }) => passed && typeof threshold === "number" && value < threshold,
  );
  if (below) return "the kernel's exact account: it stays below the threshold";
  return interval
    ? "the kernel's exact account: its interval lies above the threshold"
    : "an exact count";
}

const CONFIDENCE: Record<Exclude<Confidence, "measured">, string> = {
  proved: "a capacity was changed on purpose, and throughput followed",
  consistent: "proxies agree: it fits all that was seen, and is not accounted exactly",
  suspected: "little to go by: things happened at the same time, at most",
};

/** Whom a finding is about: groups by their path. */
export function who(finding: Pick<Finding, "entity">): string {
  return finding.entity.kind === "cgroup" ? finding.entity.path : finding.entity.name;
}

/** How the first screen looks: something is wrong, nothing is, or it cannot be told. */
export function outcome(report: Report): "limited" | "healthy" | "undetermined" {
  const cause = report.verdict.findings[0]?.cause;
  return cause === "healthy" || cause === "undetermined" ? cause : "limited";
}

/** What the sentence leaves unsaid of a finding's share: itself, and its interval where that is wider than
    the number shows. */
export function shareOf({ share, share_interval: interval, sentence }: Finding): string[] {
  if (typeof share !== "number") return [];
  const value = percent(Math.min(share, 1));
  const [low, high] = interval ? [percent(interval.low), percent(interval.high)] : [value, value];
  return [
    ...(sentence.includes(value) ? [] : [`put down to it ${value}`]),
    ...(low === high ? [] : [`95 % interval ${low} to ${high}`]),
  ];
}

/** When the headline was first named, and stayed: `named after 3 s, and from then on`; nothing where that was not asked
    for, or nothing is named. */
export function named({ named_after_ns: after }: Report): string[] {
  return typeof after === "number" ? [`named after ${instantWords(after)}, and from then on`] : [];
}

/** What a change would bring: `about 114,000 tps`, `+50 %`; of a fixed rate, by how much the response time would
    fall. */
export function remedyNumbers(remedy: Remedy, report: Report): string[] {
  const { throughput, gain, gain_of: of } = remedy;
  if (typeof gain !== "number") return ["not known"];
  return [
    ...(typeof throughput === "number" ? [`about ${bound(throughput)} ${rateUnit(report)}`] : []),
    ...(of === "response_time" ? ["response time"] : []),
    signed(remedy, gain),
  ];
}

/** How sure that is, and by which model: `+44 % to +56 %; CPU law`. */
export function remedyNote(remedy: Remedy): string {
  const { gain_interval: ends, gain_model: model, because } = remedy;
  const both = ends && `${signed(remedy, ends.low)} to ${signed(remedy, ends.high)}`;
  return [both, model, because].filter(Boolean).join("; ");
}

function signed({ gain_of: of }: Remedy, share: number): string {
  const sign = of === "response_time" ? "-" : "+";
  return `${sign}${share < 10 ? percent(share) : `${bound(share * 100)} %`}`;
}

/** The workload's own word for its rate, if it has one. */
const rateUnit = (report: Report) => report.workload?.load.rate_unit || "per second";

/** One of the workload's own numbers. */
export interface Fact {
  readonly name: string;
  /** The number itself; empty where there is none. */
  readonly value: string;
  /** Its unit or what kind of number it is. */
  readonly unit: string;
  /** Where it comes from, and what else is to be said. */
  readonly note: string;
}

/** Throughput, latency, lag and errors over the report's window. */
export function facts(report: Report): Fact[] {
  const signal = (name: string) => report.signals.find((it) => it.name === name);
  const mean = (name: string) => signal(name)?.mean ?? undefined;
  const unit = rateUnit(report);
  const all: Fact[] = [];
  const throughput = mean("throughput");
  const empty = signal("throughput")?.empty_intervals ?? 0;
  if (throughput !== undefined) {
    const note = empty > 0 ? `nothing was completed in ${integer(empty)} intervals` : "";
    all.push({ name: "throughput", value: rate(throughput), unit, note });
  }
  const latency = signal("latency");
  if (latency) all.push(latencyFact(latency, report));
  const lag = mean("lag");
  if (lag !== undefined) {
    const note = "behind the schedule, part of the latency";
    all.push({ name: "lag", value: duration(lag), unit: "mean", note });
  }
  for (const name of ["failed", "skipped", "retried"]) {
    const value = mean(name) ?? 0;
    if (value > 0) all.push({ name, value: rate(value), unit: "per second", note: "" });
  }
  all.push(...(report.goals ?? []).map(goalFact));
  return all;
}

function goalFact({ goal, value, met }: GoalReport): Fact {
  const of = goal.of === "mean" ? "mean" : quantileName(goal.of.quantile);
  const state = met === true ? "met" : met === false ? "missed" : "not known";
  const note = typeof value === "number" ? `it was ${duration(value)}` : "it was not measured";
  return { name: "goal", value: state, unit: `${of} < ${duration(goal.below_ns)}`, note };
}

// 0.999 is 99.9, and 99.90000000000001 in binary.
function quantileName(q: number): string {
  return q === 1 ? "max" : `p${Math.round(q * 1e5) / 1e3}`;
}

function latencyFact(latency: Signal, report: Report): Fact {
  const name = "latency";
  if (typeof latency.mean !== "number") {
    return { name, value: "", unit: "", note: "no data: nothing was completed" };
  }
  const tool = report.workload?.name ?? "the tool";
  const option = report.workload?.quantiles_option;
  let note = `from ${tool}`;
  if (latency.provenance === "derived") {
    note = `worked out by ${tool} from clients and throughput: no evidence`;
  } else if (latency.provenance === "kernel") {
    note = "request times seen in the kernel";
  } else if (latency.quantiles.length === 0) {
    note += option ? `; p99 needs ${option}` : "; no percentiles";
  }
  return { name, value: duration(latency.mean), unit: "mean", note };
}

/** `12.5 ms`, or that it is no less. */
export function quantileWords({ value, at_least }: Quantile): string {
  return `${at_least ? "at least " : ""}${duration(value)}`;
}

/** Quantiles of the latency, lowest first, and of how many operations; nothing where there are none. */
export function quantiles(report: Report): {
  all: { readonly name: string; readonly value: string }[];
  of: string;
} {
  const latency = report.signals.find((it) => it.name === "latency");
  const all = (latency?.quantiles ?? []).map((quantile) => ({
    name: quantileName(quantile.q),
    value: quantileWords(quantile),
  }));
  const sampled = latency?.quantiles[0]?.sampled;
  return { all, of: typeof sampled === "number" ? `of ${integer(sampled)} sampled` : "" };
}

/** Pressure over the report's window, by who has it. */
export interface PressureFact {
  /** `machine`, `its group`. */
  readonly whose: string;
  /** The group's path, else empty. */
  readonly path: string;
  readonly resources: readonly {
    readonly resource: Resource;
    readonly some: string;
    /** Empty where it means nothing or was not seen. */
    readonly full: string;
  }[];
}

export function pressureFacts(report: Report): PressureFact[] {
  const kinds = [
    { kind: "machine", whose: "machine" },
    { kind: "cgroup", whose: "its group" },
    { kind: "process", whose: "its processes" },
  ] as const;
  return kinds.flatMap(({ kind, whose }) => {
    const here = report.pressure.filter((it) => it.entity.kind === kind);
    const share = (resource: Resource, stall: StallKind) =>
      here.find((it) => it.resource === resource && it.kind === stall)?.share;
    const resources = (["cpu", "memory", "io"] as const).flatMap((resource) => {
      const some = share(resource, "some");
      if (some === undefined) return [];
      // The machine's cpu full is 0 by definition.
      const full = kind === "machine" && resource === "cpu" ? undefined : share(resource, "full");
      return [{ resource, some: percent(some), full: full === undefined ? "" : percent(full) }];
    });
    const path = kind === "cgroup" ? (here[0]?.entity.path ?? "") : "";
    return resources.length === 0 ? [] : [{ whose, path, resources }];
  });
}

/** Why there is no pressure to show. */
export function noPressure(report: Report): string {
  const off = report.gaps.some((gap) => gap.table === "pressure" && gap.what?.endsWith("cpu"));
  return off ? "not recorded" : "too short a time to tell";
}

/** Something that the verdict says beside its sentence. */
export interface Note {
  readonly label: string;
  readonly items: readonly string[];
}

/** In the order and the words of the terminal; what has nothing to say is left out. */
export function notes(report: Report): Note[] {
  const { verdict } = report;
  const headline = verdict.findings[0];
  const bare = (items: readonly string[]) => items.map((item) => item.replace(/\.+$/, ""));
  const all: Note[] = [
    { label: "Headroom", items: verdict.headroom ? [verdict.headroom.sentence] : [] },
    { label: "Ruled out", items: bare(verdict.ruled_out.map((it) => it.sentence)) },
    { label: "Evidence against", items: bare(headline?.evidence_against ?? []) },
    {
      label: "Caveats",
      // What the headline says is not said again.
      items: bare(verdict.caveats.map((it) => it.sentence)).filter(
        (doubt) => !headline?.sentence.includes(doubt),
      ),
    },
    { label: "Not collected", items: bare(verdict.not_collected) },
    { label: "Also ruled out", items: headline?.cause === "undetermined" ? ruledOut(report) : [] },
  ];
  return all.filter((note) => note.items.length > 0);
}

/** How to to confirm, or what to do next. */
export function lastWord(report: Report): Note | undefined {
  const headline = report.verdict.findings[0];
  if (!headline?.to_confirm) return undefined;
  return { label: proof(headline), items: [headline.to_confirm] };
}

/** What a finding's proof is called: of a healthy system there is nothing to prove wrong. */
export function proof({ cause }: Finding): string {
  return cause === "healthy" ? "Next" : "To confirm";
}

/** Why each cause is not it; causes with the same reason stand together. */
function ruledOut(report: Report): string[] {
  const reasons = new Map<string, string[]>();
  for (const { cause, answer, concerns, sentence } of report.verdict.judged) {
    if (answer !== "absent" || !concerns) continue;
    if (cause === "load.rate" || cause === "undetermined") continue;
    reasons.set(sentence, [...(reasons.get(sentence) ?? []), cause]);
  }
  return [...reasons].map(([reason, causes]) => `${causes.join(", ")}: ${reason}`);
}
