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
  const tables = useTables("database", "session");
  const seen = useMemo(() => {
    if (tables === undefined) return undefined;
    return {
      servers: databases(recording, tables, window),
      sessions: sessions(recording, tables, window),
    };
  }, [recording, tables, window]);
  if (seen === undefined) return <p class="muted">Reading PostgreSQL's counters…</p>;
  const listed = seen.sessions.slice(0, MOST);
  return (
    <>
      {seen.servers.map(({ name, figures, hit }) => (
        <div key={name}>
          {hit !== undefined && (
            <p class="summary">{percent(hit)} of the blocks were found in shared buffers.</p>
          )}
          <FigureTable caption={name} figures={figures} />
        </div>
      ))}
      {listed.length > 0 && (
        <details>
          <summary>{integer(seen.sessions.length)} sessions, as last seen in the window</summary>
          <NumberTable
            caption="Sessions as last seen in the window"
            titles={[
              ["Session"],
              ["State"],
              ["Waits for"],
              ["Blocked by"],
              ["In a transaction for", "number"],
            ]}
          >
            {listed.map((session) => (
              <tr key={session.name}>
                <th scope="row">{session.name}</th>
                <td>{session.state}</td>
                <td>{session.waits}</td>
                <td>{session.blockedBy}</td>
                <td class="number">{session.age === undefined ? "" : duration(session.age)}</td>
              </tr>
            ))}
          </NumberTable>
          {seen.sessions.length > MOST && (
            <p class="muted">{integer(seen.sessions.length - MOST)} more.</p>
          )}
        </details>
      )}
    </>
  );
}
