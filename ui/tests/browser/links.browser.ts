// Links lead where they say: from the verdict to its evidence, from a column to its chart.

import { dataOf, expect, goto, NAMES, open, test, written } from "./pages";

const [FIRST = ""] = NAMES;

test("the verdict's numbers lead to their evidence", async ({ page }) => {
  await open(page, FIRST);
  const links = page.locator("#verdict a[href^='#evidence-']");
  const count = await links.count();
  expect(count).toBeGreaterThan(0);
  for (let place = 0; place < count; place++) {
    const link = links.nth(place);
    const id = (await link.getAttribute("href")) ?? "";
    await link.click();
    await expect(page.locator(id)).toBeInViewport();
    await expect(page.locator(id)).toContainText((await link.textContent()) ?? "");
    // The chart of it is there, and says from what it was made.
    await expect(page.locator(`${id}-chart`)).toBeAttached();
  }
});

test("an address leads to a number of the verdict", async ({ page }) => {
  await open(page, FIRST, "#evidence-0-1");
  await expect(page.locator("#evidence-0-1")).toBeInViewport();
});

test("an address holds charts, and a change of them", async ({ page }) => {
  const address = written("charts", dataOf(FIRST));
  await goto(page, `${address}#explore?chart=thread.wait_ns&chart=memory.available_bytes`);
  const charts = page.locator("#explore figure");
  await expect(charts).toHaveCount(2);
  await expect(page.locator("#explore h2")).toBeInViewport();
  await page.locator("#explore select").first().selectOption("disk");
  await page.locator("#explore select").last().selectOption("queue_ns");
  await expect(charts.first().locator("h3").first()).toHaveText("disk.queue_ns");
  expect(page.url()).toContain("#explore?chart=disk.queue_ns&chart=memory.available_bytes");
  await charts.last().getByRole("button", { name: "Remove" }).click();
  await expect(charts).toHaveCount(1);
});

test("the dictionary finds a column, and leads to its chart", async ({ page }) => {
  await open(page, FIRST);
  await page.locator("#dictionary input").fill("run-queue delay");
  const found = page.locator("#dictionary tbody tr");
  await expect(found).toHaveCount(1);
  await found.getByRole("link").click();
  await expect(page.locator("#explore figure h3").first()).toHaveText("thread.wait_ns");
});

test("every column of every table has its chart, or says that it has none", async ({ page }) => {
  test.setTimeout(120_000);
  await open(page, FIRST);
  const [table, column] = [0, 1].map((place) => page.locator("#explore select").nth(place));
  if (table === undefined || column === undefined) throw new Error("nothing to choose with");
  for (const name of await table.locator("option").allTextContents()) {
    await table.selectOption(name);
    for (const of of await column.locator("option").allTextContents()) {
      await column.selectOption(of);
      const figure = page.locator("#explore figure").first();
      await expect(figure.locator("h3").first()).toHaveText(`${name}.${of}`);
      await expect(figure.locator("canvas, .muted").nth(1)).toBeAttached();
      await expect(figure).not.toContainText(/NaN|undefined|Infinity/);
    }
  }
});
