// Who waits for whom: the graph between thread pools, and the same as a table.

import { useMemo } from "preact/hooks";
import {
  NODE,
  roleOf,
  type WaitArrow,
  type WaitNode,
  waitGraph,
  waitLines,
} from "../charts/waitGraph";
import { NumberTable } from "./NumberTable";
import type { Section } from "./section";
import { usePage } from "./state";
import "./WaitGraph.css";

export const WAITS: Section = {
  id: "waits",
  title: "Who waits for whom",
  view: WaitGraph,
  isOf: ({ wait_graph: edges = [] }) => edges.length > 0,
};

function WaitGraph() {
  const { report } = usePage();
  const graph = useMemo(() => waitGraph(report), [report]);
  const lines = useMemo(() => waitLines(report), [report]);
  return (
    <div class="card waits">
      <p class="summary muted">
        Over the window of the verdict, by who ended the waits: how many threads of a pool waited so
        at a time, on average. Threads without a request to answer wait for nobody.
      </p>
      {graph !== undefined && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where the page is narrow
        <div class="waits-drawing" tabIndex={0} role="group" aria-label="The graph">
          <svg
            width={graph.width}
            height={graph.height}
            viewBox={`0 0 ${graph.width} ${graph.height}`}
            role="img"
            aria-label={graph.alternative}
          >
            {graph.arrows.map((arrow) => (
              <Arrow key={arrow.key} arrow={arrow} />
            ))}
            {graph.nodes.map((node) => (
              <Node key={node.key} node={node} />
            ))}
            {graph.arrows.map(({ key, label, at: [x, y] }) => (
              <text key={key} class="waits-label" x={x} y={y}>
                {label}
              </text>
            ))}
          </svg>
        </div>
      )}
      <details open={graph === undefined}>
        <summary>In numbers, with what those did meanwhile who are waited for</summary>
        <NumberTable
          caption="Who waits for whom"
          titles={[
            ["Who", "text"],
            ["For", "text"],
            ["What", "text"],
            "Threads",
            ["Waits/s", "number wide"],
            "Each",
            ["Meanwhile those did", "text wide"],
          ]}
          rows={lines.map((it) => [
            it.who,
            it.whom,
            it.what,
            it.threads,
            it.rate,
            it.each,
            it.meanwhile,
          ])}
        />
      </details>
    </div>
  );
}

function Arrow({ arrow: { path, width, paint, title } }: { readonly arrow: WaitArrow }) {
  const stroke = `var(${paint.fill})`;
  const id = `waits-head-${paint.fill.slice(2)}`;
  return (
    <g>
      <title>{title}</title>
      <marker
        id={id}
        viewBox="0 0 10 10"
        refX="4"
        refY="5"
        markerWidth="14"
        markerHeight="14"
        markerUnits="userSpaceOnUse"
        orient="auto"
      >
        <path class="waits-head" d="M0 0 L10 5 L0 10 z" style={{ fill: stroke }} />
      </marker>
      <path class="waits-edge" d={path} stroke-width={width + 2} />
      <path
        class="waits-arrow"
        d={path}
        style={{ stroke }}
        stroke-width={width}
        marker-end={`url(#${id})`}
      />
    </g>
  );
}

function Node({ node }: { readonly node: WaitNode }) {
  const { x, y, name, role } = node;
  return (
    <g class={`waits-node role-${role ?? "none"}`}>
      <title>{name}</title>
      <rect x={x} y={y} width={NODE.width} height={NODE.height} rx="4" />
      <text x={x + NODE.width / 2} y={y + (role === undefined ? 27 : 19)}>
        {name.length > 22 ? `${name.slice(0, 21)}…` : name}
      </text>
      {role !== undefined && (
        <text class="waits-role" x={x + NODE.width / 2} y={y + 35}>
          {roleOf(node)}
        </text>
      )}
    </g>
  );
}
