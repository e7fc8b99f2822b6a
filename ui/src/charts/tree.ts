// A tree as rows of a table: sorted among siblings, filtered with its parents kept, folded.

/** A row that may hold others. */
export interface TreeNode<T> {
  /** Unique in the tree. */
  readonly id: string;
  readonly value: T;
  readonly children: readonly TreeNode<T>[];
  /** Did so little that it is shown only on demand. */
  readonly quiet: boolean;
}

/** One row as it is shown. */
export type TreeRow<T> =
  | {
      readonly kind: "node";
      readonly node: TreeNode<T>;
      readonly level: number;
      readonly expandable: boolean;
      readonly open: boolean;
    }
  | {
      /** Stands for siblings that are not shown until they are asked for. */
      readonly kind: "more";
      /** Whose children: what to ask for. */
      readonly parent: string;
      readonly level: number;
      readonly count: number;
      /** Whether all of them are quiet. */
      readonly quiet: boolean;
    };

/** What of a tree is unfolded. */
export interface Unfolded {
  /** Nodes whose children are shown. */
  readonly open: ReadonlySet<string>;
  /** Nodes all of whose children are shown, quiet ones and those beyond `most` included. */
  readonly whole: ReadonlySet<string>;
  /** Children that are shown at first. */
  readonly most: number;
}

/** How siblings are sorted. */
export interface Order<T> {
  /** A number or a text; what is `undefined` comes last whichever the direction. */
  readonly by: (value: T) => number | string | undefined;
  readonly descending: boolean;
  /** Levels from the top that stay as they are. */
  readonly fixed: number;
}

/** The parent of the roots. */
export const ROOT = "";

/** The rows to be shown, from top to bottom; only what is shown is sorted. */
export function treeRows<T>(
  nodes: readonly TreeNode<T>[],
  order: Order<T>,
  unfolded: Unfolded,
): TreeRow<T>[] {
  const rows: TreeRow<T>[] = [];
  const add = (unsorted: readonly TreeNode<T>[], parent: string, level: number) => {
    const { by, descending } = order;
    const siblings =
      level < order.fixed ? unsorted : inOrder(unsorted, (node) => by(node.value), descending);
    const whole = unfolded.whole.has(parent);
    const busy = siblings.filter((node) => !node.quiet);
    // A table in which nothing happened still says of what.
    const loud = busy.length === 0 && parent === ROOT ? siblings : busy;
    const shown = whole ? siblings : loud.slice(0, unfolded.most);
    for (const node of shown) {
      const expandable = node.children.length > 0;
      const open = expandable && unfolded.open.has(node.id);
      rows.push({ kind: "node", node, level, expandable, open });
      if (open) add(node.children, node.id, level + 1);
    }
    const count = siblings.length - shown.length;
    if (count > 0)
      rows.push({ kind: "more", parent, level, count, quiet: shown.length === loud.length });
  };
  add(nodes, ROOT, 0);
  return rows;
}

/** Items in the order of a key; equal ones stay as they were. */
export function inOrder<T>(
  items: readonly T[],
  by: (item: T) => number | string | undefined,
  descending: boolean,
): T[] {
  const compare = (a: number | string | undefined, b: number | string | undefined) => {
    const [first, second] = [missing(a), missing(b)];
    if (first || second) return Number(first) - Number(second);
    const greater =
      typeof a === "number" && typeof b === "number"
        ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
    return descending ? -greater : greater;
  };
  return [...items].sort((a, b) => compare(by(a), by(b)));
}

function missing(key: number | string | undefined): boolean {
  return key === undefined || Number.isNaN(key);
}

/** What is left of a tree by a filter. */
export interface Filtered<T> {
  readonly nodes: readonly TreeNode<T>[];
  /** Nodes that are there for what they hold: to be shown open. */
  readonly open: ReadonlySet<string>;
  /** Nodes that the filter names. */
  readonly found: number;
}

/** Nodes whose text has every word of the query, with all that they hold, and all that hold them. */
export function filteredTree<T>(
  nodes: readonly TreeNode<T>[],
  textOf: (value: T) => string,
  query: string,
): Filtered<T> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { nodes, open: new Set(), found: 0 };
  const open = new Set<string>();
  let found = 0;
  const keep = (node: TreeNode<T>): TreeNode<T> | undefined => {
    const text = textOf(node.value).toLowerCase();
    const named = words.every((word) => text.includes(word));
    if (named) found += 1;
    const kept = node.children.map(keep).filter((child) => child !== undefined);
    // What was asked for by name is not hidden for having done little.
    if (named) return { ...node, quiet: false };
    if (kept.length === 0) return undefined;
    open.add(node.id);
    return { ...node, quiet: false, children: kept };
  };
  const kept = nodes.map(keep).filter((node) => node !== undefined);
  return { nodes: kept, open, found };
}
