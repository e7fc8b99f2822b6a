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
