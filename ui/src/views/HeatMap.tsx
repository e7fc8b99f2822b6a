// The heat map of the CPUs, on the page's time axis.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { unseen } from "../charts/gaps";
import { cellAt, type Heat, heat, rowHeight } from "../charts/heat";
import { instant, percent } from "../data/format";
import type { Tables } from "../data/recording";
import { useSight } from "./axis";
import { useColours } from "./colours";
import "./HeatMap.css";
import { Overlay, Scale, useWidth } from "./LaneChart";
import { paintHeat } from "./paintHeat";
import { AXIS, MARGIN } from "./plot";
import { useRow } from "./row";
import { usePage } from "./state";

interface Props {
  readonly tables: Tables;
  readonly cpus: readonly { readonly place: number; readonly name: string }[];
}

export function HeatMap({ tables, cpus }: Props) {
  const { axis, recording } = usePage();
  const view = useSight(axis, "view");
  const over = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = Math.max(0, useWidth(over) - AXIS - MARGIN);
  const colours = useColours();
  const height = rowHeight(cpus.length);
  const { row = 0, byKeys, handlers } = useRow(cpus.length, height, 0);
  const cells = useMemo(() => {
    const gaps = unseen(recording, "cpu").map((gap) => gap.span);
    return width > 0 ? heat(tables, cpus, { window: view, most: width / 2, gaps }) : undefined;
  }, [recording, tables, cpus, view, width]);
  // Before the next painting, which may be on paper.
  // biome-ignore lint/correctness/useExhaustiveDependencies: new colours are painted too
  useLayoutEffect(() => {
    if (cells !== undefined && canvas.current !== null) {
      paintHeat(canvas.current, cells, { width, height });
    }
  }, [cells, width, height, colours]);

  // Where rows are lower than a line of text, only some are named.
  const every = Math.ceil(16 / height);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      class="lanes heat"
      role="group"
      aria-label="CPUs over time"
      style={{ "--axis": `${AXIS}px`, "--margin": `${MARGIN}px` }}
    >
      <Scale view={view} width={width + AXIS + MARGIN} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div
        class="lanes-rows heat-rows"
        role="group"
        aria-label="Up and down choose a CPU"
        {...handlers}
        style={{ height: `${cpus.length * height}px` }}
      >
        <div class="heat-names" aria-hidden="true">
          {cpus.map(
            ({ name }, at) =>
              at % every === 0 && (
                <span key={name} style={{ top: `${at * height}px` }}>
                  {name}
                </span>
              ),
          )}
        </div>
        <canvas ref={canvas} />
        <Overlay over={over} lanes={[]} label="CPUs over time" view={view} marks={[]} />
      </div>
      <p class="heat-readout" aria-live={byKeys ? "polite" : "off"}>
        <Readout cells={cells} row={row} />
      </p>
    </div>
  );
}

/** One CPU at the cursor. */
function Readout({ cells, row }: { readonly cells: Heat | undefined; readonly row: number }) {
  const { axis } = usePage();
  const cursor = useSight(axis, "cursor");
  const line = cells?.rows[row];
  if (line === undefined || cursor === undefined)
    return <Key thin={(cells?.rows.length ?? 0) > 64} />;
  const cell = cellAt(line, cursor);
  const of = (values: Float32Array) => {
    const value = values[cell] ?? Number.NaN;
    return Number.isNaN(value) ? "not seen" : percent(value);
  };
  return (
    <>
      <b>{line.name}</b> at {instant(cursor)}: busy {of(line.busy)}, at most {of(line.peak)}; steal{" "}
      {of(line.steal)}, iowait {of(line.iowait)}
    </>
  );
}

/** What the colours mean, while nothing is pointed at. */
function Key({ thin }: { readonly thin: boolean }) {
  return (
    <span class="heat-key">
      idle <span class="heat-ramp" /> busy
      <span class="muted">
        {thin ? "each cell by its busiest reading" : "along the upper edge: the busiest reading"}
      </span>
      <span>
        <span class="heat-steal" /> steal
      </span>
      <span>
        <span class="heat-iowait" /> iowait
      </span>
      <span class="muted">both as high as their part of the time</span>
    </span>
  );
}
