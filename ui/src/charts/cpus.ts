// The CPUs one by one and together, as the engine works them out (crates/analysis/src/{cores,cpus}.rs).

import { percent } from "../data/format";
import { measured } from "../data/measure";
import type { Recording, Tables } from "../data/recording";
import { SECOND, type Share, type Span } from "../data/units";
import { BUSY } from "./heat";
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
    const part = (...columns: readonly string[]) => {
      const rates = columns.map(of.rate).filter((it) => it !== undefined);
      return rates.length === 0 ? undefined : rates.reduce((a, b) => a + b, 0) / SECOND;
    };
    const idle = part("idle_ns");
    const [iowait, steal] = [part("iowait_ns"), part("steal_ns")];
    const left = idle === undefined ? undefined : 1 - idle - (iowait ?? 0) - (steal ?? 0);
    return [
      {
        place,
        name: entity.name,
        busy: left === undefined ? undefined : Math.min(Math.max(left, 0), 1),
        user: part("user_ns", "nice_ns"),
        system: part("system_ns"),
        irq: part("irq_ns"),
        softirq: part("softirq_ns"),
        iowait,
        steal,
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
): { busy: Share; steal: Share; iowait: Share } | undefined {
  const sum = (columns: readonly string[]) => {
    const grown = all.flatMap(({ place }) => {
      const of = measured(tables, "cpu", place, window);
      return columns.map((column) => of.growth(column) ?? 0);
    });
    return grown.reduce((a, b) => a + b, 0);
  };
  const [busy, steal, iowait] = [sum(BUSY), sum(["steal_ns"]), sum(["iowait_ns"])];
  const total = busy + steal + iowait + sum(["idle_ns"]);
  return total > 0
    ? { busy: busy / total, steal: steal / total, iowait: iowait / total }
    : undefined;
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
  const count = all.length === 1 ? "1 CPU" : `${all.length} CPUs`;
  return `${count}, ${percent(whole.busy)} busy in all${ends}; steal ${percent(whole.steal)}, iowait ${percent(whole.iowait)}.`;
}
