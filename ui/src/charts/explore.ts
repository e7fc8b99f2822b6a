// Any column of any table as a chart, straight from its description. Which charts stand on the page is
// written in the address's fragment, so that a link leads to them; what is no chart there is left out.

import { percent, rate } from "../data/format";
import type { Evidence, PageColumn, PageTable } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { meanOver, rateOver, type Series } from "../data/series";
import type { RowTable } from "../data/tables";
import { type Nanoseconds, SECOND, type Span } from "../data/units";
import { completed } from "./binLane";
import { binned, bounds } from "./bins";
import { colourOf } from "./evidence";
import { unseen } from "./gaps";
import type { Lane, LaneLine } from "./lane";
import { type Scale, scaleOf } from "./scale";
import { isCode, type States, stateLines, states, wordsOf } from "./states";

/** One chart: a column of some of those that a table is about. */
export interface Choice {
  readonly table: string;
  readonly column: string;
  /** Places in the page's entities; empty for those with the largest numbers. */
  readonly entities: readonly number[];
}

/** So many charts, and lines of one, still fit on a page. */
export const MOST_CHARTS = 12;
export const MOST_LINES = 8;
/** Lines where nobody was chosen. */
const USUAL_LINES = 3;

const START = "#explore?";

const ELSEWHERE: readonly string[] = ["program_run", "on_cpu", "cpu_bin", "blocked", "request_bin"];

/** The tables whose columns have charts: call stacks, runs of programs and fine bins have sections of their own. */
export function chartTables(tables: readonly PageTable[]): PageTable[] {
  return tables.filter(
    ({ form, name }) => form.kind === "bins" || (form.kind === "rows" && !ELSEWHERE.includes(name)),
  );
}

/** The address of charts: `#explore?chart=cpu.user_ns@3,4`. */
export function fragmentOf(choices: readonly Choice[]): string {
  const text = ({ table, column, entities }: Choice) => {
    const who = entities.length > 0 ? `@${entities.join(",")}` : "";
    return `chart=${encodeURIComponent(`${table}.${column}`)}${who}`;
  };
  return START + choices.map(text).join("&");
}

/** Whether an address is one of charts. */
export function isExplored(fragment: string): boolean {
  return fragment.startsWith(START);
}

/** The charts of an address; whatever names no column of this page is left out. */
export function choicesOf(fragment: string, recording: Recording): Choice[] {
  if (!isExplored(fragment)) return [];
  return fragment
    .slice(START.length)
    .split("&")
    .slice(0, MOST_CHARTS)
    .flatMap((part) => choiceOf(part, recording) ?? []);
}

