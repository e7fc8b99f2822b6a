// The functions of a flame graph: what each does itself, and with all that it calls.

import { useMemo, useState } from "preact/hooks";
import type { Weights } from "../charts/flame";
import type { Difference } from "../charts/flameDifference";
import { type FunctionRow, functionRows, signed, TIMES, type TimeKind } from "../charts/flameWords";
import { inOrder } from "../charts/tree";
import { duration, integer, percent } from "../data/format";
import type { StackTable } from "../data/stacks";
import { Aligned } from "./Aligned";
import { SortHeader, type SortOrder } from "./SortHeader";

/** Rows that are shown at first, and with each asking for more. */
const MOST = 15;

interface Props {
  readonly stacks: StackTable;
  readonly weights: Weights;
  readonly difference: Difference | undefined;
  readonly kind: TimeKind;
  /** Searches for a function. */
  readonly find: (name: string) => void;
}

export function FunctionTable({ stacks, weights, difference, kind, find }: Props) {
  const [order, setOrder] = useState<SortOrder>({
    // Differences are tested with all that a function calls.
    column: difference ? "total" : "self",
    descending: true,
  });
  const [most, setMost] = useState(MOST);
  const rows = useMemo(() => {
    // Of a difference the largest stand first, whichever their sign.
    const by = {
      name: (row: FunctionRow) => row.name,
      file: (row: FunctionRow) => row.file,
      self: (row: FunctionRow) => (difference ? Math.abs(row.self) : row.self),
      total: (row: FunctionRow) => (difference ? Math.abs(row.total) : row.total),
    }[order.column];
    const all = functionRows(stacks, weights, difference);
    return by ? inOrder<FunctionRow>(all, by, order.descending) : all;
  }, [stacks, weights, difference, order]);
  const sort = (column: string) =>
    setOrder((now) => ({
      column,
      descending: now.column === column ? !now.descending : column !== "name" && column !== "file",
    }));
  const head = (id: string, title: string, help: string, look: string) => (
    <SortHeader id={id} title={title} help={help} look={look} order={order} sort={sort} />
  );
  const { time } = TIMES[kind];
  const per = difference ? ` per ${difference.per}` : "";
  return (
    <>
      <table class="number-table flame-functions">
        <caption class="offscreen">
          Functions by {time}
          {per}
        </caption>
        <thead>
          <tr>
            {head("name", "Function", "As in the graph; press it to search for it", "")}
            {head("file", "File", "The file of its code", "extra")}
            {head("self", `Itself${per}`, `The ${time} in the function itself`, "number")}
            {!difference && (
              <th scope="col" class="number wide">
                Part
              </th>
            )}
            {head(
              "total",
              `With callees${per}`,
              `The ${time} in it and in all that it calls`,
              "number",
            )}
            <th scope="col" class="number">
              {difference ? "Noise" : "Part"}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <Row key={row.frame} row={row} ns={weights.ns} difference={difference} find={find} />
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <p class="on-screen">
          <button type="button" class="link" onClick={() => setMost(most + 10 * MOST)}>
            show more of {integer(rows.length)} functions
          </button>
        </p>
      )}
    </>
  );
}

interface RowProps {
  readonly row: FunctionRow;
  readonly ns: number;
  readonly difference: Difference | undefined;
  readonly find: (name: string) => void;
}

function Row({ row, ns, difference, find }: RowProps) {
  const time = difference ? signed : duration;
  const part = (of: number) => <Aligned text={percent(ns > 0 ? of / ns : 0)} />;
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link flame-name" onClick={() => find(row.name)}>
          {row.name}
        </button>
      </th>
      <td class="extra muted flame-file">{row.file}</td>
      <td class={difference ? "number muted" : "number"}>{time(row.self)}</td>
      {!difference && <td class="number wide">{part(row.self)}</td>}
      <td class="number">{time(row.total)}</td>
      <td class="number">{difference ? row.judged : part(row.total)}</td>
    </tr>
  );
}
