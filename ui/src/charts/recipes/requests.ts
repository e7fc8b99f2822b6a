// Numbers about requests: where their time went, and what the workload says of them.

import { percent } from "../../data/format";
import type { LedgerClass } from "../../data/page.gen";
import { growth } from "../../data/series";
import type { Interval } from "../../data/signal";
import { length } from "../../data/units";
import { WAIT_CLASSES } from "../../data/waitClasses.gen";
import { servingThreads, threadsOf } from "../entitySets";
import {
  type Amount,
  edgesOfIntervals,
  grown,
  lasted,
  ofIntervals,
  responses,
  rest,
  sum,
  times,
  wall,
} from "../quantity";
import { type Asked, drawn, type Made, type Recipe, series, signalOf } from "../recipe";

/** Classes of threads in which they do one of these. */
const inState = (...states: readonly string[]): readonly LedgerClass[] =>
  WAIT_CLASSES.filter((row) => states.includes(row[2])).map((row) => row[0]);

const DISK = inState("disk");
/** Waits inside requests. */
const WAITS = inState("waiting", "withheld", "disk", "blocked", "idle").filter(
  (word) => word !== "input",
);

/** Waits that may be rest, where no request says that they lie in one (crates/analysis/src/account.rs). */
const REST: readonly LedgerClass[] = ["sleep", "futex"];

/** Classes of the ledger by what the verdict calls them, of a cause where causes differ. */
export const CLASSES: Readonly<Record<string, readonly LedgerClass[]>> = {
  "waiting for a CPU": ["cpu_wait"],
  "held back by a CPU quota": ["throttled"],
  "waits of the target": WAITS,
  "io.latency waiting for a disk": ["read_write", "page_fault", "uninterruptible"],
  "waiting for a disk": DISK,
  "in fsync, or behind one": ["sync", "sync_queue"],
  "reading the disk": ["read_write", "page_fault"],
  "memory.refault waiting for memory or its reads": ["reclaim", "page_fault", "read_write"],
  "waiting for memory or its reads": ["reclaim", "page_fault", "read_write", "uninterruptible"],
  "waiting for swap": ["page_fault"],
  "direct reclaim": ["reclaim"],
  "lock.database waiting for a lock": ["database_lock"],
  "waiting for a lock": ["futex", "internal_lock"],
};

export function ledgerShare(all: readonly LedgerClass[]): Recipe {
  return {
    tables: ["signal", "ledger"],
    make: (asked) => {
      const { evidence, finding, recording } = asked;
      const classes = countedOf(asked, all);
      const threads = servingThreads(recording, "target");
      if (isGenerators(asked)) return waitOfBoth(asked, threads);
      // Of these waits only the part counts that another number of the finding gives.
      const part =
        evidence.what === "waiting for memory or its reads" ||
        (finding.cause === "memory.refault" && evidence.column === "thread.state")
          ? finding.evidence.find((other) => other.what.startsWith("reads that bring back"))
          : undefined;
      const whole = wholeOf(asked, threads);
      const spent = inClasses(asked, threads, classes);
      const words =
        all === WAITS
          ? "waits of any kind"
          : classes.map((name) => name.replaceAll("_", " ")).join(", ");
      const counted =
        part === undefined ? "" : `, times the ${percent(part.value)} of ${part.what}`;
      return drawn(asked.tables, "ledger", {
        quantity: {
          of: part === undefined ? spent : times(part.value, spent),
          per: whole.amount,
          ...(whole.edges ? { edges: whole.edges } : {}),
        },
        how: `time of ${threads.length} serving threads in ${words} / ${whole.words}${counted}${sampled(asked, classes)}`,
      });
    },
  };
}

/** Classes that the kernel counts; into the others blocked time is divided by what samples met. */
const COUNTED: readonly LedgerClass[] = ["on_cpu", "cpu_wait", "throttled"];

/** What to say of classes that are divided anew in each bin. */
function sampled({ evidence }: Asked, classes: readonly LedgerClass[]): string {
  const books = evidence.column.startsWith("thread_time.");
  return books || classes.every((name) => COUNTED.includes(name))
    ? ""
    : "; blocked time is divided by the samples of each bin here, by those of the whole window there, so the two differ a little";
}

/** Those that are parts of the whole that shares are of. */
function countedOf({ report }: Asked, all: readonly LedgerClass[]): readonly LedgerClass[] {
  const requests = report.verdict.account?.basis === "response_time";
  return requests ? all : all.filter((name) => !REST.includes(name));
}

/** Threads that waited, at a time: of an idle server parts of what it did say nothing. */
export function waitingAtATime(asked: Asked): Made {
  const threads = servingThreads(asked.recording, "target");
  return drawn(asked.tables, "ledger", {
    quantity: { of: inClasses(asked, threads, countedOf(asked, WAITS)), per: wall },
    how: `time of ${threads.length} serving threads in waits of any kind, added up / time`,
  });
}

/** Whether the target alone waited too little for a CPU: then the generator's wait is counted too. */
function isGenerators({ evidence, report }: Asked): boolean {
  const items = report.verdict.account?.items ?? [];
  const own = items.find((item) => item.class === "cpu_wait")?.share ?? 0;
  return evidence.what === "waiting for a CPU" && own < (evidence.threshold ?? 0);
}

