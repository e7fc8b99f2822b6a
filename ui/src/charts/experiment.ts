// What an experiment showed, as the terminal says it (crates/stallscope/src/outputs/proof.rs).

import { integer, rate, storage } from "../data/format";
import type { Capacity, ProofPair } from "../data/page.gen";

/** So much of a capacity. */
export function amount(of: Capacity, value: number): string {
  switch (of) {
    case "cpu":
      return `${value.toFixed(2)} CPUs`;
    case "disk":
      return `${rate(value)}/s`;
    case "memory":
      return storage(value);
    case "clients":
      return integer(value);
  }
}

/** How many times as long requests took while something was changed, over all pairs; empty where it is not known. */
export function timesAsLong(pairs: readonly ProofPair[]): string {
  const logarithms = pairs.flatMap(({ latency_ns: as, latency_changed_ns: changed }) =>
    as && changed ? Math.log(changed / as) : [],
  );
  if (logarithms.length === 0) return "";
  const mean = logarithms.reduce((sum, it) => sum + it, 0) / logarithms.length;
  return `x ${Math.exp(mean).toFixed(2)}`;
}
