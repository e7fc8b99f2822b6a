// Where the time of threads went: sums of the table `ledger` over a window, as a whole with parts.

import type { PageColumn, Quality } from "../data/page.gen";
import type { Tables } from "../data/recording";
import { growth, type Series } from "../data/series";
import type { BinTable } from "../data/tables";
import type { Span } from "../data/units";
import { WAIT_CLASSES } from "../data/waitClasses.gen";
import { type Mark, type Paint, type PartAbout, type Whole, whole } from "./parts";

/** What a class counts as, in the columns beside the bar. */
export type LedgerState = "running" | "waiting" | "withheld" | "blocked" | "idle" | "unknown";

interface ClassAbout {
  readonly label: string;
  readonly state: LedgerState;
  readonly paint: Paint;
}

const PALE = "--mark-on-pale";

function painted(word: string, ink: string, mark: Mark): Paint {
  const fill = `--class-${word.replaceAll("_", "-")}`;
  return { fill, ink, mark, strong: ink === "--mark-on-strong" };
}

/** A class that this page does not know. */
const unheard = (word: string): ClassAbout => ({
  label: word,
  state: "unknown",
  paint: painted("unknown", PALE, "cross"),
});

/** By the class's word, in the order of the bar: what runs, what waits for a CPU, what is blocked, the idle. */
const CLASSES: ReadonlyMap<string, ClassAbout> = new Map(
  [...WAIT_CLASSES]
    .sort((a, b) => a[3] - b[3])
    .map(([word, label, state, _, mark, ink]) => [
      word,
      { label, state: state === "disk" ? "blocked" : state, paint: painted(word, ink, mark) },
    ]),
);

/** Parts of a response that are no time of the target's threads. */
const BESIDE: ReadonlyMap<string, Paint> = new Map([
  ["outside", { fill: "--class-input", ink: PALE, mark: "down", strong: false }],
  ["lag", { fill: "--class-sleep", ink: PALE, mark: "dots", strong: false }],
  ["remote", { fill: "--class-output", ink: "--mark-on-strong", mark: "dots", strong: true }],
]);

/** How a class is painted wherever it stands. */
export function classPaint(word: string): Paint {
  const paint = BESIDE.get(word) ?? CLASSES.get(word)?.paint;
  return paint ?? unheard(word).paint;
}

/** What a class is called in a bar; `undefined` of one that this page does not know. */
export const classLabel = (word: string): string | undefined => CLASSES.get(word)?.label;

/** Whether threads without work are in that class. */
export const isIdle = (word: string): boolean => CLASSES.get(word)?.state === "idle";

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
  return {
    ...(CLASSES.get(key) ?? unheard(key)),
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
