// Paints runs of programs on a canvas. Only pixels.

import { FAILED, KILLED, type Program, type Runs } from "../charts/programs";
import type { Pixels, Span } from "../data/units";
import { colour } from "./colours";

/** A row of bars. */
export const ROW: Pixels = 18;
/** A shorter run is as wide nevertheless. */
const LEAST: Pixels = 1.5;

export function paintPrograms(
  canvas: HTMLCanvasElement,
  {
    programs,
    runs,
    view,
    width,
  }: {
    readonly programs: readonly Program[];
    readonly runs: Runs;
    readonly view: Span;
    readonly width: Pixels;
  },
): void {
  const ratio = globalThis.devicePixelRatio || 1;
  const tall = ROW * programs.length;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(tall * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${tall}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  const x = (at: number) => ((at - view.from) / (view.to - view.from)) * width;
  const [line, bar, bad] = [colour("--line"), colour("--cpu", 0.65), colour("--bad")];
  programs.forEach(({ rows }, place) => {
    const top = place * ROW;
    context.fillStyle = line;
    context.fillRect(0, top + ROW - 1, width, 1);
    for (const row of rows) {
      const start = runs.starts[row] ?? 0;
      const left = Math.max(x(start), 0);
      const right = Math.min(x(start + (runs.durations[row] || 0)), width);
      if (right < 0 || left > width) continue;
      const wide = Math.max(right - left, LEAST);
      context.fillStyle = bar;
      context.fillRect(left, top + 3, wide, ROW - 7);
      const end = runs.ends[row];
      if (end === FAILED || end === KILLED) {
        // Where it ended.
        context.fillStyle = bad;
        context.fillRect(left + wide - LEAST, top + 1, LEAST, ROW - 3);
      }
    }
  });
}
