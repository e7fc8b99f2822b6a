// Why: what the findings rest on, number by number, each with its chart; and what else was judged.

import { useMemo } from "preact/hooks";
import {
  type EvidenceRow,
  evidenceChart,
  evidenceId,
  evidenceRows,
  evidenceTables,
} from "../charts/evidence";
import { exploreLink } from "../charts/explore";
import { proof } from "../charts/verdict";
import { ANSWERS, counted, families, parted } from "../charts/windowVerdict";
import { percent, tied } from "../data/format";
import type { Finding, Judged } from "../data/page.gen";
import "./Evidence.css";
import { LaneChart } from "./LaneChart";
import { Readable } from "./Readable";
import type { Section } from "./section";
import { usePage, useTables } from "./state";

export const EVIDENCE: Section = { id: "evidence", title: "Evidence", view: Evidence };

function Evidence() {
  const { report } = usePage();
  const { findings, judged, ruled_out, caveats } = report.verdict;
  const { concerned, others } = parted(judged);
  const [headline, ...more] = findings;
  return (
    <div class="evidence">
      {headline && <FindingCard finding={headline} index={0} />}
      {more.map((finding, index) => (
        <details key={`${finding.cause} ${finding.entity.path}`} class="card">
          <summary>
            <b>{finding.cause}</b> {tied(finding.sentence)}
          </summary>
          <FindingCard finding={finding} index={index + 1} />
        </details>
      ))}
      {caveats.length > 0 && (
        <div class="card">
          <h3>Caveats of the measurement</h3>
          <ul>
            {caveats.map((caveat) => (
              <li key={caveat.gate}>
                {tied(caveat.sentence)} <code class="muted">{caveat.gate}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="card">
        <h3>Everything that was judged</h3>
        <p class="muted">{counted(judged)}.</p>
        <Causes judged={concerned} />
        {others.length > 0 && (
          <details>
            <summary>{others.length} more that do not concern where the time went</summary>
            <Causes judged={others} />
          </details>
        )}
        {ruled_out.length > 0 && (
          <p class="ruled_out">
            <b>Ruled out:</b> {tied(ruled_out.map((it) => it.sentence).join(", "))}.
          </p>
        )}
      </div>
    </div>
  );
}

function FindingCard({ finding, index }: { finding: Finding; index: number }) {
  const { recording } = usePage();
  const rows = evidenceRows(finding, index, recording);
  const { entity, share, share_interval: interval } = finding;
  const name = entity.path === entity.name ? "" : ` (${entity.path})`;
  return (
    <article class={index === 0 ? "card finding" : "finding"} aria-label={finding.cause}>
      {index === 0 && <h3>{tied(finding.sentence)}</h3>}
      <dl class="facts">
        <div>
          <dt>Cause</dt>
          <dd>
            <code>{finding.cause}</code> of {entity.kind} {entity.name}
            <span class="muted">{name}</span>
          </dd>
        </div>
        {typeof share === "number" && (
          <div>
            <dt>Share</dt>
            <dd>
              {percent(share)}
              {interval && ` (95 %: ${percent(interval.low)} to ${percent(interval.high)})`}
            </dd>
          </div>
        )}
        <div>
          <dt>Confidence</dt>
          <dd>{finding.confidence}</dd>
        </div>
        {finding.evidence_against.length > 0 && (
          <div>
            <dt>Against it</dt>
            <dd>{finding.evidence_against.join("; ")}</dd>
          </div>
        )}
        {finding.to_confirm !== "" && (
          <div>
            <dt>{proof(finding)}</dt>
            <dd>{finding.to_confirm}</dd>
          </div>
        )}
      </dl>
      {rows.length > 0 && <Numbers rows={rows} finding={finding} />}
      {rows.length > 0 && (
        // Another finding may need other tables.
        <Readable key={finding.cause}>
          <Charts finding={finding} index={index} />
        </Readable>
      )}
    </article>
  );
}

function Numbers({ rows, finding }: { rows: readonly EvidenceRow[]; finding: Finding }) {
  const { recording } = usePage();
  return (
    <div class="scroll">
      <table class="numbers">
        <caption class="offscreen">What {finding.cause} rests on</caption>
        <thead>
          <tr>
            <th scope="col">Number</th>
            <th scope="col" class="right">
              Value
            </th>
            <th scope="col">Asked of it</th>
            <th scope="col">Passed</th>
            <th scope="col">From</th>
            <th scope="col">Window</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={row.id} id={row.id}>
              <th scope="row">
                <a href={`#${row.id}-chart`}>{row.what}</a>
              </th>
              <td class="right" data-number={row.id}>
                {row.value}
              </td>
              <td class="brief">{tied(row.needs) || <span class="muted">told only</span>}</td>
              <Passed row={row} />
              <td>
                <Source row={row} link={exploreLink(recording, finding.evidence[place])} />
              </td>
              <td class="brief">{tied(row.window)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** By word and mark; what is only told has nothing to pass. */
function Passed({ row }: { row: EvidenceRow }) {
  if (row.needs === "") return <td />;
  return row.passed ? <td class="passed">✓ yes</td> : <td class="failed">✗ no</td>;
}

function Source({ row, link }: { row: EvidenceRow; link: string | undefined }) {
  const column = <code>{row.source}</code>;
  return (
    <>
      {link === undefined ? column : <a href={link}>{column}</a>}{" "}
      <span class="muted">{row.who}</span>
    </>
  );
}

function Charts({ finding, index }: { finding: Finding; index: number }) {
  const { recording, report } = usePage();
  const tables = useTables(...evidenceTables(finding));
  const charts = useMemo(
    () =>
      tables &&
      finding.evidence.map((evidence, row) => ({
        id: `${evidence.what} ${evidence.column}`,
        ...evidenceChart(finding, [index, row], { recording, report, tables }),
      })),
    [finding, index, recording, report, tables],
  );
  const lanes = useMemo(
    () => charts?.flatMap((chart) => ("lane" in chart ? [chart.lane] : [])),
    [charts],
  );
  if (charts === undefined || lanes === undefined) return null;
  return (
    <div class="evidence-charts">
      {finding.evidence.map((_, row) => {
        const id = `${evidenceId(index, row)}-chart`;
        return <span key={id} id={id} class="anchor" />;
      })}
      {lanes.length > 0 && (
        <LaneChart lanes={lanes} label={`The numbers of ${finding.cause} over time`} height={84} />
      )}
      <dl class="how">
        {charts.map((chart, row) => (
          <div key={chart.id}>
            <dt>{finding.evidence[row]?.what}</dt>
            <dd>
              {"lane" in chart ? (
                <>
                  {chart.how}. <span class="muted">Over its window {chart.mean}.</span>
                </>
              ) : (
                <>Not drawn: {chart.why}.</>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function Causes({ judged }: { judged: readonly Judged[] }) {
  return (
    <div class="families">
      {families(judged).map(({ title, causes }) => (
        <div key={title} class="family">
          <h4>{title}</h4>
          <ul>
            {causes.map(({ cause, answer, sentence }) => (
              <li key={cause} data-answer={answer} data-cause={cause}>
                <span class="answer">
                  <span aria-hidden="true">{ANSWERS[answer].mark}</span> {ANSWERS[answer].word}
                </span>
                <code>{cause}</code>
                <span>{tied(sentence)}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
