// Lanes one below the other on one time axis. Every chart of the page with a time axis is one of these:
// they share the cursor and what is in sight, and a window that is dragged on one is selected for all.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Lane, LaneHeat, LaneLine } from "../charts/lane";
import { heatReading, sizeAt } from "../charts/laneHeat";
import { ticks } from "../charts/outline";
import { reading, spoken, written } from "../charts/readout";
import { bandsPath, spikeSpans } from "../charts/spikes";
import { instant } from "../data/format";
import type { Pixels, Span } from "../data/units";
import { useSight } from "./axis";
import { useColours } from "./colours";
import { useCursor } from "./cursor";
import "./LaneChart.css";
import { ABOVE, AXIS, BELOW, heightOf, isDetailed, MARGIN, plot, tickCount } from "./plot";
import { usePage } from "./state";

/** Something that lies on the time axis and concerns all lanes: a phase, an event. */
export interface LaneMark {
  /** `to` is `from` for an instant. */
  readonly span: Span;
  /** A letter or number that stands at it; what it means is said elsewhere too. */
  readonly sign: string;
  readonly text: string;
}

interface Props {
  readonly lanes: readonly Lane[];
  /** What the chart shows, for who does not see it: `Pressure over time`. */
  readonly label: string;
  readonly marks?: readonly LaneMark[];
  /** CSS pixels of one lane. */
  readonly height?: Pixels;
  /** Shown between the axis and the lanes, as wide as the plots. */
  readonly children?: ComponentChildren;
}

export function LaneChart({ lanes, label, marks = [], height = 60, children }: Props) {
  const { axis } = usePage();
  const over = useRef<HTMLDivElement>(null);
  const width = useWidth(over);
  const view = useSight(axis, "view");
  // The same elements as long as nothing in them changed: a moving cursor draws no lane again.
  const rows = useMemo(
    () =>
      lanes.map((lane) => (
        <Row key={lane.id} lane={lane} height={heightOf(lane, height)} width={width} />
      )),
    [lanes, height, width],
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      class="lanes"
      role="group"
      aria-label={label}
      style={{ "--axis": `${AXIS}px`, "--margin": `${MARGIN}px` }}
    >
      <Scale view={view} width={width} />
      {children}
      <div class={marks.length > 0 ? "lanes-rows lanes-marked" : "lanes-rows"}>
        {rows}
        <Overlay over={over} lanes={lanes} label={label} view={view} marks={marks} />
      </div>
      <p class="offscreen">{lanes.map((lane) => lane.alternative).join(" ")}</p>
    </div>
  );
}

/** The width of a plot with its axis; 0 until it is known. */
export function useWidth(element: { current: HTMLElement | null }): Pixels {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const target = element.current;
    if (target === null) return;
    const measure = () => setWidth(target.clientWidth + AXIS + MARGIN);
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    // Paper is not waited for by observers.
    addEventListener("beforeprint", measure);
    return () => {
      observer.disconnect();
      removeEventListener("beforeprint", measure);
    };
  }, [element]);
  return width;
}

/** The time axis in words, and what is in sight of it. */
export function Scale({ view, width }: { view: Span; width: Pixels }) {
  const { axis, selected } = usePage();
  const draft = useSight(axis, "draft");
  const { at, step } = ticks(view, tickCount(width));
  const window = draft ?? selected;
  const zoomed = view !== axis.whole;
  return (
    <div class="lanes-scale">
      <div class="lanes-zoom">
        <button
          type="button"
          class="button"
          disabled={window === undefined}
          onClick={() => window && axis.change({ view: window })}
        >
          Zoom in
        </button>
        <button
          type="button"
          class="button"
          disabled={!zoomed}
          onClick={() => axis.change({ view: axis.whole })}
        >
          All
        </button>
      </div>
      <div class="lanes-ticks" aria-hidden="true">
        {at.map((tick) => (
          <span key={tick} style={{ left: place(tick, view) }}>
            {instant(tick, step)}
          </span>
        ))}
      </div>
    </div>
  );
}

