// Who talks to whom over time: flows by the service's port.

import { tied } from "../data/format";
import type { PortReport } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import type { Lane } from "./lane";
import { type LaneRecipe, recipeLanes } from "./laneRecipe";

/** Ports that have lines of their own, by their place in the report. */
const INKS = ["--network", "--cpu", "--io", "--memory", "--lock"] as const;

/** What is asked for at a port or path, by which end: `<-:5432`, `->:53/udp`, `->/tmp/.s.PGSQL.5432`. */
function keyOf({ is_served, path, port, protocol }: PortReport): string {
  const place = path ?? `:${port}${protocol === "udp" ? "/udp" : ""}`;
  return (is_served ? "<-" : "->") + place;
}

/** The same of a flow, by its name (crates/sensors/src/flow.rs); `undefined` for what is no flow of a service. */
export function keyOfFlow(name: string): string | undefined {
  const own = / \(\d+\) (?:(:\d+(?:\/udp)?) <- |(->|<-) (.+)$)/.exec(name);
  if (own === null) return undefined;
  const [, served, mark, other = ""] = own;
  if (served !== undefined) return `<-${served}`;
  const place = /^[/@.]/.test(other) ? other : (/:\d+(?:\/udp)?$/.exec(other)?.[0] ?? other);
  return `${mark}${place}`;
}

/** What a port is called in a legend. */
export function placeOf({ path, port, protocol }: PortReport): string {
  return path ?? `${protocol === "udp" ? "UDP " : ""}port ${port}`;
}

/** Bytes by port over time, both ways, and connections established. */
export function portLanes(
  recording: Recording,
  tables: Tables,
  ports: readonly PortReport[],
): Lane[] {
  const keys = recording.page.entities.map(({ kind, name }) =>
    kind === "flow" ? keyOfFlow(name) : undefined,
  );
  return LANES.flatMap(({ title, columns }) => {
    const lanes = INKS.flatMap((ink, place) => {
      const port = ports[place];
      if (port === undefined) return [];
      const key = keyOf(port);
      const label = `${placeOf(port)}${port.is_served ? "" : " (called)"}`;
      const recipe: LaneRecipe = { title, least: 1, lines: [[label, columns, ink]] };
      const recipes = {
        table: "flow",
        colour: "--network",
        prefix: "connections-",
        lanes: [recipe],
      };
      return recipeLanes(recording, tables, recipes, (entity) => keys[entity] === key);
    });
    const [first] = lanes;
    if (first === undefined) return [];
    const lines = lanes.flatMap((lane) => lane.lines);
    const { still: _, ...own } = first;
    const alternative = lanes.map((lane) => lane.alternative).join(" ");
    return [
      { ...own, lines: lines.map((line) => ({ ...line, fill: 0, style: "line" })), alternative },
    ];
  });
}

const LANES = [
  { title: "Bytes by port", columns: "sent_bytes received_bytes" },
  { title: "Connections established", columns: "opened" },
] as const;

/** What went wrong at a port; empty for nothing. */
export function trouble(port: PortReport): string {
  const counts: readonly [number, string][] = [
    [port.refused, "refused"],
    [port.reset, "reset"],
    [port.timed_out, "timed out"],
    [port.failed, "failed"],
    [port.short_lived, "under 1 s"],
  ];
  const said = counts.flatMap(([count, word]) => (count > 0 ? `${count} ${word}` : []));
  return tied(said.join(", "));
}
