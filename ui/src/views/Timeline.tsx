// The timeline: everything over time, on one axis.

import { useMemo } from "preact/hooks";
import { spanWords } from "../charts/run";
import { marks, type PhaseBox, phaseBoxes, placed, TABLES, timeline } from "../charts/timeline";
import { instant } from "../data/format";
import { useSight } from "./axis";
import { LaneChart } from "./LaneChart";
import { RequestTimes } from "./RequestTimes";
import { SpikeMarks } from "./Spikes";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import "./Timeline.css";

export const TIMELINE: Section = { id: "timeline", title: "Over time", view: Timeline };

function Timeline() {
  const { recording } = usePage();
  const tables = useTables(...TABLES);
  const lanes = useMemo(() => tables && timeline(recording, tables), [recording, tables]);
  const signs = useMemo(
    () => marks(recording).map((mark, index) => ({ ...mark, sign: String(index + 1) })),
    [recording],
  );
  const phases = useMemo(() => phaseBoxes(recording), [recording]);
  if (lanes === undefined || tables === undefined)
    return <p class="muted timeline-waiting">Unpacking the recording …</p>;
  const step = recording.page.step_ns;
  return (
    <>
      <LaneChart lanes={lanes} label="the timeline" marks={signs}>
        {phases.length > 0 && <Phases phases={phases} />}
        <SpikeMarks />
      </LaneChart>
      <RequestTimes tables={tables} />
      {signs.length > 0 && (
        <ol class="timeline-marks">
          {signs.map((mark) => (
            <li key={mark.sign}>
              <b>{mark.sign}</b> {instant(mark.span.from, step)} {mark.text}
            </li>
          ))}
        </ol>
      )}
      {phases.map(
        ({ border, span }) =>
          border !== "" && (
            <p key={span.from} class="summary muted">
              At {instant(span.from, step)}: {border}
            </p>
          ),
      )}
    </>
  );
}

/** The parts of a run that changed, each with its own verdict; a click selects one. */
function Phases({ phases }: { phases: readonly PhaseBox[] }) {
  const { axis, recording, select } = usePage();
  const view = useSight(axis, "view");
  return (
    <ol class="phases" aria-label="Phases of the run">
      {phases.map((phase) => {
        const at = placed(phase.span, view);
        if (at === undefined) return null;
        return (
          <li
            key={phase.span.from}
            style={{ "--left": `${at.left * 100}%`, "--width": `${at.width * 100}%` }}
          >
            <button
              type="button"
              class="phase"
              data-judged={phase.judged}
              title={[phase.word, phase.numbers, phase.sentence].filter((it) => it).join(". ")}
              onClick={() => select(phase.span)}
            >
              <b>
                {phase.word}
                {phase.judged && ", judged"}
              </b>{" "}
              <span class="phase-when">{spanWords(phase.span, recording.page.step_ns)} </span>
              {phase.numbers}
              <br />
              {phase.verdict}
            </button>
          </li>
        );
      })}
    </ol>
  );
}
