// The page from top to bottom.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Recording } from "../data/recording";
import type { Span } from "../data/units";
import { timeAxis } from "./axis";
import { Followed } from "./Followed";
import { Header } from "./Header";
import { Readable } from "./Readable";
import { SelectedBar } from "./SelectedBar";
import type { Section } from "./section";
import { sectionsOf } from "./sections";
import { useJudgement } from "./served";
import { type State, StateContext } from "./state";
import { Verdict } from "./Verdict";

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
  const sections = sectionsOf(recording);
  useEffect(() => {
    // What the address names was not there yet when the browser looked for it.
    if (location.hash.length > 1) location.replace(location.hash);
  }, []);
  return (
    <StateContext.Provider value={state}>
      <div class="page">
        <Header />
        <main>
          {sections.filter(({ first }) => first).map(whole)}
          <Followed view={Verdict} />
          {sections.filter(({ first }) => !first).map(whole)}
        </main>
        <SelectedBar />
      </div>
    </StateContext.Provider>
  );
}

/** A section with its heading. */
function whole({ id, title, view }: Section) {
  return (
    <section key={id} id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <Readable>
        <Followed view={view} />
      </Readable>
    </section>
  );
}
