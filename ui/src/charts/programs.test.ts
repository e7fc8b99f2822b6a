import { describe, expect, it } from "vitest";
import type { PageColumn, PageTable } from "../data/page.gen";
import type { RowTable } from "../data/tables";
import { around, programs, programWords, runsOf, shortName } from "./programs";

const MS = 1e6;

/** Runs as lines: program, parent, start, duration and CPU time in ms, how it ended. */
function table(lines: readonly (readonly [string, string, number, number, number, number])[]) {
  const names = [...new Set(lines.flatMap(([program, parent]) => [program, parent]))];
  const words = Object.fromEntries(names.map((name, code) => [code, name]));
  const column = (name: string) => ({ name, words }) as unknown as PageColumn;
  const about = {
    name: "program_run",
    columns: ["program", "started_by", "duration_ns", "cpu_ns", "end"].map(column),
  } as unknown as PageTable;
  const values = (of: (line: (typeof lines)[number]) => number) => Float64Array.from(lines, of);
  const made: RowTable = {
    about,
    times: values(([, , start]) => start * MS),
    entities: new Int32Array(lines.length),
    columns: [
      values(([program]) => names.indexOf(program)),
      values(([, parent]) => names.indexOf(parent)),
      values(([, , , duration]) => duration * MS),
      values(([, , , , cpu]) => cpu * MS),
      values(([, , , , , end]) => end),
    ],
  };
  return made;
}

const RUNS = table([
  ["job N", "cron", 10, 5, 2, 0],
  ["fork of sh", "sh", 20, 100, 4, 0],
  ["job N", "cron", 30, 7, 3, 1],
  ["job N", "sh", 40, 9, Number.NaN, 4],
  ["backup", "", 500, 100, 90, 2],
]);

describe("programs", () => {
  it("are ordered by the CPU time of what began in the window", () => {
    const early = programs(RUNS, { from: 15 * MS, to: 100 * MS });
    expect(early.map(({ name, starts, cpu }) => [name, starts, cpu / MS])).toEqual([
      ["fork of sh", 1, 4],
      ["job N", 2, 3],
      ["backup", 0, 0],
    ]);
    const all = programs(RUNS, { from: 0, to: 1000 * MS });
    expect(all.map(({ name }) => name)).toEqual(["backup", "job N", "fork of sh"]);
    expect(all.map(programWords)).toEqual([
      "1 started, 90.0 ms CPU, 100 ms each, 100 % failed",
      "3 started, 5.00 ms CPU, 7.00 ms each, 33 % failed, started by cron",
      "1 started, 4.00 ms CPU, 100 ms each, started by sh",
    ]);
    expect(early[2] && programWords(early[2])).toBe("none began in the window");
  });

  it("are said to run where they do", () => {
    const [backup, job] = programs(RUNS, { from: 0, to: 1000 * MS });
    const at = (from: number, to: number) => ({ from: from * MS, to: to * MS });
    const runs = runsOf(RUNS);
    expect(backup && around(backup, runs, at(0, 100))).toBe("none ran");
    expect(backup && around(backup, runs, at(550, 560))).toBe("1 ran on");
    expect(job && around(job, runs, at(35, 45))).toBe("1 started, 1 ran on");
  });

  it("are called after the last parts of their paths where there is little room", () => {
    expect(shortName("bash /root/.pyenv/libexec/pyenv-which x/y /tmp/* /N")).toBe(
      "bash pyenv-which x/y /tmp/* /N",
    );
    expect(shortName("/usr/bin/python3 http://h/a")).toBe("python3 http://h/a");
  });

  it("have names that obey nobody", () => {
    const [only] = programs(table([["a\u202eb", "", 0, 1, 1, 0]]), { from: 0, to: MS });
    expect(only?.name).not.toContain("\u202e");
  });
});
