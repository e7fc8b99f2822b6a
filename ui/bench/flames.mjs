// flames.mjs REPORT.html: how long a flame graph takes to open, to be searched, to zoom and to follow a window, in
// Chromium. `npx playwright test flames` leaves a page of a million samples in target/ui/pages/million.html.
//
// Opening is from the start of the navigation to the frame in which the graph is painted, beside that of everything
// else; the others are from the input to the frame that shows what follows from it.
import { pathToFileURL } from "node:url";
import { chromium } from "@playwright/test";

const LOADS = 7;
const SEARCHES = ["function_1", "server", "/Type1.*_9$/", "zzz", "module_7", "f"];

const [report] = process.argv.slice(2);
if (report === undefined) {
  console.error("usage: node bench/flames.mjs REPORT.html");
  process.exit(2);
}

/** When the first lane of the page and the graph were painted, ms after the start of the navigation. */
async function load(page) {
  await page.addInitScript(() => {
    const seen = { charts: 0, graph: 0 };
    window.painted = seen;
    const look = () => {
      if (seen.charts === 0 && document.querySelector("main .lanes canvas"))
        seen.charts = performance.now();
      if (document.querySelector(".flame-graph canvas")?.height > 40)
        seen.graph = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(pathToFileURL(report).href);
  await page.waitForFunction(() => window.painted.graph > 0, undefined, { timeout: 60_000 });
  return page.evaluate(() => window.painted);
}

/** From an input to the end of the frame that it changes. */
async function after(page, query, act) {
  await page.locator(query).first().scrollIntoViewIfNeeded();
  return page.evaluate(
    async ([query, act]) => {
      const element = document.querySelector(query);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const start = performance.now();
      if (act.text !== undefined) {
        element.value = act.text;
        element.dispatchEvent(new InputEvent("input", { bubbles: true }));
      } else element.dispatchEvent(new KeyboardEvent("keydown", { key: act.key, bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - start;
    },
    [query, act],
  );
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
const times = { charts: [], graph: [], search: [], zoom: [] };
let about = "";
for (let turn = 0; turn < LOADS; turn++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const painted = await load(page);
  times.charts.push(painted.charts);
  times.graph.push(painted.graph);
  about = await page.locator("#flames p").first().innerText();
  for (const text of SEARCHES) times.search.push(await after(page, "#flame-search", { text }));
  await after(page, "#flame-search", { text: "" });
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"])
    await after(page, ".flame-graph", { key });
  for (const key of ["Enter", "Escape"])
    times.zoom.push(await after(page, ".flame-graph", { key }));
  await context.close();
}
await browser.close();
console.log(`flames: ${about}`);
console.log(`flames: the page's first chart stands after ${spread(times.charts)}`);
console.log(`flames: the graph stands after ${spread(times.graph)}`);
console.log(`flames: search ${spread(times.search)}`);
console.log(`flames: zoom ${spread(times.zoom)}`);
