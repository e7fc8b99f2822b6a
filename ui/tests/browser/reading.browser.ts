// Who reads with a screen reader, with keys alone, in the dark, or on a phone.

import AxeBuilder from "@axe-core/playwright";
import { expect, NAMES, open, test, unfold } from "./pages";

const [FIRST = ""] = NAMES;
const GAPS = NAMES.find((name) => name === "gaps") ?? FIRST;

const SEEN = [
  { name: FIRST, colorScheme: "light", width: 1280 },
  { name: FIRST, colorScheme: "dark", width: 360 },
  { name: GAPS, colorScheme: "light", width: 1280 },
  { name: "requests", colorScheme: "dark", width: 1280 },
  { name: "stacks", colorScheme: "light", width: 1280 },
  { name: "stacks", colorScheme: "dark", width: 360 },
  { name: "machine", colorScheme: "light", width: 1280 },
  { name: "machine", colorScheme: "dark", width: 360 },
] as const;

for (const { name, colorScheme, width } of SEEN) {
  test(`axe finds nothing serious: ${name}, ${colorScheme}, ${width}`, async ({ page }) => {
    // Looking at the contrast of everything takes its time on a busy machine.
    test.setTimeout(120_000);
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await open(page, name);
    await unfold(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} and ${nodes.length - 1} more`);
    expect(found).toEqual([]);
  });
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
