// Any column of any table, one chart below the other. Which ones is in the address.

import { useEffect, useMemo, useState } from "preact/hooks";
import {
  type Choice,
  chartTables,
  choicesOf,
  csvOf,
  type Explored,
  explored,
  exploredLane,
  firstChoice,
  fragmentOf,
  isExplored,
  MOST_CHARTS,
  MOST_LINES,
  namesOf,
  type Summary,
} from "../charts/explore";
import type { Lane } from "../charts/lane";
import { isCode, wordsOf } from "../charts/states";
import { instant, percent } from "../data/format";
import type { PageColumn } from "../data/page.gen";
import { copied } from "./clipboard";
import "./Explore.css";
import { LaneChart } from "./LaneChart";
import { Unreadable } from "./Readable";
import type { Section } from "./section";
import { usePage, useReadable } from "./state";

export const EXPLORE: Section = { id: "explore", title: "Explore", view: Explore };

function Explore() {
  const { recording } = usePage();
  const [choices, choose] = useChoices();
  const [active, setActive] = useState(0);
  const current = choices[Math.min(active, choices.length - 1)];
  if (current === undefined) return <p class="muted">This recording holds no tables.</p>;
  const replace = (choice: Choice) =>
    choose(choices.map((other) => (other === current ? choice : other)));
  return (
    <div class="explore">
      <Picker choice={current} change={replace} />
      {choices.map((choice, place) => (
        <Chart
          key={place}
          choice={choice}
          active={choice === current}
          edit={() => setActive(place)}
          change={choice === current ? replace : undefined}
          remove={
            choices.length > 1
              ? () => {
                  choose(choices.filter((other) => other !== choice));
                  setActive(0);
                }
              : undefined
          }
        />
      ))}
      <p class="on-screen">
        <button
          type="button"
          class="button"
          disabled={choices.length >= MOST_CHARTS}
          onClick={() => {
            choose([...choices, { ...current }]);
            setActive(choices.length);
          }}
        >
          Keep these, add another chart
        </button>{" "}
        <Copy label="Copy a link to these charts" text={() => linkTo(choices)} />
      </p>
      <p class="muted on-screen">
        What each column means stands in the <a href="#dictionary">data dictionary</a>.
        {recording.page.tables.some((table) => table.left_out > 0) &&
          " Of large tables those that did least are left out of the page; the recording has them."}
      </p>
    </div>
  );
}

