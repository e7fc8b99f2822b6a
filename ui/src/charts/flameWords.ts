// Flame graphs in words and as a table of functions.

import { duration, integer, percent } from "../data/format";
import type { Recording } from "../data/recording";
import type { SampleTable, StackTable } from "../data/stacks";
import { intersection, type Span } from "../data/units";
import { typed } from "./commands";
import { ALL, byFrame, selfByFrame, type Weights } from "./flame";
import { type Difference, isBeyondNoise, LEAST_BLOCKS } from "./flameDifference";
import { absent, unseen } from "./gaps";
import { windowWords } from "./run";

/** Gaps that are told one by one. */
const MOST_GAPS = 3;

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

/** When nothing was sampled in a window although something may have run; empty where that was never. */
export function notSampled(recording: Recording, window: Span): string {
  const gaps = unseen(recording, "cpu_sample").filter((gap) => intersection(gap.span, window));
  const told = gaps.slice(0, MOST_GAPS).map(({ span, why }) => `${windowWords(span)}: ${why}`);
  const more = gaps.length > MOST_GAPS ? `; and ${integer(gaps.length - MOST_GAPS)} more` : "";
  return told.length > 0 ? `Not all was sampled (${told.join("; ")}${more}).` : "";
}

/** What a box is: its name, and beside it its file. */
export function nameOf(
  { frames, frameOf }: StackTable,
  node: number,
): { name: string; file: string } {
  if (node === ALL) return { name: "all that ran", file: "" };
  const frame = frames[frameOf[node] ?? 0];
  return {
    name: frame?.name ?? "",
    file: frame?.kind === "process" ? "process" : (frame?.file ?? ""),
  };
}

/** What a box weighs. */
export function weightWords({ total, self, ns }: Weights, node: number): string {
  const own = node === ALL ? ns : (total[node] ?? 0);
  const alone = node === ALL ? 0 : (self[node] ?? 0);
  const itself = alone > 0 ? `, ${duration(alone)} in itself` : "";
  return `${percent(ns > 0 ? own / ns : 0)} of the CPU time: ${duration(own)}${itself}`;
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
export function differenceWords(of: Difference, node: number): string {
  const [first, second] = differenceOf(of, node);
  const tested = node === ALL || of.tested[node] === 1;
  const judged = judgedWords(of, first - second, tested);
  const amounts = `${duration(first)} against ${duration(second)}`;
  return `${signed(first - second)} of CPU time per ${of.per} (${amounts}), ${judged}`;
}

function judgedWords(of: Difference, by: number, tested: boolean): string {
  if (isBeyondNoise(of, by, tested)) return "beyond noise";
  if (of.noise === undefined) return "not tested";
  return tested ? "within noise" : "under 1 %, not tested";
}

/** How a difference is to be read. */
export function testWords(of: Difference): string {
  const why = "Per second, because the workload did not report throughput all along. ";
  return (of.per === "second" ? why : "") + noiseWords(of);
}

function noiseWords({ per, noise }: Difference): string {
  if (noise === undefined)
    return `Too short to tell a difference from noise: each window needs ${LEAST_BLOCKS} s. All boxes are grey.`;
  return `Differences under ${duration(noise)} per ${per} may be chance, and are grey: of 499 shuffles of the windows' seconds, 5 % have a larger one in some function. Functions under 1 % of the time are not tested.`;
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
  return stacks.frames.flatMap(({ name, file, kind }, frame): FunctionRow[] => {
    if (kind === "process") return [];
    const of = difference?.functions[frame];
    if (of === undefined) {
      const own = { self: self[frame] ?? 0, total: total[frame] ?? 0 };
      return own.total > 0 ? [{ frame, name, file, ...own, judged: "" }] : [];
    }
    const judged = difference ? judgedWords(difference, of.total, of.tested) : "";
    return of.total !== 0 ? [{ frame, name, file, self: of.self, total: of.total, judged }] : [];
  });
}
