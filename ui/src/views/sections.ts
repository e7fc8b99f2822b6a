// The sections of the page, each declared in its own file.

import { DICTIONARY } from "./Dictionary";
import { EVIDENCE } from "./Evidence";
import { EXPLORE } from "./Explore";
import { MEASURED } from "./Measured";
import { RESOURCES } from "./Resources";
import type { Section } from "./section";
import { TIMELINE } from "./Timeline";
import { WHO } from "./Who";

/** In the order of reading. */
export const SECTIONS: readonly Section[] = [
  TIMELINE,
  WHO,
  RESOURCES,
  EVIDENCE,
  EXPLORE,
  DICTIONARY,
  MEASURED,
];
