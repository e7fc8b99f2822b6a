// Spikes of latency: what happens in them, what comes before them, and each of them, to be selected.

import { useMemo } from "preact/hooks";
import { type Course, coursePaths, courses, type Steps, stepsAround } from "../charts/onsets";
import {
  amountWords,
  changeWords,
  differenceWords,
  lagWords,
  methodWords,
  parted,
  periods,
  precededWords,
  spikeSpans,
  spikesInShort,
  surroundings,
  triggerWords,
  usualLength,
} from "../charts/spikes";
import { placed, TABLES, timeline } from "../charts/timeline";
import { duration, instant, integer, percent, perSecond, rate, tied } from "../data/format";
import type { SpikeDifference, SpikeReport } from "../data/page.gen";
import { length, type Span } from "../data/units";
import { useSight } from "./axis";
import { NumberTable } from "./NumberTable";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import "./Spikes.css";

export const SPIKES: Section = {
  id: "spikes",
  title: "Spikes",
  view: Spikes,
  isOf: ({ spikes }) => !!spikes,
};

/** More are folded away. */
const MOST_LISTED = 20;

/** The recording's, whatever is selected: a period takes many cycles. */
function useSpikes():
  | { readonly report: SpikeReport; readonly spans: readonly Span[] }
  | undefined {
  const { recording } = usePage();
  const spans = useMemo(() => spikeSpans(recording), [recording]);
  const report = recording.page.report.spikes;
  return report ? { report, spans } : undefined;
}

function Spikes() {
  const { recording } = usePage();
  const found = useSpikes();
  if (found === undefined) return null;
  const { report, spans } = found;
  const { differences = [], methods = [], triggers, chain } = report;
  const period = periods(report);
  const { rises, falls } = parted(differences);
  return (
    <div class="card resources">
      {chain && <p class="spikes-chain">{tied(chain)}</p>}
      <p>Spikes: {tied(spikesInShort(report))}.</p>
      {period && (
        <p>
          Period: {tied(period)}. {report.trains.length > 0 && <a href="#repeats">Folded at it</a>}
        </p>
      )}
      {recording.table("stack") && (
        <p>
          Call stacks: <a href="#flames">compare all spikes with the calm between them</a>
        </p>
      )}
      {triggers.length > 0 && <Triggers report={report} />}
      {differences.length > 0 && (
        <>
          <h3>What is different in spikes</h3>
          <Differences all={rises} caption="What rises in spikes" />
          <p class="muted">
            Of {integer(report.measures ?? 0)} measures; calm: a stretch of the same cycle. Share:
            of the time that spikes add to the target's threads; of functions on a CPU, of the CPU
            time that they add.
          </p>
          {falls.length > 0 && (
            <details>
              <summary>{falls.length} more fall</summary>
              <Differences all={falls} caption="What falls in spikes" />
            </details>
          )}
        </>
      )}
      {methods.length > 0 && (
        <>
          <h3>What is called in them</h3>
          <ul>
            {methods.map((it) => (
              <li key={it.method}>{methodWords(it, report)}</li>
            ))}
          </ul>
        </>
      )}
      <Courses report={report} spans={spans} />
      <List report={report} spans={spans} />
    </div>
  );
}

function Triggers({ report }: { readonly report: SpikeReport }) {
  return (
    <>
      <h3>What comes before them</h3>
      <NumberTable
        caption="What comes before spikes"
        titles={[
          ["Event"],
          "before spikes",
          ["followed by one", "number wide"],
          "time before",
          ["spread", "number wide"],
          ["p value", "number wide"],
          ["How sure"],
        ]}
        rows={report.triggers.map((trigger) => [
          <span key="event" title={trigger.name}>
            {triggerWords(trigger)}
            {trigger.parent && <span class="below muted">by {trigger.parent}</span>}
          </span>,
          precededWords(trigger, report),
          `${trigger.followed} of ${trigger.events}`,
          lagWords(trigger, report),
          duration(trigger.lag_spread_ns),
          trigger.p_value.toFixed(3),
          trigger.confidence,
        ])}
      />
    </>
  );
}

function Differences({
  all,
  caption,
}: {
  readonly all: readonly SpikeDifference[];
  readonly caption: string;
}) {
  return (
    <NumberTable
      caption={caption}
      titles={[
        ["What"],
        "in them",
        "calm",
        "change",
        ["spikes", "number wide"],
        ["share", "number wide"],
      ]}
      rows={all.map((it) => [
        <span key="what" title={it.what}>
          {differenceWords(it)}
        </span>,
        amountWords(it, it.inside),
        amountWords(it, it.outside),
        changeWords(it),
        `${it.spikes}/${it.of_spikes}`,
        it.share == null ? "" : percent(it.share),
      ])}
    />
  );
}

