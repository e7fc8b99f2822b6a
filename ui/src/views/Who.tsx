// Who waited: roles, services, pools, processes and threads with where their time went.

import { useMemo } from "preact/hooks";
import { absent } from "../charts/gaps";
import { hidden, holders } from "../charts/holders";
import { isMet } from "../charts/ledger";
import { sentence } from "../charts/parts";
import { sparkline } from "../charts/sparkline";
import { crowd, type Member } from "../charts/threadTree";
import type { TreeNode } from "../charts/tree";
import { duration, instant, integer, percent, rate, traffic } from "../data/format";
import { Aligned } from "./Aligned";
import { NumberTable } from "./NumberTable";
import { PartsBar, PartsList } from "./PartsBar";
import { RoleSign } from "./RoleSign";
import { Sparkline } from "./Sparkline";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import { type TreeColumn, TreeTable } from "./TreeTable";
import "./Who.css";

export const WHO: Section = { id: "who", title: "Who waited", view: Who };

function Who() {
  const { recording, window } = usePage();
  const tables = useTables("ledger", "process");
  const nodes = useMemo(
    () => (tables === undefined ? undefined : crowd(recording, tables, window)),
    [recording, tables, window],
  );
  // A class that nobody was ever in has no column.
  const withheld = (tables && isMet(tables, "throttled_ns")) ?? false;
  const columns = useMemo(
    () => columnsOf(recording.whole, window, withheld),
    [recording, window, withheld],
  );
  if (nodes === undefined || tables === undefined) return <p class="muted">Reading the threads…</p>;
  if (nodes.length === 0) {
    const why = absent(recording, "thread") ?? absent(recording, "process");
    return <p class="muted">No process was seen in this window{why ? `: ${why}` : ""}.</p>;
  }
  const leftOut = ["ledger", "process"]
    .map((name) => recording.table(name))
    .filter((table) => table !== undefined)
    .filter((table) => table.left_out > 0);
  return (
    <div class="card who">
      <p class="muted">
        Over {instant(window.from)} to {instant(window.to)}. A bar is all of the time of the threads
        on its row: what they ran, waited for and were blocked in adds up to 100 %. The lower edge
        of a part says how well it is known: whole is exact, dashed sampled, dotted estimated,
        double not known. Press a bar for its parts as a list.
      </p>
      <ul class="offscreen">
        {nodes.map(({ id, value }) => (
          <li key={id}>{summaryOf(value)}</li>
        ))}
      </ul>
      <TreeTable
        caption="Where the time of threads went, by role, service, pool, process and thread"
        nodes={nodes}
        columns={columns}
        nameTitle="Who"
        name={(member) => <Name member={member} />}
        nameOf={nameOf}
        textOf={textOf}
        detail={(member) => <Detail member={member} />}
        what="name, pid, path, role"
        open={openAtFirst(nodes)}
        sortedBy="cpus"
        fixed={1}
      />
      {leftOut.map((table) => (
        <p key={table.name} class="muted">
          {integer(table.left_out)} {table.name === "ledger" ? "threads" : "processes"} that did
          least are not in this page: the recording has them.
        </p>
      ))}
    </div>
  );
}

const nameOf = (member: Member) => `${member.name} ${member.detail}`.trim();
const textOf = (member: Member) => member.text;

/** Rows of a role that are shown without being asked for. */
const ROWS = 12;

/** The run's own roles are open, and their services where there is room for all that they hold. */
function openAtFirst(nodes: readonly TreeNode<Member>[]): string[] {
  const own = nodes.filter((node) => node.value.role !== "rest");
  return own.flatMap(({ id, children }) => {
    const rows = children.reduce((sum, child) => sum + child.children.length, children.length);
    return rows <= ROWS ? [id, ...children.map((child) => child.id)] : [id];
  });
}

function Name({ member }: { readonly member: Member }) {
  const { kind, name, detail, role, processes, threads } = member;
  if (kind === "role") {
    return (
      <span class="role">
        <RoleSign role={role} /> {name}
      </span>
    );
  }
  const several =
    detail || (threads > 1 ? "" : processes > 1 ? `${integer(processes)} processes` : "");
  return (
    <span class="member">
      <span class="member-name" title={`${kind} ${nameOf(member)}`}>
        {name}
      </span>
      {several && <span class="member-detail muted">{several}</span>}
    </span>
  );
}

const time = (ns: number) => duration(ns);
const known = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? <span class="muted">not seen</span> : format(value);
const decimals = (value: number) => (value < 0.005 ? "0" : value.toFixed(2));

