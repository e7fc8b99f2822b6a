// The first screen: the answer, why, and what would change it. Every text is the report's.

import { evidenceRows } from "../charts/evidence";
import { spanWords, windowWords } from "../charts/run";
import {
  facts,
  lastWord,
  meaning,
  named,
  noPressure,
  notes,
  outcome,
  pressureFacts,
  quantiles,
  remedyNote,
  remedyNumbers,
  shareOf,
  who,
} from "../charts/verdict";
import { tied } from "../data/format";
import type { Finding, Remedy } from "../data/page.gen";
import { Account } from "./Account";
import { Aligned } from "./Aligned";
import { usePage } from "./state";
import "./Verdict.css";

export function Verdict() {
  const { report, judgement } = usePage();
  const [headline, ...also] = report.verdict.findings;
  const last = lastWord(report);
  return (
    <section id="verdict" class="verdict" aria-labelledby="verdict-sentence">
      {headline && <Headline finding={headline} />}
      <div class="verdict-body" aria-busy={judgement.asking}>
        <div class="verdict-why">
          <Account report={report} />
          <Also findings={also} />
          {last && (
            <p class="last-word">
              <b>{last.label}</b> {last.items.join("; ")}
            </p>
          )}
        </div>
        <div class="verdict-what">
          <Numbers />
          {headline && <Advice headline={headline} />}
        </div>
      </div>
      <Notes />
    </section>
  );
}

/** Characters of a sentence that fit into two lines of the usual size. */
const LONG = 150;

function Headline({ finding }: { finding: Finding }) {
  const { report, recording, judgement } = usePage();
  const step = recording.page.step_ns;
  const about = judgement.of;
  const [unit] = recording.page.report.machine?.units ?? [];
  return (
    <div class={`headline headline-${outcome(report)}`}>
      {unit && <p class="headline-window">Of {unit.name}, which waits most:</p>}
      {about && <p class="headline-window">Of {spanWords(about, step)} alone:</p>}
      <h1 id="verdict-sentence" class={finding.sentence.length > LONG ? "long" : undefined}>
        {tied(finding.sentence)}
      </h1>
      <p class="headline-tag">
        <code>{finding.cause}</code> of <b>{who(finding)}</b>
        <span class="confidence" data-confidence={finding.confidence}>
          {finding.confidence}
        </span>
        <span class="muted">{meaning(finding)}</span>
      </p>
      <RestsOn finding={finding} />
    </div>
  );
}

/** The numbers of the headline, each with the way to where it came from. */
function RestsOn({ finding }: { finding: Finding }) {
  const { report, recording } = usePage();
  const rows = evidenceRows(finding, 0, recording);
  const share = outcome(report) === "limited" ? shareOf(finding) : [];
  const beside = [...share, ...named(report)];
  if (rows.length + beside.length === 0) return null;
  return (
    <ul class="rests-on" aria-label="What it rests on">
      {rows.map((row) => (
        <li key={row.id}>
          <a href={`#${row.id}`}>{row.what}</a> {row.value}
        </li>
      ))}
      {beside.map((text) => (
        <li key={text} class="muted">
          {tied(text)}
        </li>
      ))}
    </ul>
  );
}

/** What is there beside the headline. */
export function Also({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="also">
      {findings.map((finding) => (
        <li key={`${finding.cause} ${finding.entity.path}`}>
          <b>Also</b> <Said finding={finding} />
        </li>
      ))}
    </ul>
  );
}

/** A finding in a line. */
export function Said({ finding }: { finding: Finding }) {
  return (
    <>
      <code>{finding.cause}</code> {tied(finding.sentence)}{" "}
      <span class="muted">({finding.confidence})</span>
    </>
  );
}

const RESOURCES = ["cpu", "memory", "io"] as const;

