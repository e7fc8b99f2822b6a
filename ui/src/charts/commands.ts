// Commands that a reader can type, with what they tell.

import type { Recording } from "../data/recording";
import type { Span } from "../data/units";
import type { Fact } from "./measured";
import { typedTime } from "./numbers";

/** A command as it is typed in a shell. */
export function typed(command: readonly string[]): string {
  const plain = (word: string) => /^[\w@%+=:,./-]+$/.test(word);
  return command
    .map((word) => (plain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}

/** The command that makes the page anew. */
export function reportCommand(recording: string): string {
  return `stallscope report ${typed([recording])}`;
}

/** The command that judges a window again, as far as its times can be typed. */
export function explainCommand(recording: string, window: Span): string {
  if (window.to <= 0) return `stallscope report --serve ${typed([recording])}`;
  const from = typedTime(Math.max(window.from, 0));
  return `stallscope explain ${typed([recording])} --from ${from} --to ${typedTime(window.to)}`;
}

/** What that command does not judge of the window, in words; empty where it judges all of it. */
export function notTyped(window: Span): string {
  if (window.from >= 0) return "";
  return window.to <= 0
    ? "times before the workload's start cannot be typed; the served page judges them"
    : "from 0 s on: times before the workload's start cannot be typed";
}

/** Commands that tell more, with what they tell. */
export function commands(recording: Recording, window: Span): Fact[] {
  const name = typed([recording.page.recording]);
  const judged = recording.page.report;
  const cut = notTyped(window);
  const again: Fact = [
    explainCommand(recording.page.recording, window),
    `the window that is shown, judged by the engine${cut && `, ${cut}`}`,
  ];
  return [
    [`stallscope explain ${name}`, "the verdict as text"],
    ...(window.to > 0 ? [again] : []),
    [
      `stallscope report --serve ${name}`,
      `this page, with any window judged anew${window.to > 0 ? "" : `: ${cut}`}`,
    ],
    [`stallscope export ${name} --format parquet`, "all rows, for other tools (csv too)"],
    [
      "stallscope doctor",
      judged.gaps.some((gap) => gap.reason === "denied" || gap.reason === "unsupported")
        ? "what this machine does not let be seen, and how to enable it"
        : "what this machine lets be seen",
    ],
  ];
}
