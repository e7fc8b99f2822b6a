// A recording of the whole machine: everybody in a table above the verdict, and what servers report.

import { dataOf, expect, NAMES, open, test } from "./pages";

interface Unit {
  readonly name: string;
  readonly target: string;
  readonly lost_per_second: number;
  readonly signals: readonly { readonly name: string; readonly mean?: number | null }[];
  readonly verdict?: { readonly findings: readonly { readonly sentence: string }[] } | null;
}

/** The units of the kept page. */
function units(): readonly Unit[] {
  const text = /id="page">([^<]*)</.exec(dataOf("machine"))?.[1] ?? "";
  return JSON.parse(text).report.machine.units as Unit[];
}

const names = (all: readonly Unit[]) => all.map(({ name }) => name);

test("everybody stands above the verdict, by the time lost, with the verdict on each", async ({
  page,
}) => {
  await open(page, "machine");
  const machine = page.locator("#machine");
  const all = units();
  expect(all.length).toBeGreaterThan(4);
  await expect(machine.locator(".member-name")).toHaveText(names(all));
  for (const { verdict } of all) {
    const sentence = verdict?.findings[0]?.sentence;
    if (sentence)
      await expect(machine).toContainText(sentence.replace(/(\d) (?=[%smu])/g, "$1\u00a0"));
  }
  const [above, below] = [
    await machine.boundingBox(),
    await page.locator("#verdict").boundingBox(),
  ];
  expect((above?.y ?? Number.NaN) + (above?.height ?? Number.NaN)).toBeLessThanOrEqual(
    below?.y ?? 0,
  );
  // The verdict below is on the first of them, and says so.
  await expect(page.locator("#verdict")).toContainText(all[0]?.name ?? "nobody");
  await expect(page.locator("header nav a").first()).toHaveAttribute("href", "#machine");
});

test("keys sort it, and unfold a row", async ({ page }) => {
  await open(page, "machine");
  const machine = page.locator("#machine");
  const column = machine.locator("thead th", { hasText: "Requests/s" });
  await expect(column).toHaveAttribute("aria-sort", "none");
  await column.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(column).toHaveAttribute("aria-sort", "descending");
  const asked = ({ signals }: Unit) => signals.find(({ name }) => name === "throughput")?.mean ?? 0;
  const served = units().filter((unit) => asked(unit) > 0);
  const sorted = names(served.toSorted((a, b) => asked(b) - asked(a)));
  expect((await machine.locator(".member-name").allTextContents()).slice(0, sorted.length)).toEqual(
    sorted,
  );
  await page.keyboard.press("Enter");
  await expect(column).toHaveAttribute("aria-sort", "ascending");
  const row = machine.locator(".fold").first();
  await row.focus();
  await page.keyboard.press("ArrowRight");
  await expect(row).toHaveAttribute("aria-expanded", "true");
  const [first] = served.toSorted((a, b) => asked(a) - asked(b));
  await expect(machine.locator(".tree-detail code").last()).toContainText(
    `stallscope record --for 30s --target ${first?.target}`,
  );
  await page.keyboard.press("ArrowLeft");
  await expect(machine.locator(".tree-detail")).toHaveCount(0);
});

test("a selected window leaves the ranking as it is", async ({ page }) => {
  await open(page, "machine");
  const before = await page.locator("#machine").innerText();
  const over = page.locator("#timeline").getByRole("slider").first();
  await over.focus();
  await page.keyboard.press("Home");
  for (let bin = 0; bin < 20; bin++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page.locator(".selected")).toBeVisible();
  expect(await page.locator("#machine").innerText()).toBe(before);
});

const SERVERS = ["mysql", "pgbouncer", "redis", "jvm", "scraped"];

test("what servers report has charts with numbers", async ({ page }) => {
  await open(page, "machine");
  for (const id of SERVERS) {
    const card = page.locator(`#${id}`);
    await card.scrollIntoViewIfNeeded();
    await expect(card.locator("canvas").first(), id).toBeAttached();
    await expect(card.locator(".lane-value").first(), id).toHaveText(/\d/);
    await expect(card, id).not.toContainText(/NaN|undefined|Infinity/);
  }
  await expect(page.locator("#mysql")).toContainText("waiting for a row lock");
  await expect(page.locator("#mysql summary")).toContainText("sessions");
});

test("other recordings have neither", async ({ page }) => {
  const other = NAMES.find((name) => name !== "machine") ?? "";
  await open(page, other);
  for (const id of ["machine", ...SERVERS.slice(0, -1)])
    await expect(page.locator(`#${id}`), id).toHaveCount(0);
});
