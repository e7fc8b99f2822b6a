// Where the cursor of the time axis goes, and what window is chosen with it: bins are its steps.

import { binAt, binCount, type Edges, edgeOf } from "../data/series";
import { length, type Nanoseconds, type Share, type Span } from "../data/units";

/** Bins that Page Up and Page Down move by. */
const PAGE = 10;

/** The finest bins of a recording. */
export function finest(all: Float64Array): Edges {
  return { all, stride: 1 };
}

/** The bin that holds an instant. */
export function binOf(edges: Edges, at: Nanoseconds): Span {
  const bin = binAt(edges, at);
  return { from: edgeOf(edges, bin), to: edgeOf(edges, bin + 1) };
}

/** The middle of a bin; beyond the first and the last there is none. */
export function middleOf(edges: Edges, bin: number): Nanoseconds {
  const here = Math.min(Math.max(bin, 0), binCount(edges) - 1);
  return (edgeOf(edges, here) + edgeOf(edges, here + 1)) / 2;
}

/** The bins from one instant to another, whichever comes first. */
export function between(edges: Edges, a: Nanoseconds, b: Nanoseconds): Span {
  return { from: binOf(edges, Math.min(a, b)).from, to: binOf(edges, Math.max(a, b)).to };
}

/** The instant at a part of a view, never beyond its end. */
export function instantIn(view: Span, part: Share): Nanoseconds {
  const inside = Math.min(Math.max(part, 0), 1);
  return Math.min(view.from + inside * length(view), view.to - 1);
}

/** Where a key moves the cursor to, if it is one that does; without a cursor it appears. */
export function moved(
  edges: Edges,
  view: Span,
  cursor: Nanoseconds | undefined,
  key: string,
): Nanoseconds | undefined {
  const here = binAt(edges, cursor ?? view.from);
  const step = cursor === undefined ? 0 : 1;
  const bins: Record<string, number> = {
    ArrowLeft: here - step,
    ArrowRight: here + step,
    PageUp: here - PAGE,
    PageDown: here + PAGE,
    Home: binAt(edges, view.from),
    End: binAt(edges, view.to - 1),
  };
  const bin = bins[key];
  return bin === undefined ? undefined : middleOf(edges, bin);
}

/** A view of the same length in which an instant lies; the same one where it does already. */
export function following(view: Span, whole: Span, at: Nanoseconds): Span {
  const all = length(view);
  let { from } = view;
  if (at < view.from) from = Math.max(whole.from, at - all / 10);
  else if (at > view.to) from = Math.min(whole.to - all, at - all * 0.9);
  else return view;
  return { from, to: from + all };
}
