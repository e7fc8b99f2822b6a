// Where time goes: the flame graph of a real recording, with pointer and keys, and one of a million samples.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { duration, integer, percent } from "../../src/data/format";
import type { Page as Page_, StackReport } from "../../src/data/page.gen";
import { million, NODES, SAMPLES } from "../million";
import { beside, dataOf, expect, goto, open, test, written } from "./pages";

const flames = (page: Page) => page.locator("#flames");
const readout = (page: Page) => page.locator(".flame-readout");

interface Said {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly stacks: StackReport;
}

function said(): readonly Said[] {
  return JSON.parse(beside("stacks.windows.json") ?? "[]") as Said[];
}

/** How many different colours a canvas has, about. */
function coloursOf(page: Page): Promise<number> {
  return page.locator(".flame-graph canvas").evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
    const seen = new Set<number>();
    for (let at = 0; at < (data?.length ?? 0); at += 4 * 7)
      seen.add(((data?.[at] ?? 0) << 16) | ((data?.[at + 1] ?? 0) << 8) | (data?.[at + 2] ?? 0));
    return seen.size;
  });
}

test("the page says what its flame graph rests on, as the engine does", async ({ page }) => {
  await open(page, "stacks");
  const [judged] = said();
  if (judged === undefined) throw new Error("the engine said something");
  const { samples, whole, unnamed } = judged.stacks;
  await expect(flames(page)).toContainText(`${integer(samples)} samples`);
  await expect(flames(page)).toContainText(`${percent(whole ?? 0)} of the stacks`);
  await expect(flames(page)).toContainText(`${percent(unnamed)} of the time is in functions`);
  await expect(flames(page)).toContainText("postgres");
  // Process, user space, kernel and without a name, in shades.
  expect(await coloursOf(page)).toBeGreaterThan(8);
});

const draw = (page: Page, kind: "on" | "off" | "both") =>
  flames(page).getByLabel("Time").selectOption(kind);

/** The time of all that is drawn, in words. */
async function whole(page: Page): Promise<string | undefined> {
  await page.locator(".flame-graph").focus();
  return /100 % of the [^:]*: (.*)/.exec(await readout(page).innerText())?.[1];
}

test("the page says what its waits rest on, as the engine does", async ({ page }) => {
  await open(page, "stacks");
  const [judged] = said();
  const waits = judged?.stacks.waits;
  if (!waits) throw new Error("the engine has waits");
  await draw(page, "off");
  await expect(flames(page)).toContainText(`${integer(waits.waits)} waits stand for`);
  await expect(flames(page)).toContainText(duration(waits.needed_ns));
  const error = percent(waits.error_ns / waits.blocked_ns);
  await expect(flames(page)).toContainText(`(sampled, within ${error})`);
  // The recorder traced in on-windows, which the graph scales to all of the time.
  const traced = /traced in (\d+)\s%/.exec(await flames(page).innerText())?.[1];
  const drawn = async () => {
    const [, amount, unit] = /^([\d.]+)\s(s|ms)$/.exec((await whole(page)) ?? "") ?? [];
    return (Number(amount) * (unit === "s" ? 1e9 : 1e6) * Number(traced)) / 100;
  };
  expect((await drawn()) / waits.needed_ns).toBeCloseTo(1, 1);
  await page.getByLabel("waiting for work").check();
  expect((await drawn()) / waits.blocked_ns).toBeCloseTo(1, 1);
});

test("waits are drawn by class, and with what ran", async ({ page }) => {
  await open(page, "stacks");
  const ran = await whole(page);
  await draw(page, "off");
  await expect(readout(page)).toContainText("all that waited");
  await page.fill("#flame-search", "fsync");
  const part = /^([\d.]+ %) of the blocked time/;
  const output = flames(page).locator("output");
  await expect(output).toContainText(part);
  const found = part.exec(await output.innerText())?.[1];
  const classes = flames(page).getByLabel("Waits");
  await expect(classes).toContainText(`fsync, ${found}`);
  await expect(classes).not.toContainText("input");
  await classes.selectOption("sync");
  await expect(output).toContainText("100 % of the blocked time");
  await page.getByLabel("waiting for work").check();
  await classes.selectOption("input");
  await page.getByLabel("waiting for work").uncheck();
  await expect(classes).toHaveValue("");
  await draw(page, "both");
  await expect(readout(page)).toContainText("all that ran or waited");
  await expect(page.locator(".flame-key")).toContainText("futex");
  await draw(page, "on");
  await expect(page.locator(".flame-key")).not.toContainText("futex");
  expect(await whole(page)).toBe(ran);
});

