// The machine over time: CPU, steal, load, disks, network, memory.

import { bytes, percent, perSecond, rate, traffic } from "../data/format";
import type { Recording, Tables } from "../data/recording";
import { growth, type Series } from "../data/series";
import type { BinTable } from "../data/tables";
import { binLane, completed, partOver } from "./binLane";
import { bounds, summed } from "./bins";
import { STATES } from "./cpuTime";
import { unseen } from "./gaps";
import type { Lane, LaneLine } from "./lane";

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

/** All series of some columns of a table, of those entities that `which` wants. */
export function seriesOf(
  table: BinTable,
  columns: readonly string[],
  which: (entity: number) => boolean = () => true,
): Series[] {
  return columns.flatMap((name) => {
    const place = table.about.columns.findIndex((column) => column.name === name);
    const all = [...(table.columns[place] ?? [])];
    return all.flatMap(([entity, series]) => (which(entity) ? [series] : []));
  });
}

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
export function loadLane(recording: Recording, tables: Tables): Lane | undefined {
  const table = tables.bins("load");
  if (table === undefined) return undefined;
  const line = (label: string, column: string) => ({ label, series: seriesOf(table, [column]) });
  return binLane(table, {
    id: "load",
    title: "Load average and tasks",
    lines: [
      {
        ...line("running", "running"),
        colour: "--cpu",
        fill: 0.25,
        style: "area",
      },
      { ...line("blocked", "blocked"), colour: "--io", fill: 0.5, style: "area" },
      {
        ...line("load average, 1 min", "load1_hundredths"),
        factor: 0.01,
        colour: "--ink",
        fill: 0,
        style: "line",
        dash: [5, 3],
      },
    ],
    format: rate,
    least: 1,
    unseen: unseen(recording, "load"),
  });
}

/** The busiest disk: utilisation, traffic, operations, time per operation. */
export function diskLanes(recording: Recording, tables: Tables): Lane[] {
  const table = tables.bins("disk");
  const place = table && busiest(table, "busy_ns");
  if (table === undefined || place === undefined) return [];
  const name = recording.entity(place)?.name ?? "disk";
  const of = (...columns: string[]) => seriesOf(table, columns, (entity) => entity === place);
  const gaps = unseen(recording, "disk", (what) => what === name);
  const draft = { least: 0, unseen: gaps };
  const pair = (read: string, write: string) => [
    { label: "read", colour: "--io", fill: 0.3, style: "area" as const, series: of(read) },
    {
      label: "written",
      colour: "--io",
      fill: 0,
      style: "line" as const,
      dash: [4, 2],
      series: of(write),
    },
  ];
  const lanes = [
    binLane(table, {
      ...draft,
      id: "disk-busy",
      title: `Disk ${name} in use`,
      least: 1,
      format: percent,
      lines: [
        {
          label: "of the time",
          colour: "--io",
          fill: 0.3,
          style: "area",
          series: of("busy_ns"),
          factor: 1e-9,
        },
      ],
    }),
    binLane(table, {
      ...draft,
      id: "disk-queue",
      title: `Disk ${name}, operations in progress`,
      least: 1,
      format: rate,
      lines: [
        {
          label: "mean",
          colour: "--io",
          fill: 0.3,
          style: "area",
          series: of("queue_ns"),
          factor: 1e-9,
        },
      ],
    }),
    binLane(table, {
      ...draft,
      id: "disk-bytes",
      title: `Disk ${name}, traffic`,
      format: traffic,
      lines: pair("read_bytes", "write_bytes"),
    }),
    binLane(table, {
      ...draft,
      id: "disk-operations",
      title: `Disk ${name}, operations`,
      format: perSecond,
      lines: [
        ...pair("reads", "writes"),
        {
          label: "flushes",
          colour: "--ink",
          fill: 0,
          style: "line",
          dash: [1, 3],
          series: of("flushes"),
        },
      ],
    }),
  ];
  return lanes.filter((lane) => lane !== undefined);
}

/** Bytes of all interfaces but the loopback, of the loopback, and segments sent again. */
export function networkLanes(recording: Recording, tables: Tables): Lane[] {
  const table = tables.bins("network");
  const tcp = tables.bins("tcp");
  const lanes: (Lane | undefined)[] = [];
  for (const loopback of [false, true]) {
    if (table === undefined) break;
    const which = (entity: number) => (recording.entity(entity)?.name === "lo") === loopback;
    const line = (label: string, column: string, dashed: boolean) => ({
      label,
      colour: "--network",
      fill: dashed ? 0 : 0.3,
      style: dashed ? ("line" as const) : ("area" as const),
      ...(dashed && { dash: [4, 2] }),
      series: seriesOf(table, [column], which),
    });
    lanes.push(
      binLane(table, {
        id: loopback ? "loopback" : "network",
        title: loopback ? "Loopback" : "Network, all interfaces",
        format: traffic,
        least: 0,
        lines: [line("received", "rx_bytes", false), line("sent", "tx_bytes", true)].slice(
          0,
          // What the loopback sends it receives.
          loopback ? 1 : 2,
        ),
        unseen: unseen(recording, "network", () => false),
      }),
    );
  }
  if (tcp !== undefined) {
    lanes.push(
      binLane(tcp, {
        id: "retransmits",
        title: "TCP segments sent again",
        format: perSecond,
        least: 1,
        lines: [
          {
            label: "of all connections",
            colour: "--network",
            fill: 0.5,
            style: "area",
            series: seriesOf(tcp, ["retransmitted_segments"]),
          },
        ],
        unseen: unseen(recording, "tcp"),
      }),
    );
  }
  return lanes.filter((lane) => lane !== undefined);
}

/** What is free, what waits to be written, and what moves. */
export function memoryLanes(recording: Recording, tables: Tables): Lane[] {
  const memory = tables.bins("memory");
  const paging = tables.bins("paging");
  const lanes: (Lane | undefined)[] = [];
  const line = (table: BinTable, label: string, column: string, look: Look) => ({
    label,
    colour: "--memory",
    ...LOOKS[look],
    series: seriesOf(table, [column]),
  });
  if (memory !== undefined) {
    const draft = { format: bytes, least: 0, binary: true, unseen: unseen(recording, "memory") };
    lanes.push(
      binLane(memory, {
        ...draft,
        id: "memory-available",
        title: "Memory available",
        lines: [line(memory, "available", "available_bytes", "area")],
      }),
      binLane(memory, {
        ...draft,
        id: "memory-dirty",
        title: "Memory to be written",
        lines: [
          line(memory, "dirty", "dirty_bytes", "area"),
          line(memory, "writeback", "writeback_bytes", "dashed"),
        ],
      }),
    );
  }
  if (paging !== undefined) {
    const draft = { format: perSecond, least: 1, unseen: unseen(recording, "paging") };
    lanes.push(
      binLane(paging, {
        ...draft,
        id: "refaults",
        title: "Pages dropped and needed again",
        lines: [
          line(paging, "of files", "refault_file", "area"),
          line(paging, "of programs", "refault_anon", "dashed"),
        ],
      }),
      binLane(paging, {
        ...draft,
        id: "swap",
        title: "Swap, pages",
        lines: [line(paging, "in", "swap_in", "area"), line(paging, "out", "swap_out", "dashed")],
      }),
    );
  }
  return lanes.filter((lane) => lane !== undefined);
}

type Look = "area" | "dashed";
const LOOKS = {
  area: { fill: 0.3, style: "area" },
  dashed: { fill: 0, style: "line", dash: [4, 2] },
} as const;
