// Waits by what they were for.

import type { Recording, Tables } from "../data/recording";
import { growth, knownTime } from "../data/series";
import type { SampleTable, StackTable } from "../data/stacks";
import type { Nanoseconds, Share, Span } from "../data/units";
import type { Weights } from "./flame";
import { isIdle } from "./ledger";

/** The blocked time of a class. */
export interface ClassTime {
  readonly word: string;
  readonly label: string;
  readonly ns: Nanoseconds;
}

/** The classes of the recording's waits with their time in a window, most first. */
export function classTimes(stacks: StackTable, { self }: Weights): ClassTime[] {
  const times = new Float64Array(stacks.frames.length);
  for (let node = 0; node < self.length; node++) {
    const frame = stacks.frameOf[node] ?? 0;
    times[frame] = (times[frame] ?? 0) + (self[node] ?? 0);
  }
  const classes = stacks.frames.flatMap(({ word, name: label }, frame) =>
    word === undefined ? [] : [{ word, label, ns: times[frame] ?? 0 }],
  );
  return classes.sort((a, b) => b.ns - a.ns);
}

/** The part of classes in which threads waited for something that they needed to go on. */
export function needed(classes: readonly ClassTime[]): Nanoseconds {
  return classes.reduce((sum, { word, ns }) => (isIdle(word) ? sum : sum + ns), 0);
}

/** The waits of some classes. */
export function ofClasses(
  { frames, frameOf }: StackTable,
  waits: SampleTable,
  shows: (word: string) => boolean,
): SampleTable {
  const shown = Uint8Array.from(frames, ({ word }) => (word !== undefined && shows(word) ? 1 : 0));
  const isShown = (row: number) => shown[frameOf[waits.stacks[row] ?? 0] ?? 0] === 1;
  const rows = [...waits.bins.keys()].filter(isShown);
  const of = (column: ArrayLike<number>) => rows.map((row) => column[row] ?? 0);
  return {
    ...waits,
    bins: Int32Array.from(of(waits.bins)),
    stacks: Int32Array.from(of(waits.stacks)),
    ends: Int32Array.from(of(waits.ends)),
    samples: Float64Array.from(of(waits.samples)),
    ns: Float64Array.from(of(waits.ns)),
    deviations: waits.deviations && Float64Array.from(of(waits.deviations)),
  };
}

/** More than this part of the time is all of it. */
const NEARLY_ALL: Share = 0.9995;

/** The part of windows in which waits were traced, by table `coverage`; `undefined` where that is not known. */
export function tracing(
  recording: Recording,
  tables: Tables,
): ((windows: readonly Span[]) => Share) | undefined {
  const machine = recording.page.entities.findIndex(({ kind }) => kind === "machine");
  const series = tables.series("coverage", machine, "thread_time_ns");
  if (series === undefined) return undefined;
  return (windows) => {
    let [traced, known] = [0, 0];
    for (const window of windows) {
      traced += growth(series, window) ?? 0;
      known += Math.max(0, knownTime(series, window));
    }
    const share = known > 0 ? traced / known : 1;
    return share > NEARLY_ALL ? 1 : share;
  };
}