for (const { colorScheme, width } of [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 360 },
] as const) {
  test(`axe finds nothing serious in waits: ${colorScheme}, ${width}`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await open(page, "stacks");
    await draw(page, "both");
    await page.getByLabel("waiting for work").check();
    const { violations } = await new AxeBuilder({ page }).include("#flames").analyze();
    const serious = violations.filter(({ impact }) => /serious|critical/.test(impact ?? ""));
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    expect(await flames(page).evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0);
  });
}

test("a page without call stacks says why, and how to get them", async ({ page }) => {
  await open(page, "cpu-saturated");
  await expect(flames(page)).toContainText("This recording has no call stacks");
  await expect(flames(page).locator("code")).toContainText("--stacks on");
});

test("keys walk the boxes, zoom in and out, and reach the search", async ({ page }) => {
  await open(page, "stacks");
  const graph = page.locator(".flame-graph");
  await graph.focus();
  await expect(readout(page)).toContainText("all that ran 100 %");
  const all = await graph.evaluate((it) => it.clientHeight);
  await page.keyboard.press("ArrowDown");
  await expect(readout(page)).toContainText("postgres");
  await expect(readout(page)).toContainText("process");
  await page.keyboard.press("ArrowLeft");
  await expect(readout(page)).toContainText("pgbench");
  await page.keyboard.press("ArrowRight");
  for (let step = 0; step < 8; step++) await page.keyboard.press("ArrowDown");
  const name = await readout(page).locator("b").innerText();
  await page.keyboard.press("Enter");
  const frame = page.locator(".flame-at");
  const width = async () => (await frame.boundingBox())?.width ?? 0;
  const whole = (await graph.boundingBox())?.width ?? 0;
  await expect.poll(width).toBeCloseTo(whole, 0);
  await expect(readout(page)).toContainText(name);
  await page.keyboard.press("Escape");
  await expect.poll(width).toBeLessThan(whole - 1);
  await expect(readout(page)).toContainText(name);
  expect(await graph.evaluate((it) => it.clientHeight)).toBe(all);
  await page.keyboard.press("/");
  await page.keyboard.type("/^_?bt_/");
  await expect(flames(page).locator("output")).toContainText(/^\d.*% of the CPU time, \d+ found/);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("/(/");
  await expect(flames(page).locator("output")).toHaveText("no expression");
});

test("a click zooms, and the other way round keys turn too", async ({ page }) => {
  await open(page, "stacks");
  const graph = page.locator(".flame-graph");
  await page.getByRole("button", { name: "Draw as flames" }).click();
  await graph.scrollIntoViewIfNeeded();
  const box = await graph.boundingBox();
  if (box === null) throw new Error("the graph is drawn");
  // The second row from below, far to the right: the last process by name is the server.
  await graph.click({ position: { x: box.width * 0.6, y: box.height - 30 } });
  await expect(readout(page)).toContainText("postgres");
  await expect(page.getByRole("button", { name: "Zoom out" })).toBeEnabled();
  await page.keyboard.press("ArrowDown");
  await expect(readout(page)).toContainText("all that ran");
  await page.keyboard.press("ArrowUp");
  await expect(readout(page)).toContainText("postgres");
});

test("a function of the table is searched for", async ({ page }) => {
  await open(page, "stacks");
  const [first] = await page.locator(".flame-functions tbody tr").all();
  const part = await first?.locator("td").last().innerText();
  await first?.getByRole("button").click();
  await expect(flames(page).locator("output")).toContainText(`${part}`);
});

