// Numbers about memory and disks.

import { PAGE_BYTES, type Span } from "../../data/units";
import { belongingTo, ofKind } from "../entitySets";
import { type Amount, grown, held, type Quantity, times } from "../quantity";
import { type Asked, at, drawn, type Made, notSeen, per1s, series } from "../recipe";
import { scaleOfUnit } from "../scale";

export function memoryUsed({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  const limits = ["limit_bytes", "high_bytes"].map((name) =>
    held(at(tables, "cgroup_memory", place, name)),
  );
  const lower: Amount = (window) => {
    const known = limits.map((limit) => limit(window)).filter((value) => value > 0);
    return known.length > 0 ? Math.min(...known) : Number.NaN;
  };
  return drawn(tables, "cgroup_memory", {
    quantity: { of: held(at(tables, "cgroup_memory", place, "usage_bytes")), per: lower },
    how: `usage_bytes / the lower of limit_bytes and high_bytes of ${evidence.entity.name}`,
  });
}

export function refaults({ evidence, recording, tables }: Asked): Made {
  const group = evidence.column.startsWith("cgroup_memory");
  const machine = ofKind(recording, "machine");
  const own = group ? [recording.placeOf(evidence.entity)] : machine;
  const table = group ? "cgroup_memory" : "paging";
  const pages = grown(...series(tables, table, own, ["refault_anon", "refault_file"]));
  const read = grown(...series(tables, "paging", machine, ["page_in_bytes"]));
  return drawn(tables, table, {
    quantity: {
      // Pages are counted when they are asked for, bytes when they arrive.
      of: (window) => Math.min(PAGE_BYTES * pages(window), read(window)),
      per: read,
    },
    how: `bytes read again soon after they were evicted (${table}) / bytes read from disks (paging.page_in_bytes)`,
  });
}

export function swappedIn({ recording, tables }: Asked): Made {
  const pages = series(tables, "paging", ofKind(recording, "machine"), ["swap_in"]);
  return drawn(tables, "paging", {
    quantity: { of: times(PAGE_BYTES, grown(...pages)), per: per1s },
    how: "pages read from swap, 4096 bytes each",
    scale: scaleOfUnit("bytes_per_second"),
  });
}

export function movedByNeighbour({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  const columns = ["read_bytes", "write_bytes"];
  const group = evidence.entity.kind === "cgroup";
  const table = group ? "cgroup_io" : "process";
  const whose =
    group && place !== undefined ? belongingTo(recording, place, "group_disk") : [place];
  return drawn(tables, table, {
    quantity: { of: grown(...series(tables, table, whose, columns)), per: per1s },
    how: `bytes read and written by ${evidence.entity.name}: the number is their part of what all moved, and not drawn`,
    comparable: false,
    scale: scaleOfUnit("bytes_per_second"),
  });
}

export function operationTime({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  const operations = ["reads", "writes", "discards", "flushes"];
  return drawn(tables, "disk", {
    quantity: {
      of: grown(at(tables, "disk", place, "queue_ns")),
      per: grown(...series(tables, "disk", [place], operations)),
    },
    how: `queue_ns of ${evidence.entity.name} / operations completed`,
  });
}

export function diskReads({ recording, tables }: Asked): Made {
  const disks = ofKind(recording, "disk");
  return drawn(tables, "disk", {
    quantity: { of: grown(...series(tables, "disk", disks, ["read_bytes"])), per: per1s },
    how: `bytes read from all ${disks.length} disks; the number is their first third / the last one`,
    comparable: false,
    scale: scaleOfUnit("bytes_per_second"),
  });
}

export function ioLimit({ evidence, recording, tables }: Asked, column: string): Made {
  const group = recording.placeOf(evidence.entity);
  const parts = group === undefined ? [] : belongingTo(recording, group, "group_disk");
  const limit = `limit_${column}`;
  const limited = parts.filter((part) => at(tables, "cgroup_io", part, limit) !== undefined);
  const window = recording.span(evidence.window);
  const usedOf = (part: number) => at(tables, "cgroup_io", part, column);
  const fullness = (part: number): Quantity => ({
    of: times(1e9, grown(usedOf(part))),
    per: held(at(tables, "cgroup_io", part, limit)),
    edges: new Float64Array(),
  });
  const full = (part: number, of: Span) => {
    const { of: used, per } = fullness(part);
    return used(of) / per(of);
  };
  const [fullest] = limited.sort((a, b) => full(b, window) - full(a, window));
  if (fullest === undefined) return notSeen(evidence);
  return drawn(tables, "cgroup_io", {
    quantity: fullness(fullest),
    how: `${column} per second / ${limit} of ${recording.entity(fullest)?.name}`,
  });
}

export function freePart({ evidence, recording, tables }: Asked, column: string): Made {
  const place = recording.placeOf(evidence.entity);
  const whole = column.includes("inodes") ? "inodes" : "total_bytes";
  return drawn(tables, "filesystem", {
    quantity: {
      of: held(at(tables, "filesystem", place, column)),
      per: held(at(tables, "filesystem", place, whole)),
    },
    how: `${column} / ${whole} of ${evidence.entity.path}`,
  });
}
