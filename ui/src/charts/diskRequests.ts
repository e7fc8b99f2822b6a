// The requests of a disk, as the report has them: whose, how large, in which order.

import type { DiskReport, IoPattern } from "../data/page.gen";

/** Of a disk's time: streams with less are left out, and all after so many. */
const LEAST = 0.01;
const MOST = 8;

/** What a disk's requests are shown by: each operation, then each stream, most time first. */
export function patterns({ operations, streams }: DiskReport): [name: string, of: IoPattern][] {
  const all = operations.reduce((sum, it) => sum + it.in_flight, 0);
  const large = streams.filter((it) => it.in_flight >= LEAST * all);
  return [
    ...operations.map((it): [string, IoPattern] => ["all", it]),
    ...large.slice(0, MOST).map((it): [string, IoPattern] => [it.name + partOf(it), it]),
  ];
}

/** What a stream is for, where its name does not say it. */
function partOf({ name, part }: IoPattern): string {
  return part === "all" || part === "data" || part === name ? "" : ` (${part})`;
}

/** Typical sizes (crates/analysis/src/block_io/sentence.rs); empty without data. */
export function sizes({ size_from: from, size_to: to }: IoPattern): string {
  if (from == null) return "";
  if (to == null) return `${size(from)} and more`;
  if (from === 0) return `under ${size(to)}`;
  if (from === to) return size(from);
  const [first, last] = [size(from), size(to)];
  const unit = last.slice(last.indexOf(" "));
  return `${first.endsWith(unit) ? first.slice(0, -unit.length) : first}-${last}`;
}

function size(bytes: number): string {
  const [unit, name] = bytes < 2 ** 20 ? [2 ** 10, "KiB"] : [2 ** 20, "MiB"];
  return `${Math.floor(bytes / unit)} ${name}`;
}