function place(at: number, view: Span): string {
  return `${(100 * (at - view.from)) / (view.to - view.from)}%`;
}

interface RowProps {
  readonly lane: Lane;
  readonly height: Pixels;
  readonly width: Pixels;
}

function Row({ lane, height, width }: RowProps) {
  const [open, setOpen] = useState(false);
  const into = useRef<HTMLDivElement>(null);
  if (lane.still !== undefined && !open) {
    return (
      <div class="lane lane-still" data-lane={lane.id}>
        <button type="button" aria-expanded={false} onClick={() => setOpen(true)}>
          {lane.title}: {lane.still}
        </button>
      </div>
    );
  }
  return (
    <div class={lane.slim ? "lane lane-slim" : "lane"} data-lane={lane.id}>
      <div class="lane-head">
        <h3 title={lane.title}>
          {lane.still === undefined ? (
            lane.title
          ) : (
            <button type="button" aria-expanded={true} onClick={() => setOpen(false)}>
              {lane.title}
            </button>
          )}
        </h3>
        <Readout lane={lane} />
        {lane.heat && <HeatReading heat={lane.heat} plot={into} />}
      </div>
      <div ref={into} class="lane-plot" style={{ height: `${height}px` }}>
        <Plot lane={lane} height={height} width={width} />
      </div>
    </div>
  );
}

/** Each line with its number at the cursor; without one, over the window. */
function Readout({ lane }: { lane: Lane }) {
  const { axis, window } = usePage();
  const cursor = useSight(axis, "cursor");
  const text = (line: LaneLine) => {
    if (cursor !== undefined) return reading(lane, line, cursor);
    return line.over === undefined ? "" : written(lane, line, line.over(window));
  };
  // A stack is read from the top, as it is painted.
  const lines = lane.stacked ? [...lane.lines].reverse() : lane.lines;
  return (
    <ul class="lane-lines">
      {lines.map((line) => (
        <li key={line.label}>
          <Swatch line={line} />
          <span class="lane-label">{line.label}</span>
          <span class="lane-value">{text(line)}</span>
        </li>
      ))}
    </ul>
  );
}

/** How many there were where the pointer is; without it what the colours mean. */
function HeatReading({
  heat,
  plot,
}: {
  readonly heat: LaneHeat;
  readonly plot: { current: HTMLElement | null };
}) {
  const { axis } = usePage();
  const cursor = useSight(axis, "cursor");
  const [size, setSize] = useState<number>();
  useEffect(() => {
    const rows = plot.current?.closest(".lanes-rows");
    const move = (event: Event) => {
      const box = plot.current?.getBoundingClientRect();
      if (box === undefined || !(event instanceof PointerEvent)) return;
      const height = (box.bottom - BELOW - event.clientY) / (box.height - ABOVE - BELOW);
      setSize(height >= 0 && height < 1 ? sizeAt(heat, height) : undefined);
    };
    rows?.addEventListener("pointermove", move);
    return () => rows?.removeEventListener("pointermove", move);
  }, [heat, plot]);
  if (cursor !== undefined) return <p class="lane-heat">{heatReading(heat, cursor, size)}</p>;
  return (
    <p class="lane-heat muted">
      few <span class="lane-ramp" aria-hidden="true" /> many (log)
    </p>
  );
}

function Swatch({ line }: { line: LaneLine }) {
  const stroke = `var(${line.colour})`;
  return (
    <svg class="lane-swatch" viewBox="0 0 14 10" aria-hidden="true">
      {line.style === "area" && (
        <rect width="14" height="10" fill={stroke} fill-opacity={line.fill} />
      )}
      <path
        d={line.style === "area" ? "M0 .75H14" : "M0 5H14"}
        stroke={stroke}
        stroke-width="1.5"
        {...(line.dash && { "stroke-dasharray": line.dash.join(" ") })}
      />
    </svg>
  );
}

