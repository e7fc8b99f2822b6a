// PostgreSQL's own counters and sessions.

import { useMemo } from "preact/hooks";
import { databases, sessions } from "../charts/database";
import { duration, integer, percent } from "../data/format";
import { FigureTable } from "./FigureTable";
import { NumberTable } from "./NumberTable";
import { usePage, useTables } from "./state";

/** Sessions that are listed. */
const MOST = 30;

export function Database() {
  const { recording, window } = usePage();
  const tables = useTables("database");
  const servers = useMemo(
    () => tables && databases(recording, tables, window),
    [recording, tables, window],
  );
  if (servers === undefined) return <p class="muted">Reading PostgreSQL's counters…</p>;
  return (
    <>
      {servers.map(({ name, figures, hit }) => (
        <div key={name}>
          {hit !== undefined && (
            <p class="summary">{percent(hit)} of the blocks were found in shared buffers.</p>
          )}
          <FigureTable caption={name} figures={figures} />
        </div>
      ))}
      <Sessions table="session" />
    </>
  );
}

/** The sessions of a server, on demand. */
export function Sessions({ table }: { readonly table: string }) {
  const { recording, window } = usePage();
  const tables = useTables(table);
  const all = useMemo(
    () => (tables ? sessions(recording, tables, window, table) : []),
    [recording, tables, window, table],
  );
  if (all.length === 0) return null;
  return (
    <details>
      <summary>{integer(all.length)} sessions, as last seen in the window</summary>
      <NumberTable
        caption="Sessions as last seen in the window"
        titles={[["Session"], ["State"], ["Waits for"], ["Blocked by"], "In a transaction for"]}
        rows={all
          .slice(0, MOST)
          .map(({ name, state, waits, blockedBy, age }) => [
            name,
            state,
            waits,
            blockedBy,
            age === undefined ? "" : duration(age),
          ])}
      />
      {all.length > MOST && <p class="muted">{integer(all.length - MOST)} more.</p>}
    </details>
  );
}
