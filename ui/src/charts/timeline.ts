// The timeline: the workload's own view over what the machine did, on one axis; and what is marked on it.

import { duration, integer, percent, rate } from "../data/format";
import { reasonOf } from "../data/gaps";
import type { Phase, PhaseKind, Report, Stall } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { intersection, length, type Span } from "../data/units";
import type { Lane } from "./lane";
import { cpuLanes, diskLanes, loadLanes, memoryLanes, networkLanes } from "./machine";
import { pressureLanes } from "./pressure";
import { requestLanes } from "./requestLanes";
import { REQUEST_TABLES } from "./requestTimes";
import { workloadLanes } from "./workload";

/** The tables that the lanes are made of. */
export const TABLES = [
  "signal",
  ...REQUEST_TABLES,
  "pressure",
  "cgroup_pressure",
  "process_pressure",
  "stall",
  "cgroup_stall",
  "process_stall",
  "cpu",
  "load",
  "disk",
  "network",
  "tcp",
  "memory",
  "paging",
];

/** All lanes, in the order of reading. */
export function timeline(recording: Recording, tables: Tables): Lane[] {
  const [throughput, ...latency] = workloadLanes(recording, tables);
  const requests = requestLanes(recording, tables, throughput !== undefined);
  const pressure = pressureLanes(recording, tables);
  // Pressure is on the first screen: where requests have their own times, the workload's word comes after it.
  const answers =
    requests.length > 0 ? [...requests, ...pressure, ...latency] : [...latency, ...pressure];
  return [
    ...(throughput === undefined ? [] : [throughput]),
    ...answers,
    ...cpuLanes(recording, tables),
    ...loadLanes(recording, tables),
    ...diskLanes(recording, tables),
    ...networkLanes(recording, tables),
    ...memoryLanes(recording, tables),
  ];
}

/** Something that concerns all lanes: a phase, an event, a stretch that nobody saw. */
export interface Mark {
  readonly kind: "phase" | "event" | "gap" | "stall";
  /** An event's ends are the same. */
  readonly span: Span;
  readonly text: string;
}

/** Phases, events, stalls, and gaps of all tables, in the order of time. */
export function marks(recording: Recording): Mark[] {
  const { report, events } = recording.page;
  const phases = shownPhases(report.phases);
  const all: Mark[] = [
    ...phases.slice(1).map((phase, index): Mark => {
      const { from } = recording.span(phase.window);
      const text = changed(phases[index], phase, unitOf(report));
      return { kind: "phase", span: { from, to: from }, text };
    }),
    ...events.map((event): Mark => {
      const at = recording.at(event.at);
      return { kind: "event", span: { from: at, to: at }, text: event.text };
    }),
    ...longestStalls(report).map((stall): Mark => {
      const text = `stall of ${duration(lengthOf(stall))}: ${integer(stall.completed)} of about ${integer(stall.expected)} requests answered`;
      return { kind: "stall", span: recording.span(stall.window), text };
    }),
    ...report.gaps.flatMap((gap): Mark[] =>
      gap.table === "*" && gap.window
        ? [{ kind: "gap", span: recording.span(gap.window), text: reasonOf(gap) }]
        : [],
    ),
  ];
  return all.sort((a, b) => a.span.from - b.span.from);
}

/** Of more, the longest are marked. */
const MOST_STALLS = 10;

function longestStalls({ by_second }: Report): Stall[] {
  const all = [...(by_second?.stalls ?? [])];
  return all.sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MOST_STALLS);
}

function lengthOf({ window }: Stall): number {
  return window.end - window.start;
}

const PHASES: Record<PhaseKind, string> = {
  warm_up: "warm-up",
  steady: "steady",
  ramp: "ramp",
  congested: "congested",
  end: "end",
};

/** One part of the run, as it stands in the strip over the lanes. */
export interface PhaseBox {
  readonly span: Span;
  readonly kind: PhaseKind;
  /** `steady`. */
  readonly word: string;
  /** `30,212 tps, 0.331 ms`, or empty. */
  readonly numbers: string;
  /** `cpu.saturated 41 % (postgres, measured)`, or empty. */
  readonly verdict: string;
  /** The verdict's sentence, or empty. */
  readonly sentence: string;
  /** What changed where it begins, or empty. */
  readonly border: string;
  /** Whether the run's verdict is about it. */
  readonly judged: boolean;
}

/** The phases of a run that changed; nothing for a run of one phase (crates/stallscope/src/outputs/phases.rs). */
export function phaseBoxes(recording: Recording): PhaseBox[] {
  const { report } = recording.page;
  if (shownPhases(report.phases).length < 2) return [];
  return report.phases.map((phase) => {
    const { verdict } = phase;
    const share =
      typeof verdict?.share === "number" ? ` ${percent(Math.min(verdict.share, 1))}` : "";
    return {
      span: recording.span(phase.window),
      kind: phase.kind,
      word: PHASES[phase.kind],
      numbers: numbersOf(phase, unitOf(report)),
      verdict: verdict
        ? `${verdict.cause}${share} (${verdict.entity.name}, ${verdict.confidence})`
        : "",
      sentence: verdict?.sentence ?? "",
      border: borderOf(phase),
      judged: phase.window.start === report.window.start && phase.window.end === report.window.end,
    };
  });
}

/** What changed where a phase begins, and what its disks did; empty where it is the first. */
function borderOf({ change, disks = [] }: Phase): string {
  if (change == null) return "";
  const { differences = [], marks = [], sentence, settled } = change;
  const parts = [
    sentence,
    ...marks.map(({ text }) => `Marked: ${text}.`),
    ...differences.map((it) => it.sentence),
    settled,
    ...disks.map((it) => `On disk then: ${it.entity.name} (${it.sentence}).`),
  ];
  return parts.filter((it) => it !== "").join(" ");
}

function unitOf(report: Report): string {
  return report.workload?.load.rate_unit || "per second";
}

/** `30,212 tps, 0.331 ms`, or empty. */
function numbersOf(phase: Phase, unit: string): string {
  const numbers = [
    typeof phase.throughput === "number" ? `${rate(phase.throughput)} ${unit}` : "",
    typeof phase.latency_ns === "number" ? duration(phase.latency_ns) : "",
  ];
  return numbers.filter((it) => it !== "").join(", ");
}

/** `ramp, from 30,212 tps, 0.331 ms to 24,480 tps, 0.409 ms`. */
function changed(before: Phase | undefined, phase: Phase, unit: string): string {
  const [from, to] = [before === undefined ? "" : numbersOf(before, unit), numbersOf(phase, unit)];
  const word = PHASES[phase.kind];
  return from !== "" && to !== "" ? `${word}: from ${from} to ${to}` : word;
}

function shownPhases(phases: readonly Phase[]): Phase[] {
  return phases.filter((phase) => phase.kind !== "warm_up" && phase.kind !== "end");
}

/** How much of a span is in sight, 0 to 1, and where it begins there. */
export function placed(span: Span, view: Span): { left: number; width: number } | undefined {
  const both = intersection(span, view);
  if (both === undefined) return undefined;
  return { left: (both.from - view.from) / length(view), width: length(both) / length(view) };
}
