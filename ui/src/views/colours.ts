// The tokens of theme/tokens.css as colours that a canvas takes, and word of when they change.

import { useEffect, useState } from "preact/hooks";

const resolved = new Map<string, string>();
const watchers = new Set<() => void>();

/** A custom property as a colour, thinned to `alpha`; over what else it is seen through. */
export function colour(property: string, alpha = 1, over?: string): string {
  const key = `${property} ${alpha} ${over}`;
  let found = resolved.get(key);
  if (found === undefined) {
    const probe = document.createElement("span");
    const below = over === undefined ? "transparent" : `var(${over})`;
    probe.style.color = `color-mix(in srgb, var(${property}) ${alpha * 100}%, ${below})`;
    document.body.append(probe);
    found = getComputedStyle(probe).color;
    probe.remove();
    resolved.set(key, found);
  }
  return found;
}

/** Paints everything again: what the reader or the system prefers has changed. */
export function coloursChanged(): void {
  resolved.clear();
  for (const changed of watchers) changed();
}

/** A number that changes with the colours, for effects that paint. */
export function useColours(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const changed = () => setTurn((before) => before + 1);
    watchers.add(changed);
    return () => {
      watchers.delete(changed);
    };
  }, []);
  return turn;
}

if (typeof matchMedia === "function") {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", coloursChanged);
}
