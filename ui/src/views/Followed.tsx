// A part of the page that follows the selection: at once where it is in sight, else when there is time.
// What nobody sees is not worked out before what is looked at.

import type { ComponentType } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { StateContext, usePage } from "./state";

/** The longest that a part waits for a time in which nothing else is done, ms. */
const PATIENCE = 400;

export function Followed({ view: View }: { readonly view: ComponentType }) {
  const now = usePage();
  const [drawn, setDrawn] = useState(now);
  const here = useRef<HTMLDivElement>(null);
  const seen = useSeen(here);
  useEffect(() => {
    if (drawn === now) return;
    if (seen) setDrawn(now);
    else return whenIdle(() => setDrawn(now));
  }, [seen, now, drawn]);
  // The same element: what is in it is drawn again because of the state it sees, and not of this.
  const view = useMemo(() => <View />, [View]);
  return (
    <StateContext.Provider value={seen ? now : drawn}>
      <div ref={here}>{view}</div>
    </StateContext.Provider>
  );
}

/** Whether an element is in sight; on paper everything is. */
function useSeen(element: { readonly current: Element | null }): boolean {
  const [seen, setSeen] = useState(true);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) =>
      setSeen(entries.at(-1)?.isIntersecting === true),
    );
    const look = () => {
      observer.disconnect();
      if (element.current !== null) observer.observe(element.current);
    };
    const print = () => setSeen(true);
    look();
    addEventListener("beforeprint", print);
    // An observer that begins says what is.
    addEventListener("afterprint", look);
    return () => {
      observer.disconnect();
      removeEventListener("beforeprint", print);
      removeEventListener("afterprint", look);
    };
  }, [element]);
  return seen;
}

/** Calls back once there is time; gives how to call it off. */
function whenIdle(call: () => void): () => void {
  // Safari has no such callback.
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(call, PATIENCE);
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(call, { timeout: PATIENCE });
  return () => cancelIdleCallback(request);
}
