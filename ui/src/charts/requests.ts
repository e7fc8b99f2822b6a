// Where the time of requests went: the amounts of the account (crates/analysis/src/account.rs).

import type { LedgerClass } from "../data/page.gen";
import { growth, type Series } from "../data/series";
import { type Interval, intervals } from "../data/signal";
import { intersection, length } from "../data/units";
import { WAIT_CLASSES } from "../data/waitClasses.gen";
import { meant } from "./entitySets";
import { type Amount, added, perRequest, rest, throughout } from "./quantity";
import type { Asked } from "./recipe";
import { countedIntervals, REQUEST_TABLES } from "./requestTimes";

/** The tables that say how many requests there were, and how long they took. */
export const SIGNAL_TABLES: readonly string[] = ["signal", ...REQUEST_TABLES];

/** What the target's threads spend inside of requests. */
const INSIDE: readonly LedgerClass[] = WAIT_CLASSES.filter(
  ([word, , state]) => word !== "input" && state !== "unknown",
).map(([word]) => word);

export function signalOf({ tables }: Asked): readonly Interval[] {
  const said = intervals(tables.rows("signal"));
  return said.length > 0 ? said : countedIntervals(tables);
}

/** Whether shares are of the time of requests; else they are of the busy time of the serving threads. */
export function isOfRequests(asked: Asked): boolean {
  return asked.report.verdict.account?.basis !== "busy_time" && signalOf(asked).length > 0;
}

/** What shares are a share of. */
export function account(asked: Asked): Amount {
  if (isOfRequests(asked)) return took(asked, (it) => it.latency);
  const busy = WAIT_CLASSES.map(([word]) => word).filter(
    (name) => INSIDE.includes(name) && name !== "sleep" && name !== "futex",
  );
  return inClasses(asked, serving(asked), busy);
}

/** The time that something of requests took, also where the workload was silent between two intervals. */
function took(asked: Asked, of: (interval: Interval) => number): Amount {
  const all = signalOf(asked);
  return throughout(all, perRequest(all, of));
}

/** Lag behind the schedule; only a load with a schedule has one. */
export function lag(asked: Asked): Amount {
  return signalOf(asked).some((it) => it.lag > 0) ? took(asked, (it) => it.lag) : () => 0;
}

/** Time of requests in which no thread of the target worked on them. */
export function outside(asked: Asked): Amount {
  const [own, late] = [inClasses(asked, serving(asked), INSIDE), lag(asked)];
  return rest(account(asked), (window) => own(window) + late(window));
}

/** Time outside of the target's threads in which the generator's wait for a CPU. */
export function generatorWait(asked: Asked): Amount {
  const { tables, recording } = asked;
  const busy = (thread: number) => {
    const onCpu = tables.series("ledger", thread, "on_cpu_ns");
    return (onCpu && growth(onCpu, recording.span(asked.evidence.window))) ?? 0;
  };
  const all = meant(recording, "thread", { kind: "role", role: "generator" });
  const most = all.reduce((most, thread) => Math.max(most, busy(thread)), 0);
  // Threads that only watch the others are not what requests wait for.
  const active = all.filter((thread) => most > 0 && busy(thread) >= most / 100);
  const waits = inClasses(asked, active, ["cpu_wait"]);
  const lived = lifetime(asked, active);
  const beside = outside(asked);
  return (window) => (beside(window) * waits(window)) / lived(window);
}

/** The time for which threads are known. */
export function lifetime({ tables }: Asked, threads: readonly number[]): Amount {
  const known = ({ known }: Series, window: Parameters<Amount>[0]) => {
    const both = intersection(window, known);
    return both && length(both);
  };
  return added(
    threads.map((thread) => tables.series("ledger", thread, "on_cpu_ns")),
    known,
  );
}

export function inClasses(
  asked: Asked,
  threads: readonly number[],
  classes: readonly LedgerClass[],
): Amount {
  const of = (thread: number) =>
    classes.map((name) => asked.tables.series("ledger", thread, `${name}_ns`));
  const known = added(threads.flatMap(of), growth);
  // A class that nobody was ever in has no series.
  const lived = lifetime(asked, threads);
  return (window) => {
    const spent = known(window);
    return Number.isNaN(spent) && !Number.isNaN(lived(window)) ? 0 : spent;
  };
}

function serving({ recording }: Asked): readonly number[] {
  return meant(recording, "thread", { kind: "serving", role: "target" });
}
