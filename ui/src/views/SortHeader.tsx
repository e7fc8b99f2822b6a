// The title of a column by which a table can be sorted.

export interface SortOrder {
  readonly column: string;
  readonly descending: boolean;
}

export interface SortHeaderProps {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
  readonly look: string;
  readonly order: SortOrder;
  /** Sorts by the column; left out where it cannot be sorted. */
  readonly sort?: (column: string) => void;
}

export function SortHeader({ id, title, help, look, order, sort }: SortHeaderProps) {
  const sorted = order.column === id;
  if (sort === undefined) {
    return (
      <th scope="col" class={look} title={help}>
        {title}
      </th>
    );
  }
  const direction = order.descending ? "descending" : "ascending";
  return (
    <th scope="col" class={look} title={help} aria-sort={sorted ? direction : "none"}>
      <button type="button" class="sort" onClick={() => sort(id)}>
        {title}
        <span class="sort-arrow" aria-hidden="true">
          {sorted ? (order.descending ? "\u25be" : "\u25b4") : ""}
        </span>
      </button>
    </th>
  );
}
