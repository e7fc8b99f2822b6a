// A plain table of numbers.

import type { ComponentChildren } from "preact";

/** A column's title with how it looks: `number`, `wide`, `extra`. */
export type Title = readonly [title: string, look?: string];

export function NumberTable({
  caption,
  titles,
  look = "",
  children,
}: {
  /** What the table is, for who does not see where it stands. */
  readonly caption: string;
  readonly titles: readonly Title[];
  readonly look?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
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
      <tbody>{children}</tbody>
    </table>
  );
}
