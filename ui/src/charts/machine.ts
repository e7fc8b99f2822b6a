// The machine over time: CPU, steal, load, disks, network, memory.

import { percent } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { growth } from "../data/series";
import type { BinTable } from "../data/tables";
import { completed, partOver, seriesOf } from "./binLane";
import { bounds, summed } from "./bins";
import { STATES } from "./cpuTime";
import { unseen } from "./gaps";
import type { Lane, LaneLine } from "./lane";
import { type LaneRecipe, type LaneRecipes, recipeLanes } from "./laneRecipe";

/** How a CPU's time is divided; idle is what is left. */
const CPU_PARTS: readonly {
  readonly label: string;
  readonly columns: readonly string[];
  readonly colour: string;
  readonly fill: number;
}[] = [
  { label: "user", columns: ["user_ns", "nice_ns"], colour: "--cpu", fill: 0.85 },
  { label: "system", columns: ["system_ns"], colour: "--cpu", fill: 0.45 },
  { label: "interrupts", columns: ["irq_ns", "softirq_ns"], colour: "--irq", fill: 0.8 },
  { label: "iowait", columns: ["iowait_ns"], colour: "--io", fill: 0.45 },
  { label: "steal", columns: ["steal_ns"], colour: "--steal", fill: 0.85 },
];

/** Whose column grew most over the recording; `undefined` where none has it. */
export function busiest(table: BinTable, column: string): number | undefined {
  const place = table.about.columns.findIndex((it) => it.name === column);
  let best: { entity: number; grown: number } | undefined;
  for (const [entity, series] of table.columns[place] ?? []) {
    const grown = growth(series, series.known) ?? 0;
    if (best === undefined || grown > best.grown) best = { entity, grown };
  }
  return best?.entity;
}

/** Time of all CPUs by what they did; the parts are stacked, as they are parts of a whole. */
export function cpuLanes(recording: Recording, tables: Tables): Lane[] {
  const table = tables.bins("cpu");
  if (table === undefined) return [];
  const whole = seriesOf(table, STATES);
  if (whole.length === 0) return [];
  const total = summed(whole, 1, table.edges).values;
  const edges = bounds(table.edges);
  const gaps = unseen(recording, "cpu");
  const lines = CPU_PARTS.flatMap((part): LaneLine[] => {
    const series = seriesOf(table, part.columns);
    if (series.length === 0) return [];
    const sum = summed(series, 1, table.edges).values;
    return [
      {
        label: part.label,
        colour: part.colour,
        fill: part.fill,
        style: "area",
        values: sum.map((value, bin) => value / (total[bin] ?? Number.NaN)),
        over: (window) => partOver(series, whole, window),
      },
    ];
  });
  const count = table.columns[table.about.columns.findIndex((it) => it.name === "idle_ns")]?.size;
  const title = count === 1 ? "The CPU by what it did" : `${count} CPUs by what they did`;
  const draft = { format: percent, least: 1, unseen: gaps };
  const steal = lines.find((line) => line.label === "steal");
  return [
    completed({ ...draft, id: "cpu", title, stacked: true }, edges, lines),
    ...(steal === undefined
      ? []
      : [completed({ ...draft, id: "steal", title: "Steal", least: 0.05 }, edges, [steal])]),
  ];
}

/** Load average beside what it is an average of. */
export function loadLanes(recording: Recording, tables: Tables): Lane[] {
  return recipeLanes(recording, tables, {
    table: "load",
    colour: "--cpu",
    lanes: [
      {
        id: "load",
        title: "Load average and tasks",
        least: 1,
        lines: [
          ["running", "running"],
          ["blocked", "blocked", "--io"],
          ["load average, 1 min", "load1_hundredths", "--ink"],
        ],
      },
    ],
  });
}

/** The busiest disk: utilisation, traffic, operations, time per operation. */
export function diskLanes(recording: Recording, tables: Tables): Lane[] {
  const table = tables.bins("disk");
  const place = table && busiest(table, "busy_ns");
  if (place === undefined) return [];
  const name = recording.entity(place)?.name ?? "disk";
  const disk = `Disk ${name}`;
  const recipes: LaneRecipes = {
    table: "disk",
    colour: "--io",
    lanes: [
      { id: "disk-busy", title: `${disk} in use`, lines: [["of the time", "busy_ns"]] },
      {
        id: "disk-queue",
        title: `${disk}, operations in progress`,
        least: 1,
        lines: [["mean", "queue_ns"]],
      },
      {
        id: "disk-bytes",
        title: `${disk}, traffic`,
        lines: [
          ["read", "read_bytes"],
          ["written", "write_bytes"],
        ],
      },
      {
        id: "disk-operations",
        title: `${disk}, operations`,
        lines: [
          ["read", "reads"],
          ["written", "writes"],
          ["flushes", "flushes", "--ink"],
        ],
      },
    ],
  };
  const isIt = (entity: number) => entity === place;
  return recipeLanes(recording, tables, recipes, isIt, (what) => what === name);
}

const NETWORK = { table: "network", colour: "--network" };

/** Bytes of all interfaces but the loopback, of the loopback, and segments sent again. */
export function networkLanes(recording: Recording, tables: Tables): Lane[] {
  const lane = (loopback: boolean, recipe: LaneRecipe) =>
    recipeLanes(
      recording,
      tables,
      { ...NETWORK, lanes: [recipe] },
      (entity) => (recording.entity(entity)?.name === "lo") === loopback,
      () => false,
    );
  return [
    ...lane(false, {
      id: "network",
      title: "Network, all interfaces",
      lines: [
        ["received", "rx_bytes"],
        ["sent", "tx_bytes"],
      ],
    }),
    // What the loopback sends it receives.
    ...lane(true, { id: "loopback", title: "Loopback", lines: [["received", "rx_bytes"]] }),
    ...recipeLanes(recording, tables, TCP),
  ];
}

const TCP: LaneRecipes = {
  table: "tcp",
  colour: "--network",
  lanes: [
    {
      id: "retransmits",
      title: "TCP segments sent again",
      least: 1,
      lines: [["of all connections", "retransmitted_segments"]],
    },
  ],
};

/** What is free, what waits to be written, and what moves. */
export function memoryLanes(recording: Recording, tables: Tables): Lane[] {
  return MEMORY.flatMap((recipes) => recipeLanes(recording, tables, recipes));
}

const MEMORY: readonly LaneRecipes[] = [
  {
    table: "memory",
    colour: "--memory",
    lanes: [
      {
        id: "memory-available",
        title: "Memory available",
        lines: [["available", "available_bytes"]],
      },
      {
        id: "memory-dirty",
        title: "Memory to be written",
        lines: [
          ["dirty", "dirty_bytes"],
          ["writeback", "writeback_bytes"],
        ],
      },
    ],
  },
  {
    table: "paging",
    colour: "--memory",
    lanes: [
      {
        id: "refaults",
        title: "Pages dropped and needed again",
        least: 1,
        lines: [
          ["of files", "refault_file"],
          ["of programs", "refault_anon"],
        ],
      },
      {
        id: "swap",
        title: "Swap, pages",
        least: 1,
        lines: [
          ["in", "swap_in"],
          ["out", "swap_out"],
        ],
      },
    ],
  },
];
