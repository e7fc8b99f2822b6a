import { describe, expect, it } from "vitest";
import type { Report, Role, WaitEdge, Waker } from "../data/page.gen";
import { waitGraph, waitLines } from "./waitGraph";

const pool = (name: string, role: Role): Waker => ({ kind: "threads", name, role });

function edge(
  name: string,
  role: Role,
  waker: Waker,
  threads: number,
  about: Partial<WaitEdge> = {},
): WaitEdge {
  return {
    waiter: { name, role },
    waker,
    class: "input",
    threads,
    rate: 1000,
    mean_ns: 2e6,
    ...about,
  };
}

const of = (...wait_graph: WaitEdge[]) => ({ wait_graph }) as unknown as Report;

const STORY = of(
  edge("pgbench", "generator", pool("postgres", "target"), 8),
  edge("postgres", "target", pool("postgres", "target"), 3, {
    class: "database_lock",
    meanwhile: [
      { class: "cpu_wait", share: 0.5 },
      { class: "sync", share: 0.25 },
      { class: "on_cpu", share: 0.01 },
    ],
  }),
  edge("postgres", "target", { kind: "interrupt", name: "the disk" }, 1, { class: "sync" }),
  edge("postgres", "target", { kind: "interrupt", name: "the disk" }, 0.5, { class: "read_write" }),
  edge("other", "rest", pool("postgres", "target"), 0.001),
);

describe("the graph of waits", () => {
  it("stands in columns from the load on, with an arrow for each pair", () => {
    const graph = waitGraph(STORY);
    const columns = graph?.nodes.map(({ name, x }) => `${name} ${Math.round(x / 330)}`);
    expect(columns).toEqual(["pgbench 0", "postgres 1", "the disk 2"]);
    expect(graph?.arrows.map(({ label }) => label)).toEqual([
      "8.00 threads: an answer",
      "3.00 threads: database lock",
      "1.50 threads: fsync …",
    ]);
    expect(graph?.arrows[1]?.title).toBe("postgres for each other: 3.00 threads, database lock");
    expect(graph?.arrows[0]?.width).toBe(9);
    expect(waitGraph(of())).toBeUndefined();
  });

  it("places every node, also where all wait in a circle", () => {
    const circle = of(
      edge("a", "target", pool("b", "target"), 1),
      edge("b", "target", pool("a", "target"), 1),
      edge("c", "target", pool("c", "target"), 1),
    );
    const graph = waitGraph(circle);
    expect(graph?.nodes.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    const places = new Set(graph?.nodes.map(({ x, y }) => `${x} ${y}`));
    expect(places.size).toBe(3);
  });

  it("is a table too", () => {
    expect(waitLines(STORY)[1]).toEqual({
      who: "postgres",
      whom: "each other",
      what: "database lock",
      threads: "3.00",
      rate: "1,000",
      each: "2.00 ms",
      meanwhile: "waiting for a CPU 50 %, fsync 25 %",
    });
  });
});
