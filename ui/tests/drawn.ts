// Pages drawn in a few lines, for tests: the inverse of what data/ decodes (docs/page.md).

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type {
  ColumnKind,
  EntityKind,
  Page,
  PageEntity,
  PageForm,
  PageTable,
  Quality,
  Report,
  Unit,
} from "../src/data/page.gen";
import { Recording } from "../src/data/recording";

export interface DrawnColumn {
  readonly name: string;
  readonly unit?: Unit;
  readonly kind?: ColumnKind;
  readonly quality?: Quality;
  readonly scale?: number;
  readonly help?: string;
}

export interface DrawnSeries {
  readonly entity: number;
  readonly column: string;
  /** One for all bins, or one per bin. */
  readonly values: number | readonly number[];
  readonly low?: readonly number[];
  readonly high?: readonly number[];
  readonly firstBin?: number;
  /** ns after the first edge; the whole recording when left out. */
  readonly known?: readonly [number, number];
}

export interface DrawnTable {
  readonly name: string;
  readonly entity: EntityKind;
  readonly columns: readonly DrawnColumn[];
  readonly stride?: number;
  readonly series?: readonly DrawnSeries[];
  /** Rows: time after the origin, entity, values; `null` is missing. */
  readonly rows?: readonly (readonly [number, number, readonly (number | null)[]])[];
  /** A block of any other form (`drawnStacks.ts`). */
  readonly made?: { readonly form: PageForm; readonly block: Uint8Array };
}

export interface Drawing {
  /** ns after the origin. */
  readonly edges: readonly number[];
  readonly tables: readonly DrawnTable[];
  readonly entities?: readonly Partial<PageEntity>[];
  readonly report?: Report;
  readonly page?: Partial<Page>;
}

/** One integer after the other, as zigzag LEB128. */
export function integers(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const number of numbers) {
    // A million small ones are many.
    if (number >= 0 && number < 64) {
      bytes.push(number * 2);
      continue;
    }
    let left = BigInt.asUintN(64, number < 0 ? BigInt(number) * -2n - 1n : BigInt(number) * 2n);
    while (left >= 128n) {
      bytes.push(Number(left & 127n) | 128);
      left >>= 7n;
    }
    bytes.push(Number(left));
  }
  return Uint8Array.from(bytes);
}

function packed(block: Uint8Array): string {
  return gzipSync(block).toString("base64");
}

/** A golden report that the program wrote. */
export function golden(name: string): Report {
  const path = new URL(`../../crates/stallscope/fixtures/reports/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as Report;
}

/** The page's JSON and its blocks. */
export function drawnPage(drawing: Drawing): { page: Page; blocks: string[] } {
  const { edges } = drawing;
  const report = drawing.report ?? golden("cpu-saturated");
  const differences = edges.map((edge, index) => edge - (edges[index - 1] ?? 0));
  const blocks = [packed(integers([edges.length, ...differences]))];
  const tables = drawing.tables.map((table): PageTable => {
    const numbers = () => (table.rows === undefined ? bins(table, edges) : rows(table.rows));
    blocks.push(packed(table.made?.block ?? integers(numbers())));
    return {
      name: table.name,
      entity: table.entity,
      help: `About ${table.name}.`,
      left_out: 0,
      block: blocks.length - 1,
      form:
        table.made?.form ??
        (table.rows === undefined ? { kind: "bins", stride: table.stride ?? 1 } : { kind: "rows" }),
      columns: table.columns.map((column) => ({
        name: column.name,
        unit: column.unit ?? "nanoseconds",
        kind: column.kind ?? "counter",
        quality: column.quality ?? "exact",
        help: column.help ?? `What ${column.name} means.`,
        source: "drawn",
        scale: column.scale ?? 1,
      })),
    };
  });
  const entities = (drawing.entities ?? []).map(
    (entity, place): PageEntity => ({
      id: place,
      kind: "machine",
      name: entity.path ?? "machine",
      path: "",
      role: "rest",
      serving: false,
      first_seen: report.origin,
      ...entity,
    }),
  );
  const page: Page = {
    schema: "stallscope.page/1",
    report,
    recording: "drawn-1.stall",
    typed: [],
    complete: true,
    served: false,
    window: { start: report.origin + (edges[0] ?? 0), end: report.origin + (edges.at(-1) ?? 0) },
    step_ns: (edges[1] ?? 0) - (edges[0] ?? 0),
    entities,
    events: [],
    tables,
    ...drawing.page,
  };
  return { page, blocks };
}

/** A drawn page, opened. */
export function drawn(drawing: Drawing): Promise<Recording> {
  const { page, blocks } = drawnPage(drawing);
  return Recording.open(page, (block) => blocks[block] ?? "");
}

function bins(table: DrawnTable, edges: readonly number[]): number[] {
  const stride = table.stride ?? 1;
  const length = (edges.at(-1) ?? 0) - (edges[0] ?? 0);
  const all = Math.ceil((edges.length - 1) / stride);
  return (table.series ?? []).flatMap((series) => {
    const place = table.columns.findIndex((column) => column.name === series.column);
    const column = table.columns[place];
    const scale = column?.scale ?? 1;
    const gauge = column?.kind === "gauge";
    const first = series.firstBin ?? 0;
    const { values, low, high } = series;
    const count = typeof values === "number" ? all - first : values.length;
    const known = series.known ?? [0, length];
    const head = [series.entity, place, stride, known[0] / 1e3, known[1] / 1e3, first, count];
    if (typeof values === "number") return [...head, 0, values / scale];
    const numbers = values.map((value, index) =>
      gauge ? (value - (values[index - 1] ?? 0)) / scale : value / scale,
    );
    if (low === undefined || high === undefined) return [...head, 1, ...numbers];
    const pairs = values.flatMap((value, index) => {
      const [least, most] = [low[index] ?? value, high[index] ?? value];
      return gauge
        ? [(value - least) / scale, (most - value) / scale]
        : [least / scale, (most - least) / scale];
    });
    return [...head, 2, ...numbers, ...pairs];
  });
}

function rows(all: NonNullable<DrawnTable["rows"]>): number[] {
  const cells = all.flatMap(([time, entity, values], index) => [
    time - (all[index - 1]?.[0] ?? 0),
    entity,
    ...values.flatMap((value) => (value === null ? [0] : [1, value])),
  ]);
  return [all.length, ...cells];
}
