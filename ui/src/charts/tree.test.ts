import { describe, expect, it } from "vitest";
import { filteredTree, inOrder, type Order, ROOT, type TreeNode, treeRows } from "./tree";

interface Value {
  readonly name: string;
  readonly size: number | undefined;
}

function node(
  name: string,
  size: number | undefined,
  children: readonly TreeNode<Value>[] = [],
  quiet = false,
): TreeNode<Value> {
  return { id: name, value: { name, size }, children, quiet };
}

const UNSORTED: Order<Value> = { by: () => undefined, descending: false, fixed: 0 };
const FOLDED = { open: new Set<string>(), whole: new Set<string>(), most: 40 };
const names = (nodes: readonly TreeNode<Value>[]): string[] =>
  nodes.flatMap((it) => [it.value.name, ...names(it.children).map((name) => `.${name}`)]);

const tree = [
  node("postgres", 3, [node("backend 7", 1), node("backend 12", 2), node("writer", undefined)]),
  node("pgbench", 5, [node("worker", 5)]),
];

describe("treeRows", () => {
  it("shows what is open", () => {
    const shown = treeRows(tree, UNSORTED, { ...FOLDED, open: new Set(["pgbench", "nobody"]) });
    expect(shown.map((row) => row.kind === "node" && [row.node.id, row.level, row.open])).toEqual([
      ["postgres", 0, false],
      ["pgbench", 0, true],
      ["worker", 1, false],
    ]);
  });

  it("puts quiet ones and those beyond the most behind one row", () => {
    const many = Array.from({ length: 5 }, (_, i) => node(`p${i}`, i, [], i === 4));
    const rows = treeRows(many, UNSORTED, { ...FOLDED, most: 2 });
    expect(rows).toHaveLength(3);
    expect(rows[2]).toEqual({ kind: "more", parent: ROOT, level: 0, count: 3, quiet: false });
    const quiet = treeRows(many, UNSORTED, FOLDED)[4];
    expect(quiet).toMatchObject({ kind: "more", count: 1, quiet: true });
    expect(treeRows(many, UNSORTED, { ...FOLDED, whole: new Set([ROOT]) })).toHaveLength(5);
  });

  it("shows quiet roots where there is nothing else", () => {
    expect(treeRows([node("lo", 0, [], true)], UNSORTED, FOLDED)).toHaveLength(1);
  });
});

describe("order", () => {
  const by = (value: Value) => value.size;
  const all = { ...FOLDED, open: new Set(["postgres", "pgbench"]) };
  const shown = (order: Order<Value>) =>
    treeRows(tree, order, all).map((row) => (row.kind === "node" ? row.node.id : row.kind));

  it("sorts siblings, what is missing last in both directions", () => {
    expect(shown({ by, descending: true, fixed: 0 })).toEqual([
      "pgbench",
      "worker",
      "postgres",
      "backend 12",
      "backend 7",
      "writer",
    ]);
    expect(shown({ by, descending: false, fixed: 1 })).toEqual([
      "postgres",
      "backend 7",
      "backend 12",
      "writer",
      "pgbench",
      "worker",
    ]);
  });

  it("sorts names with numbers by the numbers", () => {
    const cpus = ["cpu10", "cpu9", "cpu0"];
    expect(inOrder(cpus, (name) => name, false)).toEqual(["cpu0", "cpu9", "cpu10"]);
    expect(inOrder([Number.NaN, 1, 2], (value) => value, true)).toEqual([2, 1, Number.NaN]);
  });
});

describe("filteredTree", () => {
  const filter = (query: string) => filteredTree(tree, (value) => value.name, query);

  it("keeps what holds a match, open, and all that a match holds", () => {
    const found = filter("BACKEND 12");
    expect(names(found.nodes)).toEqual(["postgres", ".backend 12"]);
    expect([...found.open]).toEqual(["postgres"]);
    expect(found.found).toBe(1);
    expect(names(filter("pgbench").nodes)).toEqual(["pgbench", ".worker"]);
  });

  it("wants every word, takes no pattern, and is nothing when empty", () => {
    expect(filter("backend nobody").nodes).toEqual([]);
    expect(filter(".*").nodes).toEqual([]);
    expect(filter("  ").nodes).toBe(tree);
  });

  it("shows what was asked for by name even if it is quiet", () => {
    const quiet = [node("top", 1, [node("idle", 0, [], true)], true)];
    const found = filteredTree(quiet, (value) => value.name, "idle");
    expect(treeRows(found.nodes, UNSORTED, { ...FOLDED, open: found.open })).toHaveLength(2);
  });
});
