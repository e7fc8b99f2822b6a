// Paints a flame graph on a canvas. Only pixels.

import type { Box } from "../charts/flame";
import type { Pixels } from "../data/units";
import { colour } from "./colours";

/** A row of boxes. */
export const ROW: Pixels = 20;
/** Between the edge of a box and its text. */
const PAD: Pixels = 4;

/** How a box looks. */
export interface Look {
  /** A custom property, and how much of it is mixed into the card's colour. */
  readonly fill: string;
  readonly strength: number;
  /** How thick a line of the full colour along its lower edge is. */
  readonly line: Pixels;
  readonly text: string;
}

/** Where a box is. */
export function placeOf(
  { level, left, width }: Box,
  size: { readonly width: Pixels; readonly rows: number; readonly flipped: boolean },
) {
  const row = size.flipped ? size.rows - 1 - level : level;
  return { left: left * size.width, top: row * ROW, width: width * size.width };
}

export function paintFlame(
  canvas: HTMLCanvasElement,
  boxes: readonly Box[],
  size: { readonly width: Pixels; readonly rows: number; readonly flipped: boolean },
  lookOf: (box: Box) => Look,
): void {
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.rows * ROW * ratio);
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.rows * ROW}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  context.textBaseline = "middle";
  const ink = colour("--ink");
  // Of a face in which all letters are as wide.
  const letter = context.measureText("m").width;
  for (const box of boxes) {
    const { left, top, width } = placeOf(box, size);
    const look = lookOf(box);
    // A line of the card's colour parts boxes that have room for one.
    const inner = width > 3 ? width - 1 : width;
    context.fillStyle = colour(look.fill, look.strength, "--card");
    context.fillRect(left, top, inner, ROW - 1);
    if (look.line > 0) {
      context.fillStyle = colour(look.fill, 0.6);
      context.fillRect(left, top + ROW - 1 - look.line, inner, look.line);
    }
    const letters = Math.floor((inner - 2 * PAD) / letter);
    if (letters < 3) continue;
    const text =
      look.text.length > letters ? `${look.text.slice(0, letters - 1)}\u2026` : look.text;
    context.fillStyle = ink;
    context.fillText(text, left + PAD, top + ROW / 2);
  }
}
