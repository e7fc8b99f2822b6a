// Flame graphs in words and as a table of functions.

import { duration, integer, percent } from "../data/format";
import type { Recording } from "../data/recording";
import type { SampleTable, StackTable } from "../data/stacks";
import { intersection, type Nanoseconds, type Share, type Span } from "../data/units";
import { typed } from "./commands";
import { ALL, byFrame, selfByFrame, type Weights } from "./flame";
import { type Difference, isBeyond, LEAST_BLOCKS, noiseAt } from "./flameDifference";
import { absent, unseen } from "./gaps";
import { windowWords } from "./run";

/** Gaps that are told one by one. */
const MOST_GAPS = 3;

/** What time a graph is of. */
export type TimeKind = "on" | "off" | "both";

/** How it is called, and how its whole is. */
export const TIMES: Readonly<Record<TimeKind, { label: string; time: string; all: string }>> = {
  on: { label: "on-CPU", time: "CPU time", all: "all that ran" },
  off: { label: "off-CPU", time: "blocked time", all: "all that waited" },
  both: { label: "both", time: "time on CPUs and blocked", all: "all that ran or waited" },
};

/** Why a recording has no call stacks, and the command that gets them. */
export function withoutStacks(recording: Recording): { why: string; command: string } {
  const { report, typed: own } = recording.page;
  const refused = report.cost.programs?.cpu_samples ?? absent(recording, "cpu_sample");
  const off = own.findIndex((word) => word === "--stacks" || word.startsWith("--stacks="));
  const why =
    refused ??
    (off >= 0
      ? `it was recorded with ${typed(own.slice(off, off + (own[off] === "--stacks" ? 2 : 1)))}`
      : "nothing was sampled; older versions could not");
  const rest = own.filter(
    (_, at) => off < 0 || at < off || at > off + (own[off] === "--stacks" ? 1 : 0),
  );
  const command = rest.findIndex((word) => word === "run" || word === "record") + 1;
  const again =
    command > 0
      ? [...rest.slice(0, command), "--stacks", "on", ...rest.slice(command)]
      : ["stallscope", "run", "--stacks", "on", "--", "COMMAND"];
  return { why, command: typed(again) };
}

/** How much the graph of a window rests on. */
export function summary({ samples, ns, whole, unnamed }: Weights, { oneOf }: SampleTable): string {
  const parts = [
    `${integer(samples)} samples of what ran on the CPUs stand for ${duration(ns)} of CPU time`,
    ...(whole === undefined ? [] : [`${percent(whole)} of the stacks in user space are whole`]),
    `${percent(unnamed)} of the time is in functions without a name`,
  ];
  const thinned =
    oneOf > 1
      ? ` The page holds one of ${integer(oneOf)} samples, drawn at random, and weighs it as ${integer(oneOf)}; the recording has all.`
      : "";
  return `${parts.join("; ")}.${thinned}`;
}

/** 95 % of a normal distribution lie within so many standard deviations. */
const NORMAL_95 = 1.96;
/** A smaller error is not said. */
const LEAST_SAID: Share = 0.0005;

/** How much the graph of a window's waits rests on: all of them, whichever are drawn. */
export function waitSummary(
  { samples, ns, whole, deviation }: Weights,
  { leastNs }: SampleTable,
  { neededNs, traced }: { readonly neededNs: Nanoseconds; readonly traced: Share },
): string {
  const error = ns > 0 ? (NORMAL_95 * deviation) / ns : 0;
  const sampled = error >= LEAST_SAID ? ` (sampled, within ${percent(error)})` : "";
  const parts = [
    `${integer(samples)} waits stand for ${duration(neededNs)} of blocked time of all threads of target and generator${sampled}, and for ${duration(ns - neededNs)} in which they waited for work`,
    ...(whole === undefined ? [] : [`${percent(whole)} of the stacks in user space are whole`]),
  ];
  const off =
    traced < 1
      ? ` Waits were traced in ${percent(traced)} of the time: the graph scales them to all of it.`
      : "";
  const thinned =
    leastNs > 0
      ? ` Of waits that stand for less than ${duration(leastNs)} the page holds some, drawn at random, and weighs each as that; the recording has all.`
      : "";
  return `${parts.join("; ")}. Waiting for a CPU is not in it.${off}${thinned}`;
}

/** Why waits have no stacks although samples have, or the other way round. */
export function isMissing(recording: Recording, kind: "on" | "off"): string {
  const [program, table] =
    kind === "on" ? ["cpu_samples", "cpu_sample"] : ["wait_stacks", "wait_sample"];
  const refused = recording.page.report.cost.programs?.[program];
  const why = refused ?? absent(recording, table) ?? "nothing was recorded";
  return `No ${TIMES[kind].label} stacks: ${why}.`;
}

