// What repeats: a quantity folded at a period, as a heat map in which a window can be chosen.

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  cellSpan,
  FOLDED,
  type Fold,
  type Foldable,
  fold,
  foldables,
  rateWords,
  rowMean,
} from "../charts/fold";
import { unseen } from "../charts/gaps";
import { spanWords } from "../charts/run";
import { foundPeriod } from "../charts/spikes";
import { duration } from "../data/format";
import { hull, type Pixels, SECOND } from "../data/units";
import { useSight } from "./axis";
import { useColours } from "./colours";
import { useWidth } from "./LaneChart";
import { paintFold } from "./paintFold";
import { AXIS, MARGIN } from "./plot";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import "./Folded.css";

export const FOLD: Section = { id: "repeats", title: "What repeats", view: Folded };

const HEIGHT: Pixels = 220;

function Folded() {
  const { recording } = usePage();
  const tables = useTables(...FOLDED);
  const all = useMemo(() => tables && foldables(recording, tables), [recording, tables]);
  const [id, setId] = useState("");
  const [period, setPeriod] = useState(foundPeriod(recording.page.report) ?? SECOND);
  if (all === undefined) return <p class="muted">Reading the recording…</p>;
  const chosen = all.find((it) => it.id === id) ?? all[0];
  if (chosen === undefined) return <p class="muted">Nothing was recorded that could repeat.</p>;
  return (
    <>
      <p class="fold-tools">
        <label>
          Of{" "}
          <select value={chosen.id} onChange={({ currentTarget }) => setId(currentTarget.value)}>
            {all.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>{" "}
        <label>
          fold each{" "}
          <input
            type="number"
            min={1}
            step="any"
            value={Math.round(period / 1e5) / 10}
            onChange={({ currentTarget }) => {
              const ms = Number(currentTarget.value);
              if (ms >= 1 && ms < 1e9) setPeriod(ms * 1e6);
            }}
          />{" "}
          ms
        </label>
      </p>
      <Cells chosen={chosen} period={Math.max(period, chosen.data.bin)} />
    </>
  );
}

/** A cell by its cycle and row. */
interface Cell {
  readonly cycle: number;
  readonly row: number;
}

function Cells({ chosen, period }: { readonly chosen: Foldable; readonly period: number }) {
  const { axis, recording, selected, select } = usePage();
  const view = useSight(axis, "view");
  const over = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = Math.max(0, useWidth(over) - AXIS - MARGIN);
  const colours = useColours();
  const [at, setAt] = useState<Cell>();
  const [anchor, setAnchor] = useState<Cell>();
  const [byKeys, setByKeys] = useState(false);
  const made = useMemo(() => {
    const gaps = unseen(recording, chosen.table).map((gap) => gap.span);
    return fold(chosen.data, { period, view, whole: recording.whole, gaps });
  }, [recording, chosen, period, view]);
  const draft = at && anchor && hull([anchor, at].map((it) => cellSpan(made, it.cycle, it.row)));
  const window = draft ?? selected;
  // Before the next painting, which may be on paper.
  // biome-ignore lint/correctness/useExhaustiveDependencies: new colours are painted too
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0)
      paintFold(canvas.current, made, { width, height: HEIGHT, window });
  }, [made, width, window?.from, window?.to, colours]);

  const inside = (value: number, count: number) =>
    Math.min(Math.max(Math.floor(value), 0), count - 1);
  const cellAt = (event: TargetedPointerEvent<HTMLElement>): Cell => {
    const box = event.currentTarget.getBoundingClientRect();
    return {
      cycle: inside(((event.clientX - box.left) / box.width) * made.cycles, made.cycles),
      row: inside(((event.clientY - box.top) / box.height) * made.rows, made.rows),
    };
  };
  const choose = (from: Cell | undefined, to: Cell) => {
    setAnchor(undefined);
    const spans = [from ?? to, to].map((it) => cellSpan(made, it.cycle, it.row));
    select(hull(spans));
  };
  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setAnchor(cellAt(event));
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    setByKeys(false);
    setAt(cellAt(event));
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLElement>) => {
    if (anchor !== undefined) choose(anchor, cellAt(event));
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    const now = at ?? { cycle: 0, row: 0 };
    if (step !== undefined) {
      setAnchor(event.shiftKey ? (anchor ?? now) : undefined);
      const to = { cycle: now.cycle + step[0], row: now.row + step[1] };
      setAt({ cycle: inside(to.cycle, made.cycles), row: inside(to.row, made.rows) });
    } else if (event.key === "Enter") choose(anchor, now);
    else if (event.key === "Escape") {
      setAnchor(undefined);
      if (anchor === undefined) select(undefined);
    } else return;
    setByKeys(true);
    event.preventDefault();
  };
  return (
    <>
      <div class="fold-map" style={{ "--axis": `${AXIS}px`, "--margin": `${MARGIN}px` }}>
        <div class="fold-offsets" aria-hidden="true">
          <span>0</span>
          <span>{duration(period)}</span>
        </div>
        <div
          ref={over}
          class="fold-cells"
          role="application"
          aria-label={`${chosen.title}, folded each ${duration(period)}: arrows move among cells, Shift and arrows choose a window, Enter selects it, Escape clears it`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk it
          tabIndex={0}
          style={{ height: `${HEIGHT}px` }}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={() => setAnchor(undefined)}
          onKeyDown={onKeyDown}
        >
          <canvas ref={canvas} />
        </div>
      </div>
      <p class="fold-readout" aria-live={byKeys ? "polite" : "off"}>
        <Readout made={made} chosen={chosen} at={at} />
      </p>
    </>
  );
}

const STEPS: Readonly<Record<string, readonly [cycles: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function Readout({
  made,
  chosen,
  at,
}: {
  readonly made: Fold;
  readonly chosen: Foldable;
  readonly at: Cell | undefined;
}) {
  if (at === undefined || at.cycle >= made.cycles || at.row >= made.rows)
    return (
      <span class="muted">
        A column for each {duration(made.period)}, from above to below; cells of{" "}
        {duration(made.cell)}, the darkest {rateWords(made.most, chosen.unit)}; hatched: not seen.
        {chosen.table.endsWith("_sample") &&
          " Sampled: a cell rests on few samples, a line on many."}
      </span>
    );
  const { unit } = chosen;
  return (
    <>
      {spanWords(cellSpan(made, at.cycle, at.row), made.cell)}:{" "}
      {rateWords(made.rates[at.cycle * made.rows + at.row] ?? Number.NaN, unit)}; at{" "}
      {duration(at.row * made.cell)} of all periods {rateWords(rowMean(made, at.row), unit)}
    </>
  );
}
