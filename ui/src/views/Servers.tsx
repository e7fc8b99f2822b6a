// What a server reports itself, over time.

import type { ComponentType } from "preact";
import { useMemo } from "preact/hooks";
import { MOST_SERVERS, SERVERS, type Server, serverLanes } from "../charts/servers";
import { integer } from "../data/format";
import { Sessions } from "./Database";
import { LaneChart } from "./LaneChart";
import { usePage, useTables } from "./state";

function Lanes({ of }: { readonly of: Server }) {
  const { recording } = usePage();
  const tables = useTables(of.table);
  const all = useMemo(() => tables && serverLanes(recording, tables, of), [recording, tables, of]);
  if (all === undefined) return <p class="muted">Reading what it reports…</p>;
  const more = all.length - MOST_SERVERS;
  return (
    <>
      {all.slice(0, MOST_SERVERS).map(({ name, lanes }) => (
        <div key={name}>
          {all.length > 1 && <h4>{name}</h4>}
          <LaneChart lanes={lanes} label={`${name} over time`} />
        </div>
      ))}
      {of.sessions && <Sessions table={of.sessions} />}
      <p class="muted">
        {more > 0 && `${integer(more)} more are in `}
        {more > 0 ? "" : "All that it reports: "}
        <a href={`#explore?chart=${of.table}.${of.lanes[0]?.lines[0]?.[1]}`}>
          the table {of.table}
        </a>
        .
      </p>
    </>
  );
}

/** The kinds of servers, each with its part of the page. */
export const SERVER_PARTS: readonly (Server & { readonly view: ComponentType })[] = SERVERS.map(
  (of) => ({ ...of, view: () => <Lanes of={of} /> }),
);
