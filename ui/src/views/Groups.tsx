// The control groups: pressure, limits and throttling, nested as their paths are.

import { useMemo } from "preact/hooks";
import { type Group, type GroupPressure, groups } from "../charts/groups";
import { sparkline } from "../charts/sparkline";
import type { TreeNode } from "../charts/tree";
import { bytes, instant, integer, percent, perSecond, tied, traffic } from "../data/format";
import { Missing } from "./Network";
import { Sparkline } from "./Sparkline";
import { usePage, useTables } from "./state";
import { type TreeColumn, TreeTable } from "./TreeTable";

export function Groups() {
  const { recording, window } = usePage();
  const tables = useTables(
    "cgroup_cpu",
    "cgroup_limit",
    "cgroup_memory",
    "cgroup_io",
    "cgroup_pressure",
  );
  const nodes = useMemo(
    () => (tables === undefined ? [] : groups(recording, tables, window)),
    [recording, tables, window],
  );
  const columns = useMemo(() => columnsOf(recording.whole, window), [recording, window]);
  if (tables === undefined) return <p class="muted">Reading the control groups…</p>;
  const leftOut = recording.table("cgroup_cpu")?.left_out ?? 0;
  return (
    <>
      <p class="summary muted">
        A group's CPU time and memory include those of the groups within it. Its CPU pressure
        includes waiting for its own quota. Some: at least one task waited; full: all that were not
        idle did.
      </p>
      {recording.table("cgroup_pressure") === undefined && (
        <Missing table="cgroup_pressure" what="the pressure of groups" />
      )}
      <TreeTable
        caption="Control groups over the window"
        nodes={nodes}
        columns={columns}
        nameTitle="Group"
        name={(group) => <Name group={group} />}
        nameOf={(group) => group.path}
        textOf={textOf}
        detail={() => null}
        what="name, path, target"
        open={openAtFirst(nodes)}
        sortedBy="cpus"
        fixed={0}
      />
      {leftOut > 0 && (
        <p class="muted">
          {integer(leftOut)} groups that did least are not in this page: the recording has them.
        </p>
      )}
    </>
  );
}

const textOf = ({ path, target, generator }: Group) =>
  `${path} ${target ? "target" : ""} ${generator ? "generator" : ""}`;

/** Down to where target and generator are, and the first level of the rest. */
function openAtFirst(nodes: readonly TreeNode<Group>[]): string[] {
  const holds = ({ value, children }: TreeNode<Group>): boolean =>
    value.target || value.generator || children.some(holds);
  const walk = (node: TreeNode<Group>): string[] =>
    node.children.some(holds) ? [node.id, ...node.children.flatMap(walk)] : [];
  return [...nodes.map((node) => node.id), ...nodes.flatMap(walk)];
}

function Name({ group }: { readonly group: Group }) {
  return (
    <span class="member" title={group.path}>
      <span class="member-name">{group.path === "/" ? "/ (all)" : group.name}</span>
      {group.target && <span class="group-mark">target</span>}
      {group.generator && <span class="group-mark">generator</span>}
    </span>
  );
}

/** Some over full, as two bars in one and in numbers; missing is not zero. */
function Stalls({ pressure, fill }: { readonly pressure: GroupPressure; readonly fill: string }) {
  const { some, full } = pressure;
  if (some === undefined) return <span class="muted">not seen</span>;
  const width = (share: number) => `${Math.min(share, 1) * 100}%`;
  return (
    <>
      {percent(some)}
      {full !== undefined && <span class="muted"> / {percent(full)}</span>}{" "}
      <span class="meter wide" style={{ "--fill": `var(${fill})` }} aria-hidden="true">
        <span class="meter-some" style={{ width: width(some) }} />
        {full !== undefined && <span class="meter-full" style={{ width: width(full) }} />}
      </span>
    </>
  );
}

