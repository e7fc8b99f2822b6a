import type { ComponentType } from "preact";
import type { Report } from "../data/page.gen";

/** A part of the page, as its file declares it. */
export interface Section {
  /** The element's id, and the link to it: `who`. */
  readonly id: string;
  /** Its heading, and its name at the head of the page. */
  readonly title: string;
  readonly view: ComponentType;
  /** Whether a recording has it; every one where this is left out. */
  readonly isOf?: (report: Report) => boolean;
  /** Whether it stands above the verdict. */
  readonly first?: boolean;
}
