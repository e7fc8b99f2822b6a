// Who is meant: everybody of a kind, one, those of a role (crates/analysis/src/evaluator.rs).

import type { EntityKind, PageEntity, Whose } from "../data/page.gen";
import type { Recording } from "../data/recording";

/** The places of all of a kind. */
export function ofKind({ page }: Recording, kind: EntityKind): number[] {
  return page.entities.flatMap((entity, place) => (entity.kind === kind ? [place] : []));
}

/** The places of those of a kind that are meant. */
export function meant(recording: Recording, kind: EntityKind, whose: Whose): number[] {
  const all = ofKind(recording, kind);
  switch (whose.kind) {
    case "all":
      return all;
    case "one":
      return placesOf(recording, whose.id);
    case "under":
      return placesOf(recording, whose.id).flatMap((top) =>
        all.filter((place) => isUnder(recording, place, top)),
      );
    default: {
      const own = all.filter((place) => holder(recording, place)?.role === whose.role);
      const serving = own.filter((place) => serves(recording, place));
      return whose.kind === "serving" && serving.length > 0 ? serving : own;
    }
  }
}

function placesOf({ page }: Recording, id: number): number[] {
  const place = page.entities.findIndex((entity) => entity.id === id);
  return place < 0 ? [] : [place];
}

/** Whether a thread serves requests, or the process of anything else. */
function serves(recording: Recording, place: number): boolean {
  const own = recording.entity(place);
  const told = own?.kind === "thread" ? own : holder(recording, place);
  return told?.serving ?? false;
}

/** The process that a thread or connection belongs to. */
function holder(recording: Recording, place: number): PageEntity | undefined {
  const own = recording.entity(place);
  return own?.kind === "process" ? own : recording.entity(own?.parent ?? -1);
}

/** Ancestors that are looked at: a damaged recording may hold a circle. */
const MOST_ABOVE = 64;

/** Whether a background process is in a control group, or is a process or below it. */
function isUnder(recording: Recording, process: number, top: number): boolean {
  let at = process;
  for (let steps = 0; steps < MOST_ABOVE; steps++) {
    const own = recording.entity(at);
    if (own?.role !== "rest") return false;
    if (at === top || (at === process && own.group === top)) return true;
    at = own.parent ?? -1;
  }
  return false;
}