test("the graph follows the window, and is compared with another one", async ({ page }) => {
  await open(page, "stacks");
  const count = async () => /([\d,]+) samples/.exec(await flames(page).innerText())?.[1];
  const judged = await count();
  await page.getByRole("button", { name: "Keep this window to compare" }).click();
  await expect(flames(page)).toContainText("Select another window in any chart");
  const over = page.getByRole("slider").first();
  await over.focus();
  await page.keyboard.press("Home");
  for (let bin = 0; bin < 45; bin++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(flames(page)).toContainText("Grey is what may be chance");
  expect(await count()).not.toBe(judged);
  await expect(readout(page)).toContainText(/of CPU time per (request|second) \(.* against .*\)/);
  await expect(page.locator(".flame-functions")).toContainText("noise");
});

test("waits are compared with those of another window", async ({ page }) => {
  await open(page, "stacks");
  await draw(page, "off");
  await page.getByLabel("Compare with").selectOption("rest");
  const over = page.getByRole("slider").first();
  await over.focus();
  await page.keyboard.press("Home");
  for (let bin = 0; bin < 45; bin++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(flames(page)).toContainText("Grey is what may be chance");
  await expect(readout(page)).toContainText(/of blocked time per (request|second) \(.* against/);
});

/** The page of `stacks` against another run of the same samples, of which half as many requests were answered. */
function against(): string {
  const data = dataOf("stacks");
  const [, json = ""] = /id="page">([^<]*)</.exec(data) ?? [];
  const page = JSON.parse(json) as Page_;
  const bins = Math.ceil((page.window.end - page.window.start) / page.step_ns) + 50;
  const own = page.tables.filter(({ name }) => name === "cpu_sample");
  page.tables.push(...own.map((table) => ({ ...table, name: "against_cpu_sample" })));
  page.against = {
    recording: "before.stall",
    edges_ns: Array.from({ length: bins + 1 }, (_, bin) => bin * page.step_ns),
    requests: Array.from({ length: bins }, () => 2000),
  };
  return data.replace(json, () => JSON.stringify(page));
}

test("the graph is compared with that of another recording at once", async ({ page }) => {
  await goto(page, written("against", against()));
  await expect(page.getByLabel("Compare with")).toHaveValue("run");
  await expect(flames(page)).toContainText("The window less that of before.stall.");
  await expect(flames(page)).toContainText("Grey is what may be chance");
  await expect(readout(page)).toContainText(
    /-[\d.]+ us of CPU time per request \([\d.]+ us against [\d.]+ us\)/,
  );
  await draw(page, "off");
  await expect(flames(page)).toContainText("The other run has no call stacks of that kind.");
});

test("a million samples are drawn and searched", async ({ page }) => {
  test.setTimeout(120_000);
  const address = written("million", million(dataOf("stacks")));
  await goto(page, address);
  await expect(flames(page)).toContainText(`${integer(SAMPLES)} samples`);
  await page.fill("#flame-search", "function_1");
  await expect(flames(page).locator("output")).toContainText("% of the CPU time");
  await page.fill("#flame-search", "server");
  await expect(flames(page).locator("output")).toContainText("100 % of the CPU time, 1 found");
  // What is narrower than a pixel is not drawn, so there is less to draw than there are nodes.
  const rows = (await page.locator(".flame-graph").evaluate((it) => it.clientHeight)) / 20;
  expect(rows).toBeGreaterThan(3);
  expect(rows).toBeLessThan(NODES);
});

test("all spikes are compared with the calm between them, whatever is selected", async ({
  page,
}) => {
  await open(page, "stacks");
  await expect(page.locator("#spikes")).toContainText("Every 2.00 s");
  await page.getByRole("link", { name: "compare all spikes" }).click();
  await expect(flames(page)).toBeInViewport();
  await page.getByLabel("Compare with").selectOption("calm");
  await expect(flames(page)).toContainText("All spikes of the recording against stretches as long");
  await expect(flames(page)).toContainText("of 499 shuffles");
});
