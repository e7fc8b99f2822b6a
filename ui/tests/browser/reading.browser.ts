// Who reads with a screen reader, with keys alone, in the dark, or on a phone.

import AxeBuilder from "@axe-core/playwright";
import { expect, NAMES, open, test, unfold } from "./pages";

const [FIRST = "", SECOND = FIRST] = NAMES;

for (const name of [FIRST, SECOND]) {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1280, 360]) {
      test(`axe finds nothing serious: ${name}, ${colorScheme}, ${width}`, async ({ page }) => {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        await open(page, name);
        await unfold(page);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(
          ({ impact }) => impact === "serious" || impact === "critical",
        );
        expect(
          serious.map(
            ({ id, nodes }) =>
              `${id}: ${nodes
                .map((node) => node.html)
                .slice(0, 3)
                .join(" ")}`,
          ),
        ).toEqual([]);
      });
    }
  }
}

test("keys reach everything", async ({ page }) => {
  await open(page, FIRST);
  const all = await page.evaluate(() => {
    const wanted = [
      ...document.querySelectorAll<HTMLElement>(
        "main :is(a[href], button, input, select, textarea, summary, [tabindex='0'])",
      ),
    ].filter(
      (element) =>
        element.checkVisibility({ visibilityProperty: true }) &&
        !(element as HTMLButtonElement).disabled &&
        element.tabIndex >= 0,
    );
    for (const [index, element] of wanted.entries()) element.dataset.reached = String(index);
    return wanted.length;
  });
  const reached = new Set<string>();
  for (let presses = 0; presses < all + 20 && reached.size < all; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const shown = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
      return { place: element.dataset.reached, shown, html: element.outerHTML.slice(0, 120) };
    });
    if (focused.place === undefined) continue;
    reached.add(focused.place);
    expect(focused.shown, focused.html).toBe(true);
  }
  expect(reached.size).toBe(all);
});
