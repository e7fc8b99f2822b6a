// The statements of a database server, each with what its time went to, and who held the locks that others waited for.
// Pure; `views/Statements.tsx` shows them.

import type { LockHolder, Report, StatementTime } from "../data/page.gen";
import type { Share } from "../data/units";
import { classPaint } from "./ledger";
import { type PartAbout, type Whole, whole } from "./parts";

/** One statement. */
export interface Statement {
  readonly text: string;
  readonly calls: number;
  readonly share: Share;
  /** Its time, ns. */
  readonly time: number;
  /** Sessions that were in it, on average. */
  readonly sessions: number;
  /** Its time by what it went to. */
  readonly whole: Whole;
  /** The length of its bar, of that of the longest. */
  readonly length: Share;
}

/** What a statement's time goes to: its part, label and the wait class that it is painted as. */
const PARTS: readonly (readonly [
  label: string,
  paint: string,
  of: (it: StatementTime) => number,
])[] = [
  ["on a CPU", "on_cpu", (it) => it.on_cpu_ns],
  [
    "waiting for a CPU",
    "cpu_wait",
    ({ queued }) => Object.values(queued).reduce((a, b) => a + b, 0),
  ],
  ["fsync", "sync", (it) => it.sync_ns],
  ["disk", "read_write", (it) => it.disk_ns],
  ["memory", "reclaim", (it) => it.memory_ns],
  ["database lock", "database_lock", (it) => it.lock_ns],
  ["internal lock", "internal_lock", (it) => it.internal_lock_ns],
  ["client", "output", (it) => it.client_ns],
  ["other", "unknown", (it) => it.other_ns],
];

/** Parts that a page explains: those that any of these statements has. */
export function legend(statements: readonly Statement[]): PartAbout[] {
  const seen = new Set(statements.flatMap(({ whole }) => whole.parts.map(({ key }) => key)));
  return PARTS.filter(([label]) => seen.has(label)).map(([label, paint]) => part(label, paint, 0));
}

/** The statements of a report, those with most time first. */
export function statementsOf({ statements = [], window }: Report): Statement[] {
  const longest = statements.reduce((most, it) => Math.max(most, it.total_ns), 0);
  return statements.flatMap((it) => {
    const parts = whole(PARTS.map(([label, paint, of]) => part(label, paint, of(it))));
    if (parts === undefined) return [];
    return {
      text: it.text,
      calls: it.calls,
      share: it.share,
      time: it.total_ns,
      sessions: it.total_ns / Math.max(window.end - window.start, 1),
      whole: parts,
      length: it.total_ns / longest,
    };
  });
}

function part(label: string, paint: string, value: number): PartAbout {
  return { key: label, label, value, paint: classPaint(paint), quality: "sampled", help: "" };
}

/** A rare statement and when it began, ns after the origin. */
export interface RareStatement {
  readonly text: string;
  readonly began: readonly number[];
}

export function rareStatements({ statements = [] }: Report): RareStatement[] {
  return statements.flatMap(({ text, began_ns: began = [] }) =>
    began.length > 0 ? [{ text, began }] : [],
  );
}

/** A line of the table of locks: a holder, or a statement behind it. */
export interface LockLine {
  readonly words: string;
  readonly isHolder: boolean;
  readonly sessions: number;
  readonly share: Share;
}

/** The same words as in the terminal (crates/stallscope/src/outputs/locks.rs). */
export function lockLines({ lock_holders: holders = [] }: Report): LockLine[] {
  return holders.flatMap((holder) => [
    line(does(holder), true, holder),
    ...holder.waiters.flatMap((waiter) =>
      waiter.statement ? line(`blocks: ${waiter.statement.text}`, false, waiter) : [],
    ),
  ]);
}

function does({ is_idle: isIdle, statement }: LockHolder): string {
  const text = statement?.text;
  if (isIdle)
    return text === undefined ? "idle in transaction" : `idle in transaction, last: ${text}`;
  return text === undefined ? "running a statement" : `running: ${text}`;
}

function line(
  words: string,
  isHolder: boolean,
  { sessions, share }: Pick<LockHolder, "sessions" | "share">,
): LockLine {
  return { words, isHolder, sessions, share };
}
