// The network: interfaces, TCP, arrivals by CPU, connections by peer.

import { useMemo } from "preact/hooks";
import { absent } from "../charts/gaps";
import {
  type Interface,
  interfaceLanes,
  interfaces,
  type Peer,
  peers,
  softnet,
  tcp,
} from "../charts/network";
import { duration, integer, percent, rate, traffic } from "../data/format";
import type { Tables } from "../data/recording";
import { FigureTable } from "./FigureTable";
import { LaneChart } from "./LaneChart";
import { RoleSign } from "./RoleSign";
import { usePage, useTables } from "./state";
import { numberColumn, type TreeColumn, TreeTable } from "./TreeTable";

const INTERFACES: readonly TreeColumn<Interface>[] = [
  numberColumn("Received", "Bytes received per second.", (it) => it.received, traffic),
  numberColumn("Sent", "Bytes sent per second.", (it) => it.sent, traffic),
  numberColumn("Packets in/s", "Packets received.", (it) => it.packetsIn, rate, "wide"),
  numberColumn("Packets out/s", "Packets sent.", (it) => it.packetsOut, rate, "wide"),
  numberColumn("Dropped/s", "Packets dropped for want of room.", (it) => it.dropped, rate),
  numberColumn("Damaged/s", "Packets received damaged or not sent.", (it) => it.damaged, rate),
];

const PEERS: readonly TreeColumn<Peer>[] = [
  numberColumn("Connections", "Connections that were seen.", (it) => it.connections, integer),
  numberColumn("Round trip", "Mean smoothed round trip.", (it) => it.trip, duration),
  numberColumn(
    "Least round trip",
    "The least round trip that each saw, by the segments that each sent: free of delayed acknowledgements.",
    (it) => it.least,
    duration,
    "wide",
  ),
  numberColumn("Sent", "Bytes sent per second.", (it) => it.sent, traffic, "wide"),
  numberColumn("Received", "Bytes received per second.", (it) => it.received, traffic, "wide"),
  numberColumn(
    "Sent again",
    "Part of the segments sent that were sent again.",
    (it) => it.again,
    percent,
  ),
];

export function Network() {
  const { recording, window } = usePage();
  const tables = useTables("network", "tcp", "softnet", "connection");
  const seen = useMemo(() => {
    if (tables === undefined) return undefined;
    return {
      tables,
      interfaces: interfaces(recording, tables, window),
      tcp: tcp(recording, tables, window),
      softnet: softnet(recording, tables, window),
      peers: peers(recording, tables, window),
    };
  }, [recording, tables, window]);
  if (seen === undefined) return <p class="muted">Reading the network…</p>;
  const { processed, dropped, squeezed } = seen.softnet;
  return (
    <>
      <TreeTable
        caption="Interfaces over the window"
        nodes={seen.interfaces}
        columns={INTERFACES}
        nameTitle="Interface"
        name={(it) => it.name}
        nameOf={(it) => it.name}
        textOf={(it) => it.name}
        detail={(it) => <Course of={it} tables={seen.tables} />}
        unfoldsDetail
        open={[]}
        sortedBy="Received"
        fixed={0}
      />
      {seen.tcp.length > 0 ? (
        <FigureTable caption="TCP" figures={seen.tcp} />
      ) : (
        <Missing table="tcp" what="TCP's counters" />
      )}
      <h4>Arrivals by CPU</h4>
      {processed === undefined ? (
        <Missing table="softnet" what="what CPUs took from the network" />
      ) : (
        <p class="muted">
          CPUs took {rate(processed)} packets/s from the network, dropped {rate(dropped ?? 0)}/s for
          want of room, and left work for later {rate(squeezed ?? 0)} times/s.
        </p>
      )}
      <h4>Connections</h4>
      {seen.peers.length > 0 ? (
        <TreeTable
          caption="Connections by who holds them and the other end"
          nodes={seen.peers}
          columns={PEERS}
          nameTitle="Holder and other end"
          name={(it) => (
            <span class="member">
              <RoleSign role={it.role} /> {it.holder}
              <span class="member-detail muted">{it.name}</span>
            </span>
          )}
          nameOf={peerName}
          textOf={peerName}
          detail={() => null}
          what="process, address, role"
          open={[]}
          sortedBy="Sent"
          fixed={0}
        />
      ) : (
        <Missing table="connection" what="TCP connections of target and generator" />
      )}
    </>
  );
}

function Course({ of, tables }: { readonly of: Interface; readonly tables: Tables }) {
  const { recording } = usePage();
  const { place, name } = of;
  const lanes = useMemo(() => interfaceLanes(recording, tables, place), [recording, tables, place]);
  return <LaneChart lanes={lanes} label={`Interface ${name} over time`} />;
}

const peerName = (peer: Peer) => `${peer.role} ${peer.holder} ${peer.name}`;

/** One line in place of what was not recorded. */
export function Missing({ table, what }: { readonly table: string; readonly what: string }) {
  const { recording } = usePage();
  const why = absent(recording, table);
  const there = recording.table(table) !== undefined;
  const said = there ? "none was read in this window" : "not recorded";
  return (
    <p class="muted">
      No numbers of {what}: {why ?? said}.
    </p>
  );
}
