// How a number of the verdict is drawn: the words that formulas and sources share.

import type { Evidence, Report } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import type { Quantity } from "./quantity";
import type { Scale } from "./scale";

/** A number of a finding, with what is at hand to redo it. */
export interface Asked {
  readonly evidence: Evidence;
  /** The report that it stands in: of a served window another than the recording's. */
  readonly report: Report;
  readonly recording: Recording;
  readonly tables: Tables;
}

/** A quantity that can be drawn, or why there is none. */
export type Made =
  | {
      readonly quantity: Quantity;
      /** What is drawn, in words. */
      readonly how: string;
      /** How it is drawn where that is not the number itself. */
      readonly scale?: Scale;
    }
  | { readonly why: string };

export interface Recipe {
  readonly tables: readonly string[];
  readonly make: (asked: Asked) => Made;
}
