// What was not seen, in words.

import type { Gap, Report } from "./page.gen";

/** Why something was not seen, as the engine says it (crates/model/src/gap.rs). */
export function reasonOf(gap: Gap): string {
  switch (gap.reason) {
    case "unsupported":
      return `not supported here: ${gap.detail}`;
    case "denied":
      return `not allowed: ${gap.detail}`;
    case "vanished":
      return "what was measured went away";
    case "overrun":
      return "the sampler was late";
    case "malformed":
      return `not understood: ${gap.detail}`;
    case "dropped":
      return `${gap.detail} dropped`;
    case "unwritten":
      return `could not be written: ${gap.detail}`;
  }
}

/** Why a table is not in the recording; `undefined` where the recording does not say. */
export function whyMissing({ gaps }: Report, table: string): string | undefined {
  const whole = gaps.find((gap) => gap.table === table && !gap.what && !gap.window);
  const any = whole ?? gaps.find((gap) => gap.table === table);
  return any && reasonOf(any);
}
