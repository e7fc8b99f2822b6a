// Series that an endpoint in Prometheus's format served: those that changed most, a lane for each.

import type { PageColumn } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { meanOver, rateOver, type Series } from "../data/series";
import type { Share, Span } from "../data/units";
import { completed } from "./binLane";
import { binned, bounds } from "./bins";
import { unseen } from "./gaps";
import type { Lane } from "./lane";
import { scaleOf } from "./scale";
import { isCode } from "./states";

/** A series over a window. */
export interface Changed {
  /** Its place in the page's entities. */
  readonly entity: number;
  readonly column: PageColumn;
  readonly series: Series;
  /** Standard deviation of its rate, or of its value, as a part of the mean. */
  readonly variation: Share;
}

/** The series that changed in a window, the most variable first. What they measure is not known here, so that only
    their variation in proportion to their mean can be compared. */
export function changed(recording: Recording, tables: Tables, window: Span): Changed[] {
  const columns = recording.table("scraped")?.columns ?? [];
  const found = columns.flatMap((column, place): Changed[] => {
    if (isCode(column)) return [];
    const all = tables.bins("scraped")?.columns[place] ?? new Map<number, Series>();
    return [...all].map(([entity, series]) => ({
      entity,
      column,
      series,
      variation: variation(series, window),
    }));
  });
  return found
    .filter(({ variation }) => variation > 0)
    .sort((a, b) => b.variation - a.variation || a.entity - b.entity);
}

/** Over the bins that lie in a window; 0 where there is no mean to compare with. */
function variation(series: Series, window: Span): Share {
  const edges = bounds(series.edges);
  const values = binned(series).values.filter(
    (value, bin) =>
      !Number.isNaN(value) &&
      (edges[bin] ?? 0) >= window.from &&
      (edges[bin + 1] ?? 0) <= window.to,
  );
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return mean === 0 || values.length === 0
    ? 0
    : Math.sqrt(squares / values.length) / Math.abs(mean);
}

/** A lane of each: their units are their own. */
export function scrapedLanes(
  recording: Recording,
  tables: Tables,
  all: readonly Changed[],
): Lane[] {
  const table = tables.bins("scraped");
  if (table === undefined) return [];
  return all.map(({ entity, column, series }) => {
    const scale = scaleOf("scraped", column);
    const title = recording.entity(entity)?.name ?? "";
    const over = series.gauge ? meanOver : rateOver;
    const draft = {
      id: `scraped-${entity}-${column.name}`,
      title,
      format: scale.format,
      least: 0,
      // Values that had no place are not a time in which nothing was seen.
      unseen: unseen(recording, "scraped", () => false),
    };
    const line = {
      label: series.gauge ? "value" : "per second",
      colour: "--latency",
      fill: 0.15,
      style: "area" as const,
      ...binned(series, scale.factor, table.edges),
      over: (window: Span) => scale.factor * (over(series, window) ?? Number.NaN),
    };
    return completed(draft, bounds(table.edges), [line]);
  });
}
