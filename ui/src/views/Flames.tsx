// Where CPU time goes: the call stacks of samples as a flame graph, and their functions as a table.

import { useMemo, useState } from "preact/hooks";
import { ALL, found, matcher, weigh, without } from "../charts/flame";
import { type Difference, difference } from "../charts/flameDifference";
import { notSampled, summary, testWords, withoutStacks } from "../charts/flameWords";
import { spanWords } from "../charts/run";
import { percent, tied } from "../data/format";
import { intervals } from "../data/signal";
import type { SampleTable, StackTable } from "../data/stacks";
import type { Span } from "../data/units";
import { FlameGraph } from "./FlameGraph";
import { FunctionTable } from "./FunctionTable";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import "./Flames.css";

export const FLAMES: Section = { id: "flames", title: "Where CPU time goes", view: Flames };

function Flames() {
  const { recording } = usePage();
  const tables = useTables("stack", "cpu_sample", "signal");
  if (tables === undefined) return <p class="muted">Reading the call stacks…</p>;
  const [stacks, samples] = [tables.stacks("stack"), tables.samples("cpu_sample")];
  if (stacks === undefined || samples === undefined) {
    const { why, command } = withoutStacks(recording);
    return (
      <p class="muted flame-none">
        This recording has no call stacks: {why}. To get them: <code>{command}</code>
      </p>
    );
  }
  return <Stacks stacks={stacks} samples={samples} />;
}

interface StacksProps {
  readonly stacks: StackTable;
  readonly samples: SampleTable;
}

function Stacks({ stacks, samples }: StacksProps) {
  const { recording, window } = usePage();
  const { edges } = recording;
  const [root, setRoot] = useState(ALL);
  const [query, setQuery] = useState("");
  const weights = useMemo(
    () => weigh(stacks, samples, edges, [window]),
    [stacks, samples, edges, window],
  );
  const compared = useCompared(stacks, samples);
  const search = useMemo(() => {
    const matches = query === "" ? undefined : matcher(query);
    return matches && found(stacks, weights, matches);
  }, [stacks, weights, query]);
  const focusSearch = (event: KeyboardEvent) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    document.getElementById(SEARCH)?.focus();
    event.preventDefault();
  };
  if (weights.samples === 0)
    return (
      <p class="muted">Nothing was sampled from {spanWords(window, recording.page.step_ns)}.</p>
    );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a key for all that is in it
    <div class="card flames" onKeyDown={focusSearch}>
      <p class="muted">
        {tied(
          `From ${spanWords(window, recording.page.step_ns)}: ${summary(weights, samples)} ${notSampled(recording, window)}`,
        )}
      </p>
      <div class="flame-tools on-screen">
        <label for={SEARCH}>
          Search <kbd>/</kbd>
        </label>
        <input
          id={SEARCH}
          type="search"
          placeholder="text or /expression/"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <output class="muted">
          {query !== "" &&
            (search
              ? `${percent(search.share)} of the CPU time, ${search.count} found`
              : "no expression")}
        </output>
        <CompareWith compared={compared} />
      </div>
      {compared.missing && <p class="muted">{compared.missing}</p>}
      {compared.found && <p class="muted">{tied(testWords(compared.found))}</p>}
      <FlameGraph
        stacks={stacks}
        weights={weights}
        difference={compared.found}
        matches={search?.frames}
        root={root}
        zoom={setRoot}
      />
      <FunctionTable
        key={compared.found ? "difference" : "weights"}
        stacks={stacks}
        weights={weights}
        difference={compared.found}
        find={(name) => setQuery(name)}
      />
    </div>
  );
}

const SEARCH = "flame-search";

type Against = "" | "rest" | "kept";

interface Comparing {
  readonly against: Against;
  readonly compare: (against: Against) => void;
  readonly kept: Span | undefined;
  readonly keep: () => void;
  readonly found: Difference | undefined;
  /** What is missing to compare as was asked. */
  readonly missing: string;
}

/** What the window is compared with. */
function useCompared(stacks: StackTable, samples: SampleTable): Comparing {
  const { recording, window } = usePage();
  const tables = useTables("signal");
  const [against, compare] = useState<Against>("");
  const [kept, setKept] = useState<Span>();
  // What lies in both windows would be compared with itself.
  const other = useMemo(() => {
    const whole = against === "rest" ? recording.judged : against === "kept" ? kept : undefined;
    return whole ? without(whole, window) : [];
  }, [recording, window, against, kept]);
  const found = useMemo(() => {
    if (other.length === 0 || tables === undefined) return undefined;
    const all = intervals(tables.rows("signal"));
    return difference({ stacks, samples, edges: recording.edges, intervals: all }, [window], other);
  }, [stacks, samples, recording, tables, window, other]);
  const missing =
    against !== "" && other.length === 0
      ? `Select ${against === "kept" ? "another" : "a"} window in any chart: it is compared with what lies outside of it.`
      : "";
  const keep = () => {
    setKept(window);
    compare("kept");
  };
  return { against, compare, kept, keep, found, missing };
}

function CompareWith({ compared }: { readonly compared: Comparing }) {
  const { recording } = usePage();
  const { against, compare, kept, keep } = compared;
  return (
    <span class="flame-compare">
      <label>
        Compare with{" "}
        <select
          value={against}
          onChange={({ currentTarget }) => compare(currentTarget.value as Against)}
        >
          <option value="">nothing</option>
          <option value="rest">the rest of the judged window</option>
          {kept && <option value="kept">{spanWords(kept, recording.page.step_ns)}</option>}
        </select>
      </label>{" "}
      <button type="button" class="button" onClick={keep}>
        Keep this window to compare
      </button>
    </span>
  );
}
