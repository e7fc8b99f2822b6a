// The recording that a page was made against: its samples stand in the page's tree of stacks, its bins are its own. Pure.

import type { PageAgainst } from "../data/page.gen";
import type { Interval } from "../data/signal";
import { length, SECOND, type Span } from "../data/units";

/** Its window, and the requests of its bins as the workload's intervals. */
export interface OtherRun {
  readonly name: string;
  readonly edges: Float64Array;
  readonly whole: Span;
  readonly intervals: readonly Interval[];
}

/** Out of a page's JSON. */
export function otherRun({ recording, edges_ns, requests = [] }: PageAgainst): OtherRun {
  const edges = Float64Array.from(edges_ns);
  const whole = { from: edges[0] ?? 0, to: edges[edges.length - 1] ?? 0 };
  const intervals = requests.flatMap((count, bin): Interval[] => {
    const span = { from: edges[bin] ?? 0, to: edges[bin + 1] ?? 0 };
    if (!(length(span) > 0)) return [];
    const throughput = (count * SECOND) / length(span);
    return [{ ...span, throughput, latency: Number.NaN, lag: Number.NaN, failed: 0 }];
  });
  return { name: recording, edges, whole, intervals };
}
