// Who waits for whom, between thread pools, as a drawing: nodes in columns, arrows from who waits to whom it waits for. Pure;
// `views/WaitGraph.tsx` shows it.

import { duration, percent, rate } from "../data/format";
import type { Report, Role, WaitEdge, Waker } from "../data/page.gen";
import type { Pixels } from "../data/units";
import { classLabel, classPaint } from "./ledger";
import type { Paint } from "./parts";
import { ROLE_WORDS } from "./threadTree";

/** A pool, or what else ends waits. */
export interface WaitNode {
  readonly key: string;
  readonly name: string;
  readonly role: Role | undefined;
  readonly x: Pixels;
  readonly y: Pixels;
}

/** All waits of one node that another ended. */
export interface WaitArrow {
  readonly key: string;
  readonly path: string;
  readonly width: Pixels;
  readonly paint: Paint;
  readonly label: string;
  /** Where the label's middle is. */
  readonly at: readonly [x: Pixels, y: Pixels];
  readonly title: string;
}

export interface WaitGraph {
  readonly nodes: readonly WaitNode[];
  readonly arrows: readonly WaitArrow[];
  readonly width: Pixels;
  readonly height: Pixels;
  /** For who does not see it. */
  readonly alternative: string;
}

/** A line of the table below. */
export interface WaitLine {
  readonly who: string;
  readonly whom: string;
  readonly what: string;
  readonly threads: string;
  readonly rate: string;
  readonly each: string;
  readonly meanwhile: string;
}

export const NODE = { width: 150, height: 44 } as const;
const COLUMN: Pixels = 330;
const ROW: Pixels = 92;
const MARGIN: Pixels = 52;
/** Arrows that are drawn, and the widest. */
const MOST_ARROWS = 14;
const WIDEST: Pixels = 9;
/** Of the widest arrow, what is drawn at least. */
const LEAST = 0.01;
/** Parts of what a waker did that are named. */
const LEAST_PART = 0.05;

interface Named {
  readonly key: string;
  readonly name: string;
  readonly role: Role | undefined;
}

const pool = ({ name, role }: { name: string; role: Role }): Named => {
  return { key: `${role} ${name}`, name, role };
};

const wakerOf = ({ kind, name, role }: Waker): Named =>
  role == null ? { key: `${kind} ${name}`, name, role: undefined } : pool({ name, role });

/** The lines of the table, those first in which most threads wait. */
export function waitLines({ wait_graph: edges = [] }: Report): WaitLine[] {
  return edges.map((edge) => {
    const [who, whom] = [pool(edge.waiter), wakerOf(edge.waker)];
    const parts = (edge.meanwhile ?? []).filter(({ share }) => share >= LEAST_PART);
    return {
      who: who.name,
      whom: who.key === whom.key ? "each other" : whom.name,
      what: labelOf(edge),
      threads: edge.threads.toFixed(2),
      rate: rate(edge.rate),
      each: duration(edge.mean_ns),
      meanwhile: parts
        .map((it) => `${classLabel(it.class) ?? it.class} ${percent(it.share)}`)
        .join(", "),
    };
  });
}

const labelOf = (edge: WaitEdge) =>
  edge.class === "input" ? "an answer" : (classLabel(edge.class) ?? edge.class);

/** Waits of one pair of nodes. */
interface Pair {
  readonly from: Named;
  readonly to: Named;
  threads: number;
  /** By class. */
  readonly edges: WaitEdge[];
}

/** The drawing of a report; `undefined` where nothing was recorded. */
export function waitGraph({ wait_graph: edges = [] }: Report): WaitGraph | undefined {
  const pairs = pairsOf(edges);
  const most = Math.max(...pairs.map(({ threads }) => threads));
  const drawn = pairs.filter(({ threads }) => threads >= LEAST * most).slice(0, MOST_ARROWS);
  if (drawn.length === 0) return undefined;
  const nodes = placed(drawn);
  const by = new Map(nodes.map((node) => [node.key, node]));
  const arrows = drawn.flatMap((pair): WaitArrow[] => {
    const [from, to] = [by.get(pair.from.key), by.get(pair.to.key)];
    if (from === undefined || to === undefined) return [];
    const [first] = pair.edges;
    const labels = [...new Set(pair.edges.map(labelOf))];
    const said = `${pair.threads.toFixed(2)} threads`;
    return [
      {
        key: `${from.key} ${to.key}`,
        ...curve(from, to),
        width: Math.max(1.5, (WIDEST * pair.threads) / most),
        paint: classPaint(first?.class ?? "unknown"),
        label: `${said}: ${labels[0]}${labels.length > 1 ? " …" : ""}`,
        title: `${from.name} for ${from === to ? "each other" : to.name}: ${said}, ${labels.join(", ")}`,
      },
    ];
  });
  const right = Math.max(...nodes.map(({ x }) => x)) + NODE.width + MARGIN;
  const lowest = Math.max(
    ...nodes.map(({ y }) => y + NODE.height),
    ...arrows.map(({ at }) => at[1]),
  );
  return {
    nodes,
    arrows,
    width: right,
    height: lowest + 12,
    alternative: arrows.map(({ title }) => title).join("; "),
  };
}

