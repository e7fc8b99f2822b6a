// The CPUs one by one and together, as the engine works out the machine (crates/analysis/src/cpus.rs): as
// parts of the time that was accounted to any state. An idle CPU stops its tick, and what it did between
// ticks is then accounted to none.

import { percent } from "../data/format";
import { measured, ratio, sumOf } from "../data/measure";
import type { Recording, Tables } from "../data/recording";
import type { Share, Span } from "../data/units";
import { BUSY, STATES } from "./cpuTime";
import { inOrder } from "./tree";

/** One CPU over a window, as parts of its time; `undefined` where a column was not recorded. */
export interface Cpu {
  readonly place: number;
  readonly name: string;
  readonly busy: Share | undefined;
  readonly user: Share | undefined;
  readonly system: Share | undefined;
  readonly irq: Share | undefined;
  readonly softirq: Share | undefined;
  readonly iowait: Share | undefined;
  readonly steal: Share | undefined;
}

/** All CPUs of a recording by number. */
export function cpus(recording: Recording, tables: Tables, window: Span): Cpu[] {
  const found = recording.page.entities.flatMap((entity, place): Cpu[] => {
    if (entity.kind !== "cpu" || tables.series("cpu", place, "idle_ns") === undefined) return [];
    const of = measured(tables, "cpu", place, window);
    const grown = (columns: readonly string[]) => sumOf(columns.map(of.growth));
    const total = grown(STATES);
    const part = (...columns: readonly string[]) => ratio(grown(columns), total);
    return [
      {
        place,
        name: entity.name,
        busy: total !== undefined && total > 0 ? (part(...BUSY) ?? 0) : undefined,
        user: part("user_ns", "nice_ns"),
        system: part("system_ns"),
        irq: part("irq_ns"),
        softirq: part("softirq_ns"),
        iowait: part("iowait_ns"),
        steal: part("steal_ns"),
      },
    ];
  });
  return inOrder(found, (cpu) => cpu.name, false);
}

/** Parts of the time of all CPUs together. */
export function together(
  all: readonly Cpu[],
  tables: Tables,
  window: Span,
): { busy: Share; steal: Share | undefined; iowait: Share | undefined } | undefined {
  const sum = (columns: readonly string[]) =>
    sumOf(all.flatMap(({ place }) => columns.map(measured(tables, "cpu", place, window).growth)));
  const total = sum(STATES);
  const part = (...columns: readonly string[]) => ratio(sum(columns), total);
  const busy = part(...BUSY);
  return busy === undefined
    ? undefined
    : { busy, steal: part("steal_ns"), iowait: part("iowait_ns") };
}

/** `2 CPUs, 98 % busy in all; busiest cpu1 99 %, least cpu0 97 %; steal 0, iowait 0.3 %.` */
export function cpuSentence(all: readonly Cpu[], tables: Tables, window: Span): string {
  const whole = together(all, tables, window);
  if (whole === undefined) return "No CPU was seen in this window.";
  const seen = inOrder(
    all.filter((cpu) => cpu.busy !== undefined),
    (cpu) => cpu.busy,
    true,
  );
  const [most, least] = [seen[0], seen[seen.length - 1]];
  const ends =
    seen.length > 1
      ? `; busiest ${most?.name} ${percent(most?.busy ?? 0)}, least busy ${least?.name} ${percent(least?.busy ?? 0)}`
      : "";
  const known = (part: Share | undefined) => (part === undefined ? "not seen" : percent(part));
  const count = all.length === 1 ? "1 CPU" : `${all.length} CPUs`;
  return `${count}, ${percent(whole.busy)} busy in all${ends}; steal ${known(whole.steal)}, iowait ${known(whole.iowait)}.`;
}