interface ShownProps {
  readonly report: SpikeReport;
  readonly spans: readonly Span[];
}

/** The lanes of the timeline, laid over each other at the onsets. */
function Courses({ report, spans }: ShownProps) {
  const { recording } = usePage();
  const tables = useTables(...TABLES);
  const steps = useMemo(() => stepsAround(usualLength(report), report.interval_ns), [report]);
  const all = useMemo(
    () => tables && courses(timeline(recording, tables), spans, steps),
    [recording, tables, spans, steps],
  );
  if (all === undefined) return <p class="muted">Reading the recording…</p>;
  const moving = all.filter(({ moves }) => moves);
  const others = all.filter(({ moves }) => !moves);
  return (
    <>
      <h3>Around the onset</h3>
      <p class="muted">
        Lanes of the timeline from {duration(-steps.from)} before it (dashed) to{" "}
        {duration(steps.to)} after: the median of the spikes, and the middle half of them.
      </p>
      <Grid all={moving} steps={steps} />
      {others.length > 0 && (
        <details>
          <summary>{others.length} more do not stand out</summary>
          <Grid all={others} steps={steps} />
        </details>
      )}
    </>
  );
}

/** CSS pixels of a course; it is as wide as there is room. */
const [WIDTH, HEIGHT] = [200, 48];

function Grid({ all, steps }: { readonly all: readonly Course[]; readonly steps: Steps }) {
  const onset = (-steps.from / length(steps)) * WIDTH;
  return (
    <ul class="courses">
      {all.map((course) => {
        const { band, line } = coursePaths(course, WIDTH, HEIGHT);
        const { title, colour, format, before, after } = course;
        return (
          <li key={title} title={title}>
            <b>{title}</b>
            <span class="muted">{`${format(before)} → ${format(after)}`}</span>
            <svg
              viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
              preserveAspectRatio="none"
              style={{ color: `var(${colour})` }}
              aria-hidden="true"
            >
              <path opacity=".22" fill="currentColor" d={band} />
              <path class="course-onset" d={`M${onset} 0V${HEIGHT}`} />
              <path stroke="currentColor" d={line} />
            </svg>
          </li>
        );
      })}
    </ul>
  );
}

function List({ report, spans }: ShownProps) {
  const { recording, selected, select } = usePage();
  const ofThreads = report.usual_threads != null;
  return (
    <details open={spans.length <= MOST_LISTED}>
      <summary>Each spike: choose one to select its window</summary>
      <NumberTable
        caption="Spikes"
        titles={[
          ["Start"],
          "Length",
          ...(ofThreads
            ? ["Most threads"]
            : ["Highest latency", "Lowest throughput", ["Requests lost", "number wide"] as const]),
        ]}
        rows={report.spikes.map((spike, place) => {
          const span = spans[place] ?? recording.judged;
          const around = recording.snapped(surroundings(span, report));
          return [
            <button
              key="start"
              type="button"
              class="link"
              aria-pressed={selected?.from === around.from && selected.to === around.to}
              onClick={() => select(around)}
            >
              {instant(span.from, recording.page.step_ns)}
            </button>,
            duration(length(span)),
            ...(ofThreads
              ? [rate(spike.peak_threads ?? 0)]
              : [
                  spike.peak_latency_ns == null ? "none ended" : duration(spike.peak_latency_ns),
                  perSecond(spike.lowest_throughput),
                  integer(spike.lost),
                ]),
          ];
        })}
      />
    </details>
  );
}

/** The spikes as marks above the lanes; a click selects one. Keys choose them in the list. */
export function SpikeMarks() {
  const { axis, recording, select } = usePage();
  const view = useSight(axis, "view");
  const found = useSpikes();
  if (found === undefined) return null;
  const { report, spans } = found;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div class="spike-marks" role="group" aria-label="Spikes">
      {spans.map((span) => {
        const at = placed(span, view);
        if (at === undefined) return null;
        return (
          <button
            key={span.from}
            type="button"
            tabIndex={-1}
            title={`Spike at ${instant(span.from, recording.page.step_ns)}, ${duration(length(span))}`}
            style={{ left: `${at.left * 100}%`, width: `${at.width * 100}%` }}
            onClick={() => select(surroundings(span, report))}
          />
        );
      })}
    </div>
  );
}
