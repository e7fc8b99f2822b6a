// What each number of the verdict was worked out from, redone over bins (crates/analysis/src/causes).
// A recipe names the tables it needs and gives the quantity; where a number has no course over time it
// says why.

import type { Evidence } from "../data/page.gen";
import { bounds } from "./bins";
import { ofKind } from "./entitySets";
import { byFormula } from "./formula";
import { grown, held, lasted, seconds, times } from "./quantity";
import { at, notSeen, per1s, type Recipe } from "./recipe";
import * as cpu from "./recipes/cpu";
import * as network from "./recipes/network";
import * as requests from "./recipes/requests";
import * as storage from "./recipes/storage";
import { type Scale, scaleOf, scaleOfUnit } from "./scale";

/** The recipe of a number: its formula where it has one, else what its columns are known for. */
export function recipeOf({ formula, column, unit }: Evidence): Recipe {
  if (formula !== undefined && formula !== null) return byFormula(formula);
  return RECIPES[`${column} ${unit}`] ?? RECIPES[column] ?? asRecorded(column);
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  cpu: { tables: ["cpu"], make: cpu.cpusBusy },
  process: { tables: ["cpu", "thread", "process", "recorder"], make: cpu.usedByOthers },
  "process.user_ns + system_ns": {
    tables: ["cpu", "process", "cgroup_cpu"],
    make: cpu.usedByNeighbour,
  },
  "process.read_bytes + write_bytes": {
    tables: ["process", "cgroup_io"],
    make: storage.movedByNeighbour,
  },
  "thread.run_ns + process.children_ns": { tables: ["cpu", "thread", "process"], make: cpu.run },
  "thread.run_ns": { tables: ["thread"], make: cpu.busiest },
  "thread.run_ns + wait_ns": { tables: ["thread"], make: cpu.busiest },
  "thread.system_ns": { tables: ["thread"], make: cpu.inKernel },
  "thread_time.queued_rest_ns": { tables: ["thread_time"], make: cpu.behind },
  "thread_time.queued_target_ns + queued_generator_ns": {
    tables: ["thread_time"],
    make: cpu.behind,
  },
  "thread_time.queued_generator_ns": { tables: ["thread_time"], make: cpu.behindOfAll },
  "process_time.delay_caused_ns": { tables: ["process_time"], make: cpu.heldUp },
  "cpu.softirq_ns + irq_ns": { tables: ["cpu"], make: cpu.inInterrupts },
  "disk.queue_ns ns": { tables: ["disk"], make: storage.operationTime },
  "disk.read_bytes": { tables: ["disk"], make: storage.diskReads },
  "cgroup_cpu.throttled_periods": { tables: ["cgroup_cpu"], make: cpu.throttledPeriods },
  "cgroup_cpu.throttled_ns": { tables: ["cgroup_cpu"], make: cpu.heldBack },
  "cgroup_memory.usage_bytes": { tables: ["cgroup_memory"], make: storage.memoryUsed },
  "cgroup_memory.refault_file": { tables: ["cgroup_memory", "paging"], make: storage.refaults },
  "paging.refault_file": { tables: ["paging"], make: storage.refaults },
  "paging.swap_in": { tables: ["paging"], make: storage.swappedIn },
  "connection.retransmitted_segments": { tables: ["connection", "tcp"], make: network.sentAgain },
  "connection.rtt_min_ns": { tables: ["connection", "signal"], make: network.roundTrip },
  "tcp.listen_overflows": { tables: ["tcp"], make: network.refused },
  "network.rx_drops": { tables: ["network"], make: network.dropped },
  "database.sessions": { tables: ["database"], make: network.sessions },
  "signal.latency_mean_ns": { tables: ["signal", "ledger"], make: requests.latency },
  "signal.lag_mean_ns": { tables: ["signal"], make: requests.lag },
  "signal.throughput_milli": { tables: ["signal"], make: requests.achieved },
  "workload.outcome.complaints": {
    tables: [],
    make: () => ({ why: "counted in what the workload said; it did not say when" }),
  },
  "wakeup.wait_ns": {
    tables: [],
    make: () => ({ why: "added up over the waits that this thread ended, pool by pool" }),
  },
  "session.blocked_by": {
    tables: [],
    make: () => ({ why: "counted over looks at sessions, each of which names who blocks it" }),
  },
};

/** A column as it stands, of whom the number is about. */
function asRecorded(column: string): Recipe {
  const [table = "", names = ""] = split(column, ".");
  const columns = names.split(" + ").filter((name) => name !== "");
  return {
    tables: [table],
    make: (asked) => {
      const { evidence, recording, tables } = asked;
      const about = recording.table(table);
      // As a part it is one of a limit, on the device where it was used most.
      if (table === "cgroup_io" && evidence.unit === "share")
        return storage.ioLimit(asked, columns[0] ?? "");
      if (table === "filesystem") return storage.freePart(asked, columns[0] ?? "");
      const [first] = columns;
      const described = about?.columns.find((other) => other.name === first);
      if (about === undefined || described === undefined)
        return { why: `the recording has no ${column}` };
      const own = recording.placeOf(evidence.entity);
      const all = about.entity === evidence.entity.kind ? [own] : ofKind(recording, about.entity);
      const series = columns.flatMap((name) => all.map((it) => at(tables, table, it, name)));
      const found = series.filter((one) => one !== undefined);
      const [single] = found;
      if (single === undefined) return notSeen(evidence);
      const gauge = described.kind === "gauge";
      const kills = described.unit === "count" && evidence.unit === "count" && !gauge;
      const scale = kills ? scaleOfUnit("count") : scaleOf(table, described);
      // Of many the mean where it is a share of their time, else the sum.
      const meanOf = described.unit === "nanoseconds" || gauge;
      const perTime = meanOf ? seconds(...found.slice(0, found.length / columns.length)) : per1s;
      const per = gauge ? lasted(...found) : kills ? () => 1 : perTime;
      const many = all.length > 1 ? `, ${meanOf ? "mean over" : "sum of"} all ${all.length}` : "";
      return {
        quantity: {
          of: times(scale.factor, gauge ? held(...found) : grown(...found)),
          per,
          edges: bounds(single.edges),
        },
        how: `${column}${many}${kills ? ", how many in each bin" : `: ${scale.words}`}`,
        comparable: kills || sameUnit(evidence.unit, scale),
        scale,
        ...(found.length === 1 && !kills ? { single } : {}),
      };
    },
  };
}

function sameUnit(unit: string, scale: Scale): boolean {
  if (unit === "share") return scale.words === "share of time";
  return unit === "count" ? scale.words === "at a time" : scale.words === "per second";
}

function split(text: string, by: string): [string, string] {
  const place = text.indexOf(by);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + 1)];
}
