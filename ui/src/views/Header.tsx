// The head of the page: what was run, the way to each part, light or dark.

import { runLine } from "../charts/run";
import { sectionsOf } from "./sections";
import { usePage } from "./state";
import { THEMES, useTheme } from "./theme";
import "./Header.css";

export function Header() {
  const { recording } = usePage();
  const { page } = recording;
  const [theme, setTheme] = useTheme();
  const run = runLine(page);
  return (
    <header class="header">
      <div class="header-bar">
        <a class="header-name" href="#verdict">
          <Sign /> {page.recording}
        </a>
        <nav aria-label="Parts of the page">
          <ul>
            {sectionsOf(recording).map(({ id, title }) => (
              <li key={id}>
                <a href={`#${id}`}>{title}</a>
              </li>
            ))}
          </ul>
        </nav>
        <fieldset class="header-theme">
          <legend class="offscreen">Colours</legend>
          {THEMES.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="theme"
                class="offscreen"
                checked={theme === name}
                onChange={() => setTheme(name)}
              />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <p class="header-run">
        <code title={run.command}>{run.command}</code>
        {run.facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
    </header>
  );
}

/** Some and full, as in the lanes below. */
function Sign() {
  return (
    <svg class="header-sign" viewBox="0 0 18 14" aria-hidden="true">
      <path d="M0 14V9h4V3h5v4h4V1h5v13z" />
      <path d="M4 14V9h5v2h4V6h5v8z" />
    </svg>
  );
}
