// One lane on a canvas: uPlot's options out of a lane. Only painting.

import uPlot from "uplot";
import { condensed, isDense } from "../charts/condense";
import type { Lane, LaneHeat } from "../charts/lane";
import { cellsIn, darkness, decades } from "../charts/laneHeat";
import { outline, reach, type Stroke, ticks } from "../charts/outline";
import { brief } from "../data/format";
import type { Pixels, Span } from "../data/units";
import { colour } from "./colours";

/** Room for the numbers of the vertical axis. */
export const AXIS: Pixels = 64;
/** Room at the right edge, so that nothing is cut off. */
export const MARGIN: Pixels = 10;
/** Lines of text beside a lane: its title, and one per line of it. */
const TEXT: Pixels = 16;
/** How far apart instants are marked. */
const TICK: Pixels = 90;

/** How many instants a chart of a width has room for. */
export function tickCount(width: Pixels): number {
  return Math.max(2, Math.floor((width - AXIS - MARGIN) / TICK));
}

/** What a lane needs, `least` or more, so that its readout fits beside it. */
export function heightOf(lane: Lane, least: Pixels): Pixels {
  const own = lane.heat !== undefined ? HEAT : lane.slim ? 0 : least;
  return Math.max(own, 10 + TEXT * (1 + lane.lines.length));
}

/** Room for the cells of a heat. */
const HEAT: Pixels = 80;
/** Above and below a plot: its numbers keep clear of the lines between lanes. */
export const ABOVE: Pixels = 9;
export const BELOW: Pixels = 7;
/** A cell of a heat is at least so wide. */
const CELL: Pixels = 3;

export interface Size {
  readonly width: Pixels;
  readonly height: Pixels;
}

/** Whether a lane is painted anew for another view or size, and not only moved. */
export function isDetailed(lane: Lane, width: Pixels, view: Span): boolean {
  return isDense(lane, view, width - AXIS - MARGIN);
}

/** A painted lane, in `into`. */
export function plot(lane: Lane, size: Size, view: Span, into: HTMLElement): uPlot {
  const width = size.width - AXIS - MARGIN;
  const { x, strokes } = outline(isDense(lane, view, width) ? condensed(lane, view, width) : lane);
  const { heat } = lane;
  const { low, high } = heat === undefined ? reach(lane) : ends(heat);
  const linear = uPlot.paths.linear?.();
  const series = strokes.map(
    (stroke): uPlot.Series => ({
      ...style(stroke, lane),
      points: { show: false },
      ...(linear && { paths: linear }),
    }),
  );
  const bands: uPlot.Band[] = [];
  for (const [index, stroke] of strokes.entries()) {
    const { line } = stroke;
    if (stroke.of === "high") {
      bands.push({ series: [index + 1, index + 2], fill: colour(line.colour, 0.28) });
    }
  }
  const options: uPlot.Options = {
    ...size,
    legend: { show: false },
    cursor: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    padding: [ABOVE, MARGIN, BELOW, 0],
    scales: {
      x: { time: false, range: (_, min, max) => [min, max], min: view.from, max: view.to },
      y: { range: () => [low, high], distr: heat === undefined ? 1 : 3 },
    },
    axes: [
      {
        size: 0,
        grid: { stroke: colour("--line"), width: 1 },
        ticks: { show: false },
        splits: (self, _, from, to) => ticks({ from, to }, tickCount(self.width)).at,
        values: () => [],
      },
      {
        size: AXIS,
        gap: 6,
        font: `11px ${getComputedStyle(into).fontFamily}`,
        stroke: colour("--muted"),
        grid: { stroke: colour("--line"), width: 1 },
        ticks: { show: false },
        splits: () => (heat ? decades(heat) : low < 0 ? [low, 0, high] : [0, high]),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map((value) => brief(lane.format(value))),
      },
    ],
    series: [{}, ...series],
    bands,
    hooks: {
      drawAxes: [(self) => cells(self, lane), (self) => unseen(self, lane)],
      draw: [(self) => threshold(self, lane)],
    },
  };
  const chart = new uPlot(options, [x, ...strokes.map((stroke) => stroke.y)], into);
  chart.setScale("x", { min: view.from, max: view.to });
  return chart;
}

