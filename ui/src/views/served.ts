// The report that the page shows: that of the recording, or what the engine says of the selected window.

import { useEffect, useState } from "preact/hooks";
import type { Report } from "../data/page.gen";
import type { Recording } from "../data/recording";
import { askedReport } from "../data/served";
import type { Span } from "../data/units";

/** What the verdict is about. */
export interface Judgement {
  readonly report: Report;
  /** The selected window, where the verdict is about that. */
  readonly of: Span | undefined;
  /** Whether the engine is at work on the selected window. */
  readonly asking: boolean;
  /** Why it could not answer, or empty. */
  readonly trouble: string;
}

/** Asks the engine about the selected window, where the page is served; a newer one ends an older request. */
export function useJudgement(recording: Recording, selected: Span | undefined): Judgement {
  const whole: Judgement = {
    report: recording.page.report,
    of: undefined,
    asking: false,
    trouble: "",
  };
  const [judgement, setJudgement] = useState(whole);
  useEffect(() => {
    if (selected === undefined || !recording.page.served) {
      const { report } = recording.page;
      setJudgement({ report, of: undefined, asking: false, trouble: "" });
      return;
    }
    const stop = new AbortController();
    setJudgement((before) => ({ ...before, asking: true, trouble: "" }));
    askedReport(location.href, selected, stop.signal).then(
      (report) => setJudgement({ report, of: selected, asking: false, trouble: "" }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const trouble = error instanceof Error ? error.message : String(error);
        setJudgement({ report: recording.page.report, of: undefined, asking: false, trouble });
      },
    );
    return () => stop.abort();
  }, [recording, selected]);
  return judgement;
}
