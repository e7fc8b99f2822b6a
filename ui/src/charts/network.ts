// Interfaces, TCP as a whole, arrivals by CPU, and connections by who holds them and with whom.

import { integer, perSecond } from "../data/format";
import { measured, ratio, sumOf } from "../data/measure";
import type { PageEntity, Role } from "../data/page.gen";
import type { Recording, Tables } from "../data/recording";
import { sumOver } from "../data/series";
import { length, type Nanoseconds, SECOND, type Share, type Span } from "../data/units";
import { ofKind } from "./entitySets";
import { type Figure, type FigureDraft, figures } from "./figures";
import type { Lane } from "./lane";
import { inOut, type LaneRecipes, recipeLanes } from "./laneRecipe";
import type { TreeNode } from "./tree";

/** An interface over a window; rates are per second. */
export interface Interface {
  readonly place: number;
  readonly name: string;
  readonly received: number | undefined;
  readonly sent: number | undefined;
  readonly packetsIn: number | undefined;
  readonly packetsOut: number | undefined;
  readonly dropped: number | undefined;
  readonly damaged: number | undefined;
}

/** The interfaces, those that carried nothing quiet. */
export function interfaces(
  recording: Recording,
  tables: Tables,
  window: Span,
): TreeNode<Interface>[] {
  return recording.page.entities.flatMap((entity, place) => {
    const of = measured(tables, "network", place, window);
    if (entity.kind !== "interface" || of.series("rx_bytes") === undefined) return [];
    const value: Interface = {
      place,
      name: entity.name,
      received: of.rate("rx_bytes"),
      sent: of.rate("tx_bytes"),
      packetsIn: of.rate("rx_packets"),
      packetsOut: of.rate("tx_packets"),
      dropped: sumOf([of.rate("rx_drops"), of.rate("tx_drops")]),
      damaged: sumOf([of.rate("rx_errors"), of.rate("tx_errors")]),
    };
    const quiet = !((sumOf([value.packetsIn, value.packetsOut, value.dropped]) ?? 0) > 0);
    return [{ id: entity.path, value, children: [], quiet }];
  });
}

/** An interface's lanes. */
export function interfaceLanes(recording: Recording, tables: Tables, place: number): Lane[] {
  const recipes = { ...INTERFACE, prefix: `interface-${place}-` };
  return recipeLanes(recording, tables, recipes, (entity) => entity === place);
}

const RECEIVED_SENT = ["received", "sent"] as const;
const INTERFACE: LaneRecipes = {
  table: "network",
  colour: "--network",
  lanes: [
    inOut("Traffic", RECEIVED_SENT, ["rx_bytes", "tx_bytes"]),
    inOut("Packets", RECEIVED_SENT, ["rx_packets", "tx_packets"]),
    inOut("Dropped", RECEIVED_SENT, ["rx_drops", "tx_drops"]),
  ],
};

function counted(label: string, ...columns: readonly string[]): FigureDraft {
  return { columns, label, of: "rate", format: perSecond };
}

const TCP: readonly FigureDraft[] = [
  counted("segments sent", "out_segments"),
  counted("sent again", "retransmitted_segments"),
  counted("retransmission timers ran out", "timeouts"),
  counted("connections begun here", "active_opens"),
  counted("connections begun elsewhere", "passive_opens"),
  counted("connections that did not come about", "attempt_fails"),
  counted("connections reset", "resets"),
  counted("resets sent", "out_resets"),
  counted("accept queue full", "listen_overflows"),
  counted("half-open queue full", "request_queue_drops"),
  counted("socket backlog full", "backlog_drops"),
  counted("datagrams lost on arrival", "udp_receive_errors"),
  { columns: ["established"], label: "established", of: "last", format: integer },
];

/** What TCP as a whole did. */
export function tcp(recording: Recording, tables: Tables, window: Span): Figure[] {
  const about = recording.table("tcp");
  const machine = recording.page.entities.findIndex((entity) => entity.kind === "machine");
  return about === undefined
    ? []
    : figures(about, measured(tables, "tcp", machine, window), window, TCP);
}

/** Packets that all CPUs took from the network, dropped, or left for later; per second. */
export interface Softnet {
  readonly processed: number | undefined;
  readonly dropped: number | undefined;
  readonly squeezed: number | undefined;
}

