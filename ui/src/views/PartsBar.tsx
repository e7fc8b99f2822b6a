// A whole and its parts as one bar: labels where they fit, the rest by pointer, arrow keys, or the list
// below it.

import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { type Paint, type Part, spoken, type Whole } from "../charts/parts";
import { percent } from "../data/format";
import { Aligned } from "./Aligned";
import { NumberTable } from "./NumberTable";
import "./PartsBar.css";

/** The class names and colours of a painted thing. */
export function painted({ fill, ink, mark, strong }: Paint) {
  return {
    class: `mark-${mark} ${strong ? "on-strong" : "on-pale"}`,
    style: { "--fill": `var(${fill})`, "--mark": `var(${ink})` },
  };
}

export interface PartsBarProps {
  readonly whole: Whole;
  /** Whose: the beginning of its name for who does not see it. */
  readonly of: string;
  readonly format: (value: number) => string;
  /** Whether the list of parts is shown below, and what shows and hides it. */
  readonly open: boolean;
  readonly toggle: () => void;
}

/** A button in the form of a bar. */
export function PartsBar({ whole, of, format, open, toggle }: PartsBarProps) {
  const [pointed, setPointed] = useState<number>();
  const { parts } = whole;
  const part = pointed === undefined ? undefined : parts[pointed];
  const step = (by: number) => {
    const from = pointed ?? (by > 0 ? -1 : parts.length);
    setPointed(Math.min(Math.max(from + by, 0), parts.length - 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "Escape") setPointed(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <div class="parts">
      <button
        type="button"
        class="parts-bar"
        aria-expanded={open}
        onClick={toggle}
        onKeyDown={onKeyDown}
        onMouseMove={(event) => setPointed(partAt(event))}
        onMouseLeave={() => setPointed(undefined)}
        onBlur={() => setPointed(undefined)}
      >
        <span class="offscreen">
          {of}: {spoken(whole)}
        </span>
        {parts.map((each, place) => {
          const { class: look, style } = painted(each.paint);
          return (
            <span
              key={each.key}
              class={`part ${look} quality-${each.quality} ${place === pointed ? "pointed" : ""}`}
              style={{ ...style, width: `${each.width / 100}%` }}
              data-part={place}
              aria-hidden="true"
            >
              <span class="part-label">
                <b>{percent(each.share)}</b> <span>{each.label}</span>
              </span>
            </span>
          );
        })}
      </button>
      <output class="parts-tip">{part && <Tip part={part} format={format} />}</output>
    </div>
  );
}

/** Which part the pointer is on. */
function partAt({ target }: MouseEvent): number | undefined {
  const part = target instanceof Element ? target.closest("[data-part]") : null;
  return part === null ? undefined : Number(part.getAttribute("data-part"));
}

function Tip({ part, format }: { part: Part; format: (value: number) => string }) {
  return (
    <>
      <Swatch paint={part.paint} /> <b>{part.label}</b> {percent(part.share)}, {format(part.value)}{" "}
      ({part.quality}). {part.help}
    </>
  );
}

export function Swatch({ paint }: { paint: Paint }) {
  const { class: look, style } = painted(paint);
  return <span class={`swatch ${look}`} style={style} aria-hidden="true" />;
}

/** The parts as a table. */
export function PartsList({
  whole,
  format,
  quantity,
  helpTitle = "What it is",
  children,
}: {
  readonly whole: Whole;
  readonly format: (value: number) => string;
  /** What `format` writes: `Time`. */
  readonly quantity: string;
  readonly helpTitle?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="parts-list">
      <NumberTable
        caption="Parts"
        titles={[["Part"], "Share", quantity, ["Known"], [helpTitle, "help"]]}
        rows={whole.parts.map((part) => [
          <Fragment key="part">
            <Swatch paint={part.paint} /> {part.label}
          </Fragment>,
          <Aligned key="share" text={percent(part.share)} />,
          format(part.value),
          part.quality,
          part.help,
        ])}
      />
      {children}
    </div>
  );
}