function pressureColumn(
  resource: "cpu" | "memory" | "io",
  title: string,
  look: string,
): TreeColumn<Group> {
  return {
    id: `pressure-${resource}`,
    title: `${title} pressure, some / full`,
    help: `Parts of the window in which at least one task of the group waited for ${title}, and in which all did; from differences of total=, folded over 2 s.`,
    look: `number broad ${look}`,
    by: (group) => group[resource].some,
    cell: (group) => <Stalls pressure={group[resource]} fill={`--${resource}`} />,
  };
}

const cpusText = (value: number) => (value < 0.005 ? "0" : value.toFixed(2));

function columnsOf(
  run: { from: number; to: number },
  window: { from: number; to: number },
): TreeColumn<Group>[] {
  return [
    {
      id: "cpus",
      title: "CPUs used",
      help: "CPU time per time, those of the groups within it included.",
      look: "number",
      by: (group) => group.cpus,
      cell: ({ cpus }) =>
        cpus === undefined ? <span class="muted">not seen</span> : cpusText(cpus),
    },
    {
      id: "quota",
      title: "CPUs allowed",
      help: "CPUs that its own quota allows at the end of the window; those of its cpuset where it has no quota.",
      look: "number broad",
      by: (group) => group.quota,
      cell: ({ quota, quotaSince, cpuset }) => {
        if (quota !== undefined) {
          const since = quotaSince === undefined ? "" : ` since ${instant(quotaSince)}`;
          return (
            <>
              {cpusText(quota)} <span class="muted below">by quota{tied(since)}</span>
            </>
          );
        }
        return cpuset === undefined ? "" : <span class="muted">{integer(cpuset)}</span>;
      },
    },
    {
      id: "throttled",
      title: "Throttled",
      help: "Part of its quota periods in which it ran out; how long its run queues were held back per second, added up over CPUs.",
      look: "number",
      by: (group) => group.throttledPeriods,
      cell: ({ throttledPeriods, throttledTime }) =>
        throttledPeriods !== undefined && throttledPeriods > 0 ? (
          <>
            {percent(throttledPeriods)}
            <span class="muted wide"> {cpusText(throttledTime ?? 0)} s/s</span>
          </>
        ) : (
          ""
        ),
    },
    pressureColumn("cpu", "CPU", ""),
    pressureColumn("memory", "Memory", "wide"),
    pressureColumn("io", "I/O", "wide"),
    {
      id: "memory",
      title: "Memory, of its limit",
      help: "Mean bytes charged to it and those within it, and the lower of its own limits.",
      look: "number wide",
      by: (group) => group.used,
      cell: ({ used, limit, kills, limitsMet }) => {
        if (used === undefined) return "";
        const troubles = [
          limitsMet !== undefined && limitsMet > 0 && `limit met ${perSecond(limitsMet)}`,
          kills !== undefined && kills > 0 && `${integer(kills)} killed`,
        ].filter(Boolean);
        return (
          <>
            {bytes(used)}
            {limit !== undefined && (
              <span class="muted below">
                of {bytes(limit)} ({percent(used / limit)})
              </span>
            )}
            {troubles.length > 0 && <b class="below">{troubles.join(", ")}</b>}
          </>
        );
      },
    },
    {
      id: "io",
      title: "Disk I/O",
      help: "Bytes per second read and written, and limits on them.",
      look: "number extra",
      by: (group) =>
        group.read === undefined && group.written === undefined
          ? undefined
          : (group.read ?? 0) + (group.written ?? 0),
      cell: ({ read, written, ioLimits }) => {
        const all = (read ?? 0) + (written ?? 0);
        const said = read === undefined && written === undefined ? "" : traffic(all);
        return ioLimits.length === 0 ? (
          said
        ) : (
          <span title={ioLimits.join(", ")}>{said} (limited)</span>
        );
      },
    },
    {
      id: "run",
      title: "CPU over the run",
      help: "CPUs used over the whole run, each row to its own height; the window is shaded.",
      look: "extra",
      cell: (group) =>
        group.cpuTime.length > 0 && (
          <Sparkline line={sparkline(group.cpuTime, run, window)} label="CPUs over the run" />
        ),
    },
  ];
}
