// A plain table of numbers.

import type { ComponentChildren } from "preact";

/** A column's title with how it looks: `number`, `wide`, `extra`. */
export type Title = readonly [title: string, look?: string];

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
  return (
    <table class={`number-table ${look}`}>
      <caption class="offscreen">{caption}</caption>
      <thead>
        <tr>
          {titles.map(([title, look]) => (
            <th key={title} scope="col" class={look}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...cells], row) => (
          <tr key={row}>
            <th scope="row" class={titles[0]?.[1]}>
              {head}
            </th>
            {titles.slice(1).map(([title, look], place) => (
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
