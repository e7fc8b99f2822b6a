// A tree as a table: sorted, filtered, folded. What it shows is worked out in charts/tree.ts.

import { type ComponentChildren, Fragment } from "preact";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { filteredTree, type TreeNode, treeRows } from "../charts/tree";
import { integer } from "../data/format";
import { SortHeader } from "./SortHeader";
import "./TreeTable.css";

/** A column beside the name. */
export interface TreeColumn<T> {
  readonly id: string;
  readonly title: string;
  /** What it means, for who points at its title. */
  readonly help: string;
  /** What it is sorted by; without it, it is not. */
  readonly by?: (value: T) => number | string | undefined;
  readonly cell: (value: T, row: RowState) => ComponentChildren;
  /** `number` aligns right; `bar` takes the room that is left; `extra` is left out where there is little. */
  readonly look: string;
}

/** A column of numbers; what is not known is left empty. */
export function numberColumn<T>(
  title: string,
  help: string,
  by: (value: T) => number | undefined,
  format: (value: number) => string,
  look = "",
): TreeColumn<T> {
  const cell = (value: T) => {
    const number = by(value);
    return number === undefined ? "" : format(number);
  };
  return { id: title, title, help, look: `number ${look}`, by, cell };
}

/** What a cell may need to know of its row. */
export interface RowState {
  /** Whether what belongs to the row is shown below it. */
  readonly detailed: boolean;
  readonly toggleDetail: () => void;
}

export interface TreeTableProps<T> {
  readonly caption: string;
  readonly nodes: readonly TreeNode<T>[];
  readonly columns: readonly TreeColumn<T>[];
  readonly nameTitle: string;
  readonly name: (value: T) => ComponentChildren;
  /** What a filter looks at, and a row is called by. */
  readonly textOf: (value: T) => string;
  readonly nameOf: (value: T) => string;
  /** What is shown below a row on demand. */
  readonly detail: (value: T) => ComponentChildren;
  /** Whether the button before a row that holds no others shows its detail. */
  readonly unfoldsDetail?: boolean;
  /** What can be filtered by: `name, path`; without it there is no filter. */
  readonly what?: string;
  /** Nodes that are open at first. */
  readonly open: readonly string[];
  readonly sortedBy: string;
  /** Levels from the top that keep their order. */
  readonly fixed: number;
}

/** Children that are shown before one asks for all. */
const MOST = 40;

export function TreeTable<T>(props: TreeTableProps<T>) {
  const { columns, nodes, textOf } = props;
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(props.open));
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const [detailed, setDetailed] = useState<ReadonlySet<string>>(new Set());
  const [query, setQuery] = useState("");
  const [order, setOrder] = useState({ column: props.sortedBy, descending: true });
  const body = useRef<HTMLTableSectionElement>(null);
  const filterId = useId();

  const { rows, found } = useMemo(() => {
    const filtered = filteredTree(nodes, textOf, query);
    const by = columns.find((column) => column.id === order.column)?.by ?? props.nameOf;
    const sorted = { by, descending: order.descending, fixed: props.fixed };
    const all = new Set([...open, ...filtered.open]);
    return {
      rows: treeRows(filtered.nodes, sorted, { open: all, whole, most: MOST }),
      found: filtered.found,
    };
  }, [nodes, columns, textOf, props.nameOf, props.fixed, query, order, open, whole]);

  const sort = (column: string) =>
    setOrder((now) => ({
      column,
      descending: now.column === column ? !now.descending : column !== "name",
    }));
  // Names of a plain list begin at its edge.
  const folds = nodes.some((node) => node.children.length > 0);
  const onKeyDown = (event: KeyboardEvent) => move(event, body.current);

  if (nodes.length === 0) return null;
  return (
    <div class="tree">
      {props.what && (
        <div class="tree-tools">
          <label for={filterId}>Filter</label>
          <input
            id={filterId}
            type="search"
            placeholder={props.what}
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          <output class="muted">{query.trim() && `${integer(found)} found`}</output>
        </div>
      )}
      <table class="tree-table">
        <caption class="offscreen">{props.caption}</caption>
        <thead>
          <tr>
            <SortHeader id="name" title={props.nameTitle} order={order} sort={sort} look="name" />
            {columns.map(({ id, title, help, by, look }) => (
              <SortHeader
                key={id}
                id={id}
                title={title}
                help={help}
                order={order}
                look={look}
                {...(by && { sort })}
              />
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown}>
          {rows.map((row) => {
            if (row.kind === "more") {
              return (
                <tr key={`more ${row.parent}`} class="tree-more">
                  <th scope="row" colSpan={columns.length + 1}>
                    <span style={{ paddingLeft: `${row.level * INDENT + FOLD}px` }}>
                      <button
                        type="button"
                        class="link"
                        onClick={() => setWhole(toggled(whole, row.parent))}
                      >
                        {`show ${integer(row.count)} more${row.quiet ? " that did nothing" : ""}`}
                      </button>
                    </span>
                  </th>
                </tr>
              );
            }
            const { node, level, expandable } = row;
            const state: RowState = {
              detailed: detailed.has(node.id),
              toggleDetail: () => setDetailed(toggled(detailed, node.id)),
            };
            return (
              <Fragment key={node.id}>
                <tr class={`level-${Math.min(level, 4)}`}>
                  <th scope="row" class="name">
                    <span class="tree-name" style={{ paddingLeft: `${level * INDENT}px` }}>
                      {expandable || props.unfoldsDetail ? (
                        <button
                          type="button"
                          class="fold"
                          aria-expanded={expandable ? row.open : state.detailed}
                          aria-label={`${props.nameOf(node.value)}, level ${level + 1}`}
                          onClick={() =>
                            expandable ? setOpen(toggled(open, node.id)) : state.toggleDetail()
                          }
                        />
                      ) : (
                        folds && <span class="fold" />
                      )}
                      {props.name(node.value)}
                    </span>
                  </th>
                  {columns.map((column) => (
                    <td key={column.id} class={column.look} data-title={column.title}>
                      {column.cell(node.value, state)}
                    </td>
                  ))}
                </tr>
                {state.detailed && (
                  <tr class="tree-detail">
                    <td colSpan={columns.length + 1}>{props.detail(node.value)}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && query.trim() && <p class="muted">Nothing here is called that.</p>}
    </div>
  );
}

/** Pixels by which a level is set in, and that the button to unfold takes. */
const INDENT = 16;
const FOLD = 20;

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Arrow keys on the buttons that unfold: up and down to the next, right unfolds, left folds. */
function move(event: KeyboardEvent, body: HTMLElement | null): void {
  const at = event.target;
  if (!(at instanceof HTMLButtonElement) || !at.classList.contains("fold")) return;
  const buttons = [...(body?.querySelectorAll<HTMLButtonElement>("button.fold") ?? [])];
  const open = at.getAttribute("aria-expanded") === "true";
  const place = buttons.indexOf(at);
  if (event.key === "ArrowDown") buttons[place + 1]?.focus();
  else if (event.key === "ArrowUp") buttons[place - 1]?.focus();
  else if (event.key === "ArrowRight" && !open) at.click();
  else if (event.key === "ArrowLeft" && open) at.click();
  else return;
  event.preventDefault();
}
