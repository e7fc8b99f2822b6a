// How a recording was measured, as facts to be listed: who made it, what it cost, what it did not see.

import { bytes, duration, instant, integer, percent, rate } from "../data/format";
import { reasonOf } from "../data/gaps";
import type { Cost, Gap, Page, Report, WorkloadRun } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { meanOver } from "../data/series";
import { binLane } from "./binLane";
import { unseen } from "./gaps";
import type { Lane } from "./lane";

/** A fact: what, and what it is. */
export type Fact = readonly [what: string, value: string];

/** An instant of the recorded machine as wall-clock time, UTC. */
export function wallClock({ identity }: Report, at: number): string {
  const ms = (identity.anchor_realtime_ns + (at - identity.anchor_boottime)) / 1e6;
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? "unknown"
    : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** What tells this recording from every other. */
export function identityFacts({ report, recording, window, complete }: Page): Fact[] {
  const { identity } = report;
  return [
    ["Recording", recording],
    ["Its id", identity.recording_id],
    ["Node", identity.node],
    ["Begun", wallClock(report, window.start)],
    ["Length", duration(window.end - window.start)],
    ["Closed", complete ? "yes" : "no: it ends where its writer was stopped, or is still written"],
    ["Recorded by", `Stallscope ${identity.stallscope}`],
    ["Boot", identity.boot_id],
    ["Machine", identity.machine_id || "no machine id"],
  ];
}

/** How often tables are read, those alike together; nothing where an older version recorded. */
export function periodFacts({ tables }: Page): Fact[] {
  const names = new Map<string, { ns: number; tables: string[] }>();
  for (const { name, every } of tables) {
    if (!every) continue;
    const near = duration(every.near_ns);
    const rest = duration(every.rest_ns);
    const words = near === rest ? near : `${near}; of others than the target's ${rest}`;
    const alike = names.get(words) ?? { ns: every.near_ns, tables: [] };
    alike.tables.push(name);
    names.set(words, alike);
  }
  return [...names]
    .sort(([, a], [, b]) => a.ns - b.ns)
    .map(([words, { tables: alike }]) => [`Every ${words}`, alike.join(", ")]);
}

/** What is known of the workload beside its command. */
export function workloadFacts(run: WorkloadRun): Fact[] {
  const { load, outcome } = run;
  const facts: Fact[] = [["Understood as", run.adapter ?? "any command"]];
  if (typeof load.clients === "number") facts.push(["Clients", integer(load.clients)]);
  if (typeof load.threads === "number") facts.push(["Its threads", integer(load.threads)]);
  if (run.adapter)
    facts.push([
      "Asked rate",
      typeof load.rate === "number" ? `${integer(load.rate)} ${load.rate_unit}` : "none",
    ]);
  if (outcome) {
    const { exit } = outcome;
    facts.push(["Ended", "code" in exit ? `with status ${exit.code}` : `by signal ${exit.signal}`]);
    if (outcome.summary?.version) facts.push(["Its version", outcome.summary.version]);
  }
  return facts;
}

/** What recording cost, and how well the sampler kept its times. */
export function costFacts(cost: Cost): Fact[] {
  // The account is closed with the recording.
  if (cost.wall_ns <= 0) {
    return [
      ["Own cost", "no account: the recording was not closed. What was recorded of it is below"],
    ];
  }
  const ofCpu = cost.cpu_ns / cost.wall_ns;
  const late = cost.ticks > 0 ? cost.late_ticks / cost.ticks : 0;
  const corrections = Object.entries(cost.corrections);
  return [
    ["Own cost", `${percent(ofCpu)} of a CPU (${duration(cost.cpu_ns)} of CPU time)`],
    ["Wake-ups", integer(cost.ticks)],
    [
      "Late by over half a period",
      cost.late_ticks === 0 ? "none" : `${integer(cost.late_ticks)} (${percent(late)})`,
    ],
    ["Latest wake-up", `${duration(cost.lateness_max_ns)} after its deadline`],
    ["Period of the target's threads", `${duration(cost.fast_period_ns)} at the end`],
    ["Priority", cost.priority],
    ["Memory locked", cost.memory_locked ? "yes" : "no"],
    ...memoryFacts(cost),
    [
      "Counters that ran back, held",
      corrections.length === 0
        ? "none"
        : corrections.map(([column, times]) => `${column} ${times} times`).join(", "),
    ],
    ...agreementFacts(cost),
  ];
}

/** How much memory recording took; nothing where an older version recorded. */
function memoryFacts(cost: Cost): Fact[] {
  const facts: Fact[] = [];
  if (cost.resident_bytes) facts.push(["Memory resident", `${bytes(cost.resident_bytes)} at most`]);
  const programs = Object.entries(cost.kernel_bytes ?? {});
  if (programs.length > 0) {
    const sum = programs.reduce((sum, [, taken]) => sum + taken, 0);
    const each = programs.map(([name, taken]) => `${name} ${bytes(taken)}`).join(", ");
    facts.push(["Memory of programs in the kernel", `${bytes(sum)} at most: ${each}`]);
  }
  return facts;
}

/** How thread-time accounting agreed with the scheduler's own counts; nothing where there was none. */
function agreementFacts({ cross_check: check }: Cost): Fact[] {
  if (!check) return [];
  const apart = check.compared > 0 ? check.diff / check.compared : 0;
  return [
    [
      "Thread times against the scheduler's own counts",
      `${integer(check.compared)} intervals of threads compared, ${
        check.diff === 0 ? "none" : `${integer(check.diff)} (${percent(apart)})`
      } further apart than 0.1 %, or 20 us where that is more; the worst ${duration(check.worst_ns)}`,
    ],
    [
      "Missed switches and wake-ups, backfilled",
      `${integer(check.switches_missed)}; not counted for want of memory: ${integer(check.drops)}`,
    ],
  ];
}

/** The sampler over time. */
export function samplerLanes(recording: Recording, tables: Tables): Lane[] {
  const table = tables.bins("recorder");
  if (table === undefined) return [];
  const machine = recording.page.entities.findIndex(({ kind }) => kind === "machine");
  const series = (column: string) => [tables.series("recorder", machine, column)];
  const gaps = unseen(recording, "recorder");
  const look = { fill: 0.15, style: "area", colour: "--muted" } as const;
  const lanes = [
    binLane(table, {
      id: "recorder-lateness",
      title: "Woke after its deadline",
      format: duration,
      least: 0,
      unseen: gaps,
      lines: [{ ...look, label: "lateness", series: series("lateness_ns") }],
    }),
    binLane(table, {
      id: "recorder-period",
      title: "Period of the target's threads",
      format: duration,
      least: 0,
      unseen: gaps,
      lines: [{ ...look, label: "period", series: series("period_ns") }],
    }),
    binLane(table, {
      id: "recorder-stretch",
      title: "Periods of all others, stretched",
      format: (factor) => `${rate(factor)} times`,
      least: 1,
      unseen: gaps,
      lines: [{ ...look, label: "stretched", series: series("background_period_factor") }],
    }),
    binLane(table, {
      id: "recorder-cpu",
      title: "Own cost",
      format: percent,
      least: 0.01,
      unseen: gaps,
      lines: [{ ...look, label: "of a CPU", series: series("cpu_ns"), factor: 1e-9 }],
    }),
  ];
  return lanes.filter((lane) => lane !== undefined);
}

/** How the clocks went beside each other over the recording. */
export function clockFacts(recording: Recording, tables: Tables): Fact[] {
  const { report } = recording.page;
  const machine = recording.page.entities.findIndex(({ kind }) => kind === "machine");
  const series = (column: string) => tables.series("clock", machine, column);
  const facts: Fact[] = [
    ["Times here", `seconds after ${wallClock(report, report.origin)}`],
    ["Kept as", "nanoseconds on CLOCK_BOOTTIME"],
  ];
  const source = report.environment["clock.source"];
  if (source !== undefined) facts.push(["Clock source", source]);
  const uncertainty = series("uncertainty_ns");
  const mean = uncertainty && meanOver(uncertainty, recording.whole);
  // The page keeps whole microseconds.
  if (mean !== undefined)
    facts.push(["Read side by side within", mean < 1000 ? "1 us" : duration(mean)]);
  return facts;
}

/** A gap, as it is listed. */
export interface GapRow {
  readonly what: string;
  readonly when: string;
  readonly why: string;
}

export function gapRows(recording: Recording): GapRow[] {
  return recording.page.report.gaps.map((gap) => ({
    what: subject(gap),
    when: when(gap, recording),
    why: reasonOf(gap),
  }));
}

function subject({ table, what }: Gap): string {
  const all = table === "*" ? "everything" : table;
  return what ? `${all}: ${what}` : all;
}

function when({ window }: Gap, recording: Recording): string {
  if (!window) return "the whole recording";
  const { from, to } = recording.span(window);
  return `${instant(from)} to ${instant(to)} (${duration(to - from)})`;
}

/** Facts about the machine by what they are about; with a filter those in which it occurs. */
export function environmentGroups(
  environment: Readonly<Record<string, string>>,
  filter: string,
): { title: string; facts: Fact[] }[] {
  const wanted = filter.trim().toLowerCase();
  const groups = new Map<string, Fact[]>();
  for (const [name, value] of Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!`${name} ${value}`.toLowerCase().includes(wanted)) continue;
    const title = name.split(".")[0] ?? name;
    groups.set(title, [...(groups.get(title) ?? []), [name, value]]);
  }
  return [...groups].map(([title, facts]) => ({ title, facts }));
}
