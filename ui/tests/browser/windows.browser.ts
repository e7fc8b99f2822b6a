// A selected window: chosen with keys or pointer, all numbers follow, and they are the engine's.

import type { Page } from "@playwright/test";
import { unpacked } from "../../src/data/bytes";
import { duration, percent, rate } from "../../src/data/format";
import type { Page as Data } from "../../src/data/page.gen";
import { binAt, type Edges } from "../../src/data/series";
import { decodeEdges } from "../../src/data/tables";
import { beside, dataOf, expect, NAMES, open, test } from "./pages";

/** What `explain --from --to --json` said of a window; of its pressure, threads and CPUs the parts. */
interface Said {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly throughput: number | null;
  readonly latency_ns: number | null;
  readonly pressure: readonly {
    readonly kind: string;
    readonly column: string;
    readonly share: number;
  }[];
  readonly target: { readonly on_cpu_ns: number; readonly cpu_wait_ns: number } | null;
  readonly cpus: { readonly steal_ns: number };
}

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

function block(name: string, id: string): string {
  return new RegExp(`id="${id}">([^<]*)<`).exec(dataOf(name))?.[1] ?? "";
}

async function edgesOf(name: string): Promise<Edges> {
  return { all: decodeEdges(await unpacked(block(name, "block-0"))), stride: 1 };
}

/** Selects the bins from one to another with keys alone. */
async function selectBins(page: Page, first: number, last: number): Promise<void> {
  await page.getByRole("slider").first().focus();
  await page.keyboard.press("Home");
  const walk = async (bins: number, held: string) => {
    for (let page10 = 0; page10 < Math.floor(bins / 10); page10++)
      await page.keyboard.press(`${held}PageDown`);
    for (let bin = 0; bin < bins % 10; bin++) await page.keyboard.press(`${held}ArrowRight`);
  };
  await walk(first, "");
  await walk(last - first, "Shift+");
  await page.keyboard.press("Enter");
}

/** A window's numbers by the names that they have on the page. */
function expected(said: Said, { report, entities }: Data): Record<string, string> {
  const unit = report.workload?.load.rate_unit ?? "per second";
  const cpus = entities.filter(({ kind }) => kind === "cpu").length;
  const numbers: Record<string, string> = {};
  // What only the kernel counted has a lane of its own, and no place in the bar.
  const hasSignal = report.workload != null;
  if (hasSignal && said.throughput !== null)
    numbers.throughput = `${rate(said.throughput)} ${unit}`;
  if (hasSignal && said.latency_ns !== null) numbers.latency = duration(said.latency_ns);
  for (const { kind, column, share } of said.pressure) {
    const words = column.replace(/_ns$/, "").replace("_", "-");
    if (kind === "machine") numbers[`machine-${words}`] = percent(share);
    else if (words === "cpu-some") numbers["group-cpu-some"] = percent(share);
  }
  const length = said.to_ns - said.from_ns;
  if (said.target) {
    numbers["target-on-cpu"] = rate(said.target.on_cpu_ns / length);
    numbers["target-cpu-wait"] = rate(said.target.cpu_wait_ns / length);
  }
  numbers["cpu-steal"] = percent(said.cpus.steal_ns / (cpus * length));
  return numbers;
}

for (const name of NAMES) {
  const text = beside(`${name}.windows.json`);
  // The counters of the hostile recording jump: what they add up to is no measure.
  if (text === undefined || name === "hostile") continue;
  test(`windows of ${name} have the numbers of explain`, async ({ page }) => {
    const data = JSON.parse(block(name, "page")) as Data;
    const edges = await edgesOf(name);
    await open(page, name);
    for (const said of JSON.parse(text) as Said[]) {
      await selectBins(page, binAt(edges, said.from_ns), binAt(edges, said.to_ns - 1));
      const wanted = expected(said, data);
      await expect.poll(() => numbers(page)).toMatchObject(wanted);
      const least = data.report.workload == null ? 9 : 10;
      expect(Object.keys(wanted).length).toBeGreaterThanOrEqual(least);
      await page.keyboard.press("Escape");
    }
  });
}

test("keys select a window, and clear it", async ({ page }) => {
  const [first = ""] = NAMES;
  await open(page, first);
  const before = await numbers(page);
  await selectBins(page, 12, 27);
  await expect.poll(() => numbers(page)).not.toEqual(before);
  await page.keyboard.press("Escape");
  await expect.poll(() => numbers(page)).toEqual(before);
});

test("a window that is dragged changes the numbers", async ({ page }) => {
  const [first = ""] = NAMES;
  await open(page, first);
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

test("what is out of sight follows when there is time, and at once when it comes in sight", async ({
  page,
}) => {
  const [first = ""] = NAMES;
  await open(page, first);
  const who = page.locator("#who p").first();
  const cpus = page.locator("#cpus .summary");
  const before = [await who.textContent(), await cpus.textContent()];
  await selectBins(page, 12, 27);
  await expect(who).not.toHaveText(before[0] ?? "");
  await expect(cpus).not.toHaveText(before[1] ?? "");
  const after = await cpus.textContent();
  await page.keyboard.press("Escape");
  await expect(who).toHaveText(before[0] ?? "");
  await expect(cpus).toHaveText(before[1] ?? "");
  // Nobody has time: it is seen before it was worked out.
  await page.evaluate(() => {
    window.requestIdleCallback = () => 0;
  });
  await selectBins(page, 12, 27);
  await expect(page.locator(".selected")).toBeVisible();
  await expect(cpus).toHaveText(before[1] ?? "");
  await cpus.scrollIntoViewIfNeeded();
  await expect(cpus).toHaveText(after ?? "");
});
