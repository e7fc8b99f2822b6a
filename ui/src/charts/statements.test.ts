import { describe, expect, it } from "vitest";
import type { LockHolder, Report, StatementTime } from "../data/page.gen";
import { legend, lockLines, rareStatements, statementsOf } from "./statements";

const NONE: StatementTime = {
  text: "",
  calls: 0,
  share: 0,
  total_ns: 0,
  on_cpu_ns: 0,
  queued: { rest_ns: 0, target_ns: 0, generator_ns: 0, nobody_ns: 0 },
  memory_ns: 0,
  disk_ns: 0,
  sync_ns: 0,
  lock_ns: 0,
  internal_lock_ns: 0,
  client_ns: 0,
  other_ns: 0,
};

const reportOf = (statements: StatementTime[], lock_holders: LockHolder[] = []) =>
  ({ statements, lock_holders, window: { start: 0, end: 1000 } }) as unknown as Report;

describe("statementsOf", () => {
  const report = reportOf([
    {
      ...NONE,
      text: "update",
      share: 0.8,
      total_ns: 2000,
      on_cpu_ns: 500,
      queued: { rest_ns: 100, target_ns: 200, generator_ns: 100, nobody_ns: 100 },
      lock_ns: 1000,
    },
    { ...NONE, text: "select", share: 0.2, total_ns: 500, on_cpu_ns: 500 },
    { ...NONE, text: "grant", began_ns: [5, 7] },
  ]);

  it("has a bar of the parts of each, as long as its time", () => {
    const [update, select, ...others] = statementsOf(report);
    expect(others).toEqual([]);
    expect(update?.sessions).toBe(2);
    expect(update?.length).toBe(1);
    expect(select?.length).toBe(0.25);
    expect(update?.whole.parts.map(({ label, share }) => [label, share])).toEqual([
      ["on a CPU", 0.25],
      ["waiting for a CPU", 0.25],
      ["database lock", 0.5],
    ]);
  });

  it("explains the parts that are there", () => {
    const labels = legend(statementsOf(report)).map(({ label }) => label);
    expect(labels).toEqual(["on a CPU", "waiting for a CPU", "database lock"]);
    expect(legend([])).toEqual([]);
  });

  it("has rare ones by when they began", () => {
    expect(rareStatements(report)).toEqual([{ text: "grant", began: [5, 7] }]);
  });
});

describe("lockLines", () => {
  it("has holders above those whom they block", () => {
    const waiter = { sessions: 3, share: 1, statement: { text: "lock t", query_id: "1" } };
    const holders = [
      { is_idle: true, statement: { text: "update t", query_id: "8" }, waiters: [waiter] },
      { is_idle: false, waiters: [] },
    ].map((it) => ({ ...it, sessions: 3, share: 1 }));
    expect(lockLines(reportOf([], holders)).map(({ words }) => words)).toEqual([
      "idle in transaction, last: update t",
      "blocks: lock t",
      "running a statement",
    ]);
    expect(lockLines(reportOf([]))).toEqual([]);
  });
});
