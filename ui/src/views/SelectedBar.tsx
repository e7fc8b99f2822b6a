// What is selected, as long as something is: its main numbers beside those of the judged window.

import { useMemo, useState } from "preact/hooks";
import { explainCommand, notTyped } from "../charts/commands";
import { compared, NUMBER_TABLES, type WindowNumber, windowNumbers } from "../charts/numbers";
import { spanWords, windowWords } from "../charts/run";
import { copied } from "./clipboard";
import { Unreadable } from "./Readable";
import { usePage, useReadable } from "./state";
import "./SelectedBar.css";

export function SelectedBar() {
  const { recording, selected, select, judgement } = usePage();
  const { tables, damaged } = useReadable(...NUMBER_TABLES) ?? {};
  const judged = useMemo(
    () => (tables ? windowNumbers(recording, tables, recording.judged) : []),
    [recording, tables],
  );
  const numbers = useMemo(
    () => (tables && selected ? windowNumbers(recording, tables, selected) : []),
    [recording, tables, selected],
  );
  if (selected === undefined || tables === undefined) return null;
  const step = recording.page.step_ns;
  const whole = compared(recording, tables, selected);
  const command = explainCommand(recording.page.recording, selected);
  return (
    <aside class="selected" aria-label="The selected window">
      <details>
        <summary>
          <b>
            <span class="selected-word">Selected </span>
            {spanWords(selected, step)}
          </b>
          <Glance numbers={numbers} judged={judged} />
        </summary>
        {spanWords(whole, step) !== spanWords(selected, step) && (
          <p class="muted">
            Numbers over the workload's whole intervals, {spanWords(whole, step)}.
          </p>
        )}
        {damaged?.map((error) => (
          <Unreadable key={error.table} error={error} />
        ))}
        <Numbers numbers={numbers} judged={judged} />
        {!judgement.of && <Command command={command} note={notTyped(selected)} />}
      </details>
      <Verdict />
      <button type="button" class="button" onClick={() => select(undefined)}>
        Clear
      </button>
    </aside>
  );
}

/** As many of the numbers as one line holds, each with that of the judged window. */
function Glance({ numbers, judged }: NumbersProps) {
  return (
    <span class="selected-glance">
      {numbers.map(({ id, label, text }) => (
        <span key={id}>
          <span class="muted">{label}</span> <b>{text}</b>{" "}
          <span class="muted">({judged.find((number) => number.id === id)?.text})</span>
        </span>
      ))}
    </span>
  );
}

interface NumbersProps {
  readonly numbers: readonly WindowNumber[];
  readonly judged: readonly WindowNumber[];
}

function Numbers({ numbers, judged }: NumbersProps) {
  const groups = [...new Set(numbers.map((number) => number.group))];
  return (
    <div class="selected-scroll">
      <table class="selected-numbers">
        <thead>
          <tr>
            <td />
            {groups.map((group) => (
              <th
                key={group}
                scope="colgroup"
                colSpan={numbers.filter((number) => number.group === group).length}
              >
                {group}
              </th>
            ))}
          </tr>
          <tr>
            <td />
            {numbers.map((number) => (
              <th key={number.id} scope="col">
                {number.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">selected</th>
            {numbers.map(({ id, value, text }) => (
              <td key={id} data-number={id} data-value={value}>
                {text}
              </td>
            ))}
          </tr>
          <tr class="muted">
            <th scope="row">judged</th>
            {numbers.map(({ id }) => (
              <td key={id}>{judged.find((number) => number.id === id)?.text}</td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** Whose verdict stands above. */
function Verdict() {
  const { judgement } = usePage();
  if (judgement.asking) return <span role="status">Asking Stallscope about it …</span>;
  if (judgement.trouble) return <span role="alert">{judgement.trouble}</span>;
  if (judgement.of) return <span role="status">The verdict is about it.</span>;
  return null;
}

function Command({ command, note }: { command: string; note: string }) {
  const { recording } = usePage();
  const [done, setDone] = useState("");
  const copy = async () => setDone((await copied(command)) ? command : "");
  return (
    <p class="selected-command">
      The verdict is still that of {windowWords(recording.judged)}. To have this judged:{" "}
      <code>{command}</code>{" "}
      <button type="button" class="button" onClick={copy}>
        {done === command ? "Copied" : "Copy"}
      </button>
      {note && <span class="muted"> {note}</span>}
    </p>
  );
}
