// Where time goes: the call stacks of samples and of waits as a flame graph, and their functions as a table.

import { useMemo, useState } from "preact/hooks";
import { ALL, found, matcher, type Weights, weigh, without } from "../charts/flame";
import { type Difference, difference } from "../charts/flameDifference";
import {
  isMissing,
  notSampled,
  summary,
  TIMES,
  type TimeKind,
  testWords,
  waitSummary,
  withoutStacks,
} from "../charts/flameWords";
import { isIdle } from "../charts/ledger";
import { type ClassTime, classTimes, needed, ofClasses, tracing } from "../charts/offCpu";
import { spanWords } from "../charts/run";
import { calmSpans, spikeSpans } from "../charts/spikes";
import { percent, tied } from "../data/format";
import { intervals } from "../data/signal";
import type { SampleTable, StackTable } from "../data/stacks";
import type { Span } from "../data/units";
import { FlameGraph } from "./FlameGraph";
import { FunctionTable } from "./FunctionTable";
import type { Section } from "./section";
import { usePage, useTables } from "./state";
import "./Flames.css";

export const FLAMES: Section = {
  id: "flames",
  title: "Where time goes, by call stack",
  view: Flames,
};

function Flames() {
  const { recording } = usePage();
  const tables = useTables("stack", "cpu_sample", "wait_sample", "coverage", "signal");
  if (tables === undefined) return <p class="muted">Reading the call stacks…</p>;
  const [stacks, on] = [tables.stacks("stack"), tables.samples("cpu_sample")];
  const off = tables.samples("wait_sample");
  if (stacks === undefined || (on ?? off) === undefined) {
    const { why, command } = withoutStacks(recording);
    return (
      <p class="muted flame-none">
        This recording has no call stacks: {why}. To get them: <code>{command}</code>
      </p>
    );
  }
  return <Stacks stacks={stacks} on={on} off={off} />;
}

interface StacksProps {
  readonly stacks: StackTable;
  /** Samples of what ran. */
  readonly on: SampleTable | undefined;
  /** Waits. */
  readonly off: SampleTable | undefined;
}

function Stacks(props: StacksProps) {
  const { stacks, on, off } = props;
  const { recording, window } = usePage();
  const [root, setRoot] = useState(ALL);
  const [query, setQuery] = useState("");
  const chosen = useChosen(props);
  const { kind, weights } = chosen;
  const compared = useCompared(stacks, chosen.tables);
  const search = useMemo(() => {
    const matches = query === "" ? undefined : matcher(query);
    return matches && found(stacks, weights, matches);
  }, [stacks, weights, query]);
  const focusSearch = (event: KeyboardEvent) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    document.getElementById(SEARCH)?.focus();
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a key for all that is in it
    <div class="card flames" onKeyDown={focusSearch}>
      <p class="muted">
        {tied(`From ${spanWords(window, recording.page.step_ns)}: ${chosen.words}`)}
      </p>
      {(on === undefined || off === undefined) && (
        <p class="muted">{tied(isMissing(recording, on ? "off" : "on"))}</p>
      )}
      {on && off && <Choice chosen={chosen} changed={() => setRoot(ALL)} />}
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
              ? `${percent(search.share)} of the ${TIMES[kind].time}, ${search.count} found`
              : "no expression")}
        </output>
        <CompareWith compared={compared} />
      </div>
      {compared.missing && <p class="muted">{compared.missing}</p>}
      {compared.found && (
        <p class="muted">
          {compared.against === "calm" &&
            "All spikes of the recording against stretches as long between them, whatever is selected. "}
          {tied(testWords(compared.found))}
        </p>
      )}
      <FlameGraph
        stacks={stacks}
        weights={weights}
        difference={compared.found}
        kind={kind}
        classes={kind === "on" ? [] : chosen.classes}
        matches={search?.frames}
        root={root}
        zoom={setRoot}
      />
      <FunctionTable
        key={compared.found ? "difference" : "weights"}
        stacks={stacks}
        weights={weights}
        difference={compared.found}
        kind={kind}
        find={(name) => setQuery(name)}
      />
    </div>
  );
}

interface Chosen {
  readonly kind: TimeKind;
  readonly choose: (kind: TimeKind) => void;
  /** Whether waits for work are drawn. */
  readonly idle: boolean;
  readonly withIdle: (idle: boolean) => void;
  /** The class whose waits are drawn; empty for all. */
  readonly only: string;
  readonly draw: (only: string) => void;
  /** The classes that may be drawn, in the window. */
  readonly classes: readonly ClassTime[];
  readonly tables: readonly SampleTable[];
  readonly weights: Weights;
  /** What all that was sampled in the window rests on. */
  readonly words: string;
}

