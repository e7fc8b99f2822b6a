// Numbers about requests: where their time went, and what the workload says of them.

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
} from "../quantity";
import { type Asked, drawn, type Made, series, signalOf } from "../recipe";

/** What the target's threads spend inside of requests (crates/analysis/src/account.rs). */
const INSIDE: readonly LedgerClass[] = WAIT_CLASSES.filter(
  ([word, , state]) => word !== "input" && state !== "unknown",
).map(([word]) => word);

/** Classes that the kernel counts; into the others blocked time is divided by what samples met. */
const COUNTED: readonly LedgerClass[] = ["on_cpu", "cpu_wait", "throttled"];

/** What to say of classes that are divided anew in each bin. */
export function sampled({ evidence }: Asked, classes: readonly LedgerClass[]): string {
  const books = evidence.column.startsWith("thread_time.");
  return books || classes.every((name) => COUNTED.includes(name))
    ? ""
    : "; blocked time is divided by the samples of each bin here, by those of the whole window there, so the two differ a little";
}

/** Time outside of the target's threads in which the generator's wait for a CPU. */
export function generatorWait(asked: Asked, threads: readonly number[]): Amount {
  const { tables, recording } = asked;
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
  const outside = rest(wholeOf(asked, threads).amount, inClasses(asked, threads, INSIDE));
  return (window) => (outside(window) * waits(window)) / watched(window);
}

/** What shares are a share of: the time of requests, or the busy time of the serving threads. */
export function wholeOf(
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

export function inClasses(
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

export function latency(asked: Asked): Made {
  const { recording, tables } = asked;
  const all = signalOf(asked);
  const took = responses(all);
  const edges = edgesOfIntervals(all);
  const threads = servingThreads(recording, "target");
  const inside = inClasses(asked, threads, INSIDE);
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
