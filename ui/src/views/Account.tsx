// Where the response time went: one bar that is filled to its end, with its parts named below it.

import { useMemo } from "preact/hooks";
import { accountBar, withoutBar } from "../charts/account";
import { percent } from "../data/format";
import type { Report } from "../data/page.gen";
import { Aligned } from "./Aligned";
import { painted, Swatch } from "./PartsBar";

export function Account({ report }: { report: Report }) {
  const bar = useMemo(() => accountBar(report), [report]);
  if (bar === undefined) {
    return <p class="muted">{withoutBar(report)}</p>;
  }
  return (
    <figure class="account">
      <figcaption>
        <h2>{bar.title}</h2>
        <span class="muted">{bar.basis}</span>
      </figcaption>
      <div class="account-bar" role="img" aria-label={bar.alternative}>
        {bar.parts.map((part) => {
          const { class: look, style } = painted(part.paint);
          return (
            <span
              key={part.key}
              class={`part ${look}`}
              style={{ ...style, width: `${part.width / 100}%` }}
            >
              <span class="part-label">
                <b>{percent(part.share)}</b> <span>{part.short}</span>
              </span>
            </span>
          );
        })}
      </div>
      <table class="account-parts">
        <thead class="offscreen">
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Share</th>
            <th scope="col">Of each response</th>
            <th scope="col">How well it is known</th>
          </tr>
        </thead>
        <tbody>
          {bar.parts.map((part) => (
            <tr key={part.key}>
              <th scope="row">
                <Swatch paint={part.paint} /> {part.short}
                {part.note && <small>{part.note}</small>}
              </th>
              <td class="account-share">
                <Aligned text={percent(part.share)} />
              </td>
              <td class="account-each">{part.each}</td>
              <td class="muted">{part.quality}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
