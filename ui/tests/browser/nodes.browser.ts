// The page of several nodes has a program of its own, a few lines: times in the reader's zone, or in UTC.

import { fileURLToPath, pathToFileURL } from "node:url";
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./pages";

const SAMPLE = new URL("../../../docs/sample/three-nodes.html", import.meta.url);
const ADDRESS = pathToFileURL(fileURLToPath(SAMPLE)).href;

test.describe("a reader in Japan", () => {
  test.use({ timezoneId: "Asia/Tokyo" });

  test("every time is shown in UTC, or as the reader's clock has it", async ({ page }) => {
    await page.goto(ADDRESS);
    const times = page.locator("[data-at]");
    const shown = () => times.allTextContents();
    const utc = await shown();
    expect(utc.length).toBeGreaterThan(5);
    const zone = page.getByLabel("Zone of times");
    await zone.selectOption("Asia/Tokyo");
    const own = await shown();
    await expect(page.getByRole("heading", { level: 1 })).toContainText("Asia/Tokyo");
    const places = await times.evaluateAll((all) =>
      all.map((it) => [it.getAttribute("data-at"), it.getAttribute("data-as")]),
    );
    for (const [place, [at, as]] of places.entries()) {
      const [from, to] = { full: [0, 19], minute: [5, 16], time: [11, 19] }[String(as)] ?? [0, 0];
      const moved = (ms: number) =>
        new Date(Number(at) + ms).toISOString().replace("T", " ").slice(from, to);
      expect(utc[place]).toBe(moved(0));
      // Nine hours ahead, all year.
      expect(own[place]).toBe(moved(9 * 3_600_000));
    }
    await zone.selectOption("UTC");
    expect(await shown()).toEqual(utc);
  });
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious on the page of several nodes: ${colorScheme}`, async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(ADDRESS);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });
}
