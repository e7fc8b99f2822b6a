// A selected window: chosen with keys or pointer, all numbers follow, and they are the engine's.

import type { Page } from "@playwright/test";
import { expect, NAMES, open, test } from "./pages";

const [FIRST = ""] = NAMES;

/** Every number of the page that has a name. */
async function numbers(page: Page): Promise<Record<string, string>> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>("[data-number]")].map((element) => [
        element.dataset.number ?? "",
        element.textContent ?? "",
      ]),
    ),
  );
}

test("keys select a window, and clear it", async ({ page }) => {
  await open(page, FIRST);
  const before = await numbers(page);
  await page.getByRole("slider").first().focus();
  await page.keyboard.press("Home");
  for (let press = 0; press < 12; press++) await page.keyboard.press("ArrowRight");
  for (let press = 0; press < 15; press++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => numbers(page)).not.toEqual(before);
  await page.keyboard.press("Escape");
  await expect.poll(() => numbers(page)).toEqual(before);
});

test("a window that is dragged changes the numbers", async ({ page }) => {
  await open(page, FIRST);
  const before = await numbers(page);
  const plot = page.getByRole("slider").first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (box === null) throw new Error("the timeline has no box");
  const y = box.y + Math.min(40, box.height / 2);
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => numbers(page)).not.toEqual(before);
});