function choiceOf(part: string, recording: Recording): Choice | undefined {
  const found = /^chart=([^@]+)(?:@([\d,]*))?$/.exec(part);
  const [table = "", column = ""] = decoded(found?.[1] ?? "").split(".");
  const about = recording.table(table);
  if (about === undefined || chartTables([about]).length === 0) return undefined;
  if (!about.columns.some((other) => other.name === column)) return undefined;
  const places = (found?.[2] ?? "").split(",").filter((text) => text !== "");
  const entities = [...new Set(places.map(Number))]
    .filter((place) => recording.entity(place)?.kind === about.entity)
    .slice(0, MOST_LINES);
  return { table, column, entities };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The chart that is there before anybody chose one. */
export function firstChoice(recording: Recording): Choice | undefined {
  const table = recording.table("pressure") ?? recording.page.tables[0];
  const column = table?.columns[0];
  return table && column && { table: table.name, column: column.name, entities: [] };
}

/** The link to a column that a number of the verdict came from; none where it was not recorded. */
export function exploreLink(
  recording: Recording,
  evidence: Evidence | undefined,
): string | undefined {
  const [table = "", rest = ""] = evidence?.column.split(".") ?? [];
  const about = recording.table(table);
  const name = rest.split(" + ")[0];
  const column = about?.columns.find((other) => other.name === name) ?? about?.columns[0];
  if (evidence === undefined || about === undefined || column === undefined) return undefined;
  const place = recording.placeOf(evidence.entity);
  const own = place !== undefined && about.entity === evidence.entity.kind ? [place] : [];
  return fragmentOf([{ table, column: column.name, entities: own }]);
}

/** What of an entity a column says over a window. */
export interface Summary {
  readonly entity: number;
  /** The rate of a counter, the mean of a gauge. */
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** What stands in the place of these numbers where they are codes. */
  readonly states?: States;
}

/** A chosen column with what describes it, decoded. */
export interface Explored {
  readonly about: PageTable;
  readonly column: PageColumn;
  readonly scale: Scale;
  /** Who has numbers, those with the largest first, over the window. */
  readonly all: readonly Summary[];
  /** Who is drawn. */
  readonly drawn: readonly number[];
}

/** Finds a chosen column, and who has most of it over a window. */
export function explored(
  { table, column, entities }: Choice,
  recording: Recording,
  tables: Tables,
  window: Span,
): Explored | undefined {
  const about = recording.table(table);
  const described = about?.columns.find((other) => other.name === column);
  if (about === undefined || described === undefined) return undefined;
  const scale = scaleOf(table, described);
  const all = summaries(about, described, tables, window)
    .map((summary) => scaled(summary, scale.factor))
    .sort((a, b) => order(b.mean) - order(a.mean) || a.entity - b.entity);
  const usual = all.slice(0, USUAL_LINES).map(({ entity }) => entity);
  return { about, column: described, scale, all, drawn: entities.length > 0 ? entities : usual };
}

function order(value: number): number {
  return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
}

function scaled(summary: Summary, factor: number): Summary {
  const { mean, low, high } = summary;
  return { ...summary, mean: mean * factor, low: low * factor, high: high * factor };
}

function summaries(about: PageTable, column: PageColumn, tables: Tables, window: Span): Summary[] {
  const place = about.columns.indexOf(column);
  const rows = tables.rows(about.name);
  if (rows !== undefined)
    return [...new Set(rows.entities)].map((it) => ofRows(rows, place, it, window));
  const series = tables.bins(about.name)?.columns[place] ?? new Map<number, Series>();
  const summary = isCode(column) ? ofCodes : ofSeries;
  return [...series].map(([entity, one]) => summary(entity, one, window));
}

/** Codes are compared by how many there were: who was always in one stands last. */
function ofCodes(entity: number, series: Series, window: Span): Summary {
  const found = states(series, window);
  return {
    entity,
    mean: found.several || Number.NaN,
    low: Number.NaN,
    high: Number.NaN,
    states: found,
  };
}

function ofSeries(entity: number, series: Series, window: Span): Summary {
  const mean = (series.gauge ? meanOver(series, window) : rateOver(series, window)) ?? Number.NaN;
  const { values, low = values, high = values } = binned(series);
  const all = bounds(series.edges);
  let [least, most] = [Number.NaN, Number.NaN];
  for (let bin = 0; bin < values.length; bin++) {
    if ((all[bin + 1] ?? 0) <= window.from || (all[bin] ?? 0) >= window.to) continue;
    const [lowest, highest] = [low[bin] ?? Number.NaN, high[bin] ?? Number.NaN];
    if (Number.isNaN(lowest)) continue;
    if (!(least <= lowest)) least = lowest;
    if (!(most >= highest)) most = highest;
  }
  return { entity, mean, low: least, high: most };
}

function ofRows(rows: RowTable, column: number, entity: number, window: Span): Summary {
  const values = rows.columns[column] ?? new Float64Array();
  let [count, sum, low, high] = [0, 0, Number.NaN, Number.NaN];
  for (const [row, value] of values.entries()) {
    const time = rows.times[row] ?? 0;
    const inside = time > window.from && time <= window.to && rows.entities[row] === entity;
    if (!inside || Number.isNaN(value)) continue;
    count += 1;
    sum += value;
    if (!(low <= value)) low = value;
    if (!(high >= value)) high = value;
  }
  return { entity, mean: sum / count, low, high };
}

/** Colours of lines that stand for nothing but themselves; dashes tell them apart too. */
const LINES = ["--cpu", "--io", "--network", "--memory", "--latency", "--irq"];
const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [6, 3],
  [2, 2],
  [8, 3, 2, 3],
];

/** The chart of a column. */
export function exploredLane(
  { about, column, scale, drawn }: Explored,
  recording: Recording,
  tables: Tables,
): Lane | undefined {
  const place = about.columns.indexOf(column);
  const names = namesOf(drawn, recording);
  const many = drawn.length > 1;
  const look = (line: number) => ({
    label: names[line] ?? "",
    colour: many
      ? (LINES[line % LINES.length] ?? "--cpu")
      : colourOf(`${about.name}.${column.name}`),
    fill: many ? 0 : 0.15,
    style: many ? ("line" as const) : ("area" as const),
    ...dashed(line),
  });
  const draft = {
    id: `explore-${about.name}-${column.name}-${drawn.join("-")}`,
    title: `${about.name}.${column.name}`,
    format: scale.format,
    least: 0,
    binary: scale.binary,
    unseen: unseen(recording, about.name, (what) => what === column.name),
  };
  const rows = tables.rows(about.name);
  if (rows !== undefined) return rowsLane(draft, rows, { place, scale, drawn, look });
  const table = tables.bins(about.name);
  const series = table?.columns[place];
  if (table === undefined || series === undefined) return undefined;
  const edges = bounds(table.edges);
  if (isCode(column)) {
    const all = drawn.flatMap((entity) => series.get(entity) ?? []);
    const lines = stateLines(table, all, wordsOf(column));
    const format = all.length > 1 ? rate : percent;
    const lane = { ...draft, format, least: all.length, stacked: true };
    return lines.length === 0 ? undefined : unfolded(completed(lane, edges, lines));
  }
  const lines = drawn.flatMap((entity, line): LaneLine[] => {
    const one = series.get(entity);
    if (one === undefined) return [];
    const over = (window: Span) =>
      scale.factor * ((one.gauge ? meanOver(one, window) : rateOver(one, window)) ?? Number.NaN);
    return [{ ...look(line), ...binned(one, scale.factor, table.edges), over }];
  });
  return lines.length === 0 ? undefined : unfolded(completed(draft, edges, lines));
}

