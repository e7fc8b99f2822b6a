// Who is meant: the threads of a role, the disks of a machine.

import type { EntityKind, Role } from "../data/page.gen";
import type { Recording } from "../data/recording";

/** The places of all of a kind. */
export function ofKind({ page }: Recording, kind: EntityKind): number[] {
  return page.entities.flatMap((entity, place) => (entity.kind === kind ? [place] : []));
}

/** The threads of a role. */
export function threadsOf(recording: Recording, role: Role): number[] {
  return ofKind(recording, "thread").filter((thread) => process(recording, thread)?.role === role);
}

/** The threads of a role that serve requests; all of them where none is known to. */
export function servingThreads(recording: Recording, role: Role): number[] {
  const all = threadsOf(recording, role);
  const serving = all.filter((thread) => process(recording, thread)?.serving);
  return serving.length > 0 ? serving : all;
}

/** Ancestors that are looked at: a damaged recording may hold a circle (crates/analysis/src/neighbours.rs). */
const MOST_ABOVE = 64;

/** A process and those below it, as far down as they play its part. */
export function treeOf(recording: Recording, root: number): number[] {
  const role = recording.entity(root)?.role;
  return ofKind(recording, "process").filter((place) => {
    let at: number | null | undefined = place;
    for (let steps = 0; steps < MOST_ABOVE; steps++) {
      if (typeof at !== "number" || recording.entity(at)?.role !== role) return false;
      if (at === root) return true;
      at = recording.entity(at)?.parent;
    }
    return false;
  });
}

/** Those that belong to another: the disks of a control group. */
export function belongingTo({ page }: Recording, parent: number, kind: EntityKind): number[] {
  return page.entities.flatMap((entity, place) =>
    entity.kind === kind && entity.parent === parent ? [place] : [],
  );
}

function process(recording: Recording, thread: number) {
  const parent = recording.entity(thread)?.parent;
  return typeof parent === "number" ? recording.entity(parent) : undefined;
}
