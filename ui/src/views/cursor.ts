// Pointer and keys on a time axis: the cursor, and the window that is chosen with it.

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { between, binOf, finest, following, instantIn, middleOf, moved } from "../charts/cursor";
import { binAt } from "../data/series";
import type { Nanoseconds, Pixels } from "../data/units";
import { usePage } from "./state";

/** A shorter way of the pointer is a click. */
const DRAG: Pixels = 4;

/** Handlers for the element that lies over the plots, and where keys have put the cursor. */
export function useCursor() {
  const { axis, recording, selected, select } = usePage();
  const [byKeys, setByKeys] = useState<Nanoseconds>();
  const pressed = useRef<{ at: Nanoseconds; x: Pixels } | undefined>(undefined);
  /** Where Shift and arrows began. */
  const anchor = useRef<Nanoseconds | undefined>(undefined);
  const edges = finest(recording.edges);

  const instantAt = (event: TargetedPointerEvent<HTMLElement>): Nanoseconds => {
    const box = event.currentTarget.getBoundingClientRect();
    return instantIn(axis.now().view, (event.clientX - box.left) / box.width);
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
      cursor: middleOf(edges, binAt(edges, at)),
      draft: from && draft ? between(edges, from.at, at) : undefined,
    });
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLElement>) => {
    const { draft } = axis.now();
    if (pressed.current && draft) select(draft);
    pressed.current = undefined;
    const cursor = middleOf(edges, binAt(edges, instantAt(event)));
    axis.change({ cursor, draft: undefined });
  };
  const onPointerCancel = () => {
    pressed.current = undefined;
    axis.change({ draft: undefined });
  };
  const onPointerLeave = () => {
    if (pressed.current === undefined) axis.change({ cursor: undefined });
  };

  const moveTo = (at: Nanoseconds, extend: boolean) => {
    const { cursor, view } = axis.now();
    if (extend) anchor.current ??= cursor ?? at;
    else anchor.current = undefined;
    const draft = anchor.current === undefined ? undefined : between(edges, anchor.current, at);
    axis.change({ cursor: at, draft, view: following(view, axis.whole, at) });
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
    else if (cursor !== undefined) select(binOf(edges, cursor));
    axis.change({ draft: undefined });
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { cursor, view, draft } = axis.now();
    const at = moved(edges, view, cursor, event.key);
    if (at !== undefined) moveTo(at, event.shiftKey);
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