export function softnet(recording: Recording, tables: Tables, window: Span): Softnet {
  const cpus = ofKind(recording, "cpu");
  const sum = (column: string) => {
    const all = cpus.map((cpu) => tables.series("softnet", cpu, column));
    return sumOver(
      all.filter((it) => it !== undefined),
      window,
    );
  };
  return { processed: sum("processed"), dropped: sum("dropped"), squeezed: sum("squeezed") };
}

/** Connections of a process or of processes alike with one other machine. */
export interface Peer {
  /** Who holds them. */
  readonly holder: string;
  readonly role: Role;
  /** The other end's address, or both ends of a single connection. */
  readonly name: string;
  readonly connections: number;
  /** Mean smoothed round trip, and the least that was seen. */
  readonly trip: Nanoseconds | undefined;
  readonly least: Nanoseconds | undefined;
  /** Bytes per second of the window. */
  readonly sent: number | undefined;
  readonly received: number | undefined;
  /** Part of the segments sent that were sent again. */
  readonly again: Share | undefined;
  readonly segments: number | undefined;
  readonly retransmitted: number | undefined;
}

/** Connections by holder and peer, each with its own below. */
export function peers(recording: Recording, tables: Tables, window: Span): TreeNode<Peer>[] {
  const { entities } = recording.page;
  const groups = new Map<string, Peer[]>();
  entities.forEach((entity, place) => {
    if (entity.kind !== "connection") return;
    const peer = peerOf(entities, tables, place, entity, window);
    if (peer === undefined) return;
    const key = JSON.stringify([peer.role, peer.holder, remoteOf(entity.name)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [peer]);
    else group.push(peer);
  });
  return [...groups].map(([id, own]) => {
    const children = own.map((value, i) => ({
      id: `${id} ${i}`,
      value,
      children: [],
      quiet: false,
    }));
    const remote = remoteOf(own[0]?.name ?? "");
    return {
      id,
      value: merged(own, remote),
      children: own.length > 1 ? children : [],
      quiet: false,
    };
  });
}

function peerOf(
  entities: readonly PageEntity[],
  tables: Tables,
  place: number,
  entity: PageEntity,
  window: Span,
): Peer | undefined {
  const of = measured(tables, "connection", place, window);
  const [segments, again] = [of.growth("segments_out"), of.growth("retransmitted_segments")];
  const least = of.last("rtt_min_ns");
  // A connection may be short: only by the window's own time do many add up.
  const overWindow = (bytes: number | undefined) => ratio(bytes, length(window) / SECOND);
  const sent = overWindow(of.growth("bytes_sent"));
  const received = overWindow(of.growth("bytes_received"));
  if (segments === undefined && least === undefined && sent === undefined) return undefined;
  const holder = entity.parent == null ? undefined : entities[entity.parent];
  return {
    holder: holder?.name ?? "",
    role: holder?.role ?? entity.role,
    name: entity.name,
    connections: 1,
    trip: of.mean("rtt_ns"),
    least,
    sent,
    received,
    again: ratio(again, segments),
    segments,
    retransmitted: again,
  };
}

function merged(own: readonly Peer[], remote: string): Peer {
  const [first] = own;
  const sum = (of: (peer: Peer) => number | undefined) => sumOf(own.map(of));
  // Of who is only connected the round trip is old: connections count by the segments they sent.
  const weigh = (of: (peer: Peer) => number | undefined) => {
    const known = own.filter((peer) => of(peer) !== undefined);
    const weights = known.map((peer) => peer.segments ?? 0);
    const all = weights.reduce((a, b) => a + b, 0);
    const even = all > 0 ? undefined : 1 / known.length;
    return sumOf(known.map((peer, i) => (of(peer) ?? 0) * (even ?? (weights[i] ?? 0) / all)));
  };
  const [segments, retransmitted] = [sum((it) => it.segments), sum((it) => it.retransmitted)];
  return {
    holder: first?.holder ?? "",
    role: first?.role ?? "rest",
    name: own.length === 1 ? (first?.name ?? "") : remote,
    connections: own.length,
    trip: weigh((it) => it.trip),
    least: weigh((it) => it.least),
    sent: sum((it) => it.sent),
    received: sum((it) => it.received),
    again: ratio(retransmitted, segments),
    segments,
    retransmitted,
  };
}

/** The other end's address without its port: `10.0.0.7` of `10.0.0.5:5432-10.0.0.7:41222`. */
export function remoteOf(name: string): string {
  const remote = name.slice(name.lastIndexOf("-") + 1);
  return remote.replace(/:\d+$/, "") || name;
}
