// What was run, in a line: for the head of the page.

import { duration, instant } from "../data/format";
import type { Page } from "../data/page.gen";
import type { Span } from "../data/units";
import { typed } from "./commands";
import { wallClock } from "./measured";

/** The head of the page. */
export interface RunLine {
  /** The command as it was typed, or what was recorded without one. */
  readonly command: string;
  readonly facts: readonly string[];
}

export function runLine({ report, window, complete, typed: own }: Page): RunLine {
  const { workload, identity } = report;
  const facts = [
    identity.node,
    wallClock(report, window.start),
    `${duration(window.end - window.start)} recorded`,
    ...(complete ? [] : ["not closed: it ends where its writer was stopped, or is still written"]),
  ];
  return {
    command: workload ? typed(workload.command) : own.length > 0 ? typed(own) : "stallscope record",
    facts,
  };
}

/** `3.0 s to 8.0 s`. */
export function spanWords(span: Span, step: number): string {
  return `${instant(span.from, step)} to ${instant(span.to, step)}`;
}

/** The same as the terminal says it: `1 s to 29.6 s`. */
export function windowWords({ from, to }: Span): string {
  return `${instantWords(from)} to ${instantWords(to)}`;
}

/** An instant with a decimal where it has one. */
export function instantWords(at: number): string {
  return instant(at, Math.abs(at / 1e9 - Math.round(at / 1e9)) < 0.05 ? 1e9 : 1e8);
}
