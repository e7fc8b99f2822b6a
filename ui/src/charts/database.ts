// What PostgreSQL counted, and its sessions.

import { duration, integer, perSecond, rate, traffic } from "../data/format";
import { lastIn, measured, ratio } from "../data/measure";
import type { PageEntity } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import type { Share, Span } from "../data/units";
import { type Figure, type FigureDraft, figures } from "./figures";
import { inOrder } from "./tree";

/** One server that was asked. */
export interface Database {
  readonly name: string;
  readonly figures: readonly Figure[];
  /** Part of the blocks that were found in shared buffers. */
  readonly hit: Share | undefined;
}

const DATABASE: readonly FigureDraft[] = [
  { columns: ["commits"], label: "commits", of: "rate", format: perSecond },
  { columns: ["rollbacks"], label: "rollbacks", of: "rate", format: perSecond },
  { columns: ["blocks_hit"], label: "blocks found in buffers", of: "rate", format: perSecond },
  { columns: ["blocks_read"], label: "blocks read", of: "rate", format: perSecond },
  {
    columns: ["read_time_ns"],
    label: "time reading blocks, per second",
    of: "rate",
    format: duration,
  },
  {
    columns: ["temp_bytes"],
    label: "temporary files",
    of: "rate",
    format: traffic,
  },
  { columns: ["deadlocks"], label: "deadlocks", of: "count", format: integer },
  { columns: ["sessions"], label: "sessions", of: "mean", format: rate },
  { columns: ["active_sessions"], label: "active sessions", of: "mean", format: rate },
  { columns: ["lock_waiters"], label: "waiting for a lock", of: "mean", format: rate },
  { columns: ["idle_in_transaction"], label: "idle in transaction", of: "mean", format: rate },
  { columns: ["sessions_limit"], label: "sessions allowed", of: "last", format: integer },
];

/** What the database that was asked counted. */
export function databases(recording: Recording, tables: Tables, window: Span): Database[] {
  const about = recording.table("database");
  if (about === undefined) return [];
  return recording.page.entities.flatMap((entity, place): Database[] => {
    const of = measured(tables, "database", place, window);
    if (of.series("commits") === undefined && of.series("sessions") === undefined) return [];
    const [hit, read] = [of.growth("blocks_hit"), of.growth("blocks_read")];
    const all = hit === undefined || read === undefined ? undefined : hit + read;
    return [
      { name: entity.name, figures: figures(about, of, window, DATABASE), hit: ratio(hit, all) },
    ];
  });
}

/** A session as it was last seen in a window. */
export interface Session {
  readonly name: string;
  readonly state: string;
  readonly waits: string;
  readonly blockedBy: string;
  readonly age: number | undefined;
}

const STATES = [
  "other",
  "active",
  "idle",
  "idle in transaction",
  "idle in transaction (aborted)",
  "fastpath function call",
  "not tracked",
];

const WAITS: Readonly<Record<number, string>> = {
  0: "",
  1: "LWLock",
  3: "Lock",
  4: "BufferPin",
  5: "Activity",
  6: "Client",
  7: "Extension",
  8: "IPC",
  9: "Timeout",
  10: "IO",
};

/** The wait class in which a session waits for a lock that another holds. */
const LOCK = 3;

/** The sessions as they were last seen in a window: those that another blocks first, then those in the
    oldest transactions. */
export function sessions(
  recording: Recording,
  tables: Tables,
  window: Span,
  table = "session",
): Session[] {
  const found = recording.page.entities.flatMap((entity, place): Session[] => {
    const last = (column: string) => {
      const series = tables.series(table, place, column);
      // Who was gone before the window began is not in it.
      const there = series !== undefined && series.known.to > window.from;
      return there ? lastIn(series, window) : undefined;
    };
    const state = last("state");
    if (state === undefined) return [];
    const wait = last("wait_class");
    const blocker = last("blocked_by");
    return [
      {
        name: withNumber(entity),
        state: STATES[state] ?? "other",
        waits: wait === undefined ? "not seen" : (WAITS[wait] ?? `class ${wait}`),
        // What it was blocked by before is over.
        blockedBy: wait === LOCK && blocker !== undefined ? nameOf(recording, blocker) : "",
        age: last("transaction_age_ns"),
      },
    ];
  });
  const byAge = inOrder(found, (session) => session.age, true);
  return inOrder(byAge, (session) => Number(session.blockedBy !== ""), true);
}

/** A process or thread of several of its name: `postgres 4711`. */
export function withNumber({ name, path }: PageEntity): string {
  const [, process, thread] = path.match(/^pid:(\d+)(?:.*tid:(\d+)$)?/) ?? [];
  return `${name} ${thread ?? process ?? path}`;
}

/** Who has a number in the recording. */
function nameOf(recording: Recording, id: number): string {
  const found = recording.page.entities.find((entity) => entity.id === id);
  return found === undefined ? "a session that was not recorded" : withNumber(found);
}
