// Call stacks and their samples out of their blocks (docs/page.md): numbers in typed arrays, so that a million
// samples are read at once.

import { Integers } from "./bytes";
import { harmless } from "./harmless";
import type { PageTable } from "./page.gen";
import type { Share, Span } from "./units";
import { WAIT_CLASSES } from "./waitClasses.gen";

/** What a node of the tree is. */
export interface Frame {
  /** The function, `FILE+0xADDRESS` where it has no name, the process, or what the caller waited for. */
  readonly name: string;
  readonly kind: "process" | "function" | "address" | "class";
  /** The file of the code; empty where it is not known. */
  readonly file: string;
  /** The place of a process's entity: the first of those of its name and role. */
  readonly entity: number | undefined;
  /** The word of the class of waits. */
  readonly word: string | undefined;
}

/** Call stacks as one tree: processes, and below a node what it called. Nodes stand before those below them, and
    siblings by name, so that a node and all below it are one range of numbers. */
export interface StackTable {
  readonly about: PageTable;
  readonly frames: readonly Frame[];
  /** The frame of each node, as a place in `frames`. */
  readonly frameOf: Int32Array;
  /** Who called each node; -1 for processes. */
  readonly callers: Int32Array;
  /** Callers above each node. */
  readonly levels: Int32Array;
  /** The first number behind a node and all below it. */
  readonly ends: Int32Array;
}

/** Samples, or waits; those of a bin that are alike in one row. */
export interface SampleTable {
  readonly about: PageTable;
  /** Ascending; bin `i` reaches from edge `i` to the next. */
  readonly bins: Int32Array;
  /** Nodes of the tree of stacks. */
  readonly stacks: Int32Array;
  /** How the stacks in user space end: 0 at the outermost function; -1 where there is none. */
  readonly ends: Int32Array;
  /** How many there are. */
  readonly samples: Float64Array;
  /** What they weigh together, ns. */
  readonly ns: Float64Array;
  /** The standard deviation of that, where waits stand for others, ns. */
  readonly deviations: Float64Array | undefined;
  /** One of so many samples is in the page. */
  readonly oneOf: number;
  /** Of waits that stand for less than this, the page has some, ns. */
  readonly leastNs: number;
  /** The part of windows for which they stand, to be scaled to all of it; all where none is given. */
  readonly traced?: ((windows: readonly Span[]) => Share) | undefined;
}

const KINDS = ["process", "function", "address", "class"] as const;
const LABELS: ReadonlyMap<string, string> = new Map(
  WAIT_CLASSES.map(([word, label]) => [word, label]),
);

/** The tree out of its block. Throws a RangeError where the block was cut off, or is no tree. */
export function decodeStacks(about: PageTable, block: Uint8Array): StackTable {
  const integers = new Integers(block);
  const files = Array.from({ length: integers.count() }, () => harmless(integers.text()));
  const frames = Array.from({ length: integers.count() }, (): Frame => {
    const kind = KINDS[integers.next()] ?? "address";
    const of = integers.next();
    const name = harmless(integers.text());
    const about = { name, kind, file: "", entity: undefined, word: undefined };
    if (kind === "process") return { ...about, entity: of < 0 ? undefined : of };
    if (kind === "class") return { ...about, name: LABELS.get(name) ?? name, word: name };
    return { ...about, file: files[of] ?? "" };
  });
  const nodes = integers.count();
  const frameOf = new Int32Array(nodes);
  const callers = new Int32Array(nodes).fill(-1);
  const levels = new Int32Array(nodes);
  const ends = new Int32Array(nodes);
  for (let node = 0; node < nodes; node++) {
    const above = integers.next();
    const frame = integers.next();
    if (above < 0 || above > node || !(frame in frames))
      throw new RangeError("the stacks are no tree");
    frameOf[node] = frame;
    if (above === 0) continue;
    callers[node] = node - above;
    levels[node] = (levels[node - above] ?? 0) + 1;
  }
  for (let node = nodes - 1; node >= 0; node--) {
    const end = Math.max(ends[node] ?? 0, node + 1);
    ends[node] = end;
    const caller = callers[node] ?? -1;
    if (caller >= 0) ends[caller] = Math.max(ends[caller] ?? 0, end);
  }
  return { about, frames, frameOf, callers, levels, ends };
}

/** Samples out of their block, or waits. */
export function decodeSamples(about: PageTable, block: Uint8Array): SampleTable {
  const integers = new Integers(block);
  const rows = integers.count();
  const column = <Numbers extends Int32Array | Float64Array>(numbers: Numbers) => {
    let before = 0;
    for (let row = 0; row < rows; row++) {
      before += integers.next();
      numbers[row] = before;
    }
    return numbers;
  };
  const { form } = about;
  const table = {
    about,
    bins: column(new Int32Array(rows)),
    stacks: column(new Int32Array(rows)),
    ends: column(new Int32Array(rows)),
    samples: column(new Float64Array(rows)),
    ns: column(new Float64Array(rows)),
    deviations: form.kind === "waits" ? column(new Float64Array(rows)) : undefined,
    oneOf: form.kind === "samples" ? form.one_of : 1,
    leastNs: form.kind === "waits" ? form.least_ns : 0,
  };
  // Of samples the block has what each weighs.
  if (form.kind === "samples")
    for (let row = 0; row < rows; row++)
      table.ns[row] = (table.ns[row] ?? 0) * (table.samples[row] ?? 0);
  return table;
}
