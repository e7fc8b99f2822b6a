// How the recording was made: what it cost, how well it kept its times, and what it did not see.

import { useMemo, useState } from "preact/hooks";
import { commands, typed } from "../charts/commands";
import {
  clockFacts,
  costFacts,
  environmentGroups,
  type Fact,
  gapRows,
  identityFacts,
  periodFacts,
  samplerLanes,
  workloadFacts,
} from "../charts/measured";
import type { WorkloadRun } from "../data/page.gen";
import { LaneChart } from "./LaneChart";
import "./Measured.css";
import type { Section } from "./section";
import { usePage, useTables } from "./state";

export const MEASURED: Section = { id: "measured", title: "How this was measured", view: Measured };

function Measured() {
  const { recording, report, window } = usePage();
  const { page } = recording;
  const tables = useTables("recorder", "clock");
  const lanes = useMemo(
    () => (tables === undefined ? [] : samplerLanes(recording, tables)),
    [recording, tables],
  );
  const periods = periodFacts(page);
  return (
    <div class="measured">
      {report.workload && <Command run={report.workload} />}
      {page.typed.length > 0 && (
        <div class="card wide">
          <h3>Recorded with</h3>
          <pre class="command">
            <code>{typed(page.typed)}</code>
          </pre>
        </div>
      )}
      <div class="card wide">
        <h3>Not collected</h3>
        {report.verdict.not_collected.length > 0 && (
          <ul>
            {report.verdict.not_collected.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
        <Gaps />
      </div>
      <div class="card wide">
        <h3>The sampler</h3>
        <Facts facts={costFacts(page.report.cost)} />
        {periods.length > 0 && (
          <>
            <h4>How often tables are read, unless that costs too much</h4>
            <Facts facts={periods} />
          </>
        )}
        {lanes.length > 0 && <LaneChart lanes={lanes} label="The sampler over time" height={48} />}
      </div>
      <div class="measured">
        <div class="card">
          <h3>This recording</h3>
          <Facts facts={identityFacts(page)} />
        </div>
        <Environment />
      </div>
      <div class="measured">
        <div class="card">
          <h3>Clocks</h3>
          {tables && <Facts facts={clockFacts(recording, tables)} />}
        </div>
        <div class="card">
          <h3>To see more</h3>
          <dl class="commands">
            {commands(recording, window).map(([command, what]) => (
              <div key={command}>
                <dt>
                  <code>{command}</code>
                </dt>
                <dd class="muted">{what}</dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
    </div>
  );
}

function Command({ run }: { run: WorkloadRun }) {
  const complaints = run.outcome?.complaints ?? [];
  return (
    <div class="card wide">
      <h3>The workload</h3>
      <pre class="command">
        <code>{typed(run.command)}</code>
      </pre>
      <Facts facts={workloadFacts(run)} />
      <ul>
        {[...run.notices, ...(run.outcome?.remarks ?? [])].map((text) => (
          <li key={text}>{text}</li>
        ))}
        {complaints.map((complaint) => (
          <li key={complaint.kind}>
            It complained {complaint.count === 1 ? "once" : `${complaint.count} times`}:{" "}
            <code>{complaint.message}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Gaps() {
  const { recording } = usePage();
  const rows = gapRows(recording);
  if (rows.length === 0) return <p>No gaps: every table was read at every one of its times.</p>;
  return (
    <div class="scroll">
      <table class="numbers">
        <caption class="offscreen">Gaps</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">When</th>
            <th scope="col">Why, and what would show it</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.what} ${row.when} ${row.why}`}>
              <th scope="row">{row.what}</th>
              <td>{row.when}</td>
              <td>{row.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Environment() {
  const { report } = usePage();
  const [filter, setFilter] = useState("");
  const groups = environmentGroups(report.environment, filter);
  return (
    <div class="card">
      <h3>Environment</h3>
      <label class="chart-filter">
        Find{" "}
        <input
          type="search"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </label>
      <div class="environment">
        {groups.map(({ title, facts }) => (
          <div key={title}>
            <h4>{title}</h4>
            <Facts facts={facts} />
          </div>
        ))}
      </div>
      {groups.length === 0 && <p class="muted">Nothing of that name.</p>}
    </div>
  );
}
