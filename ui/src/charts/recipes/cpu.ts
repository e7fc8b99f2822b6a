// Numbers about CPUs: how busy, with whom, and who was held back.

import { growth } from "../../data/series";
import { BUSY, IDLE } from "../cpuTime";
import { type Asked, at, drawn, type Made, notSeen, series } from "../made";
import { ofKind, threadsOf } from "../people";
import { type Amount, grown, lasted, orNothing, rest, sum, times } from "../quantity";

export function cpusBusy({ evidence, recording, tables }: Asked): Made {
  const own = recording.placeOf(evidence.entity);
  const all = evidence.entity.kind === "cpu" ? [own] : ofKind(recording, "cpu");
  const stolen = evidence.what.includes("stolen");
  const states = stolen ? [...BUSY, "steal_ns"] : BUSY;
  const of = grown(...series(tables, "cpu", all, states));
  const per = grown(
    ...series(tables, "cpu", all, [...BUSY, ...IDLE, ...(stolen ? ["steal_ns"] : [])]),
  );
  const whose = all.length > 1 ? `all ${all.length} CPUs` : evidence.entity.name;
  return drawn(tables, "cpu", {
    quantity: { of, per },
    how: `${stolen ? "busy or stolen" : "busy"} time (user, nice, system, interrupts) of ${whose} / their time${stolen ? "" : " without steal"}`,
  });
}

function busyTime({ recording, tables }: Asked): Amount {
  return grown(...series(tables, "cpu", ofKind(recording, "cpu"), BUSY));
}

export function run(asked: Asked): Made {
  const { evidence, recording, tables } = asked;
  if (evidence.what.startsWith("busiest")) return busiest(asked);
  const own = evidence.entity.kind === "machine" ? [] : threadsOf(recording, "target");
  const threads = [...own, ...threadsOf(recording, "generator")];
  const of = grown(...series(tables, "thread", threads, ["run_ns"]));
  const whose = own.length > 0 ? "target and generator" : "the generator";
  return drawn(tables, "thread", {
    quantity: { of, per: busyTime(asked) },
    how: `time on a CPU of all ${threads.length} threads of ${whose} / busy time of all CPUs`,
  });
}

export function busiest({ evidence, recording, tables }: Asked): Made {
  const columns = evidence.column === "thread.run_ns" ? ["run_ns"] : ["run_ns", "wait_ns"];
  const place = recording.placeOf(evidence.entity);
  const role = place === undefined ? undefined : recording.entity(place)?.role;
  const threads =
    evidence.entity.kind === "thread" ? [place] : threadsOf(recording, role ?? "generator");
  const window = recording.span(evidence.window);
  const busy = (thread: number | undefined) => {
    const part = at(tables, "thread", thread, "run_ns");
    return (part && growth(part, window)) ?? -1;
  };
  const [thread] = [...threads].sort((a, b) => busy(b) - busy(a));
  if (thread === undefined) return notSeen(evidence);
  const name = recording.entity(thread)?.name ?? "";
  return drawn(tables, "thread", {
    quantity: {
      of: grown(...series(tables, "thread", [thread], columns)),
      per: lasted(at(tables, "thread", thread, "run_ns")),
    },
    how: `${columns.join(" + ")} of ${name} (${recording.entity(thread)?.path}), the busiest thread / time`,
  });
}

export function inKernel({ recording, tables }: Asked): Made {
  const threads = threadsOf(recording, "target");
  return drawn(tables, "thread", {
    quantity: {
      of: grown(...series(tables, "thread", threads, ["system_ns"])),
      per: grown(...series(tables, "thread", threads, ["user_ns", "system_ns"])),
    },
    how: `CPU time in the kernel / CPU time, of all ${threads.length} threads of the target`,
  });
}

export function usedByOthers(asked: Asked): Made {
  const { recording, tables } = asked;
  // A role that nobody has used nothing; of one that has threads the others' part is not known as long as
  // none of them is. Dependencies may come late and go.
  const needed = (["target", "generator"] as const)
    .map((role) => threadsOf(recording, role))
    .filter((threads) => threads.length > 0)
    .map((threads) => grown(...series(tables, "thread", threads, ["run_ns"])));
  const own = series(tables, "recorder", ofKind(recording, "machine"), ["cpu_ns"]);
  const named = sum(
    ...needed,
    orNothing(grown(...series(tables, "thread", threadsOf(recording, "dependency"), ["run_ns"]))),
    orNothing(grown(...own)),
  );
  return drawn(tables, "cpu", {
    quantity: { of: rest(busyTime(asked), named), per: busyTime(asked) },
    how: "busy time of all CPUs without target, generator, dependencies and recorder / busy time of all CPUs",
  });
}

export function usedByNeighbour(asked: Asked): Made {
  const { evidence, recording, tables } = asked;
  const place = recording.placeOf(evidence.entity);
  const group = evidence.entity.kind === "cgroup";
  const own = group
    ? series(tables, "cgroup_cpu", [place], ["usage_ns"])
    : series(tables, "process", [place], ["user_ns", "system_ns"]);
  return drawn(tables, group ? "cgroup_cpu" : "process", {
    quantity: { of: grown(...own), per: busyTime(asked) },
    how: `CPU time of ${evidence.entity.name} / busy time of all CPUs`,
  });
}

export function throttledPeriods({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  return drawn(tables, "cgroup_cpu", {
    quantity: {
      of: grown(at(tables, "cgroup_cpu", place, "throttled_periods")),
      per: grown(at(tables, "cgroup_cpu", place, "periods")),
    },
    how: `throttled_periods / periods of ${evidence.entity.name}`,
  });
}

export function heldBack({ evidence, recording, tables }: Asked): Made {
  const throttled = at(tables, "cgroup_cpu", recording.placeOf(evidence.entity), "throttled_ns");
  const cpus = Math.max(ofKind(recording, "cpu").length, 1);
  return drawn(tables, "cgroup_cpu", {
    quantity: { of: grown(throttled), per: times(cpus, lasted(throttled)) },
    how: `throttled_ns of ${evidence.entity.name} / time of ${cpus} CPUs`,
  });
}
