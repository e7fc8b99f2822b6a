// Memory: what it was used for, and how it moved.

import { useMemo, useState } from "preact/hooks";
import { memory, memoryLanes } from "../charts/memory";
import { sentence } from "../charts/parts";
import { bytes, percent, tied } from "../data/format";
import { FigureTable } from "./FigureTable";
import { LaneChart } from "./LaneChart";
import { PartsBar, PartsList } from "./PartsBar";
import { usePage, useTables } from "./state";

export function Memory() {
  const { recording, window } = usePage();
  const tables = useTables("memory", "paging");
  const [open, setOpen] = useState(false);
  // Lanes are drawn when they are looked at.
  const [course, setCourse] = useState(false);
  const lanes = useMemo(
    () => (tables === undefined ? [] : memoryLanes(recording, tables)),
    [recording, tables],
  );
  const seen = useMemo(
    () => (tables === undefined ? undefined : memory(recording, tables, window)),
    [recording, tables, window],
  );
  if (seen === undefined) return <p class="muted">Reading the memory…</p>;
  const { use, leastAvailable, total, figures } = seen;
  const part =
    leastAvailable === undefined || total === undefined
      ? ""
      : ` (${percent(leastAvailable / total)})`;
  return (
    <>
      <p class="summary">
        {total !== undefined && `${bytes(total)} in all. `}
        {leastAvailable !== undefined && `At least ${bytes(leastAvailable)}${part} was available: `}
        {use && tied(`${sentence(use)}.`)}
      </p>
      {use && (
        <>
          <PartsBar
            whole={use}
            of="Memory"
            format={bytes}
            open={open}
            toggle={() => setOpen(!open)}
          />
          {open && <PartsList whole={use} format={bytes} quantity="Mean" />}
        </>
      )}
      <FigureTable caption="Memory held and moved" figures={figures} />
      <details class="course" onToggle={(event) => setCourse(event.currentTarget.open)}>
        <summary>Over time</summary>
        {course && <LaneChart lanes={lanes} label="Memory over time" />}
      </details>
    </>
  );
}
