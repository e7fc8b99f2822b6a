// Lanes that are declared: a title, and whose columns. Unit, axis and look follow from the columns and their place.

import type { Recording, Tables } from "../data/recording";
import { binLane, type LineDraft, seriesOf } from "./binLane";
import { unseen } from "./gaps";
import type { Lane } from "./lane";
import { scaleOf } from "./scale";

/** A line: what it is called, the columns that it is the sum of, and its colour where that is not the lanes' own. */
export type LineRecipe = readonly [label: string, columns: string, colour?: string];

/** A lane of columns of one unit. */
export interface LaneRecipe {
  /** What it is called elsewhere, where that is not its title. */
  readonly id?: string;
  readonly title: string;
  readonly lines: readonly LineRecipe[];
  /** The axis reaches at least to here, where its unit does not say. */
  readonly least?: number;
  /** Whether times of several add up in it, so that it is how many there were at a time. */
  readonly several?: boolean;
  /** Where a number of the columns stands for so many of what is shown. */
  readonly factor?: number;
  readonly format?: (value: number) => string;
}

/** Lanes of one table. */
export interface LaneRecipes {
  readonly table: string;
  /** What makes ids unique where several entities have the same lanes. */
  readonly prefix?: string;
  readonly colour: string;
  readonly lanes: readonly LaneRecipe[];
}

/** What comes in and what goes out, as one lane. */
export function inOut(
  title: string,
  [come, go]: readonly [string, string],
  columns: readonly [string, string],
): LaneRecipe {
  const lines: readonly LineRecipe[] = [
    [come, columns[0]],
    [go, columns[1]],
  ];
  return { title, least: 1, lines };
}

/** By a line's place: the first is filled, others differ without colour. */
const look = (place: number): Pick<LineDraft, "fill" | "style" | "dash"> =>
  place === 0
    ? { fill: 0.3, style: "area" }
    : { fill: 0, style: "line", dash: place === 1 ? [4, 2] : [1, 3] };

/** The lanes that a table has columns for, of the entities that `which` wants; `concerns` looks at gaps. */
export function recipeLanes(
  recording: Recording,
  tables: Tables,
  { table, colour, lanes, prefix = "" }: LaneRecipes,
  which?: (entity: number) => boolean,
  concerns?: (what: string) => boolean,
): Lane[] {
  const bins = tables.bins(table);
  if (bins === undefined) return [];
  const gaps = unseen(recording, table, concerns);
  return lanes.flatMap(({ title, id = title, several, lines, ...own }) => {
    const drafts = lines.flatMap(([label, names, ink = colour], place) => {
      const columns = names.split(" ");
      const column = bins.about.columns.find(({ name }) => name === columns[0]);
      if (column === undefined) return [];
      const scale = scaleOf(table, column, several);
      const series = seriesOf(bins, columns, which);
      const factor = own.factor ?? scale.factor;
      return [{ scale, line: { ...look(place), label, colour: ink, series, factor } }];
    });
    const [first] = drafts;
    if (first === undefined) return [];
    const { format, least, binary } = { ...first.scale, ...own };
    const draft = { id: prefix + id, title, format, least, binary, unseen: gaps };
    return binLane(bins, { ...draft, lines: drafts.map(({ line }) => line) }) ?? [];
  });
}
