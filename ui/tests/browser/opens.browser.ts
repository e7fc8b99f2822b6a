// Every page opens, says its verdict, fits its window, and prints whole.

import { readdirSync, readFileSync } from "node:fs";
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
