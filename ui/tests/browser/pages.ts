// Pages as a reader gets them: the built program with the data of a recording in it, opened from a file.
// A test that opens one fails where the page says something on the console, breaks its own policy, or
// asks for anything but the file.

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, type Page, test as plain } from "@playwright/test";

const FIXTURES = new URL("../../fixtures/", import.meta.url);
const PROGRAM = new URL("../../dist/page.html", import.meta.url);
const BUILT = new URL("../../../target/ui/pages/", import.meta.url);
const MARKER = "<!--stallscope:data-->";

/** The recordings whose pages stand beside the sources. */
export const NAMES: readonly string[] = readdirSync(FIXTURES)
  .filter((file) => file.endsWith(".data.html"))
  .map((file) => basename(file, ".data.html"))
  .sort();

/** The data part of a page. */
export function dataOf(name: string): string {
  return readFileSync(new URL(`${name}.data.html`, FIXTURES), "utf8");
}

/** A file of a recording beside its data; `undefined` where there is none. */
export function beside(name: string): string | undefined {
  const files = readdirSync(FIXTURES);
  return files.includes(name) ? readFileSync(new URL(name, FIXTURES), "utf8") : undefined;
}

/** Writes a page, and says where it is. */
export function written(name: string, data: string): string {
  const program = readFileSync(PROGRAM, "utf8");
  if (program.split(MARKER).length !== 2) throw new Error("the built page has not one marker");
  mkdirSync(BUILT, { recursive: true });
  const file = new URL(`${name}.html`, BUILT);
  // Another worker may open the same page just now: it must not meet half of it.
  const whole = new URL(`${name}.${process.pid}`, BUILT);
  // A replacement's text may hold `$&`; a function's result is taken as it is.
  writeFileSync(
    whole,
    program.replace(MARKER, () => data),
  );
  renameSync(whole, file);
  return pathToFileURL(fileURLToPath(file)).href;
}

/** Opens a page and waits until its numbers are there. */
export async function open(page: Page, name: string, fragment = ""): Promise<void> {
  await goto(page, written(name, dataOf(name)) + fragment);
}

/** Opens a written page. */
export async function goto(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expect(page.locator("main section").first()).toBeVisible();
  // Charts stand once their tables are unpacked.
  await expect(page.locator("main canvas").first()).toBeAttached();
}

/** Opens everything that is folded. */
export async function unfold(page: Page): Promise<void> {
  for (const row of await page.locator("#machine .fold").all()) await row.click();
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
}

/** A test that also fails where the page complains, or reaches for anything. */
export const test = plain.extend<{ complaints: string[] }>({
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning")
          complaints.push(`${message.type()}: ${message.text()}`);
      });
      page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
      page.on("dialog", (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        dialog.dismiss();
      });
      page.on("request", (request) => {
        const url = request.url();
        if (!/^(file|data|blob):/.test(url)) complaints.push(`request: ${url}`);
      });
      await page.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) => {
          console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
        });
      });
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };
