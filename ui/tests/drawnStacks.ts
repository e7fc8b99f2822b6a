// Call stacks drawn as folded lines, for tests: the inverse of data/stacks.ts (docs/page.md).

import type { SampleTable, StackTable } from "../src/data/stacks";
import { type DrawnTable, drawn, integers } from "./drawn";

/** Samples, or waits, that are alike. A frame is a function, or `+` and what stands for one without a name; in front of the
    path stands the process. `FILE!FUNCTION` says the file. */
export interface DrawnSamples {
  readonly path: string;
  readonly bin: number;
  readonly samples?: number;
  /** Of each sample. */
  readonly ns?: number;
  readonly end?: number;
  /** What they waited for, a class's word; where none is given, they ran. */
  readonly wait?: string;
  /** Of waits: the standard deviation of their weight together. */
  readonly deviation?: number;
}

interface Node {
  readonly frame: string;
  readonly below: Map<string, Node>;
  place: number;
}

const kindOf = (frame: string) =>
  frame.startsWith("process ") ? 0 : frame.startsWith("class ") ? 3 : frame.startsWith("+") ? 2 : 1;

/** The tables of drawn samples, and of waits where there are any. */
export function stackTables(all: readonly DrawnSamples[], oneOf = 1, leastNs = 0): DrawnTable[] {
  const root: Node = { frame: "", below: new Map(), place: -1 };
  const leaves = all.map(({ path, wait }) => {
    const [process = "", ...frames] = path.split(";");
    const below = wait === undefined ? [] : [`class ${wait}`];
    return [`process ${process}`, ...frames, ...below].reduce((node, frame) => {
      const below = node.below.get(frame) ?? { frame, below: new Map(), place: -1 };
      node.below.set(frame, below);
      return below;
    }, root);
  });
  const files: string[] = [""];
  const frames: string[] = [];
  const frameOf = new Map<string, number>();
  const nodes: number[] = [];
  let count = 0;
  const add = (node: Node, caller: number) => {
    const own = frameOf.get(node.frame) ?? frames.push(node.frame) - 1;
    frameOf.set(node.frame, own);
    node.place = count;
    count += 1;
    nodes.push(caller < 0 ? 0 : node.place - caller, own);
    const below = [...node.below.values()];
    for (const next of below.sort((a, b) => (a.frame < b.frame ? -1 : 1))) add(next, node.place);
  };
  for (const node of [...root.below.values()].sort((a, b) => (a.frame < b.frame ? -1 : 1)))
    add(node, -1);
  const described = frames.map((frame) => {
    const [name = "", file = ""] = frame.split("!").reverse();
    if (!files.includes(file)) files.push(file);
    const kind = kindOf(frame);
    const of = kind === 3 ? -1 : files.indexOf(file);
    return { kind, of, name: name.replace(/^(process|class) /, "") };
  });
  const block = [
    integers([files.length]),
    ...files.map(text),
    integers([frames.length]),
    ...described.flatMap(({ kind, of, name }) => [integers([kind, of]), text(name)]),
    integers([count, ...nodes]),
  ];
  const samplesOf = (waited: boolean) => {
    const rows = all.flatMap(({ bin, samples = 1, ns = 1e6, end = 0, wait, deviation = 0 }, at) => {
      if ((wait !== undefined) !== waited) return [];
      const alike = [bin, leaves[at]?.place ?? -1, end, samples];
      return [waited ? [...alike, ns * samples, deviation] : [...alike, ns * oneOf]];
    });
    rows.sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0));
    const columns = Array.from({ length: waited ? 6 : 5 }, (_, column) =>
      rows.map((row, at) => (row[column] ?? 0) - (rows[at - 1]?.[column] ?? 0)),
    );
    return integers([rows.length, ...columns.flat()]);
  };
  return [
    {
      name: "stack",
      entity: "machine",
      columns: [{ name: "number", kind: "gauge", unit: "count" }],
      made: { form: { kind: "stacks" }, block: Buffer.concat(block) },
    },
    {
      name: "cpu_sample",
      entity: "thread",
      columns: [{ name: "cpu_ns", kind: "gauge" }],
      made: {
        form: { kind: "samples", one_of: oneOf },
        block: samplesOf(false),
      },
    },
    ...(all.some(({ wait }) => wait !== undefined) ? [waitTable(samplesOf(true), leastNs)] : []),
  ];
}

function waitTable(block: Uint8Array, leastNs: number): DrawnTable {
  return {
    name: "wait_sample",
    entity: "thread",
    columns: [{ name: "weight_ns", kind: "gauge" }],
    made: { form: { kind: "waits", least_ns: leastNs }, block },
  };
}

function text(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return Buffer.concat([integers([bytes.length]), bytes]);
}

/** Drawn samples and waits, decoded. */
export async function drawnStacks(
  all: readonly DrawnSamples[],
  edges: readonly number[],
  leastNs = 0,
): Promise<{
  stacks: StackTable;
  samples: SampleTable;
  waits: SampleTable;
  edges: Float64Array;
}> {
  const recording = await drawn({ edges, tables: stackTables(all, 1, leastNs) });
  const tables = await recording.load(["stack", "cpu_sample", "wait_sample"]);
  const [stacks, samples] = [tables.stacks("stack"), tables.samples("cpu_sample")];
  if (stacks === undefined || samples === undefined) throw new Error("they were drawn");
  const none = { ...samples, bins: new Int32Array() };
  const waits = tables.samples("wait_sample") ?? none;
  return { stacks, samples, waits, edges: recording.edges };
}
