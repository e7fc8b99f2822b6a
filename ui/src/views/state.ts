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

/** Tables that were asked for, or why there are none; neither until they are decoded. */
export interface Loaded {
  readonly tables?: Tables;
  readonly error?: unknown;
}

/** Tables by name. */
export function useLoaded(...names: string[]): Loaded {
  const { recording } = usePage();
  // Names come from the recording, and may hold anything.
  const key = JSON.stringify(names);
  const [loaded, setLoaded] = useState<Loaded & { of?: Recording; key?: string }>({});
  useEffect(() => {
    let current = true;
    recording.load(JSON.parse(key) as string[]).then(
      (tables) => current && setLoaded({ of: recording, key, tables }),
      (error: unknown) => current && setLoaded({ of: recording, key, error }),
    );
    return () => {
      current = false;
    };
  }, [recording, key]);
  // What was asked for before says nothing about what is asked for now.
  return loaded.of === recording && loaded.key === key ? loaded : {};
}

/** Tables by name, once they are decoded; `undefined` until then. Where they cannot be, throws why: the
    nearest `Readable` says it. */
export function useTables(...names: string[]): Tables | undefined {
  const { tables, error } = useLoaded(...names);
  if (error !== undefined) throw error;
  return tables;
}
