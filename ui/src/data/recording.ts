// A page's recording: the report, who is in it, and tables that are decoded when they are asked for.

import { unpacked } from "./bytes";
import type { Entity, Page, PageEntity, PageTable, Timestamp, Window } from "./page.gen";
import { binAt, edgeOf, type Series } from "./series";
import { decodeSamples, decodeStacks, type SampleTable, type StackTable } from "./stacks";
import { type BinTable, decodeBins, decodeEdges, decodeRows, type RowTable } from "./tables";
import type { Nanoseconds, Span } from "./units";

/** Gives the base64 text of a block of the page. */
export type BlockText = (block: number) => string;

/** Tables that were asked for and are decoded, by name. */
export interface Tables {
  /** A table in bins; `undefined` where it was not recorded. */
  bins(name: string): BinTable | undefined;
  /** A table in rows; `undefined` where it was not recorded. */
  rows(name: string): RowTable | undefined;
  /** The tree of call stacks; `undefined` where none was recorded. */
  stacks(name: string): StackTable | undefined;
  /** Samples of stacks; `undefined` where none were recorded. */
  samples(name: string): SampleTable | undefined;
  /** One series; `undefined` where table, column or entity has none. */
  series(table: string, entity: number, column: string): Series | undefined;
}

type Decoded = BinTable | RowTable | StackTable | SampleTable;

/** A table's block cannot be read: the file was cut off, or changed on its way. */
export class Damaged extends Error {
  constructor(
    readonly table: string,
    readonly reason: string,
  ) {
    super(`the table ${table} cannot be read: ${reason}`);
  }
}

/** Tables, and those that were asked for and cannot be read. */
export interface Readable {
  readonly tables: Tables;
  readonly damaged: readonly Damaged[];
}

export class Recording {
  private readonly loading = new Map<string, Promise<Decoded>>();

  private constructor(
    readonly page: Page,
    /** Every edge, in ns after the origin. */
    readonly edges: Float64Array,
    private readonly text: BlockText,
  ) {}

  /** Opens what stands in a page. Rejects where the edges' block is damaged. */
  static async open(page: Page, text: BlockText): Promise<Recording> {
    return new Recording(page, decodeEdges(await unpacked(text(0))), text);
  }

  /** What the recording covers. */
  get whole(): Span {
    const { edges } = this;
    return { from: edges[0] ?? 0, to: edges[edges.length - 1] ?? 0 };
  }

  /** An instant of the report, after the origin. */
  at(time: Timestamp): Nanoseconds {
    return time - this.page.report.origin;
  }

  /** A window of the report, after the origin. */
  span(window: Window): Span {
    return { from: this.at(window.start), to: this.at(window.end) };
  }

  /** The window that was judged. */
  get judged(): Span {
    return this.span(this.page.report.window);
  }

  /** A window widened to the nearest edges, at least one bin long. */
  snapped(span: Span): Span {
    const edges = { all: this.edges, stride: 1 };
    const nearest = (at: Nanoseconds) => {
      const bin = binAt(edges, at);
      const [before, after] = [edgeOf(edges, bin), edgeOf(edges, bin + 1)];
      return at - before <= after - at ? bin : bin + 1;
    };
    const from = Math.min(nearest(Math.min(span.from, span.to)), this.edges.length - 2);
    const to = Math.max(nearest(Math.max(span.from, span.to)), from + 1);
    return { from: edgeOf(edges, from), to: edgeOf(edges, to) };
  }

  entity(place: number): PageEntity | undefined {
    return this.page.entities[place];
  }

  /** The place of whom a report speaks of; `undefined` where they were left out. */
  placeOf(entity: Entity): number | undefined {
    const place = this.page.entities.findIndex(
      (other) => other.kind === entity.kind && other.path === entity.path,
    );
    return place < 0 ? undefined : place;
  }

  table(name: string): PageTable | undefined {
    return this.page.tables.find((table) => table.name === name);
  }

  /** Decodes tables; those that were not recorded are left out. Rejects with `Damaged` where a block is. */
  async load(names: readonly string[]): Promise<Tables> {
    const { tables, damaged } = await this.readable(names);
    const [first] = damaged;
    if (first !== undefined) throw first;
    return tables;
  }

  /** Decodes tables as far as they can be read; the others are as if they were not recorded. */
  async readable(names: readonly string[]): Promise<Readable> {
    const here = names.filter((name) => this.table(name) !== undefined);
    const decoded = await Promise.all(
      here.map((name) =>
        this.decoded(name).catch((error: unknown) => {
          if (error instanceof Damaged) return error;
          throw error;
        }),
      ),
    );
    const byName = new Map<string, Decoded>();
    const damaged: Damaged[] = [];
    for (const [index, name] of here.entries()) {
      const table = decoded[index];
      if (table instanceof Damaged) damaged.push(table);
      else if (table !== undefined) byName.set(name, table);
    }
    return { tables: tablesOf(byName), damaged };
  }

  private decoded(name: string): Promise<Decoded> {
    let loading = this.loading.get(name);
    if (loading === undefined) {
      loading = this.decode(name);
      this.loading.set(name, loading);
    }
    return loading;
  }

  private async decode(name: string): Promise<Decoded> {
    const about = this.table(name);
    if (about === undefined) throw new RangeError(`the recording has no table ${name}`);
    try {
      const block = await unpacked(this.text(about.block));
      switch (about.form.kind) {
        case "rows":
          return decodeRows(about, block);
        case "stacks":
          return decodeStacks(about, block);
        case "samples":
        case "waits":
          return decodeSamples(about, block);
        default:
          return decodeBins(about, this.edges, block);
      }
    } catch (error) {
      throw new Damaged(name, error instanceof Error ? error.message : String(error));
    }
  }
}

function tablesOf(byName: ReadonlyMap<string, Decoded>): Tables {
  const bins = (name: string) => {
    const table = byName.get(name);
    return table !== undefined && "edges" in table ? table : undefined;
  };
  return {
    bins,
    rows: (name) => {
      const table = byName.get(name);
      return table !== undefined && "times" in table ? table : undefined;
    },
    stacks: (name) => {
      const table = byName.get(name);
      return table !== undefined && "callers" in table ? table : undefined;
    },
    samples: (name) => {
      const table = byName.get(name);
      return table !== undefined && "oneOf" in table ? table : undefined;
    },
    series: (name, entity, column) => {
      const table = bins(name);
      const place = table?.about.columns.findIndex((other) => other.name === column) ?? -1;
      return table?.columns[place]?.get(entity);
    },
  };
}
