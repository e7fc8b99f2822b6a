// Room on filesystems.

import { percent, storage } from "../data/format";
import { measured, ratio } from "../data/measure";
import type { Recording, Tables } from "../data/recording";
import type { Share, Span } from "../data/units";
import { inOrder } from "./tree";

/** A filesystem that the target works on, over a window. */
export interface Filesystem {
  readonly name: string;
  readonly total: number | undefined;
  /** Least number of bytes that ordinary users could still write, and its part of all. */
  readonly free: number | undefined;
  readonly freePart: Share | undefined;
  /** The same of files; `undefined` where it has as many as it needs. */
  readonly files: number | undefined;
  readonly filesPart: Share | undefined;
}

/** The filesystems, the fullest first. */
export function filesystems(recording: Recording, tables: Tables, window: Span): Filesystem[] {
  const found = recording.page.entities.flatMap((entity, place): Filesystem[] => {
    const of = measured(tables, "filesystem", place, window);
    const total = of.last("total_bytes");
    if (entity.kind !== "filesystem" || total === undefined) return [];
    const free = of.lowest("available_bytes");
    const files = of.lowest("free_inodes");
    const filesPart = ratio(files, of.last("inodes"));
    return [
      {
        name: entity.name,
        total,
        free,
        freePart: ratio(free, total),
        // Some filesystems count no files and say 0 of 0.
        files: filesPart === undefined ? undefined : files,
        filesPart,
      },
    ];
  });
  return inOrder(found, (it) => Math.min(it.freePart ?? 1, it.filesPart ?? 1), false);
}

/** `38.2 GiB of 251 GiB (15 %)`. */
export function room(free: number, total: number | undefined, part: Share | undefined): string {
  const of = total === undefined ? "" : ` of ${storage(total)}`;
  return `${storage(free)}${of}${part === undefined ? "" : ` (${percent(part)})`}`;
}
