// Numbers about CPUs: how busy, with whom, and who was held back.

import type { Role } from "../../data/page.gen";
import { growth } from "../../data/series";
import { BUSY, IDLE, STATES } from "../cpuTime";
import { ofKind, servingThreads, threadsOf, treeOf } from "../entitySets";
import { type Amount, grown, lasted, orNothing, rest, sum, times } from "../quantity";
import { type Asked, at, drawn, type Made, notSeen, series } from "../recipe";

/** Of one CPU part of its time, as it is charted; of all of them together of what the hypervisor left. */
export function cpusBusy({ evidence, recording, tables }: Asked): Made {
  const one = evidence.entity.kind === "cpu";
  const all = one ? [recording.placeOf(evidence.entity)] : ofKind(recording, "cpu");
  const of = grown(...series(tables, "cpu", all, BUSY));
  const whole = one ? STATES : [...BUSY, ...IDLE];
  const per = grown(...series(tables, "cpu", all, whole));
  const whose = all.length > 1 ? `all ${all.length} CPUs` : evidence.entity.name;
  return drawn(tables, "cpu", {
    quantity: { of, per },
    how: `busy time (user, nice, system, interrupts) of ${whose} / their time in any state${one ? "" : " but steal"}`,
  });
}

export function inInterrupts({ evidence, recording, tables }: Asked): Made {
  const own = [recording.placeOf(evidence.entity)];
  return drawn(tables, "cpu", {
    quantity: {
      of: grown(...series(tables, "cpu", own, ["irq_ns", "softirq_ns"])),
      per: grown(...series(tables, "cpu", own, STATES)),
    },
    how: `time of ${evidence.entity.name} in interrupts, hard and soft / its time in any state`,
  });
}

/** The busy part of all CPUs, of the clock's time: what an idle CPU does between ticks is in no state. */
function busyTime({ recording, tables }: Asked): Amount {
  const all = ofKind(recording, "cpu");
  const busy = grown(...series(tables, "cpu", all, BUSY));
  const known = grown(...series(tables, "cpu", all, STATES));
  const clock = lasted(...series(tables, "cpu", all, ["idle_ns"]));
  return (window) => (busy(window) / known(window)) * clock(window);
}

/** CPU time of the threads of some, and of their children that ended before anybody looked at them. */
function used({ recording, tables }: Asked, roles: readonly Role[]): Amount {
  const threads = roles.flatMap((role) => threadsOf(recording, role));
  const processes = ofKind(recording, "process").filter((place) =>
    roles.some((role) => recording.entity(place)?.role === role),
  );
  return sum(
    grown(...series(tables, "thread", threads, ["run_ns"])),
    // Most never have any.
    orNothing(grown(...series(tables, "process", processes, ["children_ns"]))),
  );
}

export function run(asked: Asked): Made {
  const { evidence, tables } = asked;
  const both = evidence.entity.kind !== "machine";
  return drawn(tables, "thread", {
    quantity: {
      of: used(asked, both ? ["target", "generator"] : ["generator"]),
      per: busyTime(asked),
    },
    how: `time on a CPU of the threads of ${both ? "target and generator" : "the generator"}, and of their children that ended unseen / busy time of all CPUs`,
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
  const needed = (["target", "generator"] as const).filter(
    (role) => threadsOf(recording, role).length > 0,
  );
  const own = series(tables, "recorder", ofKind(recording, "machine"), ["cpu_ns"]);
  const named = sum(
    ...needed.map((role) => used(asked, [role])),
    orNothing(used(asked, ["dependency"])),
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
  // A process stands for its tree.
  const tree = group || place === undefined ? [] : treeOf(recording, place);
  const own = group
    ? series(tables, "cgroup_cpu", [place], ["usage_ns"])
    : series(tables, "process", tree, ["user_ns", "system_ns"]);
  const many = tree.length > 1 ? ` and ${tree.length - 1} below it` : "";
  return drawn(tables, group ? "cgroup_cpu" : "process", {
    quantity: { of: grown(...own), per: busyTime(asked) },
    how: `CPU time of ${evidence.entity.name}${many} / busy time of all CPUs`,
  });
}

/** Who had the CPUs that a thread waited for, by column. */
const HOLDERS = ["queued_rest_ns", "queued_target_ns", "queued_generator_ns"] as const;

/** Of the target's waits for CPUs that somebody had the part behind some. */
export function behind(asked: Asked): Made {
  return behindSome(asked, HOLDERS);
}

/** Of all of the target's waits for a CPU the part behind some, also of those for one that nobody had. */
export function behindOfAll(asked: Asked): Made {
  return behindSome(asked, [...HOLDERS, "queued_nobody_ns"]);
}

function behindSome({ evidence, recording, tables }: Asked, all: readonly string[]): Made {
  const threads = servingThreads(recording, "target");
  const own = HOLDERS.filter((column) => evidence.column.includes(column));
  const unmet = (columns: readonly string[]) =>
    orNothing(grown(...series(tables, "thread_time", threads, columns)));
  return drawn(tables, "thread_time", {
    quantity: { of: unmet(own), per: unmet(all) },
    how: `(${own.join(" + ")}) / (${all.join(" + ")}) of ${threads.length} serving threads`,
  });
}

/** Of delay that others caused the target's waits, the part of one, with those below or in it. */
export function heldUp({ evidence, recording, tables }: Asked): Made {
  const place = recording.placeOf(evidence.entity);
  const all = ofKind(recording, "process");
  const inside =
    evidence.entity.kind === "cgroup"
      ? all.filter((process) => recording.entity(process)?.group === place)
      : place === undefined
        ? []
        : treeOf(recording, place);
  const held = (processes: readonly number[]) =>
    orNothing(grown(...series(tables, "process_time", processes, ["delay_caused_ns"])));
  return drawn(tables, "process_time", {
    quantity: { of: held(inside), per: held(all) },
    how: `delay_caused_ns of ${evidence.entity.name}, ${inside.length} processes / of all others`,
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
