// One row of several: that under the pointer, or that which the up and down keys choose.

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import type { Pixels } from "../data/units";

/** The row, whether keys chose it, and what listens; rows are `height` high, and `first` is shown at first. */
export function useRow(count: number, height: Pixels, first?: number) {
  const [row, setRow] = useState(first);
  const [byKeys, setByKeys] = useState(false);
  const inside = (at: number) => Math.min(Math.max(at, 0), count - 1);
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    const top = event.currentTarget.getBoundingClientRect().top;
    setByKeys(false);
    setRow(inside(Math.floor((event.clientY - top) / height)));
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    setByKeys(true);
    if (by === 0) return;
    setRow((now) => (now === undefined ? 0 : inside(now + by)));
    event.preventDefault();
  };
  return { row, byKeys, handlers: { onPointerMove, onKeyDown } };
}
