// A page of a million samples, made of a kept one: nothing so large is kept.

import { gunzipSync, gzipSync } from "node:zlib";
import type { Page } from "../src/data/page.gen";
import { decodeEdges } from "../src/data/tables";
import { integers } from "./drawn";
import { random } from "./random";

export const SAMPLES = 1_000_000;
export const NODES = 100_000;
const FUNCTIONS = 20_000;
const DEEPEST = 60;

/** The data part of a page in which these stand in the place of its stacks and samples: a tree as of a large program,
    and a row for every single sample, all of them in the judged window. */
export function million(data: string): string {
  const next = random(1);
  const page = /id="page">([^<]*)</.exec(data)?.[1] ?? "";
  const { tables, report } = JSON.parse(page) as Page;
  const block = (name: string) => tables.find((table) => table.name === name)?.block;
  const times = data.match(/id="block-0">([^<]*)</)?.[1] ?? "";
  const edges = decodeEdges(gunzipSync(Buffer.from(times, "base64")));
  const bin = (at: number) => edges.findIndex((edge) => edge >= at - report.origin);
  const bins = { from: bin(report.window.start), to: bin(report.window.end) };
  const replaced = (text: string, name: string, made: Uint8Array) =>
    text.replace(
      new RegExp(`id="block-${block(name)}">[^<]*<`),
      () => `id="block-${block(name)}">${gzipSync(made).toString("base64")}<`,
    );
  return replaced(replaced(data, "stack", tree(next)), "cpu_sample", samples(next, bins));
}

function text(of: string): Uint8Array {
  const bytes = new TextEncoder().encode(of);
  return Buffer.concat([integers([bytes.length]), bytes]);
}

function tree(next: () => number): Uint8Array {
  const frames = [Buffer.concat([integers([0, 0]), text("server")])];
  for (let frame = 1; frame < FUNCTIONS; frame++) {
    const name = `module_${frame % 97}::Type${frame % 1013}::function_${frame}`;
    frames.push(Buffer.concat([integers([1, 0]), text(name)]));
  }
  const nodes: number[] = [0, 0];
  // The nodes from the outermost to the last one.
  let path = [0];
  for (let node = 1; node < NODES; node++) {
    const deeper = path.length < DEEPEST && next() < 0.7;
    if (!deeper) path = path.slice(0, 1 + Math.floor(next() * (path.length - 1)));
    nodes.push(node - (path.at(-1) ?? 0), 1 + Math.floor(next() ** 2 * (FUNCTIONS - 1)));
    path.push(node);
  }
  return Buffer.concat([
    integers([1]),
    text("/usr/bin/server"),
    integers([FUNCTIONS]),
    ...frames,
    integers([NODES, ...nodes]),
  ]);
}

function samples(next: () => number, bins: { from: number; to: number }): Uint8Array {
  const rows = Array.from({ length: SAMPLES }, (_, at) => ({
    bin: bins.from + Math.floor((at * (bins.to - bins.from)) / SAMPLES),
    node: Math.floor(next() ** 1.5 * NODES),
  }));
  rows.sort((a, b) => a.bin - b.bin || a.node - b.node);
  const difference = (of: (row: (typeof rows)[number]) => number) =>
    rows.map((row, at) => of(row) - (at > 0 ? of(rows[at - 1] ?? row) : 0));
  const constant = (value: number) => rows.map((_, at) => (at === 0 ? value : 0));
  return Buffer.concat([
    integers([SAMPLES]),
    integers(difference(({ bin }) => bin)),
    integers(difference(({ node }) => node)),
    integers(constant(0)),
    integers(constant(1)),
    integers(constant(20_408_163)),
  ]);
}
