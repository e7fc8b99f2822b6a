// Every page opens, says its verdict, fits its window, and prints whole.

import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { dataOf, expect, goto, NAMES, open, test, written } from "./pages";

interface Data {
  readonly tables: readonly {
    readonly name: string;
    readonly block: number;
    readonly columns: readonly { readonly name: string }[];
  }[];
  readonly report: {
    readonly verdict: { readonly findings: readonly { readonly sentence: string }[] };
  };
}

/** The JSON of a page's data. */
function json(name: string): Data {
  const text = /id="page">([^<]*)</.exec(dataOf(name))?.[1] ?? "";
  return JSON.parse(text) as Data;
}

for (const name of NAMES) {
  test(`${name} opens`, async ({ page }) => {
    await open(page, name);
    const [headline] = json(name).report.verdict.findings;
    await expect(page.locator("main")).toContainText(headline?.sentence ?? "no finding");
    for (const id of ["evidence", "explore", "dictionary", "measured"])
      await expect(page.locator(`#${id} h2`)).toBeVisible();
  });

  test(`${name} fits 360 pixels`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open(page, name);
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    // Charts are as wide as their place, once it is known.
    await expect.poll(width).toBeLessThanOrEqual(360);
  });
}

/** Where the first lane of pressure ends; the first screen is 800 pixels high. */
async function pressureEnds(page: Page): Promise<number> {
  const box = await page.locator('[data-lane*="pressure-"]').first().boundingBox();
  return box === null ? Number.NaN : box.y + box.height;
}

test("the first screen of a quota shows the pressure of the target's group", async ({ page }) => {
  await open(page, "cpu-quota");
  await expect(page.locator('[data-lane*="pressure-"] h3').first()).toContainText("limited");
  expect(await pressureEnds(page)).toBeLessThanOrEqual(800);
});

test("a phone has phases in words, names that nothing strikes through, and a bar of one line", async ({
  page,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page, "cpu-quota");
  for (const phase of await page.locator(".phase").all())
    expect((await phase.boundingBox())?.width).toBeGreaterThan(250);
  const over = page.getByRole("slider").first();
  await over.focus();
  await page.keyboard.press("Home");
  for (let bin = 0; bin < 40; bin++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  const bar = page.locator(".selected");
  await expect(bar).toContainText("tps");
  expect((await bar.boundingBox())?.height).toBeLessThanOrEqual(50);
  const name = page.locator('[data-lane="throughput"] h3');
  await name.scrollIntoViewIfNeeded();
  // What is painted where the name stands: the name, though the shade of the window reaches there too.
  const [text, plot] = [await name.boundingBox(), await over.boundingBox()];
  if (text === null || plot === null) throw new Error("the lane has no box");
  const painted = await page.evaluate(
    ([x, y]) => {
      const head = document.querySelector<HTMLElement>('[data-lane="throughput"] .lane-head');
      head?.style.setProperty("pointer-events", "auto");
      return head?.contains(document.elementFromPoint(x ?? 0, y ?? 0));
    },
    [plot.x + 30, text.y + 8],
  );
  expect(painted).toBe(true);
});

/** Pages of other recordings: `scripts/ui.sh` has those of the lab made where the program is built. */
const FOLDER = process.env.STALLSCOPE_PAGES;
const OTHERS = FOLDER === undefined ? [] : readdirSync(FOLDER).filter((it) => it.endsWith(".html"));
for (const file of OTHERS) {
  test(`the lab's ${file} opens`, async ({ page }) => {
    // In the program as it is now: the one that made the page may hold an older one.
    const whole = readFileSync(`${FOLDER}/${file}`, "utf8");
    const data = whole.slice(whole.indexOf('<script type="application/json" id="page">'));
    await goto(page, written(`lab-${file}`, data.slice(0, data.lastIndexOf("</script>") + 9)));
    await expect(page.locator("#evidence h3").first()).not.toBeEmpty();
    expect(await pressureEnds(page)).toBeLessThanOrEqual(800);
  });
}

const [FIRST = ""] = NAMES;

test("a file that was cut off says so", async ({ page }) => {
  await page.goto(written("cut-off", dataOf(FIRST).slice(0, 2000)));
  await expect(page.locator("#root")).toContainText("cannot be shown");
});

test("a file that was cut in a late block shows the rest, and says what is missing", async ({
  page,
}) => {
  const data = dataOf(FIRST);
  const tables = json(FIRST).tables.toSorted((a, b) => a.block - b.block);
  const disk = tables.findIndex(({ name }) => name === "disk");
  const [before, after] = [tables[disk - 1]?.name, tables[tables.length - 1]];
  expect(before).toBeDefined();
  const cut = data.indexOf(`id="block-${tables[disk]?.block}">`) + 200;
  const column = `${after?.name}.${after?.columns[0]?.name}`;
  await page.goto(`${written("cut-late", data.slice(0, cut))}#explore?chart=${column}`);
  const damaged = (table: string | undefined) =>
    page.getByText(`This cannot be shown: the table ${table} of this file is damaged`);
  // The one that the cut goes through, and one of which nothing is there.
  await expect(page.locator("#disks").getByText("the table disk of this file")).toBeVisible();
  await expect(page.locator("#explore").getByRole("alert")).toContainText(`${after?.name}`);
  await expect(damaged(after?.name).last()).toContainText("stallscope report");
  // The verdict and what stands before the cut are as they were.
  const [headline] = json(FIRST).report.verdict.findings;
  await expect(page.locator("main")).toContainText(headline?.sentence ?? "no finding");
  await expect(page.locator("#cpus canvas").first()).toBeAttached();
  await expect(page.locator("#cpus").getByRole("alert")).toHaveCount(0);
  await expect(page.getByText("Unpacking the recording")).toHaveCount(0);
  // Lanes stand of what can be read.
  await expect(page.locator("#timeline").getByText("the table disk of this file")).toBeVisible();
  await expect(page.locator("#timeline canvas").first()).toBeAttached();
});

test("prints whole", async ({ page }) => {
  await open(page, FIRST);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  // What is folded on the screen stands on paper.
  const findings = json(FIRST).report.verdict.findings;
  for (const { sentence } of findings)
    await expect(page.locator("#evidence").getByText(sentence).last()).toBeVisible();
  await expect(page.locator("#who .parts-bar").first()).toBeVisible();
  const stuck = await page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((element) => ["sticky", "fixed"].includes(getComputedStyle(element).position))
      .map((element) => element.className),
  );
  expect(stuck).toEqual([]);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll("main *")]
      .filter((element) => {
        const { overflowY, overflowX } = getComputedStyle(element);
        return (
          /auto|scroll/.test(overflowX + overflowY) && element.scrollWidth > element.clientWidth
        );
      })
      .map((element) => element.className),
  );
  expect(cut).toEqual([]);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(1280);
});