function style({ line, of }: Stroke, lane: Lane): uPlot.Series {
  if (of !== "values") return { width: 0 };
  const dash = line.dash && { dash: [...line.dash] };
  if (lane.stacked) {
    // What lies below a line of a stack is painted over it: no mixing of colours.
    return {
      stroke: colour(line.colour),
      width: 0.5,
      fill: colour(line.colour, line.fill, "--card"),
    };
  }
  const stroke = { stroke: colour(line.colour), width: line.style === "area" ? 1 : 1.25, ...dash };
  return line.style === "area" ? { ...stroke, fill: colour(line.colour, line.fill) } : stroke;
}

function ends({ bounds }: LaneHeat): { low: number; high: number } {
  return { low: bounds[0] ?? 1, high: bounds[bounds.length - 1] ?? 1 };
}

/** Steps of darkness; more cannot be told apart. */
const STEPS = 24;

/** Paints a heat behind the lines. */
function cells(self: uPlot, { heat }: Lane): void {
  const { min, max } = self.scales.x ?? {};
  if (heat === undefined || typeof min !== "number" || typeof max !== "number") return;
  const { ctx, bbox } = self;
  const most = bbox.width / (CELL * uPlot.pxRatio);
  const { edges, rates, most: highest } = cellsIn(heat, { from: min, to: max }, most);
  const x = Array.from(edges, (at) => Math.round(self.valToPos(at, "x", true)));
  const y = Array.from(heat.bounds, (size) => Math.round(self.valToPos(size, "y", true)));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const [row, own] of rates.entries()) {
    const [foot, head] = [y[row] ?? 0, y[row + 1] ?? 0];
    for (const [cell, value] of own.entries()) {
      const step = Math.round(darkness(value, highest) * STEPS);
      if (step === 0) continue;
      ctx.fillStyle = colour("--latency", step / STEPS, "--card");
      const left = x[cell] ?? 0;
      ctx.fillRect(left, head, (x[cell + 1] ?? 0) - left, foot - head);
    }
  }
  ctx.restore();
}

/** Hatches what was not seen. */
function unseen(self: uPlot, lane: Lane): void {
  const { ctx, bbox } = self;
  for (const { span } of lane.unseen) {
    const left = Math.max(self.valToPos(span.from, "x", true), bbox.left);
    const right = Math.min(self.valToPos(span.to, "x", true), bbox.left + bbox.width);
    if (right <= left) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, Math.max(right - left, 1), bbox.height);
    ctx.clip();
    ctx.strokeStyle = colour("--muted", 0.55);
    ctx.lineWidth = uPlot.pxRatio;
    ctx.beginPath();
    const step = 6 * uPlot.pxRatio;
    for (let x = left - bbox.height - (left % step); x < right; x += step) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
}

/** The value that a finding was held against. */
function threshold(self: uPlot, lane: Lane): void {
  if (lane.threshold === undefined) return;
  const { ctx, bbox } = self;
  const y = Math.round(self.valToPos(lane.threshold.value, "y", true));
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = colour("--bad");
  ctx.fillStyle = colour("--bad");
  ctx.lineWidth = ratio;
  ctx.setLineDash([5 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * ratio}px ${getComputedStyle(self.root).fontFamily}`;
  ctx.textAlign = "right";
  const above = y - bbox.top > 16 * ratio;
  ctx.textBaseline = above ? "bottom" : "top";
  const at = [bbox.left + bbox.width - 2 * ratio, y + (above ? -2 : 3) * ratio] as const;
  // Lines that pass behind it do not strike it through.
  ctx.setLineDash([]);
  ctx.strokeStyle = colour("--card");
  ctx.lineWidth = 4 * ratio;
  ctx.lineJoin = "round";
  ctx.strokeText(lane.threshold.label, ...at);
  ctx.fillText(lane.threshold.label, ...at);
  ctx.restore();
}
