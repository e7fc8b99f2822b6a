// The page from top to bottom.

import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Recording } from "../data/recording";
import type { Span } from "../data/units";
import { timeAxis } from "./axis";
import { Dictionary } from "./Dictionary";
import { Evidence } from "./Evidence";
import { Explore } from "./Explore";
import { Followed } from "./Followed";
import { Header } from "./Header";
import { Measured } from "./Measured";
import { Readable } from "./Readable";
import { Resources } from "./Resources";
import { SelectedBar } from "./SelectedBar";
import { useJudgement } from "./served";
import { type State, StateContext } from "./state";
import { Timeline } from "./Timeline";
import { Verdict } from "./Verdict";
import { Who } from "./Who";

/** A part of the page. */
export interface Section {
  /** The element's id, and the link to it: `who`. */
  readonly id: string;
  readonly title: string;
  readonly view: ComponentType;
}

/** In the order of reading. */
const SECTIONS: readonly Section[] = [
  { id: "timeline", title: "Over time", view: Timeline },
  { id: "who", title: "Who waited", view: Who },
  { id: "resources", title: "Resources", view: Resources },
  { id: "evidence", title: "Evidence", view: Evidence },
  { id: "explore", title: "Explore", view: Explore },
  { id: "dictionary", title: "Data dictionary", view: Dictionary },
  { id: "measured", title: "How this was measured", view: Measured },
];

export function App({ recording }: { recording: Recording }) {
  const [selected, setSelected] = useState<Span>();
  const axis = useMemo(() => timeAxis(recording.whole), [recording]);
  const judgement = useJudgement(recording, selected);
  const state = useMemo<State>(
    () => ({
      recording,
      report: judgement.report,
      judgement,
      window: selected ?? recording.judged,
      selected,
      select: (span) => setSelected(span && recording.snapped(span)),
      axis,
    }),
    [recording, selected, judgement, axis],
  );
  useEffect(() => {
    // What the address names was not there yet when the browser looked for it.
    if (location.hash.length > 1) location.replace(location.hash);
  }, []);
  return (
    <StateContext.Provider value={state}>
      <div class="page">
        <Header sections={SECTIONS} />
        <main>
          <Followed view={Verdict} />
          {SECTIONS.map(({ id, title, view }) => (
            <section key={id} id={id} aria-labelledby={`${id}-title`}>
              <h2 id={`${id}-title`}>{title}</h2>
              <Readable>
                <Followed view={view} />
              </Readable>
            </section>
          ))}
        </main>
        <SelectedBar />
      </div>
    </StateContext.Provider>
  );
}
