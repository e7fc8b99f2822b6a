// A flame graph: boxes on a canvas, with pointer and keys, and what is pointed at in words.

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ALL, type Box, boxes, neighbour, type Way, type Weights } from "../charts/flame";
import type { Difference } from "../charts/flameDifference";
import { isBeyond, noiseAt } from "../charts/flameDifference";
import {
  differenceOf,
  differenceWords,
  nameOf,
  signed,
  type TimeKind,
  weightWords,
} from "../charts/flameWords";
import { classPaint } from "../charts/ledger";
import type { ClassTime } from "../charts/offCpu";
import type { StackTable } from "../data/stacks";
import { useColours } from "./colours";
import { useWidth } from "./LaneChart";
import { type Look, paintFlame, placeOf, ROW } from "./paintFlame";
import { AXIS, MARGIN } from "./plot";

interface Props {
  readonly stacks: StackTable;
  readonly weights: Weights;
  readonly difference: Difference | undefined;
  readonly kind: TimeKind;
  /** What the waits in it were for. */
  readonly classes: readonly ClassTime[];
  /** By frame, whether the search finds it; `undefined` while nothing is searched. */
  readonly matches: Uint8Array | undefined;
  /** The box that is as wide as the graph. */
  readonly root: number;
  readonly zoom: (node: number) => void;
}

const WAYS: Readonly<Record<string, Way>> = {
  ArrowUp: "caller",
  ArrowDown: "called",
  ArrowLeft: "before",
  ArrowRight: "after",
};

export function FlameGraph(props: Props) {
  const { stacks, weights, difference, kind, matches, root, zoom } = props;
  const over = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = Math.max(0, useWidth(over) - AXIS - MARGIN);
  const colours = useColours();
  const readout = useId();
  const [flipped, setFlipped] = useState(false);
  const [at, setAt] = useState(ALL);
  const [byKeys, setByKeys] = useState(false);
  const total = difference?.both ?? weights.total;
  const all = useMemo(
    () => (width > 0 ? boxes(stacks, total, { root, least: 1 / width }) : []),
    [stacks, total, root, width],
  );
  const rows = all.reduce((most, { level }) => Math.max(most, level + 1), 1);
  const size = { width, rows, flipped };
  const lookOf = useMemo(
    () => looks(stacks, difference, kind, matches),
    [stacks, difference, kind, matches],
  );
  // Before the next painting, which may be on paper.
  // biome-ignore lint/correctness/useExhaustiveDependencies: new colours are painted too
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) paintFlame(canvas.current, all, size, lookOf);
  }, [all, width, flipped, lookOf, colours]);

  const place = Math.max(
    0,
    all.findIndex(({ node }) => node === at),
  );
  const boxAt = (event: TargetedPointerEvent<HTMLElement>) => {
    const edge = event.currentTarget.getBoundingClientRect();
    const row = Math.floor((event.clientY - edge.top) / ROW);
    const level = flipped ? rows - 1 - row : row;
    const x = (event.clientX - edge.left) / width;
    return all.find((box) => box.level === level && box.left <= x && x < box.left + box.width);
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    setByKeys(false);
    setAt(boxAt(event)?.node ?? root);
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLElement>) => {
    const box = boxAt(event);
    if (box === undefined || event.button !== 0) return;
    setAt(box.node);
    zoom(box.node);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = WAYS[event.key];
    const turned = flipped && (way === "caller" || way === "called");
    if (way !== undefined) {
      const to = turned ? (way === "caller" ? "called" : "caller") : way;
      setAt(all[neighbour(all, place, to)]?.node ?? ALL);
    } else if (event.key === "Enter") zoom(all[place]?.node ?? ALL);
    else if (event.key === "Escape" && root !== ALL) {
      zoom(ALL);
      setAt(root);
    } else return;
    setByKeys(true);
    event.preventDefault();
  };

  const box = all[place];
  const shown = box?.node ?? ALL;
  const { name, file } = nameOf(stacks, shown, kind);
  const frame = box && placeOf(box, size);
  return (
    <>
      <p class="flame-buttons on-screen">
        <button type="button" class="button" onClick={() => setFlipped(!flipped)}>
          {flipped ? "Draw as icicles" : "Draw as flames"}
        </button>{" "}
        <button type="button" class="button" disabled={root === ALL} onClick={() => zoom(ALL)}>
          Zoom out
        </button>{" "}
        <Key difference={difference} classes={props.classes} />
      </p>
      <div
        ref={over}
        class="flame-graph"
        role="application"
        aria-label="Flame graph: arrows move among functions, Enter zooms, Escape shows all"
        aria-describedby={readout}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk it
        tabIndex={0}
        style={{ height: `${rows * ROW}px` }}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} />
        {frame && (
          <span
            class="flame-at"
            style={{ left: `${frame.left}px`, top: `${frame.top}px`, width: `${frame.width}px` }}
          />
        )}
      </div>
      <p id={readout} class="flame-readout" aria-live={byKeys ? "polite" : "off"}>
        <b>{name}</b> {file && <span class="muted">{file}</span>}{" "}
        <span class="flame-weight">
          {difference
            ? differenceWords(difference, shown, kind)
            : weightWords(weights, shown, kind)}
        </span>
      </p>
    </>
  );
}