function waitOfBoth(asked: Asked, threads: readonly number[]): Made {
  const { tables, recording } = asked;
  const whole = wholeOf(asked, threads);
  const busy = (thread: number) => {
    const onCpu = tables.series("ledger", thread, "on_cpu_ns");
    return (onCpu && growth(onCpu, recording.span(asked.evidence.window))) ?? 0;
  };
  const all = threadsOf(recording, "generator");
  const most = all.reduce((most, thread) => Math.max(most, busy(thread)), 0);
  // Threads that only watch the others are not what requests wait for.
  const active = all.filter((thread) => most > 0 && busy(thread) >= most / 100);
  const waits = inClasses(asked, active, ["cpu_wait"]);
  const watched = lasted(...series(tables, "ledger", active, ["on_cpu_ns"]));
  const outside = rest(whole.amount, inClasses(asked, threads, ["on_cpu", ...WAITS]));
  const own = inClasses(asked, threads, ["cpu_wait"]);
  return drawn(tables, "ledger", {
    quantity: {
      of: (window) => own(window) + (outside(window) * waits(window)) / watched(window),
      per: whole.amount,
      ...(whole.edges ? { edges: whole.edges } : {}),
    },
    how: `time of ${threads.length} serving threads in cpu wait, and of what was outside of them the part that the generator's ${active.length} threads waited for a CPU / ${whole.words}`,
  });
}

/** What shares are a share of: the time of requests, or the busy time of the serving threads. */
function wholeOf(
  asked: Asked,
  threads: readonly number[],
): { amount: Amount; words: string; edges?: Float64Array } {
  const basis = asked.report.verdict.account?.basis;
  const all = signalOf(asked);
  if (basis !== "busy_time" && all.length > 0) {
    return {
      amount: responses(all),
      words: "time that requests took (throughput x latency)",
      edges: edgesOfIntervals(all),
    };
  }
  const busy = (asked.tables.bins("ledger")?.about.columns ?? [])
    .map(({ name }) => name)
    .filter((name) => !["input_ns", "sleep_ns", "futex_ns", "unknown_ns"].includes(name));
  return {
    amount: grown(...series(asked.tables, "ledger", threads, busy)),
    words: "their busy time",
  };
}

function inClasses(
  { tables }: Asked,
  threads: readonly number[],
  classes: readonly LedgerClass[],
): Amount {
  const known = grown(
    ...series(
      tables,
      "ledger",
      threads,
      classes.map((name) => `${name}_ns`),
    ),
  );
  // A class that nobody was ever in has no series.
  const watched = lasted(...series(tables, "ledger", threads, ["on_cpu_ns"]));
  return (window) => {
    const spent = known(window);
    return Number.isNaN(spent) && !Number.isNaN(watched(window)) ? 0 : spent;
  };
}

export function syncing(asked: Asked): Made {
  const threads = servingThreads(asked.recording, "target");
  return drawn(asked.tables, "ledger", {
    quantity: { of: inClasses(asked, threads, ["sync"]), per: wall },
    how: `time of ${threads.length} serving threads in fsync and its family, added up / time${sampled(asked, ["sync"])}`,
  });
}

export function latency(asked: Asked): Made {
  const { evidence, recording, report, tables } = asked;
  const all = signalOf(asked);
  const took = responses(all);
  const edges = edgesOfIntervals(all);
  if (evidence.unit === "count") {
    const quantity = { of: took, per: ofIntervals(all, length), edges };
    return drawn(tables, "signal", { quantity, how: "requests in progress: throughput x latency" });
  }
  if (evidence.what.startsWith("clients")) {
    const clients = report.workload?.load.clients ?? Number.NaN;
    return drawn(tables, "signal", {
      quantity: { of: took, per: times(clients, ofIntervals(all, length)), edges },
      how: `throughput x latency / ${clients} clients`,
    });
  }
  const threads = servingThreads(recording, "target");
  const inside = inClasses(asked, threads, ["on_cpu", ...WAITS]);
  // Only a load with a schedule has a lag.
  const lags = ofIntervals(
    all,
    (interval) => (interval.lag * interval.throughput * length(interval)) / 1e9,
  );
  const spent = all.some((it) => it.lag > 0) ? sum(inside, lags) : inside;
  return drawn(tables, "signal", {
    quantity: { of: rest(took, spent), per: took, edges },
    how: `what the ${threads.length} serving threads and the lag leave of the time that requests took`,
  });
}

export function lag(asked: Asked): Made {
  const all = signalOf(asked);
  const weighed = (of: (interval: Interval) => number) =>
    ofIntervals(all, (interval) => of(interval) * interval.throughput * length(interval));
  return drawn(asked.tables, "signal", {
    quantity: {
      of: weighed((interval) => interval.lag),
      per: weighed((interval) => interval.latency),
      edges: edgesOfIntervals(all),
    },
    how: "mean lag behind the schedule / mean latency",
  });
}

export function achieved(asked: Asked): Made {
  const asking = asked.report.workload?.load.rate;
  if (typeof asking !== "number")
    return { why: "the workload does not say which rate it asks for" };
  const all = signalOf(asked);
  return drawn(asked.tables, "signal", {
    quantity: {
      of: ofIntervals(all, (interval) => interval.throughput * length(interval)),
      per: times(asking, ofIntervals(all, length)),
      edges: edgesOfIntervals(all),
    },
    how: `throughput / the ${asking} asked for`,
  });
}
