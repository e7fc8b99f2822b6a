// The page from top to bottom.

import type { ComponentType } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Recording } from "../data/recording";
import type { Span } from "../data/units";
import { type State, StateContext } from "./state";

/** A part of the page. */
export interface Section {
  /** The element's id, and the link to it: `who`. */
  readonly id: string;
  readonly title: string;
  readonly view: ComponentType;
}

/** In the order of reading. */
const SECTIONS: readonly Section[] = [];

export function App({ recording }: { recording: Recording }) {
  const [selected, setSelected] = useState<Span>();
  const state = useMemo<State>(
    () => ({
      recording,
      report: recording.page.report,
      window: selected ?? recording.judged,
      selected,
      select: (span) => setSelected(span && recording.snapped(span)),
    }),
    [recording, selected],
  );
  return (
    <StateContext.Provider value={state}>
      <main class="page">
        {SECTIONS.map(({ id, title, view: View }) => (
          <section key={id} id={id} aria-labelledby={`${id}-title`}>
            <h2 id={`${id}-title`}>{title}</h2>
            <View />
          </section>
        ))}
      </main>
    </StateContext.Provider>
  );
}
