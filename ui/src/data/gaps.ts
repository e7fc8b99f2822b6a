// What was not seen, in words.

import type { Gap } from "./page.gen";

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
