// What the whole page shares.

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Report } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import type { Span } from "../data/units";
import type { TimeAxis } from "./axis";
import type { Judgement } from "./served";

export interface State {
  readonly recording: Recording;
  /** The report that is shown: that of the recording, or of the selected window where one is served. */
  readonly report: Report;
  /** What `report` is about, and whether another is being made. */
  readonly judgement: Judgement;
  /** The window that panels are about: the selected one, else the judged one. */
  readonly window: Span;
  /** What the reader selected; `undefined` for the judged window. */
  readonly selected: Span | undefined;
  /** Selects a window, snapped to edges; `undefined` goes back to the judged one. */
  readonly select: (span: Span | undefined) => void;
  /** The time axis of all charts: what of it is in sight, and the cursor. */
  readonly axis: TimeAxis;
}

export const StateContext = createContext<State | undefined>(undefined);

/** The page's state; throws outside of the page. */
export function usePage(): State {
  const state = useContext(StateContext);
  if (state === undefined) throw new Error("usePage outside of the page");
  return state;
}

/** Tables by name, once they are decoded; `undefined` until then. */
export function useTables(...names: string[]): Tables | undefined {
  const { recording } = usePage();
  const [tables, setTables] = useState<Tables>();
  const key = names.join(" ");
  useEffect(() => {
    let current = true;
    recording.load(key.split(" ")).then((loaded) => current && setTables(loaded));
    return () => {
      current = false;
    };
  }, [recording, key]);
  return tables;
}
