// The data dictionary: every table and column of this recording, as it describes itself.

import type { PageColumn, PageTable } from "../data/page.gen";

/** A table with those of its columns that were looked for. */
export interface Entry {
  readonly table: PageTable;
  readonly columns: readonly PageColumn[];
}

/** Entries in which all words of a filter occur: in the table's own words or in a column's. */
export function looked(tables: readonly PageTable[], filter: string): Entry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return tables.flatMap((table) => {
    const about = `${table.name} ${table.help} ${table.entity}`;
    const columns = table.columns.filter((column) => {
      const { name, help, source, unit, kind, quality } = column;
      const text = [about, `${table.name}.${name}`, help, source, unit, kind, quality].join(" ");
      return words.every((word) => text.toLowerCase().includes(word));
    });
    return columns.length > 0 ? [{ table, columns }] : [];
  });
}
