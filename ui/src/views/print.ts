// Printing: what is folded opens, the page goes light and as wide as paper, and all of it goes back.
// The charts follow because they listen to the same event, later than this module.

/** Folds that stay folded on paper: a dictionary is for looking things up, and a course is drawn only once
    it is open. */
const LEFT = ".dictionary details, .course";

let opened: HTMLDetailsElement[] = [];
let theme: string | undefined;

function prepare(): void {
  if (document.documentElement.classList.contains("printing")) return;
  opened = [...document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")].filter(
    (fold) => !fold.matches(LEFT),
  );
  for (const fold of opened) fold.open = true;
  const root = document.documentElement;
  theme = root.dataset.theme;
  root.dataset.theme = "light";
  root.classList.add("printing");
}

function restore(): void {
  for (const fold of opened) fold.open = false;
  opened = [];
  const root = document.documentElement;
  root.classList.remove("printing");
  if (theme === undefined) delete root.dataset.theme;
  else root.dataset.theme = theme;
}

/** Listens from now on; called once, before anything is drawn. */
export function preparePrinting(): void {
  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", restore);
}