function columnsOf(
  run: { from: number; to: number },
  window: { from: number; to: number },
  withheld: boolean,
): TreeColumn<Member>[] {
  return [
    {
      id: "bar",
      title: "Where the time went",
      help: "All of their time, by what they did in it. Press a bar for its parts as a list.",
      look: "bar",
      cell: (member, row) =>
        member.whole === undefined ? (
          <OnlyCpu member={member} />
        ) : (
          <PartsBar
            whole={member.whole}
            of={nameOf(member)}
            format={time}
            open={row.detailed}
            toggle={row.toggleDetail}
          />
        ),
    },
    {
      id: "threads",
      title: "Threads",
      help: "Threads whose time is known, in the window.",
      look: "number wide",
      by: (member) => member.threads || undefined,
      cell: (member) => (member.threads > 0 ? integer(member.threads) : ""),
    },
    {
      id: "cpus",
      title: "CPUs used",
      help: "CPU time per time: 1.00 is one CPU all the time.",
      look: "number",
      by: (member) => member.cpus,
      cell: (member) => known(member.cpus, decimals),
    },
    {
      id: "waiting",
      title: "Waiting for a CPU",
      help: "Mean number of threads that could run and did not: run-queue delay per time, without what a quota held back.",
      look: "number wide",
      by: (member) => member.waiting,
      cell: (member) => member.waiting !== undefined && decimals(member.waiting),
    },
    ...(withheld
      ? [
          {
            id: "withheld",
            title: "Held back",
            help: "Mean number of threads that could run and that a CPU quota held back.",
            look: "number wide" as const,
            by: (member: Member) => member.withheld,
            cell: (member: Member) => member.withheld !== undefined && decimals(member.withheld),
          },
        ]
      : []),
    {
      id: "blocked",
      title: "Blocked",
      help: "Mean number of threads in a disk's, memory's or a lock's way, or sending. Waiting for input, sleeping and what was not seen are not in it; idle workers in futex are.",
      look: "number wide",
      by: (member) => member.blocked,
      cell: (member) => member.blocked !== undefined && decimals(member.blocked),
    },
    {
      id: "busiest",
      title: "Busiest thread",
      help: "The thread that was on a CPU most, as a part of the window.",
      look: "number extra",
      by: (member) => member.busiest?.share,
      cell: ({ busiest }) =>
        busiest && (
          <span title={busiest.name}>
            <Aligned text={percent(busiest.share)} />
          </span>
        ),
    },
    {
      id: "storage",
      title: "Storage",
      help: "Bytes per second that processes had read from storage and written to it; known of whole processes only.",
      look: "number extra",
      by: (member) => member.storage,
      cell: ({ storage }) => storage !== undefined && traffic(storage),
    },
    {
      id: "run",
      title: "CPU over the run",
      help: "CPUs used over the whole run, each row to its own height; the window is shaded.",
      look: "extra",
      cell: (member) => {
        const line = sparkline(member.cpuTime, run, window);
        const most = rate(line.most / 1e9);
        return <Sparkline line={line} label={`CPUs over the run, at most ${most}`} />;
      },
    },
  ];
}

function OnlyCpu({ member }: { readonly member: Member }) {
  const { kernelPart, cpus } = member;
  if (cpus === undefined) return <span class="muted">not seen</span>;
  const split =
    kernelPart === undefined || cpus < 0.005 ? "" : `, ${percent(kernelPart)} of it in the kernel`;
  return <span class="only-cpu muted">only CPU time was read{split}</span>;
}

function Detail({ member }: { readonly member: Member }) {
  const { whole, waiting, withheld, blocked, busiest, threads } = member;
  if (whole === undefined) return null;
  return (
    <PartsList whole={whole} format={time} quantity="Time">
      <Held member={member} />
      <p class="muted">
        {integer(threads)} {threads === 1 ? "thread" : "threads"}, {duration(whole.total)} in all.
        {waiting !== undefined && ` ${decimals(waiting)} waiting for a CPU on average,`}
        {withheld !== undefined && withheld > 0 && ` ${decimals(withheld)} held back by a quota,`}
        {blocked !== undefined && ` ${decimals(blocked)} blocked.`}
        {busiest && ` Busiest: ${busiest.name}, ${percent(busiest.share)} of the window on a CPU.`}
      </p>
    </PartsList>
  );
}

/** Who had the CPUs that were waited for, and what was hidden; nothing where events were not counted. */
function Held({ member }: { readonly member: Member }) {
  const { recording, window } = usePage();
  const tables = useTables("thread_time");
  const { places, role, kind } = member;
  const all = tables === undefined ? [] : holders(tables, places, window);
  const out = kind === "role" ? hidden(recording.page.report, role, window) : undefined;
  return (
    <>
      {all.length > 0 && (
        <NumberTable
          caption="Waits for a CPU by who had it"
          titles={[["CPU waited for, by who had it"], "Of the wait", "Time", ["Known"]]}
          rows={all.map(({ name, share, ns, quality }) => [
            name,
            <Aligned key="share" text={percent(share)} />,
            time(ns),
            quality,
          ])}
        />
      )}
      {out && (
        <p class="muted">
          Hidden, and no part of the 100 %: {out.ns > 0 ? "+" : ""}
          {time(out.ns)} {out.label}.
        </p>
      )}
    </>
  );
}

function summaryOf({ name, whole, cpus, threads }: Member): string {
  const used = cpus === undefined ? "CPU time not seen" : `${decimals(cpus)} CPUs used`;
  return whole === undefined
    ? `${name}: ${used}; only CPU time was read.`
    : `${name}: ${integer(threads)} threads, ${used}; of their time ${sentence(whole)}.`;
}
