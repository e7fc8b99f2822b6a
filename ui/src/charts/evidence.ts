// The numbers that a finding rests on: as a table, and each as a chart of where it came from.

import { instant } from "../data/format";
import type { Evidence, Finding } from "../data/page.gen";
import type { Recording } from "../data/recording";
import { completed } from "./binLane";
import { unseen } from "./gaps";
import type { Lane } from "./lane";
import { over, perBin } from "./quantity";
import type { Asked } from "./recipe";
import { recipeOf } from "./recipes";
import { type Scale, scaleOfUnit } from "./scale";

/** The link to a number of a finding: first screen and section agree on it. */
export function evidenceId(finding: number, row: number): string {
  return `evidence-${finding}-${row}`;
}

/** A number of a finding, as it is written. */
export interface EvidenceRow {
  readonly id: string;
  readonly what: string;
  readonly value: string;
  /** `at least 90 %`; empty where nothing is asked of it. */
  readonly needs: string;
  readonly passed: boolean;
  /** Table and column: `thread.wait_ns`. */
  readonly source: string;
  readonly who: string;
  readonly window: string;
}

export function evidenceRows(finding: Finding, index: number, recording: Recording): EvidenceRow[] {
  return finding.evidence.map((evidence, row) => {
    const { format } = scaleOfUnit(evidence.unit);
    const { from, to } = recording.span(evidence.window);
    return {
      id: evidenceId(index, row),
      what: evidence.what,
      value: format(evidence.value),
      needs: needs(evidence),
      passed: evidence.passed,
      source: evidence.column,
      who: `${evidence.entity.kind} ${evidence.entity.name}`,
      window: `${instant(from)} to ${instant(to)}`,
    };
  });
}

/** What is asked of a number. Of some it is that they stay below: a healthy target's waits. */
export function needs({ threshold, value, passed, unit }: Evidence): string {
  // A threshold of nothing is passed by everything: the number is only told.
  if (typeof threshold !== "number" || threshold === 0) return "";
  const { format } = scaleOfUnit(unit);
  return value >= threshold === passed
    ? `at least ${format(threshold)}`
    : `under ${format(threshold)}`;
}

/** A number over time, or why it has none. */
export type EvidenceChart =
  | {
      readonly lane: Lane;
      /** What is drawn, in words. */
      readonly how: string;
      /** The same over the number's own window, as the chart has it. */
      readonly mean: string;
    }
  | { readonly why: string };

/** The tables that a number's chart needs. */
export function evidenceTables(finding: Finding): string[] {
  const all = finding.evidence.flatMap((evidence) => recipeOf(evidence).tables);
  return [...new Set(all)];
}

export function evidenceChart(
  finding: Finding,
  [index, row]: readonly [number, number],
  { recording, report, tables }: Pick<Asked, "recording" | "report" | "tables">,
): EvidenceChart {
  const evidence = finding.evidence[row];
  if (evidence === undefined) return { why: "the finding has no such number" };
  const recipe = recipeOf(evidence);
  const made = recipe.make({ evidence, report, recording, tables });
  if ("why" in made) return made;
  const { quantity, how } = made;
  const scale = made.scale ?? scaleOfUnit(evidence.unit);
  const values = perBin(quantity);
  if (values.every(Number.isNaN)) return { why: "none of its numbers are here" };
  // A source in its own scale is not what the threshold is about.
  const asked = made.scale === undefined ? needs(evidence) : "";
  const { still: _, ...lane } = completed(
    {
      id: `${evidenceId(index, row)}-chart`,
      title: evidence.what,
      format: scale.format,
      least: leastOf(scale, values),
      binary: scale.binary,
      ...(asked !== "" && typeof evidence.threshold === "number"
        ? { threshold: { value: evidence.threshold, label: asked } }
        : {}),
      unseen: recipe.tables.flatMap((table) => unseen(recording, table)),
    },
    quantity.edges,
    [
      {
        label: evidence.entity.name,
        colour: colourOf(evidence.column),
        fill: 0.15,
        style: "area",
        values,
        over: (window) => over(quantity, window),
      },
    ],
  );
  return { lane, how, mean: scale.format(over(quantity, recording.span(evidence.window))) };
}

/** A small share is not drawn at the foot of an axis that reaches to 100 %. */
function leastOf(scale: Scale, values: Float64Array): number {
  const small = values.every((value) => !(value >= 0.3));
  return scale.least === 1 && small ? 0 : scale.least;
}

/** The colour of what a table is about. */
export function colourOf(source: string): string {
  const [table = "", column = ""] = source.split(".");
  if (table === "pressure" || table === "cgroup_pressure")
    return RESOURCES[column.split("_")[0] ?? ""] ?? "--cpu";
  if (/steal/.test(column)) return "--steal";
  if (/irq/.test(column)) return "--irq";
  if (/^(memory|paging|cgroup_memory)$/.test(table)) return "--memory";
  if (/^(disk|cgroup_io|filesystem)$/.test(table)) return "--io";
  if (/^(read|write|sync|state|syscall|io_|kernel_)/.test(column)) return "--io";
  if (/^(network|tcp|softnet|connection)$/.test(table)) return "--network";
  if (/latency|lag/.test(column)) return "--latency";
  return table === "signal" ? "--throughput" : "--cpu";
}

const RESOURCES: Readonly<Record<string, string>> = {
  cpu: "--cpu",
  memory: "--memory",
  io: "--io",
  irq: "--irq",
};

/** What was said of every cause, by what it is about. */
export const FAMILIES: Readonly<Record<string, string>> = {
  cpu: "CPU",
  memory: "Memory",
  cache: "Caches",
  io: "Disks",
  lock: "Locks",
  net: "Network",
  load: "Load generator",
  limit: "Limits",
  event: "Events",
};

/** The family of a cause, in words. */
export function familyOf(cause: string): string {
  return FAMILIES[cause.split(".")[0] ?? ""] ?? "On the whole";
}
