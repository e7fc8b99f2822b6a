// page.mjs REPORT.html: how long a report takes to be seen, and to follow a selection, in Chromium.
//
// First paint is the browser's own first-contentful-paint, from the start of the navigation, of a file
// that the system has in its cache. A selection is from the release of the pointer to the frame that
// shows what follows from it, as the Event Timing API has it (in steps of 8 ms, 16 at least).
import { pathToFileURL } from "node:url";
import { chromium } from "@playwright/test";

const LOADS = 7;
const SELECTIONS = 5;

const [report] = process.argv.slice(2);
if (report === undefined) {
  console.error("usage: node bench/page.mjs REPORT.html");
  process.exit(2);
}

/** Paint times of the page, and when its numbers stood. */
async function load(page) {
  await page.goto(pathToFileURL(report).href);
  await page.waitForSelector("main canvas", { state: "attached" });
  return page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    return { first: paint?.startTime ?? Number.NaN, charts: performance.now() };
  });
}

/** Drags one window after the other, and gives the time of each release of the pointer. */
async function select(page) {
  await page.evaluate(() => {
    window.releases = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.name === "pointerup") window.releases.push(entry.duration);
      }
    }).observe({ type: "event", durationThreshold: 16 });
  });
  const plot = page.getByRole("slider").first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const y = box.y + 20;
  for (let turn = 0; turn < SELECTIONS; turn++) {
    const from = box.x + box.width * (0.1 + 0.1 * turn);
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(from + box.width * 0.2, y, { steps: 3 });
    await page.mouse.up();
    await page.waitForTimeout(700);
  }
  const releases = await page.evaluate(() => window.releases);
  // One that took less than the least is not told.
  while (releases.length < SELECTIONS) releases.push(16);
  return releases;
}

function spread(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const ms = (value) => `${value.toFixed(0)} ms`;
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `${ms(middle)} (${ms(sorted[0])} to ${ms(sorted[sorted.length - 1])}, ${sorted.length} times)`;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
});
const first = [];
const charts = [];
const selections = [];
for (let turn = 0; turn < LOADS; turn++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const times = await load(page);
  first.push(times.first);
  charts.push(times.charts);
  if (turn < 3) selections.push(...(await select(page)));
  await context.close();
}
await browser.close();
console.log(`page: first paint ${spread(first)}`);
console.log(`page: charts stand after ${spread(charts)}`);
console.log(`page: selection ${spread(selections)}`);
