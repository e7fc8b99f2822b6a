// Numbers about the network and connections.

import { lastIn } from "../../data/measure";
import { length, SECOND, type Span } from "../../data/units";
import { ofKind } from "../entitySets";
import { edgesOfIntervals, grown, held, ofIntervals, responses, times } from "../quantity";
import { type Asked, at, drawn, type Made, notSeen, per1s, series, signalOf } from "../recipe";

export function sentAgain({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  const [table, sent, words] =
    evidence.entity.kind === "connection"
      ? (["connection", "segments_out", evidence.entity.name] as const)
      : (["tcp", "out_segments", "the machine"] as const);
  return drawn(tables, table, {
    quantity: {
      of: grown(at(tables, table, place, "retransmitted_segments")),
      per: grown(at(tables, table, place, sent)),
    },
    how: `segments sent again / segments sent, of ${words}`,
  });
}

export function roundTrip(asked: Asked): Made {
  const { evidence, recording, tables } = asked;
  const trip = at(tables, "connection", recording.placeOf(evidence.entity), "rtt_min_ns");
  if (trip === undefined) return notSeen(evidence);
  const all = signalOf(asked);
  // Each request has its own latency, so intervals with more of them weigh more.
  const latencies = responses(all);
  const requests = ofIntervals(all, (interval) => interval.throughput * length(interval));
  const latest = (window: Span) => (lastIn(trip, window) ?? Number.NaN) * requests(window);
  return drawn(tables, "connection", {
    quantity: { of: times(1 / SECOND, latest), per: latencies, edges: edgesOfIntervals(all) },
    how: `smallest round trip of ${evidence.entity.name}, the longest way / mean latency of a request`,
  });
}

export function refused({ recording, tables }: Asked): Made {
  const columns = ["listen_overflows", "backlog_drops", "request_queue_drops"];
  const all = series(tables, "tcp", ofKind(recording, "machine"), columns);
  return drawn(tables, "tcp", {
    quantity: { of: grown(...all), per: per1s },
    how: `tcp.${columns.join(" + ")}, per second`,
  });
}

export function dropped({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  return drawn(tables, "network", {
    quantity: {
      of: grown(...series(tables, "network", [place], ["rx_drops", "tx_drops"])),
      per: per1s,
    },
    how: `rx_drops + tx_drops of ${evidence.entity.name}, per second`,
  });
}

export function sessions({ recording, tables }: Asked): Made {
  const all = ofKind(recording, "process");
  const own = all.filter((it) => at(tables, "database", it, "sessions") !== undefined);
  return drawn(tables, "database", {
    quantity: {
      of: held(...series(tables, "database", own, ["sessions"])),
      per: held(...series(tables, "database", own, ["sessions_limit"])),
    },
    how: "sessions / sessions_limit",
  });
}
