// A plain table of numbers.

import type { ComponentChildren } from "preact";

/** A column's title with how it looks: `number` (a title alone), `wide`, `extra`. */
export type Title = string | readonly [title: string, look?: string];

export function NumberTable({
  caption,
  titles,
  look = "",
  rows,
}: {
  /** What the table is, for who does not see where it stands. */
  readonly caption: string;
  readonly titles: readonly Title[];
  readonly look?: string;
  /** The cells of each row, which look as their columns; the first names the row. */
  readonly rows: readonly (readonly ComponentChildren[])[];
}) {
  const columns = titles.map((it) => (typeof it === "string" ? [it, "number"] : it));
  return (
    <table class={`number-table ${look}`}>
      <caption class="offscreen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(([title, look]) => (
            <th key={title} scope="col" class={look}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...cells], row) => (
          <tr key={row}>
            <th scope="row" class={columns[0]?.[1]}>
              {head}
            </th>
            {columns.slice(1).map(([title, look], place) => (
              <td key={title} class={look}>
                {cells[place]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
