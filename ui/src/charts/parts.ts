// A whole and its parts, to be drawn as one bar that is filled to its end. Pure; `views/PartsBar.tsx` paints.

import { percent } from "../data/format";
import type { Quality } from "../data/page.gen";
import type { Share } from "../data/units";

/** What is laid over a colour, so that parts differ without it. */
export type Mark = "none" | "up" | "down" | "upright" | "flat" | "dots" | "cross";

/** How a part is painted; colours are custom properties of theme/tokens.css. */
export interface Paint {
  readonly fill: string;
  /** The colour of the mark. */
  readonly ink: string;
  readonly mark: Mark;
  /** Whether its label is written in the colour for strong fills or for pale ones. */
  readonly strong: boolean;
}

/** One part of a whole. */
export interface Part {
  readonly key: string;
  readonly label: string;
  readonly value: number;
  readonly share: Share;
  /** Part of the bar in hundredths of a percent; those of all parts add up to 10,000. */
  readonly width: number;
  readonly paint: Paint;
  readonly quality: Quality;
  readonly help: string;
}

/** A whole with its parts, in the order in which they are drawn. */
export interface Whole {
  readonly total: number;
  readonly parts: readonly Part[];
}

export type PartAbout = Omit<Part, "share" | "width">;

/** Works out shares and widths of what is above zero; `undefined` where there is nothing. */
export function whole(about: readonly PartAbout[]): Whole | undefined {
  const parts = about.filter((part) => part.value > 0);
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  if (!(total > 0)) return undefined;
  const widths = apportioned(
    parts.map((part) => part.value),
    10_000,
  );
  return {
    total,
    parts: parts.map((part, place) => ({
      ...part,
      share: part.value / total,
      width: widths[place] ?? 0,
    })),
  };
}

/** Divides `seats` in proportion to `values`, whole ones, so that none is lost: largest remainders. */
export function apportioned(values: readonly number[], seats: number): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (!(total > 0)) return values.map(() => 0);
  const exact = values.map((value) => (value / total) * seats);
  const given = exact.map(Math.floor);
  const left = seats - given.reduce((sum, seat) => sum + seat, 0);
  const byRemainder = exact
    .map((value, place) => ({ place, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder || a.place - b.place);
  for (const { place } of byRemainder.slice(0, left)) given[place] = (given[place] ?? 0) + 1;
  return given;
}

/** The whole in one sentence, largest part first. */
export function sentence({ parts }: Whole): string {
  const largest = [...parts].sort((a, b) => b.share - a.share);
  return largest.map((part) => `${percent(part.share)} ${part.label}`).join(", ");
}

/** The whole as it is drawn, for who does not see it. */
export function spoken({ parts }: Whole): string {
  return parts.map((part) => `${percent(part.share)} ${part.label}`).join(", ");
}
