// The main numbers of a window, as the engine has them in its report over that window: the bar of the
// selected window shows them beside those of the judged one.

import { duration, percent, rate } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { growth, rateOver, type Series } from "../data/series";
import { comparable, intervals, mean } from "../data/signal";
import { intersection, length, type Span } from "../data/units";
import { partOver, seriesOf } from "./binLane";
import { BUSY, STATES } from "./cpuTime";
import { pressed } from "./pressure";

/** One number of a window. */
export interface WindowNumber {
  /** Stable: `throughput`, `machine-cpu-some`. */
  readonly id: string;
  /** What it belongs to: `machine pressure`. */
  readonly group: string;
  readonly label: string;
  /** As it stands in the report's JSON: per second, ns, or a share; `NaN` where nothing is known. */
  readonly value: number;
  /** As it is shown. */
  readonly text: string;
}

/** The tables that the numbers are made of. */
export const NUMBER_TABLES = [
  "signal",
  "pressure",
  "cgroup_pressure",
  "process_pressure",
  "cpu",
  "ledger",
] as const;

const WHOSE = {
  pressure: "pressure of the machine",
  cgroup_pressure: "its group",
  process_pressure: "its processes",
} as const;

/** What the engine judges of a selected window: the workload's whole intervals in it. */
export function compared(recording: Recording, tables: Tables, window: Span): Span {
  const whole = comparable(intervals(tables.rows("signal")), window);
  return intersection(whole, recording.whole) ?? window;
}

/** The numbers of a window that begins and ends on edges. */
export function windowNumbers(
  recording: Recording,
  tables: Tables,
  selected: Span,
): WindowNumber[] {
  const window = compared(recording, tables, selected);
  return [
    ...signalNumbers(recording, tables, window),
    ...pressureNumbers(recording, tables, window),
    ...threadNumbers(recording, tables, window),
    ...cpuNumbers(tables, window),
  ];
}

const UNKNOWN = "not seen";

function shown(value: number, format: (value: number) => string): string {
  return Number.isNaN(value) ? UNKNOWN : format(value);
}

function signalNumbers(recording: Recording, tables: Tables, window: Span): WindowNumber[] {
  const all = intervals(tables.rows("signal"));
  if (all.length === 0) return [];
  const means = mean(all, window);
  const unit = recording.page.report.workload?.load.rate_unit || "per second";
  const throughput = means?.throughput ?? Number.NaN;
  const latency = means?.latency ?? Number.NaN;
  return [
    {
      id: "throughput",
      group: "workload",
      label: "throughput",
      value: throughput,
      text: shown(throughput, (value) => `${rate(value)} ${unit}`),
    },
    {
      id: "latency",
      group: "workload",
      label: "latency",
      value: latency,
      text: shown(latency, duration),
    },
  ];
}

function pressureNumbers(recording: Recording, tables: Tables, window: Span): WindowNumber[] {
  return pressed(recording).flatMap((who) => {
    const machine = who.table === "pressure";
    const kinds = machine
      ? (["cpu_some", "memory_some", "memory_full", "io_some", "io_full"] as const)
      : (["cpu_some"] as const);
    return kinds.flatMap((kind): WindowNumber[] => {
      const series = tables.series(who.table, who.place, `${kind}_ns`);
      if (series === undefined) return [];
      const value = (rateOver(series, window) ?? Number.NaN) / 1e9;
      const words = kind.replace("_", " ");
      return [
        {
          id: `${machine ? "machine" : "group"}-${kind.replace("_", "-")}`,
          group: WHOSE[who.table],
          label: words,
          value,
          text: shown(value, percent),
        },
      ];
    });
  });
}

/** The target's threads: how many of them were on a CPU, waited for one, and were held back by a
    quota, at a time. */
function threadNumbers(recording: Recording, tables: Tables, window: Span): WindowNumber[] {
  const table = tables.bins("ledger");
  if (table === undefined) return [];
  const { entities } = recording.page;
  const ofTarget = (thread: number) => {
    const process = entities[thread]?.parent;
    return typeof process === "number" && entities[process]?.role === "target";
  };
  const number = (id: string, label: string, column: string): WindowNumber[] => {
    const all = seriesOf(table, [column], ofTarget);
    if (all.length === 0) return [];
    const value = sum(all, window);
    const atATime = (ns: number) => rate(ns / length(window));
    const group = "target's threads at a time";
    return [{ id, group, label, value, text: shown(value, atATime) }];
  };
  return [
    ...number("target-on-cpu", "on a CPU", "on_cpu_ns"),
    ...number("target-cpu-wait", "waiting for one", "cpu_wait_ns"),
    ...number("target-throttled", "held back", "throttled_ns"),
  ];
}

function sum(all: readonly Series[], window: Span): number {
  const grown = all.map((series) => growth(series, window)).filter((it) => it !== undefined);
  return grown.length === 0 ? Number.NaN : grown.reduce((total, it) => total + it, 0);
}

function cpuNumbers(tables: Tables, window: Span): WindowNumber[] {
  const table = tables.bins("cpu");
  if (table === undefined) return [];
  const whole = seriesOf(table, STATES);
  const part = (id: string, label: string, columns: readonly string[]): WindowNumber => {
    const value = partOver(seriesOf(table, columns), whole, window);
    return { id, group: "CPUs", label, value, text: shown(value, percent) };
  };
  return [part("cpu-busy", "busy", BUSY), part("cpu-steal", "steal", ["steal_ns"])];
}

/** A time as `--from` and `--to` take it, exact: `3s`, `8.000123456s`. */
export function typedTime(ns: number): string {
  const whole = Math.trunc(ns / 1e9);
  const rest = Math.abs(Math.round(ns - whole * 1e9));
  const sign = ns < 0 && whole === 0 ? "-" : "";
  const digits = String(rest).padStart(9, "0").replace(/0+$/, "");
  return `${sign}${whole}${digits === "" ? "" : `.${digits}`}s`;
}
