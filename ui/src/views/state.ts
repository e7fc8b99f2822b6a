// What the whole page shares.

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Report } from "../data/page.gen";
import type { Damaged, Readable, Recording, Tables } from "../data/recording";
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

/** What was asked for, or why there is none; neither until it is decoded. */
interface Found<Kind> {
  readonly found?: Kind;
  readonly error?: unknown;
}

function useFound<Kind>(
  names: readonly string[],
  ask: (recording: Recording, names: readonly string[]) => Promise<Kind>,
): Found<Kind> {
  const { recording } = usePage();
  // Names come from the recording, and may hold anything.
  const key = JSON.stringify(names);
  const [answer, setAnswer] = useState<Found<Kind> & { of?: Recording; key?: string }>({});
  useEffect(() => {
    let current = true;
    ask(recording, JSON.parse(key) as string[]).then(
      (found) => current && setAnswer({ of: recording, key, found }),
      (error: unknown) => current && setAnswer({ of: recording, key, error }),
    );
    return () => {
      current = false;
    };
  }, [recording, key, ask]);
  // What was asked for before says nothing about what is asked for now.
  return answer.of === recording && answer.key === key ? answer : {};
}

const readable = (recording: Recording, names: readonly string[]) => recording.readable(names);

/** Those of the tables that can be read, once they are decoded, and what is damaged: for what says
    itself what is missing. */
export function useReadable(...names: string[]): Readable | undefined {
  const { found, error } = useFound(names, readable);
  if (error !== undefined) throw error;
  return found;
}

/** Says which tables are damaged, above what is drawn without them. */
export const DamageContext = createContext<(damaged: readonly Damaged[]) => void>(() => {});

/** Tables by name, once they are decoded; `undefined` until then. The nearest `Readable` says which are
    damaged: these are as if they were not recorded, and where nothing else is left, nothing is drawn. */
export function useTables(...names: string[]): Tables | undefined {
  const found = useReadable(...names);
  const { recording } = usePage();
  const say = useContext(DamageContext);
  const damaged = found?.damaged;
  useEffect(() => damaged && say(damaged), [damaged, say]);
  const [first] = damaged ?? [];
  const recorded = names.filter((name) => recording.table(name) !== undefined);
  if (first !== undefined && damaged?.length === recorded.length) throw first;
  return found?.tables;
}