function pairsOf(edges: readonly WaitEdge[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const edge of edges) {
    const [from, to] = [pool(edge.waiter), wakerOf(edge.waker)];
    const key = `${from.key} ${to.key}`;
    const pair = pairs.get(key) ?? { from, to, threads: 0, edges: [] };
    pair.threads += edge.threads;
    pair.edges.push(edge);
    pairs.set(key, pair);
  }
  return [...pairs.values()].sort((a, b) => b.threads - a.threads);
}

/** Nodes in columns: by how many waits lie between them and those for whom nobody waits, the load first. */
function placed(pairs: readonly Pair[]): WaitNode[] {
  const named = new Map<string, Named>();
  for (const { from, to } of pairs) {
    named.set(from.key, from);
    named.set(to.key, to);
  }
  const isWaitedFor = (key: string) =>
    pairs.some(({ from, to }) => to.key === key && from.key !== key);
  const all = [...named.values()];
  const load = all.filter(({ role }) => role === "generator");
  const free = all.filter(({ key }) => !isWaitedFor(key));
  const columns = new Map<string, number>();
  let next = [...(load.length > 0 ? load : free.length > 0 ? free : all.slice(0, 1))];
  for (let column = 0; columns.size < all.length; column++) {
    for (const { key } of next) if (!columns.has(key)) columns.set(key, column);
    const behind = pairs.filter(
      ({ from, to }) => columns.get(from.key) === column && !columns.has(to.key),
    );
    next = behind.map(({ to }) => to);
    // What nothing leads to stands beside the load.
    if (next.length === 0) {
      for (const { key } of all) if (!columns.has(key)) columns.set(key, isWaitedFor(key) ? 1 : 0);
    }
  }
  const rows = new Map<number, number>();
  return all.map((node) => {
    const column = columns.get(node.key) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { ...node, x: 4 + column * COLUMN, y: MARGIN + row * ROW };
  });
}

/** From the right of who waits to the left of whom it waits for; back and within a column below the nodes; to itself above. */
function curve(from: WaitNode, to: WaitNode): Pick<WaitArrow, "path" | "at"> {
  const { width, height } = NODE;
  if (from === to) {
    const [x, y] = [from.x + width / 2, from.y];
    return {
      path: `M${x - 30} ${y} C${x - 40} ${y - 34} ${x + 40} ${y - 34} ${x + 30} ${y - 5}`,
      at: [x, y - 36],
    };
  }
  if (to.x > from.x) {
    const [x1, y1] = [from.x + width, from.y + height / 2 - 6];
    const [x2, y2] = [to.x - 7, to.y + height / 2 - 6];
    const middle = (x1 + x2) / 2;
    return {
      path: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
      at: [middle, (y1 + y2) / 2 - 10],
    };
  }
  if (to.x === from.x) {
    const isBelow = to.y > from.y;
    const x = from.x + width / 2;
    const [y1, y2] = isBelow ? [from.y + height, to.y - 7] : [from.y, to.y + height + 7];
    return { path: `M${x} ${y1} L${x} ${y2}`, at: [x + 70, (y1 + y2) / 2 + 4] };
  }
  const [x1, y1] = [from.x, from.y + height / 2 + 10];
  const [x2, y2] = [to.x + width + 7, to.y + height / 2 + 10];
  const middle = (x1 + x2) / 2;
  return {
    path: `M${x1} ${y1} C${middle} ${y1 + 24} ${middle} ${y2 + 24} ${x2} ${y2}`,
    at: [middle, (y1 + y2) / 2 + 34],
  };
}

/** What a node is, for its second line. */
export const roleOf = ({ role }: WaitNode): string => (role === undefined ? "" : ROLE_WORDS[role]);
