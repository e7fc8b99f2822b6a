import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type DrawnColumn, drawn } from "../../tests/drawn";
import { SERVERS, serverLanes } from "./servers";

const S = 1e9;

function server(table: string) {
  const found = SERVERS.find((it) => it.table === table);
  if (found === undefined) throw new Error(`no recipe for ${table}`);
  return found;
}

const gauge = (name: string): DrawnColumn => ({ name, kind: "gauge", unit: "count" });

async function opened() {
  const recording = await drawn({
    edges: [0, S, 2 * S],
    entities: [
      { kind: "process", name: "mariadbd", path: "pid:7@1" },
      { kind: "process", name: "java", path: "pid:9@1" },
      { kind: "process", name: "java", path: "pid:8@1", role: "target" },
    ],
    tables: [
      {
        name: "mysql",
        entity: "process",
        columns: [
          gauge("sessions"),
          gauge("active_sessions"),
          gauge("row_lock_waiters"),
          { name: "row_lock_time_ns" },
          { name: "questions", unit: "count" },
        ],
        series: [
          { entity: 0, column: "sessions", values: 9 },
          { entity: 0, column: "active_sessions", values: [2, 5] },
          { entity: 0, column: "row_lock_waiters", values: [0, 3] },
          { entity: 0, column: "row_lock_time_ns", values: [0, 3 * S] },
          { entity: 0, column: "questions", values: [10, 30] },
        ],
      },
      {
        name: "jvm",
        entity: "process",
        columns: [
          { name: "safepoint_ns" },
          { name: "collector0_ns" },
          { name: "heap_used_bytes", kind: "gauge", unit: "bytes" },
        ],
        series: [
          { entity: 1, column: "safepoint_ns", values: [S / 100, 0] },
          { entity: 2, column: "safepoint_ns", values: [S / 2, 0] },
          { entity: 2, column: "collector0_ns", values: [S / 4, 0] },
          { entity: 2, column: "heap_used_bytes", values: 3 * 2 ** 20 },
        ],
      },
    ],
  });
  return { recording, tables: await recording.load(["mysql", "jvm"]) };
}

describe("what servers report", () => {
  it("has sessions by state, and how many waited for row locks at a time", async () => {
    const { recording, tables } = await opened();
    const [mariadb, ...others] = serverLanes(recording, tables, server("mysql"));
    expect(others).toEqual([]);
    expect(mariadb?.name).toBe("mariadbd 7");
    const said = mariadb?.lanes.map(({ alternative }) => alternative);
    expect(said).toEqual([
      "Sessions: running a statement 2.00 to 5.00, waiting for a row lock 0 to 3.00, connected 9.00.",
      "Sessions in waits for row locks that ended: mean 0 to 3.00.",
      "Statements: all 10.0/s to 30.0/s.",
    ]);
    expect(mariadb?.lanes[1]?.lines[0]?.over?.({ from: 0, to: 2 * S })).toBeCloseTo(1.5);
  });

  it("tells several apart, those of the target first", async () => {
    const { recording, tables } = await opened();
    const all = serverLanes(recording, tables, server("jvm"));
    expect(all.map(({ name }) => name)).toEqual(["java 8", "java 9"]);
    expect(all[0]?.lanes.map(({ alternative }) => alternative)).toEqual([
      "Time in which no Java code ran: safepoints 0 to 50 %.",
      "Time of collections, with what ran beside Java code: first collector 0 to 25 %.",
      "Heap after collections: used 3.00 MiB.",
    ]);
    const ids = all.flatMap(({ lanes }) => lanes.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is nothing of a table that is not there", async () => {
    const { recording, tables } = await opened();
    expect(serverLanes(recording, tables, server("redis"))).toEqual([]);
  });

  it("is made of columns that tables have, of one unit and kind in each lane", () => {
    const dictionary = readFileSync(new URL("../../../docs/data.md", import.meta.url), "utf8");
    for (const { table, lanes } of SERVERS) {
      const [, own = ""] = dictionary.split(`\n## ${table}\n`);
      const columns = new Map(
        [...(own.split("\n## ")[0] ?? "").matchAll(/^\| `(\w+)` \| (\w+ \| \w+)/gm)].map(
          ([, name, of]) => [name, of],
        ),
      );
      for (const { title, lines } of lanes) {
        const kinds = lines.flatMap(([, names]) => names.split(" ").map((it) => columns.get(it)));
        expect(new Set(kinds).size, `${table}: ${title}`).toBe(1);
        expect(kinds[0], `${table}: ${title}`).toBeDefined();
      }
      const titles = lanes.map(({ title }) => title);
      expect(new Set(titles).size, table).toBe(titles.length);
    }
  });
});