/** The workload's own numbers, and pressure, over the judged window. */
function Numbers() {
  const { report, recording } = usePage();
  const pressure = pressureFacts(report);
  const window = windowWords(recording.span(report.window));
  const { all, of } = quantiles(report);
  const steady = report.phases.some(
    (phase) =>
      phase.kind === "steady" &&
      phase.window.start === report.window.start &&
      phase.window.end === report.window.end,
  );
  const hasSignal = report.signals.some((signal) => signal.name === "throughput");
  return (
    <div class="verdict-numbers">
      <p class="numbers-window muted">
        {steady && hasSignal ? "steady" : "judged"} {window}
      </p>
      <dl class="numbers-facts">
        {facts(report).map((fact) => (
          <div key={`${fact.name} ${fact.unit}`} data-fact={fact.name}>
            <dt>{fact.name}</dt>
            <dd>
              {fact.value && (
                <>
                  <b>{fact.value}</b> {fact.unit}
                </>
              )}
              {fact.note && <small>{fact.note}</small>}
            </dd>
          </div>
        ))}
      </dl>
      {all.length > 0 && (
        <p class="numbers-quantiles">
          {all.map(({ name, value }) => (
            <span key={name}>
              <span class="muted">{name}</span> {value}
            </span>
          ))}{" "}
          <span class="muted">{of}</span>
        </p>
      )}
      <table class="numbers-pressure">
        {pressure.length === 0 && <caption>pressure {noPressure(report)}</caption>}
        {pressure.length > 0 && (
          <>
            <thead>
              <tr>
                <th scope="col">pressure</th>
                {RESOURCES.map((resource) => (
                  <th key={resource} scope="colgroup" colSpan={2}>
                    {resource}
                  </th>
                ))}
              </tr>
              <tr>
                <td />
                {RESOURCES.flatMap((resource) =>
                  ["some", "full"].map((kind) => (
                    <th key={`${resource} ${kind}`} scope="col">
                      {kind}
                    </th>
                  )),
                )}
              </tr>
            </thead>
            <tbody>
              {pressure.map(({ whose, path, resources }) => (
                <tr key={whose}>
                  <th scope="row" title={path}>
                    {whose}
                  </th>
                  {RESOURCES.flatMap((resource) => {
                    const found = resources.find((it) => it.resource === resource);
                    return [
                      <td key={`${resource} some`}>
                        <Aligned text={found?.some ?? "not seen"} />
                      </td>,
                      <td key={`${resource} full`}>
                        <Aligned text={found?.full} />
                      </td>,
                    ];
                  })}
                </tr>
              ))}
            </tbody>
          </>
        )}
      </table>
    </div>
  );
}

/** What would change it, and what would not. */
export function Advice({ headline }: { headline: Finding }) {
  return (
    <div class="advice">
      {headline.would_help.length > 0 && (
        <>
          <h2>
            Estimated gain <span class="muted">if the rest stays as it is</span>
          </h2>
          <ul class="remedies">
            {headline.would_help.map((remedy) => (
              <Help key={remedy.change} remedy={remedy} />
            ))}
          </ul>
        </>
      )}
      {headline.would_not_help.length > 0 && (
        <p>
          <b>No gain from</b> {headline.would_not_help.join(", ")}
        </p>
      )}
    </div>
  );
}

function Help({ remedy }: { remedy: Remedy }) {
  const { report } = usePage();
  const note = remedyNote(remedy);
  return (
    <li>
      <span>{remedy.change}</span>{" "}
      {remedyNumbers(remedy, report).map((number) => (
        <b key={number}>{number} </b>
      ))}
      {note && <small>{note}</small>}
    </li>
  );
}

/** RuledOut, doubts, not seen: calm, but not hidden. A line each, and the rest of it when it is pressed. */
function Notes() {
  const { report } = usePage();
  const all = notes(report);
  if (all.length === 0) return null;
  return (
    <div class="notes">
      {all.map(({ label, items }) => (
        <details key={label} data-note={label}>
          <summary>
            <b>{label}</b>
            <span>
              {items.map((item) => (
                <span key={item}>{tied(item)}</span>
              ))}
            </span>
          </summary>
        </details>
      ))}
    </div>
  );
}
