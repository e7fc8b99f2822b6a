/** Nanoseconds: a length of time, or an instant counted from the report's origin. */
export type Nanoseconds = number;
/** A part of a whole, 0 to 1. */
export type Share = number;
/** CSS pixels. */
export type Pixels = number;

/** A half-open interval, in nanoseconds after the report's origin. */
export interface Span {
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
}

export const SECOND: Nanoseconds = 1e9;

/** Bytes of a page of memory, as the engine takes them. */
export const PAGE_BYTES = 4096;

/** The part of `a` that lies in `b`, if any. */
export function intersection(a: Span, b: Span): Span | undefined {
  const from = Math.max(a.from, b.from);
  const to = Math.min(a.to, b.to);
  return from < to ? { from, to } : undefined;
}

export function length(span: Span): Nanoseconds {
  return span.to - span.from;
}

/** From where the first of some begins to where the last ends; they may be more than a call takes arguments. */
export function hull(spans: readonly Span[]): Span | undefined {
  const [first] = spans;
  if (first === undefined) return undefined;
  let { from, to } = first;
  for (const span of spans) {
    from = Math.min(from, span.from);
    to = Math.max(to, span.to);
  }
  return { from, to };
}
