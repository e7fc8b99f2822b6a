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
import { type OtherRun, otherRun } from "../charts/otherRun";
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

/** The samples and waits of the recording that the page was made against. */
const AGAINST = ["against_cpu_sample", "against_wait_sample"] as const;

function Flames() {
  const { recording } = usePage();
  const tables = useTables("stack", "cpu_sample", "wait_sample", "coverage", "signal", ...AGAINST);
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
  const others = AGAINST.map((name) => tables.samples(name));
  return <Stacks stacks={stacks} on={on} off={off} others={others} />;
}

interface StacksProps {
  readonly stacks: StackTable;
  /** Samples of what ran. */
  readonly on: SampleTable | undefined;
  /** Waits. */
  readonly off: SampleTable | undefined;
  /** The same of the other run, if there is one. */
  readonly others: readonly (SampleTable | undefined)[];
}

function Stacks(props: StacksProps) {
  const { stacks, on, off } = props;
  const { recording, window } = usePage();
  const [root, setRoot] = useState(ALL);
  const [query, setQuery] = useState("");
  const chosen = useChosen(props);
  const { kind, weights } = chosen;
  const compared = useCompared(stacks, chosen);
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
          {compared.against === "run" && `The window less that of ${compared.other?.name}. `}
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
  /** The same of the other run. */
  readonly others: readonly SampleTable[];
  readonly weights: Weights;
  /** What all that was sampled in the window rests on. */
  readonly words: string;
}

/** What is drawn of the window: by default what ran, and of waits those for what was needed. */
function useChosen({ stacks, on, off, others: [otherOn, otherOff] }: StacksProps): Chosen {
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
  const drawn = useMemo(() => {
    const isDrawn = (word: string) => (only === "" ? idle || !isIdle(word) : word === only);
    return (ran: SampleTable | undefined, waited: SampleTable | undefined) => [
      ...(ran && kind !== "off" ? [ran] : []),
      ...(waited && kind !== "on" ? [ofClasses(stacks, waited, isDrawn)] : []),
    ];
  }, [stacks, kind, idle, only]);
  const tables = useMemo(() => drawn(on, off && { ...off, traced }), [drawn, on, off, traced]);
  const others = useMemo(() => drawn(otherOn, otherOff), [drawn, otherOn, otherOff]);
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
  return {
    ...{ kind, choose, idle, withIdle, only, draw, classes },
    ...{ tables, others, weights, words: said },
  };
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

type Against = "" | "rest" | "kept" | "calm" | "run";

interface Comparing {
  readonly against: Against;
  readonly compare: (against: Against) => void;
  readonly kept: Span | undefined;
  readonly keep: () => void;
  /** The other run, where the page has one. */
  readonly other: OtherRun | undefined;
  readonly found: Difference | undefined;
  /** What is missing to compare as was asked. */
  readonly missing: string;
}

/** What is said where there is nothing to compare with. */
const MISSING: Readonly<Record<Exclude<Against, "">, string>> = {
  rest: "Select a window in any chart: it is compared with what lies outside of it.",
  kept: "Select another window in any chart: it is compared with what lies outside of it.",
  calm: "There is too little time between the spikes to compare them with.",
  run: "The other run has no call stacks of that kind.",
};

/** What the window is compared with. */
function useCompared(stacks: StackTable, { tables: samples, others }: Chosen): Comparing {
  const { recording, window } = usePage();
  const tables = useTables("signal");
  const { against: page } = recording.page;
  const other = useMemo(() => (page ? otherRun(page) : undefined), [page]);
  const [against, compare] = useState<Against>(other ? "run" : "");
  const [kept, setKept] = useState<Span>();
  const [own, second] = useMemo(() => {
    if (against === "calm") {
      const spikes = spikeSpans(recording);
      return [spikes, calmSpans(spikes, recording.whole)];
    }
    if (against === "run") return [[window], other && others.length > 0 ? [other.whole] : []];
    const whole = against === "rest" ? recording.judged : against === "kept" ? kept : undefined;
    // What lies in both windows would be compared with itself.
    return [[window], whole ? without(whole, window) : []];
  }, [recording, window, against, kept, other, others]);
  const found = useMemo(() => {
    if (second.length === 0 || tables === undefined) return undefined;
    const run = { samples, edges: recording.edges, intervals: intervals(tables.rows("signal")) };
    const of = against === "run" && other ? { ...other, samples: others } : run;
    return difference(stacks, { run, windows: own }, { run: of, windows: second });
  }, [stacks, samples, others, recording, tables, own, second, against, other]);
  const missing = against !== "" && second.length === 0 ? MISSING[against] : "";
  const keep = () => {
    setKept(window);
    compare("kept");
  };
  return { against, compare, kept, keep, other, found, missing };
}

function CompareWith({ compared }: { readonly compared: Comparing }) {
  const { recording } = usePage();
  const { against, compare, kept, keep, other } = compared;
  return (
    <span class="flame-compare">
      <label>
        Compare with{" "}
        <select
          value={against}
          onChange={({ currentTarget }) => compare(currentTarget.value as Against)}
        >
          <option value="">nothing</option>
          {other && <option value="run">{other.name}</option>}
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
