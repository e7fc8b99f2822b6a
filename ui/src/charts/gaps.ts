// Gaps of a report, as stretches of the time axis with the reason in words.

import { reasonOf } from "../data/gaps";
import type { Gap } from "../data/page.gen";
import type { Recording } from "../data/recording";
import type { Span } from "../data/units";

/** A stretch that was not seen, and why. */
export interface Unseen {
  readonly span: Span;
  readonly why: string;
}

/** The gaps of a table that have a time; `concerns` looks at the column, source or group. */
export function unseen(
  recording: Recording,
  table: string,
  concerns: (what: string) => boolean = () => true,
): Unseen[] {
  return gapsOf(recording, table, concerns).flatMap((gap) =>
    gap.window ? [{ span: recording.span(gap.window), why: reasonOf(gap) }] : [],
  );
}

/** Why there is nothing of a table at all; `undefined` where nothing is known of it. */
export function absent(
  recording: Recording,
  table: string,
  concerns: (what: string) => boolean = () => true,
): string | undefined {
  const gap = gapsOf(recording, table, concerns).find((it) => !it.window);
  return gap && reasonOf(gap);
}

function gapsOf(recording: Recording, table: string, concerns: (what: string) => boolean): Gap[] {
  return recording.page.report.gaps.filter(
    (gap) => gap.table === "*" || (gap.table === table && (!gap.what || concerns(gap.what))),
  );
}
