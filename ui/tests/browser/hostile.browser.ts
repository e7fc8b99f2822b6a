// Names come from elsewhere: whatever they hold is text.

import { dataOf, expect, goto, NAMES, test, unfold, written } from "./pages";

const HOSTILE = [
  "<script>window.ran = 1; alert(1)</script>",
  "<img src=x onerror='window.ran = 1'>",
  '"><svg onload="window.ran = 1">',
  "javascript:window.ran=1",
  "</script><script>window.ran = 1</script><!--",
  "{{constructor.constructor('window.ran = 1')()}}",
  "\u202egnp.exe \u0000 & <b>bold</b>",
];

/** Fields that hold what people, programs or kernels named. */
const NAMED = new Set([
  "name",
  "path",
  "sentence",
  "label",
  "note",
  "text",
  "help",
  "source",
  "detail",
  "what",
  "recording",
  "node",
  "to_confirm",
  "change",
  "because",
  "found_by",
  "unit_name",
  "message",
  "priority",
  "since",
]);
/** Of tables and columns, what no other part of the page looks for. */
const DESCRIBED = new Set(["help", "source", "since"]);

/** Lists of names. */
const LISTS = [
  "evidence_against",
  "not_collected",
  "notices",
  "remarks",
  "command",
  "would_not_help",
];

/** All names replaced, in turn. Tables keep theirs, so that there is something to draw, and have doubles
    whose own and whose columns' names are hostile too. */
function hostile(data: string): string {
  let turn = 0;
  const next = () => HOSTILE[turn++ % HOSTILE.length] ?? "";
  const visit = (value: unknown, key: string, named: ReadonlySet<string>): unknown => {
    if (key === "tables" && Array.isArray(value)) {
      const described = value.map((table) => visit(table, "", DESCRIBED));
      return [...described, ...described.slice(0, 3).map((table) => visit(table, "", NAMED))];
    }
    if (typeof value === "string") return named.has(key) ? next() : value;
    if (Array.isArray(value))
      return value.map((inner) => (LISTS.includes(key) ? next() : visit(inner, "", named)));
    if (value === null || typeof value !== "object") return value;
    if (key === "environment")
      return Object.fromEntries(HOSTILE.map((text) => [`${text}.x`, next()]));
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, visit(inner, name, named)]),
    );
  };
  return data.replace(
    /(id="page">)([^<]*)(<)/,
    (_, before: string, text: string, after: string) => {
      const changed = JSON.stringify(visit(JSON.parse(text), "", NAMED));
      return before + changed.replaceAll("<", "\\u003c") + after;
    },
  );
}

for (const name of NAMES.slice(0, 2)) {
  test(`hostile names in ${name} are text`, async ({ page }) => {
    await goto(page, written(`hostile-${name}`, hostile(dataOf(name))));
    await unfold(page);
    await expect(page.locator("#evidence")).toContainText(HOSTILE[0] ?? "");
    // A table whose name, description and columns come from elsewhere, chosen and drawn.
    const tables = page.locator(".picker select").first();
    const last = (await tables.locator("option").count()) - 1;
    await tables.selectOption({ index: last });
    const chart = page.locator("#explore figure").first();
    await expect(chart.locator("canvas")).toBeAttached();
    const title = (await chart.locator("h3").first().textContent()) ?? "";
    // What would turn or end a line is shown as a replacement character.
    const shown = HOSTILE.map((text) =>
      text.replace("\u0000", "\ufffd").replace("\u202e", "\ufffd"),
    );
    expect(shown.some((text) => title.startsWith(`${text}.`))).toBe(true);
    await expect(page.locator("#dictionary")).toContainText(title.slice(0, title.indexOf(".")));
    expect(await page.evaluate(() => "ran" in window)).toBe(false);
    const made = await page.evaluate(
      () =>
        document.querySelectorAll("#root :is(script, img, iframe, object, [onload], b > b)").length,
    );
    expect(made).toBe(0);
    const links = await page.evaluate(() =>
      [...document.querySelectorAll("a")].map((link) => link.protocol),
    );
    expect(links.filter((protocol) => !/^(file|https?):$/.test(protocol))).toEqual([]);
  });
}

const GARBAGE = [
  "#explore?chart=cpu.user_ns@999999,-1,NaN",
  "#explore?chart=%",
  "#explore?chart=__proto__.constructor@1&chart=pressure.cpu_some_ns@0",
  `#explore?${"chart=cpu.user_ns&".repeat(500)}`,
  "#evidence-99-99",
  "#<img src=x onerror=alert(1)>",
];
for (const [index, fragment] of GARBAGE.entries()) {
  test(`a garbage address is no harm, ${index + 1}`, async ({ page }) => {
    const [first = ""] = NAMES;
    await goto(page, written(`garbage-${index}`, dataOf(first)) + fragment);
    await expect(page.locator("#explore figure").first()).toBeVisible();
    expect(await page.locator("#explore figure").count()).toBeLessThanOrEqual(12);
  });
}
