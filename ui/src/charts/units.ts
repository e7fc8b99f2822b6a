// Who of the machine waits, for what, and behind whom: a recording of the whole machine, in the words of the terminal
// (crates/stallscope/src/outputs/machine.rs).

import { duration, percent } from "../data/format";
import type {
  AccountItem,
  AccountPart,
  Finding,
  MachineReport,
  Quality,
  Quantile,
  UnitReport,
  UnitWait,
} from "../data/page.gen";
import { classLabel, classPaint } from "./ledger";
import { type Whole, whole } from "./parts";
import type { TreeNode } from "./tree";

/** Less than this is not worth speaking of, s per second. */
const LEAST_LOST = 0.001;
/** Who is named beside a unit, and how much of what it lost they have at least. */
const MOST_HOLDERS = 2;
const LEAST_PART = 0.1;
/** Groups outside that are named. */
const MOST_GROUPS = 4;

/** A service, container, virtual machine or process, as a row of the ranking. */
export interface UnitRow {
  readonly unit: UnitReport;
  /** `virtual machine`. */
  readonly kind: string;
  /** Time that it lost by what it waited for, ns per second; `undefined` where it lost next to none. */
  readonly waits: Whole | undefined;
  /** `itself 53 %, rustc (12 processes) 40 %`, or empty. */
  readonly behind: string;
  readonly headline: Finding | undefined;
  /** Its requests per second, where it answers any; how long they took, ns. */
  readonly throughput: number | undefined;
  readonly latency: number | undefined;
  readonly p99: Quantile | undefined;
}

/** The ranking, as a table of rows without children. */
export function unitRows({ units }: MachineReport): TreeNode<UnitRow>[] {
  return units.map((unit) => ({ id: unit.target, value: row(unit), children: [], quiet: false }));
}

function row(unit: UnitReport): UnitRow {
  const signal = (name: string) => unit.signals.find((it) => it.name === name);
  const latency = signal("latency");
  return {
    unit,
    kind: kindOf(unit),
    waits: isLost(unit) ? whole(unit.waits.map((wait) => partOf(unit, wait))) : undefined,
    behind: behind(unit),
    headline: unit.verdict?.findings[0],
    throughput: signal("throughput")?.mean || undefined,
    latency: latency?.mean ?? undefined,
    p99: latency?.quantiles.find(({ q }) => q === 0.99),
  };
}

const isLost = (unit: UnitReport) => unit.lost_per_second >= LEAST_LOST;
const kindOf = (unit: UnitReport) => unit.kind.replaceAll("_", " ");

/** Time lost in each second, in words. */
export const lostWords = (perSecond: number): string => duration(perSecond * 1e9);

function partOf(unit: UnitReport, wait: UnitWait) {
  const { class: word, label, lost_per_second: lost, behind = [] } = wait;
  return {
    key: word,
    label: (classLabel(word) ?? label).replace("waiting for ", ""),
    value: lost * 1e9,
    paint: classPaint(word),
    quality: qualityOf(unit, wait),
    help: behind.map((part) => held(part, unit)).join(", "),
  };
}

/** How well a wait is known: by the account of who has a verdict, else by that of its threads. */
function qualityOf({ verdict, subjects }: UnitReport, wait: UnitWait): Quality {
  const accounts = [verdict?.account, subjects[0]?.threads];
  const items = accounts.flatMap((account): readonly AccountItem[] => account?.items ?? []);
  return items.find((item) => item.class === wait.class)?.quality ?? "unknown";
}

/** A part of all that a unit lost. */
function partIn({ ns }: AccountPart, { lost_per_second: lost, window }: UnitReport): number {
  return ns / (lost * (window.end - window.start));
}

function held(part: AccountPart, unit: UnitReport): string {
  return `${part.kind === "own" ? "itself" : part.label} ${percent(partIn(part, unit))}`;
}

/** Who had what was waited for, as parts of all that was lost; else whom the verdict names, if that is somebody else. */
function behind(unit: UnitReport): string {
  const named = unit.waits
    .flatMap((wait) => wait.behind ?? [])
    .filter(
      (part) =>
        ["own", "partner", "other", "stolen"].includes(part.kind) &&
        partIn(part, unit) >= LEAST_PART,
    );
  if (named.length > 0)
    return named
      .slice(0, MOST_HOLDERS)
      .map((part) => held(part, unit))
      .join(", ");
  const blamed = unit.verdict?.findings[0]?.entity;
  const own = unit.subjects.some(
    ({ entity }) => entity.kind === blamed?.kind && entity.path === blamed.path,
  );
  return blamed && !own && /process|cgroup/.test(blamed.kind) ? blamed.name : "";
}

/** Who lost most, in a sentence. */
export function rankingSentence({ units }: MachineReport): string {
  const [first] = units;
  if (first === undefined)
    return "Nobody on this machine was measured: nobody used a CPU or waited enough to be followed, or the recording was too short.";
  const { length: count } = units;
  if (!isLost(first)) {
    const who =
      count === 1 ? `${first.name} did not lose` : `None of the ${count} that were followed lost`;
    return `${who} time to speak of: nobody waits among those that were followed.`;
  }
  const [wait] = first.waits;
  const part = wait && percent(wait.lost_per_second / first.lost_per_second);
  const most = wait ? `, ${part} of it ${wait.label}` : "";
  const of = count === 1 ? "" : ` of the ${count} that were followed`;
  return `${first.name} (${kindOf(first)}) waits most${of}: ${lostWords(first.lost_per_second)} in each second${most}.`;
}

/** Groups with pressure that nobody of the ranking is part of: `/batch (cpu 97 % some)`. */
export function notFollowed({ not_followed: groups }: MachineReport): string {
  return groups
    .slice(0, MOST_GROUPS)
    .map(({ entity, resource, share }) => `${entity.path} (${resource} ${percent(share)} some)`)
    .join(", ");
}
