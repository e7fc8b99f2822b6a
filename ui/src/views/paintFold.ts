// Paints a folded quantity on a canvas. Only pixels.

import { cellSpan, type Fold } from "../charts/fold";
import { intersection, type Pixels, type Span } from "../data/units";
import { colour } from "./colours";

/** Steps of darkness; more cannot be told apart. */
const STEPS = 24;

export function paintFold(
  canvas: HTMLCanvasElement,
  made: Fold,
  { width, height, window }: { width: Pixels; height: Pixels; window: Span | undefined },
): void {
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  const { rows, cycles, rates, most } = made;
  const [wide, tall] = [width / cycles, height / rows];
  const ramp = Array.from({ length: STEPS + 1 }, (_, step) =>
    colour("--cpu", step === 0 ? 0 : 0.08 + (0.92 * step) / STEPS, "--card"),
  );
  const chosen = colour("--ink");
  hatch(context, width, height);
  for (let at = 0; at < rates.length; at++) {
    const rate = rates[at] ?? Number.NaN;
    if (Number.isNaN(rate)) continue;
    const [cycle, row] = [Math.floor(at / rows), at % rows];
    const [left, top] = [cycle * wide, row * tall];
    context.fillStyle = ramp[most > 0 ? Math.ceil((rate / most) * STEPS) : 0] ?? "";
    // Cells overlap a little, so that no seam shows between them.
    context.fillRect(left, top, wide + 0.4, tall + 0.4);
  }
  if (window === undefined) return;
  context.fillStyle = chosen;
  for (let at = 0; at < rates.length; at++) {
    const [cycle, row] = [Math.floor(at / rows), at % rows];
    // A line at the left of each cell that is chosen.
    if (intersection(cellSpan(made, cycle, row), window) === undefined) continue;
    context.fillRect(cycle * wide, row * tall, 1.5, tall);
  }
}

/** What lies below all cells: it shows where nothing was seen. */
function hatch(context: CanvasRenderingContext2D, width: Pixels, height: Pixels): void {
  context.strokeStyle = colour("--muted", 0.55);
  context.lineWidth = 0.75;
  context.beginPath();
  for (let at = -height; at < width; at += 6) {
    context.moveTo(at, height);
    context.lineTo(at + height, 0);
  }
  context.stroke();
}
