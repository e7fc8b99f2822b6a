import type { ComponentType } from "preact";

/** A part of the page, as its file declares it. */
export interface Section {
  /** The element's id, and the link to it: `who`. */
  readonly id: string;
  /** Its heading, and its name at the head of the page. */
  readonly title: string;
  readonly view: ComponentType;
}
