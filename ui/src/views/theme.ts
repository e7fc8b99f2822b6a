// Light or dark: the reader's choice, else the system's; paper is light (views/print.ts).

import { useEffect, useState } from "preact/hooks";
import { coloursChanged } from "./colours";

export type Theme = "system" | "light" | "dark";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

function apply(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  coloursChanged();
}

/** What was chosen, and how to choose. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>("system");
  useEffect(() => {
    apply(theme);
  }, [theme]);
  useEffect(() => {
    addEventListener("beforeprint", coloursChanged);
    addEventListener("afterprint", coloursChanged);
    return () => {
      removeEventListener("beforeprint", coloursChanged);
      removeEventListener("afterprint", coloursChanged);
    };
  }, []);
  return [theme, setTheme];
}
