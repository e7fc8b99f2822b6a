// Pointer and keys on a time axis: the cursor, and the window that is chosen with it.

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { binAt, edgeOf } from "../data/series";
import type { Nanoseconds, Pixels, Span } from "../data/units";
import { usePage } from "./state";

/** A shorter way of the pointer is a click. */
const DRAG: Pixels = 4;
/** Bins that Page Up and Page Down move by. */
const PAGE = 10;

/** Handlers for the element that lies over the plots, and where keys have put the cursor. */
export function useCursor() {
  const { axis, recording, selected, select } = usePage();
  const [byKeys, setByKeys] = useState<Nanoseconds>();
  const pressed = useRef<{ at: Nanoseconds; x: Pixels } | undefined>(undefined);
  /** Where Shift and arrows began. */
  const anchor = useRef<Nanoseconds | undefined>(undefined);
  const edges = { all: recording.edges, stride: 1 };
  const last = edges.all.length - 2;
  const middle = (bin: number) => (edgeOf(edges, bin) + edgeOf(edges, bin + 1)) / 2;
  const binOf = (at: Nanoseconds): Span => {
    const bin = binAt(edges, at);
    return { from: edgeOf(edges, bin), to: edgeOf(edges, bin + 1) };
  };
  const between = (a: Nanoseconds, b: Nanoseconds): Span => ({
    from: binOf(Math.min(a, b)).from,
    to: binOf(Math.max(a, b)).to,
  });

  const instantAt = (event: TargetedPointerEvent<HTMLElement>): Nanoseconds => {
    const box = event.currentTarget.getBoundingClientRect();
    const { view } = axis.now();
    const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return Math.min(view.from + part * (view.to - view.from), view.to - 1);
  };

  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    pressed.current = { at: instantAt(event), x: event.clientX };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    const at = instantAt(event);
    const from = pressed.current;
    const dragged = from !== undefined && Math.abs(event.clientX - from.x) >= DRAG;
    const draft = dragged || axis.now().draft !== undefined;
    axis.change({
      cursor: middle(binAt(edges, at)),
      draft: from && draft ? between(from.at, at) : undefined,
    });
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLElement>) => {
    const { draft } = axis.now();
    if (pressed.current && draft) select(draft);
    pressed.current = undefined;
    axis.change({ cursor: middle(binAt(edges, instantAt(event))), draft: undefined });
  };
  const onPointerCancel = () => {
    pressed.current = undefined;
    axis.change({ draft: undefined });
  };
  const onPointerLeave = () => {
    if (pressed.current === undefined) axis.change({ cursor: undefined });
  };

  const moveTo = (bin: number, extend: boolean) => {
    const { cursor, view } = axis.now();
    const at = middle(Math.min(Math.max(bin, 0), last));
    if (extend) anchor.current ??= cursor ?? at;
    else anchor.current = undefined;
    const draft = anchor.current === undefined ? undefined : between(anchor.current, at);
    const length = view.to - view.from;
    const { whole } = axis;
    // What is in sight follows the cursor.
    let from = view.from;
    if (at < view.from) from = Math.max(whole.from, at - length / 10);
    if (at > view.to) from = Math.min(whole.to - length, at - length * 0.9);
    const moved = from === view.from ? view : { from, to: from + length };
    axis.change({ cursor: at, draft, view: moved });
    setByKeys(at);
  };
  const clear = () => {
    anchor.current = undefined;
    if (axis.now().draft === undefined) select(undefined);
    axis.change({ draft: undefined });
  };
  const choose = () => {
    const { draft, cursor } = axis.now();
    anchor.current = undefined;
    if (draft !== undefined) select(draft);
    else if (cursor !== undefined) select(binOf(cursor));
    axis.change({ draft: undefined });
  };

  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { cursor, view, draft } = axis.now();
    const here = binAt(edges, cursor ?? view.from);
    const targets: Record<string, number> = {
      ArrowLeft: cursor === undefined ? here : here - 1,
      ArrowRight: cursor === undefined ? here : here + 1,
      PageUp: here - PAGE,
      PageDown: here + PAGE,
      Home: binAt(edges, view.from),
      End: binAt(edges, view.to - 1),
    };
    const to = targets[event.key];
    if (to !== undefined) moveTo(to, event.shiftKey);
    else if (event.key === "Enter") choose();
    else if (event.key === "Escape") clear();
    else if (event.key === "+") axis.change({ view: draft ?? selected ?? recording.judged });
    else if (event.key === "-") axis.change({ view: axis.whole });
    else return;
    event.preventDefault();
  };

  const handlers = {
    onPointerDown,
    onPointerMove,
    onPointerUp,
    onPointerCancel,
    onPointerLeave,
    onKeyDown,
  };
  return { handlers, byKeys };
}
