// The whole machine: everybody who was followed, ranked by the time lost, with the verdict on each.

import { useMemo } from "preact/hooks";
import { typed } from "../charts/commands";
import { windowWords } from "../charts/run";
import { lostWords, notFollowed, rankingSentence, type UnitRow, unitRows } from "../charts/units";
import { quantileWords } from "../charts/verdict";
import { duration, rate, tied } from "../data/format";
import "./Machine.css";
import { PartsBar, PartsList } from "./PartsBar";
import type { Section } from "./section";
import { usePage } from "./state";
import { numberColumn, type TreeColumn, TreeTable } from "./TreeTable";
import { Advice, Also, Said } from "./Verdict";

export const MACHINE: Section = {
  id: "machine",
  title: "The whole machine",
  view: Machine,
  isOf: (report) => Boolean(report.machine),
  first: true,
};

function Machine() {
  const { recording } = usePage();
  const { machine } = recording.page.report;
  const nodes = useMemo(() => (machine ? unitRows(machine) : []), [machine]);
  const columns = useMemo(() => columnsOf(nodes[0]?.value.unit.lost_per_second ?? 0), [nodes]);
  if (!machine) return null;
  const others = notFollowed(machine);
  return (
    <div class="card machine">
      <p class="lead">{tied(rankingSentence(machine))}</p>
      <TreeTable
        caption="Who waits, for what, and behind whom"
        nodes={nodes}
        columns={columns}
        nameTitle="Who"
        name={(row) => <Name row={row} />}
        nameOf={nameOf}
        textOf={nameOf}
        detail={(row) => <Detail row={row} />}
        unfoldsDetail
        open={[]}
        sortedBy="lost"
        fixed={0}
      />
      <p class="muted">
        Time lost is that of requests where these were measured, else of threads at work: it may be
        more than a second in each. Waiting for input and sleeping lose nothing. Over{" "}
        {windowWords(recording.judged)}
        {nodes.length > 0 && "; the rest of this page is about the first"}.
        {others && ` Not followed, and under pressure: ${others}.`}
      </p>
    </div>
  );
}

const nameOf = ({ unit }: UnitRow) => unit.name;

function Name({ row }: { readonly row: UnitRow }) {
  return (
    <span class="member" title={row.unit.target}>
      <span class="member-name">{row.unit.name}</span>
      <span class="member-detail muted">{row.kind}</span>
    </span>
  );
}

function columnsOf(most: number): TreeColumn<UnitRow>[] {
  return [
    {
      id: "lost",
      title: "Lost per second",
      help: "Time lost in waits in each second, over all requests or threads.",
      look: "number",
      by: ({ unit }) => unit.lost_per_second,
      cell: ({ unit }) => (
        <>
          {lostWords(unit.lost_per_second)}{" "}
          <span class="meter" aria-hidden="true">
            <span style={{ width: percentOf(unit.lost_per_second, most) }} />
          </span>
        </>
      ),
    },
    {
      id: "waits",
      title: "Waits for, and the verdict",
      help: "The time lost by what was waited for. Press a bar for its parts as a list.",
      look: "bar",
      cell: ({ waits, unit, headline }, { detailed, toggleDetail }) => (
        <>
          {waits ? (
            <PartsBar
              whole={waits}
              of={unit.name}
              format={duration}
              open={detailed}
              toggle={toggleDetail}
            />
          ) : (
            <span class="muted">lost no time to speak of</span>
          )}
          {headline && (
            <span class="below">
              <Said finding={headline} />
            </span>
          )}
        </>
      ),
    },
    {
      id: "behind",
      title: "Behind",
      help: "Who had what was waited for, as parts of all that was lost, as far as that is known.",
      look: "broad spare",
      by: ({ behind }) => behind || undefined,
      cell: ({ behind }) => tied(behind),
    },
    numberColumn("Requests/s", "Requests answered.", ({ throughput }) => throughput, rate),
    numberColumn("Mean", "How long a request took.", ({ latency }) => latency, duration, "spare"),
    {
      id: "p99",
      title: "p99",
      help: "99 of 100 requests took no longer.",
      look: "number",
      by: ({ p99 }) => p99?.value,
      cell: ({ p99 }) => p99 && quantileWords(p99),
    },
  ];
}

const percentOf = (part: number, all: number) => `${all > 0 ? (100 * part) / all : 0}%`;

/** The verdict on one of them whole, and how to record it alone. */
function Detail({ row }: { readonly row: UnitRow }) {
  const { recording } = usePage();
  const { unit, waits, headline } = row;
  return (
    <div class="verdict">
      {waits && (
        <PartsList
          whole={waits}
          format={duration}
          quantity="Lost per second"
          helpTitle="Behind, of all that was lost"
        />
      )}
      <Also findings={unit.verdict?.findings.slice(1) ?? []} />
      {headline && <Advice headline={headline} />}
      {headline?.to_confirm && (
        <p class="last-word">
          <b>To confirm</b> {tied(headline.to_confirm)}
        </p>
      )}
      <p class="muted">
        Judged {windowWords(recording.span(unit.window))}. Alone:{" "}
        <code>{typed(["stallscope", "record", "--for", "30s", "--target", unit.target])}</code>
      </p>
    </div>
  );
}
