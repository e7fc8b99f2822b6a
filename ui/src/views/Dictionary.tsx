// Every table and column of the recording, with what it means and where it was read.

import { useState } from "preact/hooks";
import { type Entry, looked } from "../charts/dictionary";
import { chartTables, fragmentOf } from "../charts/explore";
import type { PageTable } from "../data/page.gen";
import type { Section } from "./section";
import { usePage } from "./state";

export const DICTIONARY: Section = { id: "dictionary", title: "Data dictionary", view: Dictionary };

function Dictionary() {
  const { recording } = usePage();
  const { tables } = recording.page;
  const [filter, setFilter] = useState("");
  const found = looked(tables, filter);
  const columns = found.reduce((sum, entry) => sum + entry.columns.length, 0);
  return (
    <div class="dictionary card">
      <p class="muted">
        A counter only grows, and its differences are the measure; a gauge stands for an instant or
        its own interval. Exact: accounted at every change; sampled: looked at now and then;
        estimated: worked out, or accounted in ticks.
      </p>
      <label class="chart-filter">
        Find{" "}
        <input
          type="search"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />{" "}
        <span class="muted" role="status">
          {columns} columns of {found.length} tables
        </span>
      </label>
      {found.map((entry) => (
        <Table key={entry.table.name} entry={entry} open={filter.trim() !== ""} />
      ))}
    </div>
  );
}

/** Where a column is drawn. */
function linkOf(table: PageTable, column: string): string {
  const charts = chartTables([table]).length > 0;
  return charts ? fragmentOf([{ table: table.name, column, entities: [] }]) : "#flames";
}

function Table({ entry: { table, columns }, open }: { entry: Entry; open: boolean }) {
  return (
    <details open={open}>
      <summary>
        <code>{table.name}</code> <span class="muted">{table.help}</span>
      </summary>
      <div class="scroll">
        <table class="numbers">
          <caption class="offscreen">Columns of {table.name}</caption>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Unit</th>
              <th scope="col">Kind</th>
              <th scope="col">Quality</th>
              <th scope="col">What it is</th>
              <th scope="col">Read from</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <tr key={column.name}>
                <th scope="row">
                  <a href={linkOf(table, column.name)}>
                    <code>{column.name}</code>
                  </a>
                </th>
                <td>{column.unit.replaceAll("_", " ")}</td>
                <td>{column.kind}</td>
                <td>{column.quality}</td>
                <td>{column.help}</td>
                <td class="muted">
                  {column.source}
                  {column.since ? ` (since Linux ${column.since})` : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
