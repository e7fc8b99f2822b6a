// Request times: painted, told where the pointer is, and of any window what the engine counts.

import { duration, integer } from "../../src/data/format";
import { said } from "../fixture";
import { expect, open, test } from "./pages";

const LANE = '[data-lane="request-times"]';

test("request times are a heat under the throughput, with counts where the pointer is", async ({
  page,
}) => {
  await open(page, "requests");
  const lanes = await page
    .locator("#timeline [data-lane]")
    .evaluateAll((all) => all.slice(0, 3).map((lane) => lane.getAttribute("data-lane")));
  expect(lanes).toEqual(["throughput", "request-times", "pressure-cpu"]);
  const lane = page.locator(LANE);
  await lane.scrollIntoViewIfNeeded();
  const shades = await lane.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
    const { width, height } = canvas;
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    const seen = new Set<string>();
    for (let at = 0; at < pixels.length; at += 4) {
      if (pixels[at + 3] === 255) seen.add([...pixels.slice(at, at + 3)].join());
    }
    return seen.size;
  });
  expect(shades, "many and few differ").toBeGreaterThan(5);
  await expect(lane).toContainText("many (log)");
  const box = await lane.locator(".lane-plot").boundingBox();
  if (box === null) throw new Error("the lane is painted");
  const readings = new Set<string>();
  for (let height = 20; height < box.height - 10; height += 6) {
    await page.mouse.move(box.x + box.width / 2, box.y + height);
    readings.add(await lane.locator(".lane-heat").innerText());
  }
  const counted = [...readings].filter((it) => /^[1-9][\d,]* of .* to .* within/.test(it));
  expect(counted.length, [...readings].join("; ")).toBeGreaterThan(1);
});

test("request times of a window are the engine's", async ({ page }) => {
  await open(page, "requests");
  const all = page.locator(".request-times summary");
  const [judged] = said("requests");
  if (!judged?.requests || !judged.calls) throw new Error("they were counted");
  await expect(all).toHaveCount(2);
  await expect(all.first()).toContainText(`${integer(judged.requests.requests)} requests`);
  await expect(all.first()).toContainText(`mean ${duration(judged.requests.mean_ns)}`);
  await expect(all.first()).toContainText("of them timed, sampled at random");
  await expect(all.last()).toContainText(`p50 ${duration(judged.calls.median_ns)}`);
  const rows = page.locator(".request-times details").first().locator("tbody tr");
  await all.first().click();
  expect(await rows.count()).toBeGreaterThan(3);
  const before = await all.first().innerText();
  await page.getByRole("slider").first().focus();
  for (const key of ["Home", "PageDown", "Shift+PageDown", "Enter"]) await page.keyboard.press(key);
  await expect(all.first()).not.toHaveText(before);
});
