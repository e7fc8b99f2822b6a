import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import { fixture } from "../../tests/fixture";
import { explored, exploredLane } from "./explore";
import { isCode, stood, wordsOf } from "./states";

const S = 1e9;
const [SLEEPS, RUNS] = [83, 82];

function threads() {
  return drawn({
    edges: [0, S, 2 * S, 3 * S, 4 * S],
    entities: [
      { kind: "thread", name: "still", path: "tid:1" },
      { kind: "thread", name: "busy", path: "tid:2" },
    ],
    tables: [
      {
        name: "thread",
        entity: "thread",
        columns: [
          {
            name: "state",
            unit: "code",
            kind: "gauge",
            help: "State letter as ASCII: R runnable, S sleeping.",
          },
        ],
        series: [
          { entity: 0, column: "state", values: SLEEPS },
          { entity: 1, column: "state", values: [RUNS, RUNS, RUNS, SLEEPS], known: [S / 2, 4 * S] },
        ],
      },
    ],
  });
}

async function shownIn(entities: readonly number[]) {
  const recording = await threads();
  const tables = await recording.load(["thread"]);
  const window = { from: S, to: 4 * S };
  const shown = explored({ table: "thread", column: "state", entities }, recording, tables, window);
  if (shown === undefined) throw new Error("nothing is shown");
  return { shown, window, lane: exploredLane(shown, recording, tables) };
}

describe("codes", () => {
  it("are what they stand for, never a mean", async () => {
    const { shown } = await shownIn([]);
    // Who was in several states comes first.
    expect(shown.all.map(({ entity, states }) => ({ entity, ...states }))).toEqual([
      { entity: 1, most: { code: RUNS, share: 2 / 3 }, last: SLEEPS, several: 2 },
      { entity: 0, most: { code: SLEEPS, share: 1 }, last: SLEEPS, several: 1 },
    ]);
  });

  it("are drawn as how many stand where", async () => {
    const { lane, window } = await shownIn([]);
    expect(lane?.stacked).toBe(true);
    expect(lane?.lines.map(({ label, values }) => [label, ...values])).toEqual([
      ["sleeping", 1, 1, 1, 2],
      ["runnable", 1, 1, 1, 0],
    ]);
    expect(lane?.lines.map((line) => line.over?.(window))).toEqual([4 / 3, 2 / 3]);
  });

  it("of one alone are parts of its time", async () => {
    const { lane, window } = await shownIn([1]);
    const [first] = lane?.lines ?? [];
    expect(lane?.lines.map(({ label, over }) => [label, over?.(window)])).toEqual([
      ["runnable", 2 / 3],
      ["sleeping", 1 / 3],
    ]);
    expect(lane?.format(first?.over?.(window) ?? 0)).toBe("67 %");
  });

  it("are not said of a time in which nobody looked", async () => {
    const recording = await threads();
    const tables = await recording.load(["thread"]);
    const series = tables.series("thread", 1, "state");
    expect(series && stood(series, { from: 0, to: S / 4 })).toEqual([]);
  });

  it("have their words in the dictionary", async () => {
    const { page } = await fixture("hostile");
    const said = (table: string, name: string, ...codes: readonly number[]) => {
      const about = page.tables.find((other) => other.name === table);
      const column = about?.columns.find((other) => other.name === name);
      expect(column && isCode(column), `${table}.${name}`).toBe(true);
      return codes.map((code) => column && wordsOf(column)(code));
    };
    expect(said("thread", "state", RUNS, SLEEPS, 68, 88)).toEqual([
      "runnable",
      "sleeping",
      "uninterruptible",
      "X",
    ]);
    expect(said("thread", "syscall", -1, -2, 232)).toEqual([
      "blocked outside one",
      "running",
      "232",
    ]);
    expect(said("session", "state", 1, 3, 0, 9)).toEqual([
      "active",
      "idle in transaction",
      "any other",
      "9",
    ]);
    expect(said("session", "wait_class", 3, 10)).toEqual(["Lock", "IO"]);
    expect(said("thread", "cpu", 0, 1)).toEqual(["0", "1"]);
    const help = "TCP state: 1 established, 4 and 5 closed by this end.";
    const [column] = page.tables.flatMap(({ columns }) => columns);
    expect(column && [1, 4, 5, 6].map(wordsOf({ ...column, help }))).toEqual([
      "established",
      "closed by this end",
      "closed by this end",
      "6",
    ]);
    // What the program knows besides.
    const words = { "5": "closing", "6": "time wait" };
    expect(column && [4, 5, 6].map(wordsOf({ ...column, help, words }))).toEqual([
      "closed by this end",
      "closing",
      "time wait",
    ]);
  });
  it("of PostgreSQL's waits are names", async () => {
    const { page } = await fixture("cpu-quota");
    const columns = page.tables.flatMap((table) => table.columns);
    const waits = columns.find(({ name }) => name === "wait_event");
    expect(waits && [0, 0x06000000].map(wordsOf(waits))).toEqual(["no wait", "Client: ClientRead"]);
  });
});