function linkTo(choices: readonly Choice[]): string {
  return location.href.replace(/#.*$/, "") + fragmentOf(choices);
}

/** The charts of the address, and how to change them; the address follows without a new entry. */
function useChoices(): [readonly Choice[], (choices: readonly Choice[]) => void] {
  const { recording } = usePage();
  const read = () => choicesOf(location.hash, recording);
  const [choices, setChoices] = useState<readonly Choice[]>(() => {
    const first = firstChoice(recording);
    const found = read();
    return found.length > 0 || first === undefined ? found : [first];
  });
  useEffect(() => {
    const follow = () => {
      if (!isExplored(location.hash)) return;
      const found = choicesOf(location.hash, recording);
      if (found.length > 0) setChoices(found);
      document.getElementById("explore")?.scrollIntoView();
    };
    if (isExplored(location.hash)) follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [recording]);
  const choose = (next: readonly Choice[]) => {
    setChoices(next);
    history.replaceState(null, "", fragmentOf(next));
  };
  return [choices, choose];
}

function Picker({ choice, change }: { choice: Choice; change: (choice: Choice) => void }) {
  const { recording } = usePage();
  const { tables } = recording.page;
  const table = recording.table(choice.table);
  return (
    <div class="card picker">
      <label>
        Table
        <select
          value={choice.table}
          onChange={({ currentTarget }) => {
            const next = recording.table(currentTarget.value);
            const column = next?.columns[0];
            if (next && column) change({ table: next.name, column: column.name, entities: [] });
          }}
        >
          {chartTables(tables).map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Column
        <select
          value={choice.column}
          onChange={({ currentTarget }) => change({ ...choice, column: currentTarget.value })}
        >
          {table?.columns.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <p class="muted">{table?.help}</p>
    </div>
  );
}

interface ChartProps {
  readonly choice: Choice;
  readonly active: boolean;
  readonly edit: () => void;
  /** Where its entities can be chosen. */
  readonly change: ((choice: Choice) => void) | undefined;
  readonly remove: (() => void) | undefined;
}

function Chart({ choice, active, edit, change, remove }: ChartProps) {
  const { recording, window } = usePage();
  const seen = useReadable(choice.table);
  const error = seen?.damaged[0];
  const tables = error ? undefined : seen?.tables;
  const shown = useMemo(
    () => tables && explored(choice, recording, tables, window),
    [choice, recording, tables, window],
  );
  const drawn = shown?.drawn.join(",");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a window changes numbers, and no lane
  const lane = useMemo(
    () => tables && shown && exploredLane(shown, recording, tables),
    [choice.table, choice.column, drawn, recording, tables],
  );
  const lanes = useMemo(() => (lane ? [lane] : []), [lane]);
  const title = `${choice.table}.${choice.column}`;
  return (
    <figure class={active ? "card chart active" : "card chart"} aria-label={title}>
      <div class="chart-head">
        <h3>{title}</h3>
        {shown && <span class="muted">{shown.scale.words}</span>}
        <span class="chart-buttons">
          {!active && (
            <button type="button" class="button" onClick={edit}>
              Change
            </button>
          )}
          {lane && <Copy label="Copy as CSV" text={() => csvOf(lane, window)} />}
          {remove && (
            <button type="button" class="button" onClick={remove}>
              Remove
            </button>
          )}
        </span>
      </div>
      {error && <Unreadable error={error} />}
      {lanes.length > 0 && <LaneChart lanes={lanes} label={title} height={150} />}
      {shown && lanes.length === 0 && (
        <p class="muted">Nothing of this column was seen: it has no chart.</p>
      )}
      {shown && <Described shown={shown} />}
      {shown && lane && <Numbers shown={shown} choice={choice} lane={lane} change={change} />}
    </figure>
  );
}

function Described({ shown: { about, column } }: { shown: Explored }) {
  return (
    <p class="described">
      {column.help}{" "}
      <span class="muted">
        {column.unit.replaceAll("_", " ")}, {column.kind}, {column.quality}; from{" "}
        {column.source || "no file"}
        {column.since ? `, since Linux ${column.since}` : ""}; of each {kind(about.entity)}.
      </span>
    </p>
  );
}

function kind(entity: string): string {
  return entity.replaceAll("_", " ");
}

interface NumbersProps {
  readonly shown: Explored;
  readonly choice: Choice;
  readonly lane: Lane;
  readonly change: ((choice: Choice) => void) | undefined;
}

/** How many are listed before a filter is needed. */
const MOST_LISTED = 12;

/** Who is drawn, and with `change` all others to choose from, with the numbers of the window. */
function Numbers({ shown, choice, lane, change }: NumbersProps) {
  const { recording, window } = usePage();
  const [filter, setFilter] = useState("");
  const names = namesOf(
    shown.all.map(({ entity }) => entity),
    recording,
  );
  const wanted = filter.trim().toLowerCase();
  const matches = shown.all.flatMap((summary, place) => {
    const name = names[place] ?? "";
    const path = recording.entity(summary.entity)?.path ?? "";
    const isDrawn = shown.drawn.includes(summary.entity);
    const found = `${name} ${path}`.toLowerCase().includes(wanted);
    return (change ? found : isDrawn) ? [{ summary, name, isDrawn }] : [];
  });
  const listed = matches.slice(0, MOST_LISTED);
  const toggle = (entity: number) => {
    const rest = shown.drawn.filter((other) => other !== entity);
    const entities = rest.length < shown.drawn.length ? rest : [...rest, entity];
    change?.({ ...choice, entities });
  };
  return (
    <>
      {change && shown.all.length > MOST_LISTED && (
        <label class="chart-filter">
          Find among {shown.all.length}{" "}
          <input
            type="search"
            value={filter}
            onInput={({ currentTarget }) => setFilter(currentTarget.value)}
          />
        </label>
      )}
      <div class="scroll">
        <table class="numbers">
          <caption class="offscreen">
            {lane.title} from {instant(window.from)} to {instant(window.to)}
          </caption>
          <thead>
            <tr>
              {change && <th scope="col">Drawn</th>}
              <th scope="col">{kind(shown.about.entity)}</th>
              {titlesOf(shown.column).map((title) => (
                <th key={title} scope="col" class="right">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {listed.map(({ summary, name, isDrawn }) => (
              <tr key={summary.entity}>
                {change && (
                  <td>
                    <input
                      type="checkbox"
                      aria-label={`draw ${name}`}
                      checked={isDrawn}
                      disabled={
                        isDrawn ? shown.drawn.length === 1 : shown.drawn.length >= MOST_LINES
                      }
                      onChange={() => toggle(summary.entity)}
                    />
                  </td>
                )}
                <th scope="row">{name}</th>
                {valuesOf(summary, shown).map((text, place) => (
                  <td
                    key={place}
                    class="right"
                    data-number={place === 0 && `explore-${lane.title}-${summary.entity}`}
                  >
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {matches.length > listed.length && (
        <p class="muted">and {matches.length - listed.length} more that come after these.</p>
      )}
    </>
  );
}

/** What is said of each over the window. */
function titlesOf(column: PageColumn): readonly string[] {
  if (isCode(column)) return ["Most of the time", "At the end"];
  return [column.kind === "counter" ? "Rate" : "Mean", "Lowest", "Highest"];
}

function valuesOf({ mean, low, high, states }: Summary, { column, scale }: Explored): string[] {
  if (states !== undefined) {
    const { most, last } = states;
    const words = wordsOf(column);
    return [
      most === undefined ? "not seen" : `${words(most.code)}, ${percent(most.share)}`,
      last === undefined ? "not seen" : words(last),
    ];
  }
  return [mean, low, high].map((value) => (Number.isNaN(value) ? "not seen" : scale.format(value)));
}

/** Copies a text; where the browser does not let it, the text is shown to be copied by hand. */
function Copy({ label, text }: { label: string; text: () => string }) {
  const [state, setState] = useState<"" | "copied" | { byHand: string }>("");
  return (
    <>
      <button
        type="button"
        class="button"
        onClick={async () => {
          const value = text();
          setState((await copied(value)) ? "copied" : { byHand: value });
        }}
      >
        {label}
      </button>
      <span role="status" class="muted">
        {state === "copied" && " copied"}
      </span>
      {typeof state === "object" && (
        <textarea class="by-hand" aria-label={`${label}: the text`} readOnly value={state.byHand} />
      )}
    </>
  );
}
