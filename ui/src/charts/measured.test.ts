import { describe, expect, it } from "vitest";
import { fixture } from "../../tests/fixture";
import { commands, typed } from "./commands";
import {
  clockFacts,
  costFacts,
  environmentGroups,
  gapRows,
  identityFacts,
  periodFacts,
  samplerLanes,
  wallClock,
} from "./measured";
import { counted, families, parted } from "./windowVerdict";

describe("how it was measured", () => {
  it("says what it cost and who made it", async () => {
    const { page } = await fixture("cpu-saturated");
    expect(costFacts({ ...page.report.cost, cpu_ns: 5e7, wall_ns: 1e10, late_ticks: 0 })).toEqual(
      expect.arrayContaining([
        ["Own cost", "0.5 % of a CPU (50.0 ms of CPU time)"],
        ["Late by over half a period", "none"],
        ["Counters that ran back, held", "none"],
      ]),
    );
    const cross_check = { compared: 2000, diff: 1, worst_ns: 3e6, switches_missed: 12, drops: 0 };
    const checked = Object.fromEntries(
      costFacts({ ...page.report.cost, wall_ns: 1e10, cross_check }),
    );
    expect(checked["Thread times against the scheduler's own counts"]).toBe(
      "2,000 intervals of threads compared, 1 (0.1 %) further apart than 0.1 %, or 20 us where that is more; the worst 3.00 ms",
    );
    expect(checked["Missed switches and wake-ups, backfilled"]).toMatch(/^12; /);
    const kernel_bytes = { thread_time: 12 * 2 ** 20, tasks: 8 * 2 ** 20 };
    const withMemory = Object.fromEntries(
      costFacts({ ...page.report.cost, wall_ns: 1e10, resident_bytes: 31 * 2 ** 20, kernel_bytes }),
    );
    expect(withMemory["Memory resident"]).toBe("31.0 MiB at most");
    expect(withMemory["Memory of programs in the kernel"]).toBe(
      "20.0 MiB at most: thread_time 12.0 MiB, tasks 8.00 MiB",
    );
    const unclosed = costFacts({ ...page.report.cost, cpu_ns: 0, wall_ns: 0, ticks: 0 });
    expect(unclosed, "nothing that is not known stands as zero").toHaveLength(1);
    const facts = Object.fromEntries(identityFacts({ ...page, complete: false }));
    expect(facts.Node).toBe(page.report.identity.node);
    expect(facts.Closed).toMatch(/^no/);
  });

  it("says how often tables are read, those alike together", async () => {
    const { page } = await fixture("cpu-saturated");
    const every = (near: number, rest: number) => ({ near_ns: near * 1e6, rest_ns: rest * 1e6 });
    const periods = [every(2000, 2000), every(200, 1000), null, every(2000, 2000)];
    const tables = page.tables.slice(0, 4).map((table, index) => ({
      ...table,
      name: `t${index}`,
      every: periods[index] ?? null,
    }));
    expect(periodFacts({ ...page, tables })).toEqual([
      ["Every 200 ms; of others than the target's 1.00 s", "t1"],
      ["Every 2.00 s", "t0, t3"],
    ]);
  });

  it("tells the time of day", async () => {
    const { page } = await fixture("cpu-saturated");
    const identity = { ...page.report.identity, anchor_boottime: 5e9, anchor_realtime_ns: 60e9 };
    expect(wallClock({ ...page.report, identity }, 6e9)).toBe("1970-01-01 00:01:01 UTC");
    expect(wallClock({ ...page.report, identity }, Number.NaN)).toBe("unknown");
  });

  it("writes a command as it is typed", () => {
    expect(typed(["pgbench", "-c", "10", "my db", "it's"])).toBe(
      "pgbench -c 10 'my db' 'it'\\''s'",
    );
    expect(typed(["sh", "-c", "a; b", ""])).toBe("sh -c 'a; b' ''");
  });

  it("lists gaps with when and why", async () => {
    const recording = await fixture("gaps");
    const rows = gapRows(recording);
    expect(rows).toHaveLength(recording.page.report.gaps.length);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.what).not.toBe("");
      expect(row.why).not.toBe("");
    }
    expect(rows.some((row) => / s to .* s \(/.test(row.when))).toBe(true);
  });

  it("groups facts about the machine, and finds them", () => {
    const facts = { "cpu.model": "EPYC", "cpu.online": "0-1", "vm.swappiness": "60" };
    expect(environmentGroups(facts, "").map(({ title }) => title)).toEqual(["cpu", "vm"]);
    expect(environmentGroups(facts, "epyc")).toEqual([
      { title: "cpu", facts: [["cpu.model", "EPYC"]] },
    ]);
  });

  it("draws the sampler, and says what clocks there were", async () => {
    const recording = await fixture("cpu-saturated");
    const tables = await recording.load(["recorder", "clock"]);
    expect(samplerLanes(recording, tables).map(({ id }) => id)).toEqual([
      "recorder-lateness",
      "recorder-period",
      "recorder-cpu",
    ]);
    expect(clockFacts(recording, tables)[0]?.[1]).toMatch(/^seconds after \d{4}-/);
  });

  it("gives commands for the window that is shown", async () => {
    const recording = await fixture("cpu-saturated");
    const named = Object.assign(Object.create(recording), {
      page: { ...recording.page, recording: "my run.stall" },
    });
    const all = commands(named, { from: 1.5e9, to: 3e9 }).map(([command]) => command);
    expect(all).toContain("stallscope explain 'my run.stall' --from 1.5s --to 3s");
    const early = commands(named, { from: -5e8, to: 3e9 });
    expect(early).toContainEqual([
      "stallscope explain 'my run.stall' --from 0s --to 3s",
      "the window that is shown, judged by the engine, from 0 s on: times before the workload's start cannot be typed",
    ]);
  });
});

describe("what was judged", () => {
  it("stands by subject, what is there first", async () => {
    const { page } = await fixture("cpu-saturated");
    const { judged } = page.report.verdict;
    const all = families(judged);
    expect(all.flatMap(({ causes }) => causes)).toHaveLength(judged.length);
    const cpu = all.find(({ title }) => title === "CPU");
    expect(cpu?.causes[0]).toMatchObject({ cause: "cpu.saturated", answer: "present" });
    const { concerned, others } = parted(judged);
    expect(concerned.length + others.length).toBe(judged.length);
    expect(others.every(({ answer }) => answer !== "present")).toBe(true);
    expect(counted(judged)).toMatch(/^\d+ present, \d+ cannot be told, \d+ absent$/);
  });
});
