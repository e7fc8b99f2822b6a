// Paints a heat map on a canvas. Only pixels.

import type { Heat, HeatRow } from "../charts/heat";
import type { Pixels } from "../data/units";
import { colour } from "./colours";

/** Steps of lightness; more cannot be told apart. */
const STEPS = 24;
/** A row as high as this has room for mean and busiest reading. */
const TALL: Pixels = 8;
/** Less than this of steal or iowait is not marked. */
const LEAST = 0.01;

export function paintHeat(
  canvas: HTMLCanvasElement,
  heat: Heat,
  { width, height }: { readonly width: Pixels; readonly height: Pixels },
): void {
  const ratio = globalThis.devicePixelRatio || 1;
  const tall = height * heat.rows.length;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(tall * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${tall}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  const ramp = Array.from({ length: STEPS + 1 }, (_, step) =>
    colour("--cpu", 0.04 + (0.96 * step) / STEPS, "--card"),
  );
  const { from, to } = heat.window;
  const x = (at: number) => ((at - from) / (to - from)) * width;
  heat.rows.forEach((row, place) => {
    const top = place * height;
    for (let cell = 0; cell < row.busy.length; cell++) {
      const left = x(row.edges[cell] ?? 0);
      const right = x(row.edges[cell + 1] ?? 0);
      paintCell(context, ramp, { row, cell, left, right, top, height });
    }
  });
}

interface Cell {
  readonly row: HeatRow;
  readonly cell: number;
  readonly left: Pixels;
  readonly right: Pixels;
  readonly top: Pixels;
  readonly height: Pixels;
}

function paintCell(
  context: CanvasRenderingContext2D,
  ramp: readonly string[],
  { row, cell, left, right, top, height }: Cell,
): void {
  // A line of the card's colour parts rows that are high enough for one.
  const inner = height >= TALL ? height - 1 : height;
  // Cells overlap a little, so that no seam shows between them.
  const wide = right - left + 0.4;
  const busy = row.busy[cell] ?? Number.NaN;
  if (Number.isNaN(busy)) {
    hatch(context, left, right, top, inner);
    return;
  }
  const step = (share: number) => ramp[Math.round(Math.min(Math.max(share, 0), 1) * STEPS)] ?? "";
  const peak = row.peak[cell] ?? busy;
  context.fillStyle = step(height >= TALL ? busy : peak);
  context.fillRect(left, top, wide, inner);
  if (height >= TALL && peak - busy > 1 / STEPS) {
    context.fillStyle = step(peak);
    context.fillRect(left, top, wide, Math.max(3, inner / 4));
  }
  const steal = high(row.steal[cell], inner);
  const iowait = high(row.iowait[cell], inner);
  if (steal > 0) {
    context.fillStyle = colour("--steal");
    context.fillRect(left, top + inner - steal, wide, steal);
    stripes(context, "--card", { left, right, top: top + inner - steal, height: steal });
  }
  if (iowait > 0) {
    const above = top + inner - steal - iowait;
    stripes(context, "--io", { left, right, top: above, height: iowait });
  }
}

/** How high a mark stands: its part of the row, and never too low to be seen. */
function high(share: number | undefined, height: Pixels): Pixels {
  return share === undefined || !(share >= LEAST) ? 0 : Math.max(2, share * height);
}

/** Upright lines, three pixels apart all along the row. */
function stripes(
  context: CanvasRenderingContext2D,
  property: string,
  { left, right, top, height }: { left: Pixels; right: Pixels; top: Pixels; height: Pixels },
): void {
  context.fillStyle = colour(property);
  for (let at = Math.ceil(left / 3) * 3; at < right; at += 3) {
    context.fillRect(at, top, property === "--card" ? 1 : 1.6, height);
  }
}

function hatch(
  context: CanvasRenderingContext2D,
  left: Pixels,
  right: Pixels,
  top: Pixels,
  height: Pixels,
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, height);
  context.clip();
  context.strokeStyle = colour("--muted");
  context.lineWidth = 0.75;
  context.beginPath();
  for (let at = Math.floor((left - height) / 5) * 5; at < right; at += 5) {
    context.moveTo(at, top + height);
    context.lineTo(at + height, top);
  }
  context.stroke();
  context.restore();
}
