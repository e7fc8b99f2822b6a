// The statements of a database server: a bar for each, rare ones with their times, and who held locks.

import { expect, open, test } from "./pages";

test("statements have a bar each as long as their time, the first ten at once", async ({
  page,
}) => {
  await open(page, "requests");
  const section = page.locator("#statements");
  const table = section.getByRole("table", { name: "Statements with most time" });
  const rows = table.locator("tbody tr");
  await expect(rows).toHaveCount(10);
  await expect(rows.first()).toContainText("UPDATE accounts SET balance = balance + ?");
  const bar = rows.first().getByRole("img");
  await expect(bar).toHaveAccessibleName(
    /^13 % on a CPU, 10 % waiting for a CPU, 27 % fsync, 50 %/,
  );
  const [longest, next] = await rows
    .locator(".statement-bar")
    .evaluateAll((bars) => bars.map((it) => it.getBoundingClientRect().width));
  expect((next ?? 0) / (longest ?? 1)).toBeCloseTo(590 / 800, 1);
  await section.getByText("3 more").click();
  await expect(section.getByRole("table", { name: "Other statements" })).toBeVisible();
  await expect(section).toContainText("<script>alert(1)</script>");
});

test("rare statements have their times, and locks their holders", async ({ page }) => {
  await open(page, "requests");
  const section = page.locator("#statements");
  const rare = section.getByRole("table", { name: /^Rare statements/ });
  await expect(rare).toContainText("GRANT SELECT ON accounts TO somebody");
  await expect(rare).toContainText("more");
  const locks = section.getByRole("table", { name: /^Sessions that held locks/ });
  await expect(locks.locator("tbody tr")).toHaveCount(2);
  await expect(locks).toContainText("idle in transaction, last: UPDATE accounts");
  await expect(locks).toContainText("blocks: UPDATE accounts");
});
