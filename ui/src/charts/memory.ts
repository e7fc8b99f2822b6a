// What the machine's memory was used for, and how it moved.

import { bytes, integer, perSecond, traffic } from "../data/format";
import { measured } from "../data/measure";
import type { Recording, Tables } from "../data/recording";
import type { Span } from "../data/units";
import { PAGE_BYTES } from "../data/units";
import { binLane, seriesOf } from "./binLane";
import { type Figure, type FigureDraft, figures } from "./figures";
import { unseen } from "./gaps";
import type { Lane } from "./lane";
import { type LaneRecipes, recipeLanes } from "./laneRecipe";
import { type Mark, type PartAbout, type Whole, whole } from "./parts";

/** Memory over a window. */
export interface Memory {
  /** All of it by use, means over the window; `undefined` where it was not recorded. */
  readonly use: Whole | undefined;
  /** Least that could be given to programs without swapping, and all there is; bytes. */
  readonly leastAvailable: number | undefined;
  readonly total: number | undefined;
  readonly figures: readonly Figure[];
}

export function memory(recording: Recording, tables: Tables, window: Span): Memory {
  const place = recording.page.entities.findIndex((entity) => entity.kind === "machine");
  const of = measured(tables, "memory", place, window);
  const moving = measured(tables, "paging", place, window);
  const [about, paging] = [recording.table("memory"), recording.table("paging")];
  return {
    use: used(of.mean),
    leastAvailable: of.lowest("available_bytes"),
    total: of.last("total_bytes"),
    figures: [
      ...(about ? figures(about, of, window, HELD) : []),
      ...(paging ? figures(paging, moving, window, MOVING) : []),
    ],
  };
}

/** The machine's memory over time. */
export function memoryLanes(recording: Recording, tables: Tables): Lane[] {
  const table = tables.bins("memory");
  const area = (label: string, colour: string, fill: number, ...columns: readonly string[]) => ({
    label,
    colour,
    fill,
    style: "area" as const,
    series: table
      ? seriesOf(
          table,
          columns.map((column) => `${column}_bytes`),
        )
      : [],
  });
  const use =
    table &&
    binLane(table, {
      id: "memory-use",
      title: "Memory by use",
      stacked: true,
      lines: [
        area("programs", "--memory", 0.9, "anonymous"),
        area("kernel", "--irq", 0.9, "unreclaimable", "reclaimable"),
        area("page cache, shared", "--network", 0.6, "cached", "buffers"),
        area("free", "--idle", 1, "free"),
      ],
      format: bytes,
      least: 0,
      binary: true,
      unseen: unseen(recording, "memory"),
    });
  return [...(use ? [use] : []), ...recipeLanes(recording, tables, RECLAIM)];
}

const RECLAIM: LaneRecipes = {
  table: "paging",
  colour: "--memory",
  lanes: [
    {
      id: "memory-reclaim",
      title: "Memory made free",
      factor: PAGE_BYTES,
      format: traffic,
      lines: [
        ["by who needed it", "steal_direct"],
        ["by kswapd", "steal_kswapd"],
      ],
    },
    {
      id: "memory-faults",
      title: "Page faults with I/O",
      least: 1,
      lines: [["major", "major_faults"]],
    },
  ],
};

/** The parts that meminfo reports, and what is left; they add up to what there is. */
function used(mean: (column: string) => number | undefined): Whole | undefined {
  const total = mean("total_bytes");
  if (total === undefined) return undefined;
  const of = (column: string) => mean(`${column}_bytes`) ?? 0;
  // Shared memory is part of what is cached.
  const files = Math.max(0, of("cached") - of("shared")) + of("buffers");
  const known =
    of("anonymous") + of("shared") + files + of("reclaimable") + of("unreclaimable") + of("free");
  const part = (
    key: string,
    label: string,
    value: number,
    [fill, mark, strong]: readonly [string, Mark, boolean],
    help: string,
  ): PartAbout => ({
    key,
    label,
    value,
    help,
    quality: "exact",
    paint: { fill, ink: strong ? "--mark-on-strong" : "--mark-on-pale", mark, strong },
  });
  return whole([
    part(
      "anonymous",
      "programs",
      of("anonymous"),
      ["--memory", "none", true],
      "Memory of programs without a file behind it (AnonPages).",
    ),
    part(
      "shared",
      "shared",
      of("shared"),
      ["--memory", "down", true],
      "Shared memory and tmpfs: a database's buffers, often (Shmem).",
    ),
    part(
      "kernel",
      "kernel",
      of("unreclaimable"),
      ["--irq", "upright", true],
      "Kernel memory that cannot be given back (SUnreclaim).",
    ),
    part(
      "other",
      "other",
      Math.max(0, total - known),
      ["--class-sleep", "cross", false],
      "What is left: page tables, stacks of the kernel, network buffers, huge pages.",
    ),
    part(
      "files",
      "page cache",
      files,
      ["--network", "none", true],
      "Page cache of files and block devices; it is given back when programs need room.",
    ),
    part(
      "reclaimable",
      "kernel caches",
      of("reclaimable"),
      ["--network", "upright", true],
      "Kernel caches that can be given back (SReclaimable).",
    ),
    part("free", "free", of("free"), ["--idle", "none", false], "Unused memory (MemFree)."),
  ]);
}

const pages = (value: number) => traffic(value * PAGE_BYTES);

const HELD: readonly FigureDraft[] = [
  { columns: ["available_bytes"], label: "available", of: "mean", format: bytes },
  { columns: ["dirty_bytes"], label: "dirty", of: "mean", format: bytes },
  { columns: ["writeback_bytes"], label: "being written back", of: "mean", format: bytes },
  { columns: ["committed_bytes"], label: "promised to programs", of: "mean", format: bytes },
];

const MOVING: readonly FigureDraft[] = [
  {
    columns: ["refault_file", "refault_anon"],
    label: "refaulted",
    of: "rate",
    format: pages,
    help: "Pages read again soon after they had been evicted, of 4 KiB each: the working set does not fit.",
  },
  { columns: ["major_faults"], label: "major faults", of: "rate", format: perSecond },
  {
    columns: ["steal_direct"],
    label: "direct reclaim",
    of: "rate",
    format: pages,
    help: "Memory freed by the tasks that needed it, of pages of 4 KiB.",
  },
  {
    columns: ["steal_kswapd"],
    label: "reclaimed by kswapd",
    of: "rate",
    format: pages,
    help: "Memory freed in the background, of pages of 4 KiB.",
  },
  { columns: ["allocation_stalls"], label: "allocation stalls", of: "rate", format: perSecond },
  { columns: ["swap_in"], label: "swapped in", of: "rate", format: pages },
  { columns: ["swap_out"], label: "swapped out", of: "rate", format: pages },
  { columns: ["oom_kills"], label: "killed for want of memory", of: "count", format: integer },
];