function Plot({ lane, height, width }: { lane: Lane; height: Pixels; width: Pixels }) {
  const { axis } = usePage();
  const into = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const colours = useColours();
  const view = useSight(axis, "view");
  const known = width > 0;
  // A lane with more bins than pixels is condensed to what is in sight of it.
  const detail = known && isDetailed(lane, width, view) ? `${view.from} ${view.to} ${width}` : "";
  const now = useRef({ width, height, view });
  now.current = { width, height, view };
  // biome-ignore lint/correctness/useExhaustiveDependencies: new colours and detail are painted too
  useLayoutEffect(() => {
    if (into.current === null || !known) return;
    const painted = plot(lane, now.current, now.current.view, into.current);
    chart.current = painted;
    return () => painted.destroy();
  }, [lane, known, colours, detail]);
  // Before the next painting, which may be on paper.
  useLayoutEffect(() => {
    const painted = chart.current;
    if (painted === undefined || width === 0) return;
    if (painted.width !== width || painted.height !== height) painted.setSize({ width, height });
  }, [width, height]);
  useLayoutEffect(() => {
    const { min, max } = chart.current?.scales.x ?? {};
    if (min === view.from && max === view.to) return;
    chart.current?.setScale("x", { min: view.from, max: view.to });
  }, [view]);
  return <div ref={into} />;
}

interface OverlayProps {
  readonly over: { current: HTMLDivElement | null };
  readonly lanes: readonly Lane[];
  readonly label: string;
  readonly view: Span;
  readonly marks: readonly LaneMark[];
}

/** What lies over all lanes: the window, the marks, the cursor; and pointer and keys. */
export function Overlay({ over, lanes, label, view, marks }: OverlayProps) {
  const { axis, window, selected, recording } = usePage();
  const cursor = useSight(axis, "cursor");
  const draft = useSight(axis, "draft");
  const { handlers, byKeys } = useCursor();
  const step = recording.page.step_ns;
  const said = useMemo(
    () => (byKeys === undefined ? "" : spoken(lanes, byKeys, step)),
    [lanes, byKeys, step],
  );
  const shade = draft ?? window;
  const bands = useMemo(() => bandsPath(spikeSpans(recording), view), [recording, view]);
  const visible = marks.filter(({ span }) => span.to >= view.from && span.from <= view.to);
  return (
    <>
      <div
        ref={over}
        class="lanes-over"
        role="slider"
        tabIndex={0}
        aria-label={`Cursor of ${label}. Arrows move it, Shift and arrows choose a window, Enter selects it, Escape clears it, plus and minus zoom.`}
        aria-valuemin={view.from / 1e9}
        aria-valuemax={view.to / 1e9}
        aria-valuenow={(cursor ?? view.from) / 1e9}
        aria-valuetext={cursor === undefined ? "no cursor" : instant(cursor, step)}
        {...handlers}
      >
        <Shade span={shade} view={view} kind={draft ? "draft" : selected ? "selected" : "judged"} />
        {bands && (
          <svg class="lanes-spikes" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
            <path d={bands} />
          </svg>
        )}
        {visible.map(({ span, sign, text }) => (
          <div
            key={`${span.from} ${text}`}
            class="lanes-mark"
            style={{ left: place(span.from, view) }}
            title={text}
          >
            <span>{sign}</span>
          </div>
        ))}
        {cursor !== undefined && cursor >= view.from && cursor <= view.to && (
          <div class="lanes-cursor" style={{ left: place(cursor, view) }}>
            <span>{instant(cursor, step)}</span>
          </div>
        )}
      </div>
      <p class="offscreen" aria-live="polite">
        {said}
      </p>
    </>
  );
}

interface ShadeProps {
  readonly span: Span;
  readonly view: Span;
  readonly kind: "draft" | "selected" | "judged";
}

function Shade({ span, view, kind }: ShadeProps) {
  const from = Math.max(span.from, view.from);
  const to = Math.min(span.to, view.to);
  if (from >= to) return null;
  const width = `${(100 * (to - from)) / (view.to - view.from)}%`;
  return (
    <div class={`lanes-shade lanes-${kind}`} style={{ left: place(from, view), width }}>
      <span>judged</span>
    </div>
  );
}