/** Classes of waits whose colours are explained; the others are named in their boxes. */
const MOST_CLASSES = 4;

/** What colours mean. */
function Key({ difference, classes }: Pick<Props, "difference" | "classes">) {
  const all = difference ? ["more", "less", "noise"] : ["user", "kernel", "nameless"];
  return (
    <span class="flame-key">
      {all.map((which) => (
        <span key={which}>
          <i class={`flame-${which}`} /> {WORDS[which]}
        </span>
      ))}
      {!difference &&
        classes.slice(0, MOST_CLASSES).map(({ word, label }) => (
          <span key={word}>
            <i class="flame-class" style={ofKey(classLook(word))} /> {label}
          </span>
        ))}
    </span>
  );
}

/** How a class looks: of one that is pale in a bar, the colour of its marks, thinner. */
function classLook(word: string): Pick<Look, "fill" | "strength"> {
  const { fill, ink, strong } = classPaint(word);
  return strong ? { fill, strength: 0.55 } : { fill: ink, strength: 0.38 };
}

const ofKey = ({ fill, strength }: Pick<Look, "fill" | "strength">) => ({
  "--fill": `var(${fill})`,
  "--part": `${100 * strength}%`,
});

const WORDS: Readonly<Record<string, string>> = {
  more: "more",
  less: "less",
  noise: "may be chance",
  user: "user space",
  kernel: "kernel",
  nameless: "without a name",
};

/** How each box looks. */
function looks(
  stacks: StackTable,
  difference: Difference | undefined,
  kind: TimeKind,
  matches: Uint8Array | undefined,
): (box: Box) => Look {
  const most = difference ? Math.max(...difference.sums) : 0;
  return ({ node }) => {
    const place = stacks.frameOf[node] ?? 0;
    const frame = node === ALL ? undefined : stacks.frames[place];
    const text = nameOf(stacks, node, kind).name;
    if (matches !== undefined && matches[place] === 1 && node !== ALL)
      return { fill: "--latency", strength: 0.45, line: 2, text };
    if (difference !== undefined) {
      const [first, second] = differenceOf(difference, node);
      const by = first - second;
      if (!isBeyond(by, noiseAt(difference, node)))
        return { fill: "--idle", strength: 0.8, line: 0, text };
      const fill = by > 0 ? "--io" : "--cpu";
      const strength = 0.25 + 0.35 * Math.min(1, (4 * Math.abs(by)) / most);
      return { fill, strength, line: by > 0 ? 2 : 0, text: `${signed(by)} ${text}` };
    }
    if (frame === undefined || frame.kind === "process")
      return { fill: "--idle", strength: 1, line: 0, text };
    if (frame.word !== undefined) return { ...classLook(frame.word), line: 4, text };
    const strength = 0.22 + 0.04 * (place % 4);
    if (frame.file === "[kernel]") return { fill: "--io", strength, line: 2, text };
    if (frame.kind === "address") return { fill: "--steal", strength: 0.14, line: 0, text };
    return { fill: "--cpu", strength, line: 0, text };
  };
}
