// Tables out of their blocks (docs/page.md).

import { Integers } from "./bytes";
import type { PageTable } from "./page.gen";
import { binCount, type Edges, type Series } from "./series";
import type { Nanoseconds, Span } from "./units";

/** A table in bins: series by column and entity. */
export interface BinTable {
  readonly about: PageTable;
  readonly edges: Edges;
  /** Series by column's place, then by entity's place. */
  readonly columns: readonly ReadonlyMap<number, Series>[];
}

/** A table in rows, as it was recorded: the workload's own intervals. */
export interface RowTable {
  readonly about: PageTable;
  readonly times: Float64Array;
  readonly entities: Int32Array;
  /** Values by column's place; `NaN` where nothing was read. */
  readonly columns: readonly Float64Array[];
}

/** The edges out of block 0, in ns after the report's origin. */
export function decodeEdges(block: Uint8Array): Float64Array {
  const integers = new Integers(block);
  const edges = new Float64Array(integers.next());
  let at = 0;
  for (let i = 0; i < edges.length; i++) {
    at += integers.next();
    edges[i] = at;
  }
  return edges;
}

/** A table in bins out of its block. Throws a RangeError where the block was cut off. */
export function decodeBins(about: PageTable, all: Float64Array, block: Uint8Array): BinTable {
  const edges = { all, stride: about.form.kind === "bins" ? about.form.stride : 1 };
  const columns = about.columns.map(() => new Map<number, Series>());
  const integers = new Integers(block);
  while (!integers.ended) {
    const entity = integers.next();
    const place = integers.next();
    const column = about.columns[place];
    if (column === undefined) throw new RangeError(`${about.name} has no column ${place}`);
    const gauge = column.kind === "gauge";
    columns[place]?.set(entity, decodeSeries(integers, edges, gauge, column.scale));
  }
  return { about, edges, columns };
}

function decodeSeries(integers: Integers, edges: Edges, gauge: boolean, scale: number): Series {
  const start = edges.all[0] ?? 0;
  const known: Span = { from: start + integers.next() * 1e3, to: start + integers.next() * 1e3 };
  const firstBin = integers.next();
  const bins = integers.next();
  if (bins > binCount(edges)) throw new RangeError("a series has more bins than there are");
  const form = integers.next();
  const values = new Float64Array(form === 0 ? 1 : bins);
  let before = 0;
  for (let i = 0; i < values.length; i++) {
    const number = integers.next();
    before = gauge ? before + number : number;
    values[i] = before * scale;
  }
  if (form !== 2) return { edges, gauge, known, firstBin, bins, values, low: values, high: values };
  const low = new Float64Array(bins);
  const high = new Float64Array(bins);
  for (let i = 0; i < bins; i++) {
    const first = integers.next() * scale;
    const second = integers.next() * scale;
    const mean = values[i] ?? 0;
    low[i] = gauge ? mean - first : first;
    high[i] = gauge ? mean + second : first + second;
  }
  return { edges, gauge, known, firstBin, bins, values, low, high };
}

/** A table in rows out of its block. */
export function decodeRows(about: PageTable, block: Uint8Array): RowTable {
  const integers = new Integers(block);
  const rows = integers.next();
  const times = new Float64Array(rows);
  const entities = new Int32Array(rows);
  const columns = about.columns.map(() => new Float64Array(rows).fill(Number.NaN));
  let at: Nanoseconds = 0;
  for (let row = 0; row < rows; row++) {
    at += integers.next();
    times[row] = at;
    entities[row] = integers.next();
    for (const [place, column] of about.columns.entries()) {
      const values = columns[place];
      if (integers.next() === 1 && values !== undefined)
        values[row] = integers.next() * column.scale;
    }
  }
  return { about, times, entities, columns };
}
