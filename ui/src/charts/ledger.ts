// Where the time of threads went: sums of the table `ledger` over a window, as a whole with parts.

import type { PageColumn, Quality } from "../data/page.gen";
import type { Tables } from "../data/recording";
import { growth, type Series } from "../data/series";
import type { BinTable } from "../data/tables";
import type { Span } from "../data/units";
import { type Mark, type Paint, type PartAbout, type Whole, whole } from "./parts";

/** What a class counts as, in the columns beside the bar. */
export type LedgerState = "running" | "waiting" | "withheld" | "blocked" | "idle" | "unknown";

interface ClassAbout {
  readonly label: string;
  readonly state: LedgerState;
  readonly paint: Paint;
}

function about(label: string, state: LedgerState, fill: string, ink: string, mark: Mark) {
  const paint = { fill: `--class-${fill}`, ink, mark, strong: ink === "--mark-on-strong" };
  return { label, state, paint };
}

const STRONG = "--mark-on-strong";
const PALE = "--mark-on-pale";

/** By the class's word, in the order of the bar: what runs, what waits for a CPU, what is blocked, the idle. */
const CLASSES: ReadonlyMap<string, ClassAbout> = new Map([
  ["on_cpu", about("on a CPU", "running", "on-cpu", STRONG, "none")],
  ["cpu_wait", about("waiting for a CPU", "waiting", "cpu-wait", "--cpu", "up")],
  ["throttled", about("held back by a quota", "withheld", "throttled", STRONG, "upright")],
  ["sync", about("fsync", "blocked", "sync", STRONG, "none")],
  ["sync_queue", about("behind another's fsync", "blocked", "sync-queue", "--io", "down")],
  ["read_write", about("disk read or write", "blocked", "read-write", STRONG, "flat")],
  ["page_fault", about("page fault from disk", "blocked", "page-fault", STRONG, "dots")],
  ["uninterruptible", about("uninterruptible", "blocked", "uninterruptible", STRONG, "cross")],
  ["reclaim", about("direct reclaim", "blocked", "reclaim", STRONG, "down")],
  ["database_lock", about("database lock", "blocked", "database-lock", STRONG, "none")],
  ["internal_lock", about("internal lock", "blocked", "internal-lock", "--lock", "down")],
  ["futex", about("futex", "blocked", "futex", "--lock", "dots")],
  ["output", about("sending", "blocked", "output", STRONG, "upright")],
  ["input", about("waiting for input", "idle", "input", PALE, "none")],
  ["sleep", about("sleep", "idle", "sleep", PALE, "flat")],
  ["other_call", about("other system calls", "idle", "other-call", PALE, "upright")],
  ["unknown", about("blocked, not seen in what", "unknown", "unknown", PALE, "cross")],
]);

/** Parts of a response that are no time of the target's threads. */
const BESIDE: ReadonlyMap<string, Paint> = new Map([
  ["outside", { fill: "--class-input", ink: PALE, mark: "down", strong: false }],
  ["lag", { fill: "--class-sleep", ink: PALE, mark: "dots", strong: false }],
]);

/** How a class is painted wherever it stands. */
export function classPaint(word: string): Paint {
  const paint = BESIDE.get(word) ?? CLASSES.get(word)?.paint;
  return paint ?? about(word, "unknown", "unknown", PALE, "cross").paint;
}

/** A class that this page has a column of, in the order of the bar. */
export interface LedgerColumn extends ClassAbout {
  readonly key: string;
  readonly help: string;
  readonly quality: Quality;
  /** Time per thread, by its place. */
  readonly series: ReadonlyMap<number, Series>;
}

/** The classes of a ledger, in the order of the bar; one that this page does not know comes last. */
export function ledgerColumns(table: BinTable): LedgerColumn[] {
  const order = [...CLASSES.keys()];
  const rank = (key: string) => (order.indexOf(key) < 0 ? order.length : order.indexOf(key));
  return table.about.columns
    .map((column, place) => ledgerColumn(column, table.columns[place] ?? new Map()))
    .sort((a, b) => rank(a.key) - rank(b.key));
}

function ledgerColumn(column: PageColumn, series: ReadonlyMap<number, Series>): LedgerColumn {
  const key = column.name.replace(/_ns$/, "");
  const unheard = about(key, "unknown", "unknown", PALE, "cross");
  return {
    ...(CLASSES.get(key) ?? unheard),
    key,
    help: column.help,
    quality: column.quality,
    series,
  };
}

/** Whether any thread was ever in a class, by its column: else it has no series. */
export function isMet(tables: Tables, column: string): boolean {
  const table = tables.bins("ledger");
  const place = table?.about.columns.findIndex((other) => other.name === column) ?? -1;
  return (table?.columns[place]?.size ?? 0) > 0;
}

/** A thread's time in each class over a window, ns; `undefined` where it was not watched. */
export function threadTimes(
  columns: readonly LedgerColumn[],
  thread: number,
  window: Span,
): Float64Array | undefined {
  const times = new Float64Array(columns.length);
  let watched = 0;
  for (const [place, column] of columns.entries()) {
    const series = column.series.get(thread);
    const time = series === undefined ? 0 : (growth(series, window) ?? 0);
    times[place] = time;
    watched += time;
  }
  return watched > 0 ? times : undefined;
}

/** The bar of some threads' time. */
export function ledgerWhole(
  columns: readonly LedgerColumn[],
  times: Float64Array,
): Whole | undefined {
  return whole(
    columns.map((column, place): PartAbout => {
      const { key, label, paint, help } = column;
      const value = times[place] ?? 0;
      return { key, label, paint, help, value, quality: qualityIn(columns, times, column) };
    }),
  );
}

/** Beside a quota that was not counted, what is left of the run-queue delay is only as good as what was
 *  taken out of it. */
function qualityIn(
  columns: readonly LedgerColumn[],
  times: Float64Array,
  { key, quality }: LedgerColumn,
): Quality {
  const throttled = columns.findIndex((column) => column.key === "throttled");
  const taken = (times[throttled] ?? 0) > 0 && columns[throttled]?.quality !== "exact";
  return key === "cpu_wait" && taken ? "estimated" : quality;
}

/** Time in classes of a state, ns. */
export function timeIn(
  columns: readonly LedgerColumn[],
  times: Float64Array,
  state: LedgerState,
): number {
  let sum = 0;
  for (const [place, column] of columns.entries()) {
    if (column.state === state) sum += times[place] ?? 0;
  }
  return sum;
}