/** What is drawn of the window: by default what ran, and of waits those for what was needed. */
function useChosen({ stacks, on, off }: StacksProps): Chosen {
  const { recording, window } = usePage();
  const { edges } = recording;
  const [kind, choose] = useState<TimeKind>(on ? "on" : "off");
  const [idle, setIdle] = useState(false);
  const [only, draw] = useState("");
  const ran = useMemo(
    () => on && weigh(stacks, [on], edges, [window]),
    [stacks, on, edges, window],
  );
  const waited = useMemo(() => {
    if (off === undefined) return undefined;
    const weights = weigh(stacks, [off], edges, [window]);
    return { weights, classes: classTimes(stacks, weights) };
  }, [stacks, off, edges, window]);
  const coverage = useTables("coverage");
  const traced = useMemo(() => coverage && tracing(recording, coverage), [recording, coverage]);
  const tables = useMemo(() => {
    const isDrawn = (word: string) => (only === "" ? idle || !isIdle(word) : word === only);
    return [
      ...(on && kind !== "off" ? [on] : []),
      ...(off && kind !== "on" ? [{ ...ofClasses(stacks, off, isDrawn), traced }] : []),
    ];
  }, [stacks, on, off, kind, idle, only, traced]);
  const weights = useMemo(
    () => (kind === "on" && ran) || weigh(stacks, tables, edges, [window]),
    [stacks, tables, edges, window, kind, ran],
  );
  const words = [
    ...(ran && on && kind !== "off"
      ? [summary(ran, on), notSampled(recording, window, "cpu_sample")]
      : []),
    ...(waited && off && kind !== "on"
      ? [
          waitSummary(waited.weights, off, {
            neededNs: needed(waited.classes),
            traced: traced?.([window]) ?? 1,
          }),
          notSampled(recording, window, "wait_sample"),
        ]
      : []),
    kind === "both" ? "The CPU time of other processes is in it, their waits are not." : "",
  ];
  const withIdle = (idle: boolean) => {
    setIdle(idle);
    if (isIdle(only)) draw("");
  };
  const classes = (waited?.classes ?? []).filter(({ word }) => idle || !isIdle(word));
  const said = words.filter((each) => each !== "").join(" ");
  return { kind, choose, idle, withIdle, only, draw, classes, tables, weights, words: said };
}

/** What time is drawn, and of waits which. */
function Choice({ chosen, changed }: { readonly chosen: Chosen; readonly changed: () => void }) {
  const { kind, choose, idle, withIdle, only, draw, classes } = chosen;
  const whole = classes.reduce((sum, { ns }) => sum + ns, 0);
  return (
    <div class="flame-tools on-screen">
      <label>
        Time{" "}
        <select
          value={kind}
          onChange={({ currentTarget }) => {
            choose(currentTarget.value as TimeKind);
            changed();
          }}
        >
          {Object.entries(TIMES).map(([each, { label }]) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {kind !== "on" && (
        <>
          <label>
            Waits{" "}
            <select value={only} onChange={({ currentTarget }) => draw(currentTarget.value)}>
              <option value="">of all classes</option>
              {classes.map(({ word, label, ns }) => (
                <option key={word} value={word}>
                  {label}, {percent(whole > 0 ? ns / whole : 0)}
                </option>
              ))}
            </select>
          </label>
          <label>
            <input
              type="checkbox"
              checked={idle}
              onChange={({ currentTarget }) => withIdle(currentTarget.checked)}
            />{" "}
            waiting for work
          </label>
        </>
      )}
    </div>
  );
}

const SEARCH = "flame-search";

type Against = "" | "rest" | "kept" | "calm";

interface Comparing {
  readonly against: Against;
  readonly compare: (against: Against) => void;
  readonly kept: Span | undefined;
  readonly keep: () => void;
  readonly found: Difference | undefined;
  /** What is missing to compare as was asked. */
  readonly missing: string;
}

/** What is said where there is nothing to compare with. */
const MISSING: Readonly<Record<Exclude<Against, "">, string>> = {
  rest: "Select a window in any chart: it is compared with what lies outside of it.",
  kept: "Select another window in any chart: it is compared with what lies outside of it.",
  calm: "There is too little time between the spikes to compare them with.",
};

/** What the window is compared with. */
function useCompared(stacks: StackTable, samples: readonly SampleTable[]): Comparing {
  const { recording, window } = usePage();
  const tables = useTables("signal");
  const [against, compare] = useState<Against>("");
  const [kept, setKept] = useState<Span>();
  const [own, other] = useMemo(() => {
    if (against === "calm") {
      const spikes = spikeSpans(recording);
      return [spikes, calmSpans(spikes, recording.whole)];
    }
    const whole = against === "rest" ? recording.judged : against === "kept" ? kept : undefined;
    // What lies in both windows would be compared with itself.
    return [[window], whole ? without(whole, window) : []];
  }, [recording, window, against, kept]);
  const found = useMemo(() => {
    if (other.length === 0 || tables === undefined) return undefined;
    const all = intervals(tables.rows("signal"));
    return difference({ stacks, samples, edges: recording.edges, intervals: all }, own, other);
  }, [stacks, samples, recording, tables, own, other]);
  const missing = against !== "" && other.length === 0 ? MISSING[against] : "";
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
          {recording.page.report.spikes && (
            <option value="calm">all spikes with the calm between them</option>
          )}
          {kept && <option value="kept">{spanWords(kept, recording.page.step_ns)}</option>}
        </select>
      </label>{" "}
      <button type="button" class="button" onClick={keep}>
        Keep this window to compare
      </button>
    </span>
  );
}
