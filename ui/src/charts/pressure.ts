// Pressure by resource: of the machine, and of the target's group where it has one of its own.

import { percent } from "../data/format";
import type { Resource } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { binLane, type LineDraft } from "./binLane";
import { unseen } from "./gaps";
import type { Lane } from "./lane";

const RESOURCES: readonly Resource[] = ["cpu", "memory", "io", "irq"];
const WORDS: Record<Resource, string> = { cpu: "CPU", memory: "Memory", io: "I/O", irq: "IRQ" };

/** Who has pressure: the machine, and the group or the processes that the report speaks of. */
export interface Pressed {
  readonly table: "pressure" | "cgroup_pressure" | "process_pressure";
  readonly place: number;
  /** What it is called: `machine`, `/system.slice/x.service`. */
  readonly name: string;
}

/** The machine first; the target's group where it is another, or its processes. */
export function pressed(recording: Recording): Pressed[] {
  const { entities, report } = recording.page;
  const machine = entities.findIndex((entity) => entity.kind === "machine");
  const found: Pressed[] = [];
  if (machine >= 0) found.push({ table: "pressure", place: machine, name: "machine" });
  const own = report.pressure.find((pressure) => pressure.entity.kind !== "machine")?.entity;
  const place = own && recording.placeOf(own);
  if (own && place !== undefined) {
    found.push(
      own.kind === "cgroup"
        ? { table: "cgroup_pressure", place, name: own.path }
        : { table: "process_pressure", place, name: `all of ${own.name}` },
    );
  }
  return found;
}

/** One lane per resource and who has it: some filled, full darker. The resource that the verdict is about
    comes first, and of each the pressure of the target's own group. */
export function pressureLanes(recording: Recording, tables: Tables): Lane[] {
  const who = pressed(recording).reverse();
  const about = recording.page.report.verdict.findings[0]?.cause.split(".")[0];
  const first = RESOURCES.filter((resource) => resource === about);
  return [...new Set([...first, ...RESOURCES])].flatMap((resource) =>
    who.flatMap((it) =>
      [pressureLane, stallLane].flatMap((lane) => lane(recording, tables, it, resource) ?? []),
    ),
  );
}

export function pressureLane(
  recording: Recording,
  tables: Tables,
  who: Pressed,
  resource: Resource,
): Lane | undefined {
  const table = tables.bins(who.table);
  if (table === undefined) return undefined;
  const machine = who.table === "pressure";
  const line = (kind: "some" | "full"): LineDraft => ({
    label: kind,
    colour: `--${resource}`,
    fill: kind === "some" ? 0.3 : 0.85,
    style: "area",
    series: [tables.series(who.table, who.place, `${resource}_${kind}_ns`)],
    factor: 1e-9,
  });
  // The machine's cpu full is 0 by definition, and irq has full only.
  const some = resource === "irq" ? [] : [line("some")];
  const full = resource === "cpu" && machine ? [] : [line("full")];
  const concerns = (what: string) =>
    machine ? what.endsWith(resource) || what.startsWith(`${resource}_`) : what === who.name;
  return binLane(table, {
    id: `${machine ? "" : "group-"}pressure-${resource}`,
    title: `${WORDS[resource]} pressure, ${who.name}`,
    lines: [...some, ...full],
    format: percent,
    least: 1,
    unseen: unseen(recording, who.table, concerns),
  });
}

/** Stall density: the mean over the CPUs of the part of their time that was lost, at every reading. No
    pressure, which is a fold over 2 s weighted by how busy CPUs were: another number, below its own. */
export function stallLane(
  recording: Recording,
  tables: Tables,
  who: Pressed,
  resource: Resource,
): Lane | undefined {
  const machine = who.table === "pressure";
  const name = who.table.replace("pressure", "stall");
  const table = tables.bins(name);
  if (table === undefined) return undefined;
  const line = (kind: "some" | "full"): LineDraft => ({
    label: kind,
    colour: `--${resource}`,
    fill: 0,
    style: "line",
    ...(kind === "full" && { dash: [3, 2] }),
    series: [tables.series(name, who.place, `${resource}_${kind}_ns`)],
    factor: 1e-9,
  });
  const some = resource === "irq" ? [] : [line("some")];
  const full = resource === "cpu" && machine ? [] : [line("full")];
  const every = table.about.every?.near_ns;
  return binLane(table, {
    id: `${machine ? "" : "group-"}stall-${resource}`,
    title: `${WORDS[resource]} stall density${every ? ` ${every / 1e6} ms` : ""}, ${who.name}`,
    lines: [...some, ...full],
    format: percent,
    least: 1,
    slim: true,
    unseen: unseen(recording, name, (what) => machine || what === who.name),
  });
}
