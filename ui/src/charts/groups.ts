// The control groups as a tree: what each used, waited for, and may use.

import { integer, traffic } from "../data/format";
import { measured, ratio, sumOf } from "../data/measure";
import type { PageEntity } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { type Series, sumOver } from "../data/series";
import { type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import type { TreeNode } from "./tree";

/** A pressure: parts of the window with some task waiting, and with all of them. */
export interface GroupPressure {
  readonly some: Share | undefined;
  readonly full: Share | undefined;
  /** Stall density, some: mean over the CPUs, unweighted; where it was recorded. */
  readonly density: Share | undefined;
}

/** A control group over a window; `undefined` is not seen. */
export interface Group {
  readonly name: string;
  readonly path: string;
  /** Whether processes of the target are in it. */
  readonly target: boolean;
  readonly generator: boolean;
  /** CPUs used, and allowed by its own quota and cpuset. */
  readonly cpus: number | undefined;
  readonly quota: number | undefined;
  readonly cpuset: number | undefined;
  /** When its quota was set, where that was within the window. */
  readonly quotaSince: Nanoseconds | undefined;
  /** Part of the quota periods in which it ran out; time held back per time, added up over CPUs. */
  readonly throttledPeriods: Share | undefined;
  readonly throttledTime: number | undefined;
  readonly cpu: GroupPressure;
  readonly memory: GroupPressure;
  readonly io: GroupPressure;
  /** Mean bytes charged to it, and the lower of its own limits. */
  readonly used: number | undefined;
  readonly limit: number | undefined;
  /** Times per second that it met a limit of memory; kills. */
  readonly limitsMet: number | undefined;
  readonly kills: number | undefined;
  /** Bytes per second to and from disks, and the limits on them that are set. */
  readonly read: number | undefined;
  readonly written: number | undefined;
  readonly ioLimits: readonly string[];
  readonly cpuTime: readonly Series[];
}

/** Less than this is nothing: a hundredth of a percent of a CPU. */
const IDLE_CPUS = 1e-4;
/** The same of pressure. */
const IDLE_SHARE = 5e-4;

/** The tree of groups; those that did nothing, and hold none that did, are quiet. */
export function groups(recording: Recording, tables: Tables, window: Span): TreeNode<Group>[] {
  const { entities } = recording.page;
  const disksOf = new Map<number, number[]>();
  const roles = new Map<number, Set<string>>();
  entities.forEach((entity, place) => {
    if (entity.kind === "group_disk" && entity.parent != null) {
      disksOf.set(entity.parent, [...(disksOf.get(entity.parent) ?? []), place]);
    }
    if (entity.kind === "process" && entity.group != null) {
      roles.set(entity.group, (roles.get(entity.group) ?? new Set()).add(entity.role));
    }
  });
  const places = entities.flatMap((entity, place) => (entity.kind === "cgroup" ? [place] : []));
  return nested(entities, places).map((root) => grown(root));

  function grown({ place, children }: Nest): TreeNode<Group> {
    const held = children.map(grown);
    const own = roles.get(place);
    const value = group(recording, tables, place, disksOf.get(place) ?? [], window, own);
    const quiet = isIdle(value) && held.every((child) => child.quiet);
    return { id: value.path, value, children: held, quiet };
  }
}

/** A group and those within it. */
interface Nest {
  readonly place: number;
  readonly children: Nest[];
}

/** Groups nested as their paths are; one whose holder is not there stands by the nearest that is. */
export function nested(entities: readonly PageEntity[], places: readonly number[]): Nest[] {
  const byPath = new Map<string, Nest>();
  for (const place of places) {
    byPath.set(trimmed(entities[place]?.path ?? ""), { place, children: [] });
  }
  const roots: Nest[] = [];
  for (const [path, nest] of byPath) {
    let above = path;
    let holder: Nest | undefined;
    while (above !== "" && holder === undefined) {
      above = above.slice(0, Math.max(above.lastIndexOf("/"), 0));
      holder = byPath.get(above);
    }
    (holder?.children ?? roots).push(nest);
  }
  return roots;
}

/** The root's path is empty, so that it is the beginning of every other. */
function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function isIdle(group: Group): boolean {
  const pressures = [group.cpu, group.memory, group.io];
  const stalled = pressures.some(({ some, full }) => Math.max(some ?? 0, full ?? 0) >= IDLE_SHARE);
  const traffic = (group.read ?? 0) + (group.written ?? 0);
  const marked = group.target || group.generator;
  return !marked && !stalled && traffic < 1 && !((group.cpus ?? 0) >= IDLE_CPUS);
}

function group(
  recording: Recording,
  tables: Tables,
  place: number,
  disks: readonly number[],
  window: Span,
  roles: ReadonlySet<string> | undefined,
): Group {
  const entity = recording.entity(place);
  const cpu = measured(tables, "cgroup_cpu", place, window);
  const limit = measured(tables, "cgroup_limit", place, window);
  const memory = measured(tables, "cgroup_memory", place, window);
  const pressure = measured(tables, "cgroup_pressure", place, window);
  const stall = measured(tables, "cgroup_stall", place, window);
  const share = (of: typeof pressure, column: string) => {
    const rate = of.rate(column);
    return rate === undefined ? undefined : rate / SECOND;
  };
  const stalls = (resource: string) => ({
    some: share(pressure, `${resource}_some_ns`),
    full: share(pressure, `${resource}_full_ns`),
    density: share(stall, `${resource}_some_ns`),
  });
  const limits = [memory.last("limit_bytes"), memory.last("high_bytes")];
  const memoryLimits = limits.filter((it) => it !== undefined);
  const set = limit.series("quota_ns")?.known.from;
  const own = disks.map((disk) => measured(tables, "cgroup_io", disk, window));
  // A disk is seen from the group's first operation on it.
  const moved = (column: string) => {
    const all = own.map((of) => of.series(column)).filter((it) => it !== undefined);
    return sumOver(all, window);
  };
  const usage = cpu.rate("usage_ns");
  const throttled = cpu.rate("throttled_ns");
  const series = cpu.series("usage_ns");
  return {
    name: entity?.name ?? "",
    path: entity?.path ?? "",
    target: roles?.has("target") ?? false,
    generator: roles?.has("generator") ?? false,
    cpus: usage === undefined ? undefined : usage / SECOND,
    quota: ratio(limit.last("quota_ns"), limit.last("period_ns")),
    cpuset: limit.last("cpus"),
    quotaSince: set !== undefined && set > window.from && set < window.to ? set : undefined,
    throttledPeriods: ratio(cpu.rate("throttled_periods"), cpu.rate("periods")),
    throttledTime: throttled === undefined ? undefined : throttled / SECOND,
    // That of the machine is 0 by definition, and some kernels show another figure.
    cpu: { ...stalls("cpu"), ...(entity?.path === "/" && { full: undefined }) },
    memory: stalls("memory"),
    io: stalls("io"),
    used: memory.mean("usage_bytes"),
    limit: memoryLimits.length === 0 ? undefined : Math.min(...memoryLimits),
    limitsMet: sumOf([memory.rate("limit_events"), memory.rate("high_events")]),
    kills: memory.growth("oom_kills"),
    read: moved("read_bytes"),
    written: moved("write_bytes"),
    ioLimits: disks.flatMap((disk, i) => {
      const name = recording.entity(disk)?.name ?? "";
      return IO_LIMITS.flatMap(([column, what]) => {
        const allowed = own[i]?.last(column);
        return allowed !== undefined && allowed > 0 ? [`${what(allowed)} on ${name}`] : [];
      });
    }),
    cpuTime: series === undefined ? [] : [series],
  };
}

const IO_LIMITS: readonly (readonly [string, (allowed: number) => string])[] = [
  ["limit_read_bytes", (allowed) => `reads at most ${traffic(allowed)}`],
  ["limit_write_bytes", (allowed) => `writes at most ${traffic(allowed)}`],
  ["limit_reads", (allowed) => `at most ${integer(allowed)} reads/s`],
  ["limit_writes", (allowed) => `at most ${integer(allowed)} writes/s`],
];
