// Who talks to whom: by the service's port, over time and as a table.

import { useMemo } from "preact/hooks";
import { portLanes, trouble } from "../charts/connections";
import { duration, integer, percent, rate, tied, traffic } from "../data/format";
import { LaneChart } from "./LaneChart";
import { NumberTable } from "./NumberTable";
import type { Section } from "./section";
import { usePage, useTables } from "./state";

export const CONNECTIONS: Section = {
  id: "connections",
  title: "Connections",
  view: Connections,
  isOf: ({ connections = [] }) => connections.length > 0,
};

function Connections() {
  const { recording, report } = usePage();
  const { connections: ports = [] } = report;
  const tables = useTables("flow");
  const leftOut = recording.table("flow")?.left_out ?? 0;
  const lanes = useMemo(
    () => (tables === undefined ? [] : portLanes(recording, tables, ports)),
    [recording, tables, ports],
  );
  const known = (value: number | null | undefined, format: (value: number) => string) =>
    value == null ? "" : format(value);
  return (
    <div class="card">
      <p class="summary muted">
        Who asks whom, by the service's port, over the judged window. Of TCP these are the kernel's
        own counts, short connections included.
      </p>
      {lanes.length > 0 && <LaneChart lanes={lanes} label="Connections by port over time" />}
      {leftOut > 0 && (
        <p class="muted">
          {tied(
            `The chart is without ${integer(leftOut)} flows (a process, a peer and a port) that did least; the table has all.`,
          )}
        </p>
      )}
      <NumberTable
        caption="Who talks to whom, by port"
        titles={[
          ["Who asks whom"],
          "Open",
          "New/s",
          "Asked",
          "Answered",
          ["Requests/s", "number wide"],
          "Round trip",
          ["Sent again", "number wide"],
          ["Trouble", "wide"],
        ]}
        rows={ports.map((port) => [
          port.sentence,
          rate(port.open),
          rate(port.opened_per_second),
          traffic(port.asked_bytes_per_second),
          traffic(port.answered_bytes_per_second),
          known(port.requests_per_second, rate),
          known(port.rtt_ns ?? port.answer_ns, duration),
          known(port.retransmitted, percent),
          trouble(port),
        ])}
      />
    </div>
  );
}
