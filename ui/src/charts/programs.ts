// Programs that were started: a row for each, its runs as bars over time. Pure; `views/Programs.tsx` paints.

import { duration, integer, percent } from "../data/format";
import { harmless } from "../data/harmless";
import type { RowTable } from "../data/tables";
import type { Nanoseconds, Span } from "../data/units";

/** How a run ended, as the page's table has it. */
export const FAILED = 1;
export const KILLED = 2;

/** A program and its runs. */
export interface Program {
  readonly name: string;
  /** Who started most of those of the window. */
  readonly by: string;
  /** Its runs by their starts, as rows of the table. */
  readonly rows: readonly number[];
  /** Of those that began in the window: how many, and how many ended with another status than 0, or by a signal. */
  readonly starts: number;
  readonly failed: number;
  /** CPU time of those, as far as their ends were seen. */
  readonly cpu: Nanoseconds;
  /** Mean time that they ran; `NaN` where none began. */
  readonly mean: Nanoseconds;
}

/** The columns of the runs. */
export interface Runs {
  readonly starts: Float64Array;
  readonly durations: Float64Array;
  readonly ends: Float64Array;
}

function column({ about, columns }: RowTable, name: string): Float64Array {
  const place = about.columns.findIndex((column) => column.name === name);
  return columns[place] ?? new Float64Array();
}

/** A program's name where there is little room: paths by their last parts. */
export function shortName(name: string): string {
  return name.replace(/(?<!\S)\/\S*\/(?=\S*\p{L})(?=[^/\s]+(\s|$))/gu, "");
}

/** Rows by the code that a column has there. */
function grouped(rows: readonly number[], codes: Float64Array | undefined): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const row of rows) {
    const code = codes?.[row] ?? Number.NaN;
    const own = groups.get(code);
    if (own === undefined) groups.set(code, [row]);
    else own.push(row);
  }
  return groups;
}

export function runsOf(table: RowTable): Runs {
  return {
    starts: table.times,
    durations: column(table, "duration_ns"),
    ends: column(table, "end"),
  };
}

/** The programs, those with most CPU time in the window first, then the most frequent. */
export function programs(table: RowTable, window: Span): Program[] {
  const words = (name: string) =>
    table.about.columns.find((column) => column.name === name)?.words ?? {};
  const [names, parents] = [words("program"), words("started_by")];
  const [codes, by, cpu] = ["program", "started_by", "cpu_ns"].map((name) => column(table, name));
  const { starts, durations, ends } = runsOf(table);
  const rows = grouped([...starts.keys()], codes);
  const sum = (of: readonly number[], value: (row: number) => number) =>
    of.reduce((all, row) => all + (value(row) || 0), 0);
  const all = [...rows].map(([code, own]): Program => {
    const began = own.filter((row) => {
      const at = starts[row] ?? 0;
      return at >= window.from && at < window.to;
    });
    const [parent] = [...grouped(began, by)].sort((a, b) => b[1].length - a[1].length);
    return {
      name: harmless(names[code] ?? "not known"),
      by: harmless(parents[parent?.[0] ?? -1] ?? ""),
      rows: own,
      starts: began.length,
      failed: sum(began, (row) => Number(ends[row] === FAILED || ends[row] === KILLED)),
      cpu: sum(began, (row) => cpu?.[row] ?? 0),
      mean: sum(began, (row) => durations[row] ?? 0) / began.length,
    };
  });
  return all.sort((a, b) => b.cpu - a.cpu || b.starts - a.starts || b.rows.length - a.rows.length);
}

/** What a program did around an instant, from one edge to the next: `2 started, 1 ran on`. */
export function around(program: Program, { starts, durations }: Runs, bin: Span): string {
  let [began, ran] = [0, 0];
  for (const row of program.rows) {
    const start = starts[row] ?? 0;
    if (start >= bin.from && start < bin.to) began += 1;
    else if (start < bin.from && start + (durations[row] ?? 0) > bin.from) ran += 1;
  }
  const words = [began > 0 && `${began} started`, ran > 0 && `${ran} ran on`].filter((it) => it);
  return words.length > 0 ? words.join(", ") : "none ran";
}

/** Its numbers over the window in words. */
export function programWords({ starts, cpu, mean, failed, by }: Program): string {
  if (starts === 0) return "none began in the window";
  const parts = [
    `${integer(starts)} started`,
    `${duration(cpu)} CPU`,
    `${duration(mean)} each`,
    failed > 0 && `${percent(failed / starts)} failed`,
    by !== "" && `started by ${by}`,
  ];
  return parts.filter((it) => it).join(", ");
}
