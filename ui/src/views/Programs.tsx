// Programs that were started, on the page's time axis: a row for each, a bar for each run.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { binOf, finest } from "../charts/cursor";
import {
  around,
  type Program,
  programs,
  programWords,
  type Runs,
  runsOf,
  shortName,
} from "../charts/programs";
import { spanWords } from "../charts/run";
import { duration, instant, integer } from "../data/format";
import { reasonOf } from "../data/gaps";
import type { RowTable } from "../data/tables";
import { useSight } from "./axis";
import { useColours } from "./colours";
import { Overlay, Scale, useWidth } from "./LaneChart";
import { NumberTable } from "./NumberTable";
import { paintPrograms, ROW } from "./paintPrograms";
import { AXIS, MARGIN } from "./plot";
import { useRow } from "./row";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import "./Programs.css";

export const PROGRAMS: Section = { id: "programs", title: "Programs started", view: Programs };

function Programs() {
  const { recording } = usePage();
  const tables = useTables("program_run");
  if (tables === undefined) return <p class="muted">Reading the programs…</p>;
  const table = tables.rows("program_run");
  if (table === undefined) {
    const why = recording.page.report.cost.programs?.processes;
    return (
      <p class="muted">
        {why
          ? `Which programs were started was not recorded: ${why}.`
          : "No start or end of a program was recorded."}
      </p>
    );
  }
  return <Rows table={table} />;
}

function Rows({ table }: { readonly table: RowTable }) {
  const { axis, recording, window } = usePage();
  const view = useSight(axis, "view");
  const over = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = Math.max(0, useWidth(over) - AXIS - MARGIN);
  const colours = useColours();
  const runs = useMemo(() => runsOf(table), [table]);
  const all = useMemo(() => programs(table, window), [table, window]);
  const { row, byKeys, handlers } = useRow(all.length, ROW);
  // Before the next painting, which may be on paper.
  // biome-ignore lint/correctness/useExhaustiveDependencies: new colours are painted too
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0)
      paintPrograms(canvas.current, { programs: all, runs, view, width });
  }, [all, runs, view, width, colours]);
  const { left_out } = table.about;
  const lost = recording.page.report.gaps.find((gap) => gap.table === "program_run");
  return (
    <>
      <p class="muted">
        A bar for each run; rows by CPU time of those that began from{" "}
        {spanWords(window, recording.page.step_ns)}.
        {left_out > 0 && ` ${integer(left_out)} runs with little CPU time are not drawn.`}
        {lost && ` Some were lost: ${reasonOf(lost)}.`}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div
        class="lanes programs"
        role="group"
        aria-label="Programs over time"
        style={{ "--axis": `${AXIS}px`, "--margin": `${MARGIN}px` }}
      >
        <Scale view={view} width={width + AXIS + MARGIN} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <div
          class="lanes-rows"
          role="group"
          aria-label="Up and down choose a program"
          {...handlers}
          style={{ height: `${all.length * ROW}px` }}
        >
          <div class="program-names" aria-hidden="true">
            {all.map(({ name }, at) => (
              <span key={name} title={name} class={at === row ? "program-at" : ""}>
                {shortName(name)}
              </span>
            ))}
          </div>
          <canvas ref={canvas} />
          <Overlay over={over} lanes={[]} label="programs over time" view={view} marks={[]} />
        </div>
        <p class="program-readout" aria-live={byKeys ? "polite" : "off"}>
          <Readout program={row === undefined ? undefined : all[row]} runs={runs} />
        </p>
      </div>
      <details>
        <summary>In numbers, over the window</summary>
        <Numbers all={all.filter(({ starts }) => starts > 0)} />
      </details>
    </>
  );
}

/** One program at the cursor. */
function Readout({
  program,
  runs,
}: {
  readonly program: Program | undefined;
  readonly runs: Runs;
}) {
  const { axis, recording } = usePage();
  const cursor = useSight(axis, "cursor");
  if (program === undefined)
    return <span class="muted">Point at a row, or choose it with up and down.</span>;
  const bin = cursor === undefined ? undefined : binOf(finest(recording.edges), cursor);
  return (
    <>
      <b>{program.name}</b>: {programWords(program)}
      {bin && `; at ${instant(bin.from, recording.page.step_ns)} ${around(program, runs, bin)}`}
    </>
  );
}

function Numbers({ all }: { readonly all: readonly Program[] }) {
  return (
    <NumberTable
      caption="Programs that were started in the window"
      titles={[
        ["Program"],
        "started",
        "CPU",
        ["mean", "number wide"],
        ["failed", "number wide"],
        ["by", "wide"],
      ]}
      rows={all.map((program) => [
        program.name,
        integer(program.starts),
        duration(program.cpu),
        duration(program.mean),
        integer(program.failed),
        program.by,
      ])}
    />
  );
}
