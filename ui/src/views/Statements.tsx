// The statements of the target's database: whose time its sessions spent, what it went to, and who held locks.

import { useMemo } from "preact/hooks";
import { spoken } from "../charts/parts";
import {
  type LockLine,
  legend,
  lockLines,
  rareStatements,
  type Statement,
  statementsOf,
} from "../charts/statements";
import { duration, instant, integer, percent } from "../data/format";
import { NumberTable } from "./NumberTable";
import { painted, Swatch } from "./PartsBar";
import type { Section } from "./section";
import { usePage } from "./state";
import "./Statements.css";

export const STATEMENTS: Section = {
  id: "statements",
  title: "Statements",
  view: Statements,
  isOf: ({ statements = [], lock_holders: holders = [] }) => statements.length + holders.length > 0,
};

/** Statements that are shown at once. */
const FIRST = 10;
/** Beginnings of a rare statement that are shown. */
const MOST_BEGUN = 8;

function Statements() {
  const { report } = usePage();
  const all = useMemo(() => statementsOf(report), [report]);
  const rare = useMemo(() => rareStatements(report), [report]);
  const locks = useMemo(() => lockLines(report), [report]);
  return (
    <div class="card statements">
      {all.length > 0 && (
        <>
          <p class="muted">
            Over the window of the verdict. A bar shows what a statement's time went to; the longest
            belongs to the statement with most time. Sessions: how many ran it, on average.
          </p>
          <ul class="statement-legend">
            {legend(all).map((part) => (
              <li key={part.key}>
                <Swatch paint={part.paint} /> {part.label}
              </li>
            ))}
          </ul>
          <Table all={all.slice(0, FIRST)} caption="Statements with most time" />
          {all.length > FIRST && (
            <details>
              <summary>{integer(all.length - FIRST)} more</summary>
              <Table all={all.slice(FIRST)} caption="Other statements" />
            </details>
          )}
        </>
      )}
      {rare.length > 0 && (
        <>
          <h3>Rare statements</h3>
          <NumberTable
            caption="Rare statements and when they began"
            titles={[
              ["Statement", "text"],
              ["Began at", "help"],
            ]}
            rows={rare.map(({ text, began }) => [
              <code key="text">{text}</code>,
              began
                .slice(0, MOST_BEGUN)
                .map((at) => instant(at, 1e7))
                .join(", ") +
                (began.length > MOST_BEGUN ? `, ${integer(began.length - MOST_BEGUN)} more` : ""),
            ])}
          />
        </>
      )}
      {locks.length > 0 && <Locks lines={locks} />}
    </div>
  );
}

function Table({ all, caption }: { readonly all: readonly Statement[]; readonly caption: string }) {
  return (
    <NumberTable
      caption={caption}
      titles={[["Statement", "text"], ["Time", "bar"], "", "Share", "Calls", "Sessions"]}
      rows={all.map((it) => [
        <code key="text">{it.text}</code>,
        <Bar key="bar" of={it} />,
        duration(it.time),
        percent(it.share),
        integer(it.calls),
        it.sessions.toFixed(2),
      ])}
    />
  );
}

function Bar({ of: { whole, length } }: { readonly of: Statement }) {
  return (
    <div
      class="statement-bar"
      role="img"
      aria-label={spoken(whole)}
      title={spoken(whole)}
      style={{ width: `${100 * length}%` }}
    >
      {whole.parts.map((part) => {
        const { class: look, style } = painted(part.paint);
        return (
          <span
            key={part.key}
            class={`part ${look}`}
            style={{ ...style, width: `${part.width / 100}%` }}
          />
        );
      })}
    </div>
  );
}

function Locks({ lines }: { readonly lines: readonly LockLine[] }) {
  return (
    <>
      <h3>Lock holders</h3>
      <NumberTable
        caption="Sessions that held locks, and the statements that waited for them"
        titles={[["Holder", "text"], "Waiting sessions", "Share"]}
        rows={lines.map(({ words, isHolder, sessions, share }) => [
          <span key="words" class={isHolder ? "" : "lock-waiter"}>
            {words}
          </span>,
          sessions.toFixed(1),
          percent(share),
        ])}
      />
      <p class="muted">
        Waiting sessions: on average. Share: of all waits for locks. Once a second by the database's
        own word.
      </p>
    </>
  );
}
