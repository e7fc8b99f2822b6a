// Who had the CPUs that threads waited for, as the scheduler's events tell it. Pure.

import type { Quality, Report, Role } from "../data/page.gen";
import type { Tables } from "../data/recording";
import { growth } from "../data/series";
import { length, type Nanoseconds, SECOND, type Share, type Span } from "../data/units";

/** Somebody who had a CPU while others waited for it. */
export interface Holder {
  readonly name: string;
  readonly ns: Nanoseconds;
  /** Part of all that was waited. */
  readonly share: Share;
  readonly quality: Quality;
}

const COLUMNS = [
  ["queued_target_ns", "the target"],
  ["queued_generator_ns", "the generator"],
  ["queued_rest_ns", "others"],
  ["queued_nobody_ns", "nobody: its CPU idled"],
] as const;

/** Waits for a CPU of some threads by who had it; nothing where that was not recorded. */
export function holders(tables: Tables, threads: readonly number[], window: Span): Holder[] {
  const found = COLUMNS.map(([column, name]) => {
    const about = tables.bins("thread_time")?.about.columns.find((it) => it.name === column);
    const quality = about?.quality ?? "unknown";
    const all = threads.map((thread) => tables.series("thread_time", thread, column));
    return {
      name,
      quality,
      ns: all.reduce((sum, it) => sum + ((it && growth(it, window)) ?? 0), 0),
    };
  });
  const whole = found.reduce((sum, { ns }) => sum + ns, 0);
  return found.flatMap((it) => (it.ns > 0 ? [{ ...it, share: it.ns / whole }] : []));
}

/** What the kernel hid of a role's time on a CPU, signed; only where the report is about this window, and
    for no less than a second. */
export function hidden(
  report: Report,
  role: Role,
  window: Span,
): { label: string; ns: number } | undefined {
  const from = report.window.start - report.origin;
  if (window.from !== from || window.to !== report.window.end - report.origin) return undefined;
  if (length(window) < SECOND) return undefined;
  return report.subjects.find((subject) => subject.role === role)?.threads?.hidden ?? undefined;
}
