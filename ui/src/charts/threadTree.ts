// Who was there: roles, their services, pools of threads alike, processes and threads, each with where
// its time went over a window.

import { measured, sumOf } from "../data/measure";
import type { Role } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import type { Series } from "../data/series";
import { length, type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import {
  type LedgerColumn,
  type LedgerState,
  ledgerColumns,
  ledgerWhole,
  threadTimes,
  timeIn,
} from "./ledger";
import type { Whole } from "./parts";
import { type Kin, kinOf, pattern } from "./processTree";
import type { TreeNode } from "./tree";

export type MemberKind = "role" | "service" | "pool" | "process" | "thread";

/** A row of the crowd. */
export interface Member {
  readonly kind: MemberKind;
  readonly name: string;
  /** What tells it from others of its name: `pid 1234`, a group's path; empty for many together. */
  readonly detail: string;
  readonly role: Role;
  /** Whether it holds connections of the generator. */
  readonly serving: boolean;
  /** What a filter looks at. */
  readonly text: string;
  readonly processes: number;
  /** Threads whose time is known. */
  readonly threads: number;
  /** Where their time went; `undefined` where only CPU time was read. */
  readonly whole: Whole | undefined;
  /** CPUs used: CPU time per time. */
  readonly cpus: number | undefined;
  /** The part of it spent in the kernel, where that was read. */
  readonly kernelPart: Share | undefined;
  /** Mean number of threads that waited for a CPU; that a quota held back; that waited for disk, memory or
      lock. */
  readonly waiting: number | undefined;
  readonly withheld: number | undefined;
  readonly blocked: number | undefined;
  /** The thread that was on a CPU most, as a part of the window. */
  readonly busiest: { readonly name: string; readonly share: Share } | undefined;
  /** Bytes read from storage and written to it, per second of the window. */
  readonly storage: number | undefined;
  /** Counters of CPU time that add up to its own. */
  readonly cpuTime: readonly Series[];
  /** Its threads, by their places. */
  readonly places: readonly number[];
}

/** The crowd, as a tree with a root per role. */
export function crowd(
  recording: Recording,
  tables: Tables,
  window: Span,
): readonly TreeNode<Member>[] {
  const tallies = processTallies(recording, tables, window);
  const ledger = tables.bins("ledger");
  const columns = ledger === undefined ? [] : ledgerColumns(ledger);
  const grow = new Grower(columns, length(window));
  const byRole = grouped(tallies, (tally) => tally.kin.role);
  return ROLES.flatMap((role) => {
    const own = byRole.get(role);
    return own === undefined ? [] : [grow.role(role, own)];
  });
}

/** In the order in which they are shown. */
const ROLES: readonly Role[] = ["target", "generator", "dependency", "recorder", "rest"];

/** What a role is called. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  target: "Target",
  generator: "Generator",
  dependency: "Dependency",
  recorder: "Recorder",
  rest: "Rest",
};

/** One thread over the window. */
interface ThreadTally {
  readonly place: number;
  readonly name: string;
  readonly path: string;
  readonly times: Float64Array;
  readonly cpuTime: Series | undefined;
}

/** One process over the window. */
interface ProcessTally {
  readonly place: number;
  readonly kin: Kin;
  readonly threads: readonly ThreadTally[];
  readonly user: number | undefined;
  readonly system: number | undefined;
  /** Bytes read from storage and written to it. */
  readonly moved: number | undefined;
  readonly cpuTime: readonly Series[];
}

/** What is known of whole processes only. */
const NOT_OF_A_PART = { user: undefined, system: undefined, moved: undefined };

function processTallies(recording: Recording, tables: Tables, window: Span): ProcessTally[] {
  const { entities } = recording.page;
  const ledger = tables.bins("ledger");
  const columns = ledger === undefined ? [] : ledgerColumns(ledger);
  const running = columns.find((column) => column.key === "on_cpu");
  const threads = new Map<number, ThreadTally[]>();
  for (const place of new Set(columns.flatMap((column) => [...column.series.keys()]))) {
    const entity = entities[place];
    const times = threadTimes(columns, place, window);
    if (entity === undefined || times === undefined) continue;
    const { name, path } = entity;
    const tally = { place, name, path, times, cpuTime: running?.series.get(place) };
    const process = entity.parent ?? place;
    threads.set(process, [...(threads.get(process) ?? []), tally]);
  }
  const tallies: ProcessTally[] = [];
  for (const [place, entity] of entities.entries()) {
    const own = threads.get(place) ?? [];
    if (entity.kind !== "process" && own.length === 0) continue;
    const of = measured(tables, "process", place, window);
    const [user, system] = [of.growth("user_ns"), of.growth("system_ns")];
    if (own.length === 0 && user === undefined && system === undefined) continue;
    const read = ["user_ns", "system_ns"].map(of.series).filter((it) => it !== undefined);
    const watched = own.map((thread) => thread.cpuTime).filter((it) => it !== undefined);
    tallies.push({
      place,
      kin: kinOf(entities, place),
      threads: own,
      user,
      system,
      moved: sumOf([of.growth("read_bytes"), of.growth("write_bytes")]),
      cpuTime: own.length > 0 ? watched : read,
    });
  }
  return tallies;
}

/** Makes rows of what was tallied. */
class Grower {
  constructor(
    private readonly columns: readonly LedgerColumn[],
    private readonly span: Nanoseconds,
  ) {}

  role(role: Role, processes: readonly ProcessTally[]): TreeNode<Member> {
    const id = role;
    const services = grouped(processes, (process) => process.kin.service);
    const children = [...services].map(([key, own]) => this.service(`${id}/${key}`, own));
    return this.node({ id, kind: "role", name: ROLE_WORDS[role], detail: "" }, processes, children);
  }

  private service(id: string, processes: readonly ProcessTally[]): TreeNode<Member> {
    const kin = processes[0]?.kin;
    const pools = grouped(this.units(processes), (unit) => unit.pool);
    const children = [...pools].map(([key, own]) => this.pool(`${id}/${key}`, own));
    const about = {
      id,
      kind: "service" as const,
      name: kin?.serviceName ?? "",
      detail: kin?.serviceDetail ?? "",
    };
    return this.node(about, processes, children);
  }

  /** The threads of processes by their pool, or the processes where no thread was watched. */
  private units(processes: readonly ProcessTally[]): { pool: string; part: ProcessTally }[] {
    return processes.flatMap((process) => {
      const serving = process.kin.serving ? " (serving)" : "";
      if (process.threads.length === 0) return [{ pool: pattern(process.kin.name), part: process }];
      const pools = grouped(process.threads, (thread) => pattern(thread.name));
      // What only the whole process has is not counted again in each of its pools.
      const whole = pools.size === 1 ? process : { ...process, ...NOT_OF_A_PART };
      return [...pools].map(([name, threads]) => {
        const cpuTime = threads.map((it) => it.cpuTime).filter((it) => it !== undefined);
        return { pool: `${name}${serving}`, part: { ...whole, threads, cpuTime } };
      });
    });
  }

  private pool(
    id: string,
    units: readonly { pool: string; part: ProcessTally }[],
  ): TreeNode<Member> {
    const parts = units.map((unit) => unit.part);
    const children = parts.map((part) => this.process(`${id}/${part.place}`, part));
    const name = units[0]?.pool ?? "";
    return this.node({ id, kind: "pool", name, detail: "" }, parts, children);
  }

  private process(id: string, process: ProcessTally): TreeNode<Member> {
    const { name, number } = process.kin;
    const children = process.threads.map((thread) => {
      const detail = thread.path.match(/tid:(\d+)$/)?.[1];
      const one = { ...process, ...NOT_OF_A_PART, threads: [thread] };
      const cpuTime = thread.cpuTime === undefined ? [] : [thread.cpuTime];
      const about = {
        id: `${id}/${thread.place}`,
        kind: "thread" as const,
        name: thread.name,
        detail: detail === undefined ? thread.path : `tid ${detail}`,
      };
      return this.node(about, [{ ...one, cpuTime }], []);
    });
    return this.node({ id, kind: "process", name, detail: number }, [process], children);
  }

  /** A row; an only child is left out, and what it holds moves up. */
  private node(
    about: { id: string; kind: MemberKind; name: string; detail: string },
    processes: readonly ProcessTally[],
    children: readonly TreeNode<Member>[],
  ): TreeNode<Member> {
    const only = children.length === 1 && about.kind !== "role" ? children[0] : undefined;
    const value = this.member(about, processes, only?.value);
    // A process that did nothing in the window is there, and need not be seen.
    const quiet = about.kind !== "role" && value.threads === 0 && !((value.cpus ?? 0) > 0);
    return { id: about.id, value, children: only?.children ?? children, quiet };
  }

  private member(
    { kind, name, detail }: { kind: MemberKind; name: string; detail: string },
    processes: readonly ProcessTally[],
    only: Member | undefined,
  ): Member {
    const { columns, span } = this;
    const threads = processes.flatMap((process) => process.threads);
    const times = new Float64Array(columns.length);
    for (const thread of threads) {
      for (let i = 0; i < times.length; i++) times[i] = (times[i] ?? 0) + (thread.times[i] ?? 0);
    }
    const running = (of: Float64Array) => timeIn(columns, of, "running");
    // Threads tell their time on a CPU exactly; of who was not watched by thread the process tells it.
    const byProcess = processes.map((process) => {
      if (process.threads.length === 0) return sumOf([process.user, process.system]);
      return process.threads.reduce((sum, thread) => sum + running(thread.times), 0);
    });
    const cpuTime = sumOf(byProcess);
    const moved = sumOf(processes.map((process) => process.moved));
    const [user, system] = [
      sumOf(processes.map((process) => process.user)),
      sumOf(processes.map((process) => process.system)),
    ];
    const seen = threads.length > 0;
    const ofSpan = (ns: number) => ns / span;
    const inState = (state: LedgerState) =>
      seen ? ofSpan(timeIn(columns, times, state)) : undefined;
    let busiest: Member["busiest"];
    for (const thread of threads) {
      const share = running(thread.times) / span;
      if (busiest === undefined || share > busiest.share) busiest = { name: thread.name, share };
    }
    const role = processes[0]?.kin.role ?? "rest";
    const own = [ROLE_WORDS[role], kind, name, detail, only?.text ?? ""];
    let whole: Whole | undefined;
    return {
      kind,
      name,
      detail: detail || (only?.detail ?? ""),
      role,
      serving: processes.every((process) => process.kin.serving),
      text: own.concat(processes.slice(0, 1).map((process) => process.kin.path)).join(" "),
      processes: new Set(processes.map((process) => process.place)).size,
      threads: threads.length,
      // Of a thousand threads few are looked at.
      get whole() {
        whole ??= ledgerWhole(columns, times);
        return whole;
      },
      cpus: cpuTime === undefined ? undefined : ofSpan(cpuTime),
      kernelPart:
        user === undefined || system === undefined || user + system <= 0
          ? undefined
          : system / (user + system),
      waiting: inState("waiting"),
      withheld: inState("withheld"),
      blocked: inState("blocked"),
      busiest,
      storage: moved === undefined ? undefined : moved / (span / SECOND),
      cpuTime: processes.flatMap((process) => process.cpuTime),
      places: threads.map((thread) => thread.place),
    };
  }
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
