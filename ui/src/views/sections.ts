// The sections of the page, each declared in its own file.

import type { Recording } from "../data/recording";
import { CONNECTIONS } from "./Connections";
import { DICTIONARY } from "./Dictionary";
import { EVIDENCE } from "./Evidence";
import { EXPERIMENT } from "./Experiment";
import { EXPLORE } from "./Explore";
import { FLAMES } from "./Flames";
import { FOLD } from "./Folded";
import { MACHINE } from "./Machine";
import { MEASURED } from "./Measured";
import { PROGRAMS } from "./Programs";
import { RESOURCES } from "./Resources";
import { SPIKES } from "./Spikes";
import { STATEMENTS } from "./Statements";
import type { Section } from "./section";
import { TIMELINE } from "./Timeline";
import { WAITS } from "./WaitGraph";
import { WHO } from "./Who";

/** In the order of reading. */
const SECTIONS: readonly Section[] = [
  MACHINE,
  EXPERIMENT,
  TIMELINE,
  SPIKES,
  WHO,
  WAITS,
  STATEMENTS,
  FLAMES,
  CONNECTIONS,
  PROGRAMS,
  FOLD,
  RESOURCES,
  EVIDENCE,
  EXPLORE,
  DICTIONARY,
  MEASURED,
];

/** Those that a recording has. */
export function sectionsOf({ page }: Recording): readonly Section[] {
  return SECTIONS.filter(({ isOf }) => isOf === undefined || isOf(page.report));
}