/** Who asked for a chart gets it, also where nothing moves. */
export function unfolded({ still: _, ...lane }: Lane): Lane {
  return lane;
}

function dashed(line: number): { dash?: readonly number[] } {
  const dash = DASHES[Math.floor(line / LINES.length) + (line % DASHES.length)];
  return dash === undefined ? {} : { dash };
}

interface Rows {
  readonly place: number;
  readonly scale: Scale;
  readonly drawn: readonly number[];
  readonly look: (line: number) => Omit<LaneLine, "values">;
}

/** Rows stand for the interval that ends with them, where they say how long it was; else for an instant. */
function rowsLane(
  draft: Omit<Lane, "times" | "lines" | "alternative">,
  rows: RowTable,
  { place, scale, drawn, look }: Rows,
): Lane {
  const widths = rows.columns[rows.about.columns.findIndex(({ name }) => name === "interval_ns")];
  const edges: Nanoseconds[] = [];
  const at: number[] = [];
  const own = [...rows.times.keys()].filter((row) => drawn.includes(rows.entities[row] ?? -1));
  for (const row of own) {
    const to = rows.times[row] ?? 0;
    const last = edges[edges.length - 1];
    const from = widths === undefined ? (last ?? to) : to - (widths[row] ?? 0);
    if (last === undefined || from > last) {
      if (last !== undefined) at.push(-1);
      edges.push(from);
    }
    if (to <= (edges[edges.length - 1] ?? 0)) continue;
    edges.push(to);
    at.push(row);
  }
  const numbers = rows.columns[place];
  const lines = drawn.map(
    (entity, line): LaneLine => ({
      ...look(line),
      values: Float64Array.from(at, (row) =>
        rows.entities[row] === entity ? (numbers?.[row] ?? Number.NaN) * scale.factor : Number.NaN,
      ),
      over: (window) => ofRows(rows, place, entity, window).mean * scale.factor,
    }),
  );
  return unfolded(completed(draft, Float64Array.from(edges), lines));
}

/** Names that tell several apart: with the path where two are called alike. */
export function namesOf(places: readonly number[], recording: Recording): string[] {
  const all = places.map((place) => recording.entity(place));
  return all.map((entity) => {
    if (entity === undefined) return "";
    const alike = all.filter((other) => other?.name === entity.name).length > 1;
    // Of a thread the last part of its path, its process's name and start left out, tells enough.
    const path = entity.kind === "thread" ? entity.path.replace(/^.*\//, "") : entity.path;
    return alike ? `${entity.name} ${path}` : entity.name;
  });
}

/** What a window of a chart holds, to be pasted into a table: times in s after the origin. */
export function csvOf(lane: Lane, window: Span): string {
  // A name that begins like a formula would be one in a spreadsheet.
  const tame = (text: string) => (/^[=+\-@\t]/.test(text) ? `'${text}` : text);
  const quoted = (text: string) =>
    /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const cell = (text: string) => quoted(tame(text));
  const seconds = (at: Nanoseconds) => (at / SECOND).toFixed(3);
  const edges = lane.edges ?? lane.times;
  const head = ["from_s", "to_s", ...lane.lines.map((line) => `${lane.title} ${line.label}`)];
  const lines = [head.map(cell).join(",")];
  for (let bin = 0; bin < lane.times.length; bin++) {
    const [from, to] = [edges[bin] ?? 0, edges[bin + 1] ?? edges[bin] ?? 0];
    if (to <= window.from || from >= window.to) continue;
    const values = lane.lines.map(({ values }) => {
      const value = values[bin] ?? Number.NaN;
      return Number.isNaN(value) ? "" : String(value);
    });
    lines.push([seconds(from), seconds(to), ...values].join(","));
  }
  return `${lines.join("\n")}\n`;
}
