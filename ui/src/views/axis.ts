// The one time axis of the page: every chart shows the same stretch of it and the same cursor. It is
// no part of the page's state, because the cursor moves with the pointer: only who shows it is drawn
// again.

import { useEffect, useState } from "preact/hooks";
import type { Nanoseconds, Span } from "../data/units";

export interface Sight {
  /** What is in sight. */
  readonly view: Span;
  /** The instant that is pointed at. */
  readonly cursor: Nanoseconds | undefined;
  /** A window that is being dragged, before it is selected. */
  readonly draft: Span | undefined;
}

export interface TimeAxis {
  readonly whole: Span;
  now(): Sight;
  change(part: Partial<Sight>): void;
  /** Calls back after each change, until the returned function is called. */
  watch(changed: () => void): () => void;
}

export function timeAxis(whole: Span): TimeAxis {
  const watchers = new Set<() => void>();
  let sight: Sight = { view: whole, cursor: undefined, draft: undefined };
  return {
    whole,
    now: () => sight,
    change: (part) => {
      sight = { ...sight, ...part };
      for (const changed of watchers) changed();
    },
    watch: (changed) => {
      watchers.add(changed);
      return () => {
        watchers.delete(changed);
      };
    },
  };
}

/** One part of what is in sight; draws the component again when that part changes. */
export function useSight<K extends keyof Sight>(axis: TimeAxis, part: K): Sight[K] {
  const [value, setValue] = useState(() => axis.now()[part]);
  useEffect(() => {
    const changed = () => setValue(() => axis.now()[part]);
    changed();
    return axis.watch(changed);
  }, [axis, part]);
  return value;
}
