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
    for (const heading of await page.locator("main > section > h2").all())
      await expect(heading).toBeVisible();
  });

  test(`${name} fits 360 pixels`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open(page, name);
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    // Charts are as wide as their place, once it is known.
    await expect.poll(width).toBeLessThanOrEqual(360);
  });
}

test("a chart of more points than pixels is painted", async ({ page }) => {
  await open(page, "step-change");
  await page.setViewportSize({ width: 120, height: 740 });
  // The page's errors would fail it.
  await expect
    .poll(() =>
      page
        .locator("#timeline canvas")
        .first()
        .evaluate((it) => it.clientWidth),
    )
    .toBeLessThan(120);
});

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

/** Tables that the page's parts are made of, one or two of each. */
const USED = ["ledger", "cpu", "paging", "network", "cgroup_pressure", "recorder"];

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
    page.getByText(`The table ${table} cannot be shown: it is damaged in this file`);
  // The one that the cut goes through, and one of which nothing is there.
  await expect(page.locator("#disks").getByText("The table disk cannot be shown")).toBeVisible();
  await expect(page.locator("#explore").getByRole("alert")).toContainText(`${after?.name}`);
  await expect(damaged(after?.name).last()).toContainText("stallscope report");
  // The verdict and what stands before the cut are as they were.
  const [headline] = json(FIRST).report.verdict.findings;
  await expect(page.locator("main")).toContainText(headline?.sentence ?? "no finding");
  await expect(page.locator("#cpus canvas").first()).toBeAttached();
  await expect(page.locator("#cpus").getByRole("alert")).toHaveCount(0);
  await expect(page.getByText("Unpacking the recording")).toHaveCount(0);
  // Lanes stand of what can be read.
  await expect(page.locator("#timeline").getByText("The table disk cannot be shown")).toBeVisible();
  await expect(page.locator("#timeline canvas").first()).toBeAttached();
});

test("any one table may be damaged: its place says so, and every section stands", async ({
  page,
}) => {
  test.setTimeout(120_000);
  const data = dataOf(FIRST);
  for (const name of USED) {
    const block = json(FIRST).tables.find((table) => table.name === name)?.block;
    const start = data.indexOf(`id="block-${block}">`) + `id="block-${block}">`.length;
    const cut = `${data.slice(0, start)}${data.slice(start, start + 40)}${data.slice(data.indexOf("<", start))}`;
    // The same file again would only be another place of the page that is open.
    await page.goto("about:blank");
    await goto(page, `${written("damaged", cut)}#explore?chart=${name}.x`);
    const said = page.getByText(`The table ${name} cannot be shown: it is damaged in this file`);
    await expect(said.first(), name).toBeAttached({ timeout: 30_000 });
    for (const id of ["timeline", "who", "resources", "evidence", "explore", "measured"]) {
      const section = page.locator(`#${id}`);
      await expect(section, `${id} without ${name}`).not.toContainText(/Unpacking|Reading the/, {
        timeout: 30_000,
      });
      expect((await section.innerText()).length, `${id} without ${name}`).toBeGreaterThan(200);
    }
  }
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
  // What is wider than A4 between its margins shrinks everything; and canvases are made smaller by whole
  // 64ths only, so that at any other size curves stand beside their axis.
  const paper = page.locator(".page");
  expect((await paper.boundingBox())?.width).toBeLessThanOrEqual((186 / 25.4) * 96);
  const zoom = await paper.evaluate((element) => Number(getComputedStyle(element).zoom));
  expect(zoom).toBeLessThan(1);
  expect(zoom * 64).toBe(Math.round(zoom * 64));
});

test("a window that was just selected is on paper, in all sections", async ({ page }) => {
  await open(page, FIRST);
  const who = page.locator("#who p").first();
  const cpus = page.locator("#cpus .summary");
  const before = [await who.textContent(), await cpus.textContent()];
  // Nobody has time for what is out of sight.
  await page.evaluate(() => {
    window.requestIdleCallback = () => 0;
  });
  const over = page.getByRole("slider").first();
  await over.focus();
  await page.keyboard.press("Home");
  for (let bin = 0; bin < 20; bin++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page.locator(".selected")).toBeVisible();
  expect([await who.textContent(), await cpus.textContent()]).toEqual(before);
  const printed = await page.evaluate(async () => {
    dispatchEvent(new Event("beforeprint"));
    // What a listener changed is drawn before the browser goes on, as it does when it prints.
    await Promise.resolve();
    await new Promise((done) => setTimeout(done));
    const text = (query: string) => document.querySelector(query)?.textContent;
    return [text("#who p"), text("#cpus .summary")];
  });
  expect(printed[0]).not.toBe(before[0]);
  expect(printed[1]).not.toBe(before[1]);
});
