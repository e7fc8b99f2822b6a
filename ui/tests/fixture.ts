// Pages that Rust wrote, with what `explain` says of windows of them (crates/stallscope/src/page/tests).

import { readdirSync, readFileSync } from "node:fs";
import { harmlessJson } from "../src/data/harmless";
import type { Page, StackReport } from "../src/data/page.gen";
import { Recording } from "../src/data/recording";

const FOLDER = new URL("../fixtures/", import.meta.url);

export const FIXTURES: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".data.html"))
  .map((file) => file.replace(".data.html", ""))
  .sort();

/** A kept page, opened. */
export function fixture(name: string): Promise<Recording> {
  const html = readFileSync(new URL(`${name}.data.html`, FOLDER), "utf8");
  const elements = new Map<string, string>();
  for (const [, id, text] of html.matchAll(/<script [^>]*id="([^"]+)"[^>]*>([^<]*)</g)) {
    elements.set(id ?? "", text ?? "");
  }
  const page = harmlessJson(elements.get("page") ?? "") as Page;
  return Recording.open(page, (block) => elements.get(`block-${block}`) ?? "");
}

/** What `explain` says of the threads of a role. */
export interface SaidThreads {
  readonly threads: number;
  readonly wall_ns: number;
  readonly on_cpu_ns: number;
  readonly cpu_wait_ns: number;
  readonly throttled_ns: number;
}

/** What the engine counts of requests. */
export interface SaidRequests {
  readonly requests: number;
  readonly pipelined: number;
  readonly timed: number;
  readonly mean_ns: number;
  readonly median_ns: number;
  readonly p99_ns: number;
}

/** What `explain` says of a window. */
export interface Said {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly throughput: number | null;
  readonly latency_ns: number | null;
  readonly lag_ns: number | null;
  readonly pressure: readonly {
    readonly kind: string;
    readonly path: string;
    readonly column: string;
    readonly share: number;
  }[];
  readonly target: SaidThreads | null;
  readonly generator: SaidThreads | null;
  readonly requests: SaidRequests | null;
  readonly calls: SaidRequests | null;
  /** Of recordings with call stacks. */
  readonly stacks?: StackReport;
  readonly cpus: {
    readonly user_ns: number;
    readonly system_ns: number;
    readonly idle_ns: number;
    readonly steal_ns: number;
  };
}

export function said(name: string): Said[] {
  return JSON.parse(readFileSync(new URL(`${name}.windows.json`, FOLDER), "utf8")) as Said[];
}
