import { describe, expect, it } from "vitest";
import { drawnPage } from "../../tests/drawn";
import { explainCommand, notTyped } from "./commands";
import { runLine, spanWords, windowWords } from "./run";

describe("the head of the page", () => {
  const { page } = drawnPage({ edges: [0, 1e9, 20e9], tables: [] });

  it("is the command, where, when and for how long", () => {
    const { command, facts } = runLine(page);
    expect(command).toBe("pgbench -P 1 -n -c 10 -j 2 -S -T 20 bench");
    expect(facts).toEqual(["vm", expect.stringMatching(/^2026-.* UTC$/), "20.0 s recorded"]);
  });

  it("says where a recording was not closed, and where nothing was run", () => {
    const facts = runLine({ ...page, complete: false }).facts;
    expect(facts.at(-1)).toContain("not closed");
    const { workload: _, ...report } = page.report;
    expect(runLine({ ...page, report }).command).toBe("stallscope record");
    const words = ["stallscope", "record", "--target", "name:my server"];
    expect(runLine({ ...page, report, typed: words }).command).toBe(
      "stallscope record --target 'name:my server'",
    );
  });
});

describe("a window", () => {
  it("is judged again by a command that can be typed", () => {
    expect(explainCommand("pgbench-1.stall", { from: 3e9, to: 8.5e9 })).toBe(
      "stallscope explain pgbench-1.stall --from 3s --to 8.5s",
    );
    expect(explainCommand("my run.stall", { from: -2e8, to: 1e9 })).toBe(
      "stallscope explain 'my run.stall' --from 0s --to 1s",
    );
    expect(notTyped({ from: 0, to: 1e9 })).toBe("");
    expect(notTyped({ from: -2e8, to: 1e9 })).toContain("from 0 s on");
    expect(notTyped({ from: -2e8, to: -1e8 })).toContain("the served page judges them");
  });

  it("is said as the terminal says it", () => {
    expect(windowWords({ from: 999_987_502, to: 29.58e9 })).toBe("1 s to 29.6 s");
  });

  it("is said as finely as it can be selected", () => {
    expect(spanWords({ from: 3e9, to: 8.05e9 }, 1e8)).toBe("3.0 s to 8.1 s");
    expect(spanWords({ from: 3e9, to: 3600e9 }, 1e9)).toBe("3 s to 1:00:00");
  });
});