/** When nothing was sampled in a window although something may have run; empty where that was never. */
export function notSampled(
  recording: Recording,
  window: Span,
  table: "cpu_sample" | "wait_sample",
): string {
  const gaps = unseen(recording, table).filter((gap) => intersection(gap.span, window));
  const told = gaps.slice(0, MOST_GAPS).map(({ span, why }) => `${windowWords(span)}: ${why}`);
  const more = gaps.length > MOST_GAPS ? `; and ${integer(gaps.length - MOST_GAPS)} more` : "";
  return told.length > 0 ? `Not all was sampled (${told.join("; ")}${more}).` : "";
}

/** What a box is: its name, and beside it its file. */
export function nameOf(
  { frames, frameOf }: StackTable,
  node: number,
  kind: TimeKind,
): { name: string; file: string } {
  if (node === ALL) return { name: TIMES[kind].all, file: "" };
  const frame = frames[frameOf[node] ?? 0];
  const said = { process: "process", class: "what was waited for", function: "", address: "" };
  return { name: frame?.name ?? "", file: said[frame?.kind ?? "function"] || (frame?.file ?? "") };
}

/** What a box weighs. */
export function weightWords({ total, self, ns }: Weights, node: number, kind: TimeKind): string {
  const own = node === ALL ? ns : (total[node] ?? 0);
  const alone = node === ALL ? 0 : (self[node] ?? 0);
  const itself = alone > 0 ? `, ${duration(alone)} in itself` : "";
  return `${percent(ns > 0 ? own / ns : 0)} of the ${TIMES[kind].time}: ${duration(own)}${itself}`;
}

/** The difference of a box, in time per request or second. */
export function differenceOf({ first, second, sums }: Difference, node: number): [number, number] {
  return node === ALL ? [...sums] : [first[node] ?? 0, second[node] ?? 0];
}

/** A difference with its sign: `+0.8 us`. */
export function signed(ns: number): string {
  return ns > 0 ? `+${duration(ns)}` : duration(ns);
}

/** What differs at a box. */
export function differenceWords(of: Difference, node: number, kind: TimeKind): string {
  const [first, second] = differenceOf(of, node);
  const judged = judgedWords(first - second, noiseAt(of, node));
  const amounts = `${duration(first)} against ${duration(second)}`;
  return `${signed(first - second)} of ${TIMES[kind].time} per ${of.per} (${amounts}), ${judged}`;
}

function judgedWords(by: number, noise: number | undefined): string {
  if (noise === undefined) return "not tested";
  if (!Number.isFinite(noise)) return "under 1 %, not tested";
  return isBeyond(by, noise) ? "beyond noise" : "within noise";
}

/** How a difference is to be read. */
export function testWords(of: Difference): string {
  const why = "Per second, because the workload did not report throughput all along. ";
  return (of.per === "second" ? why : "") + noiseWords(of);
}

function noiseWords({ noise }: Difference): string {
  if (noise === undefined)
    return `Too short to tell a difference from noise: each window needs ${LEAST_BLOCKS} s. All boxes are grey.`;
  return "Grey is what may be chance: of 499 shuffles of the seconds of both, 5 % make some function differ as much, measured by its scatter. Functions under 1 % of the time are not tested.";
}

/** A function in the table. */
export interface FunctionRow {
  readonly frame: number;
  readonly name: string;
  readonly file: string;
  /** ns of the window; of a difference, ns per request or second. */
  readonly self: number;
  readonly total: number;
  /** Of a difference: how that of `total` is judged. */
  readonly judged: string;
}

/** The functions of a window, or of a difference, with any weight at all. */
export function functionRows(
  stacks: StackTable,
  weights: Weights,
  difference: Difference | undefined,
): FunctionRow[] {
  const total = byFrame(stacks, weights.total);
  const self = selfByFrame(stacks, weights.self);
  const rows = stacks.frames.flatMap(({ name, file, kind }, frame): FunctionRow[] => {
    if (kind === "process" || kind === "class") return [];
    const of = difference?.functions[frame];
    if (of === undefined) {
      const own = { self: self[frame] ?? 0, total: total[frame] ?? 0 };
      return own.total > 0 ? [{ frame, name, file, ...own, judged: "" }] : [];
    }
    const judged = judgedWords(of.total, difference?.noise?.frames[frame]);
    return of.total !== 0 ? [{ frame, name, file, self: of.self, total: of.total, judged }] : [];
  });
  // Where the table's order finds no difference, this one stays.
  return rows.sort((a, b) => Math.abs(b.total) - Math.abs(a.total));
}
