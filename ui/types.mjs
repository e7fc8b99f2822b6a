// Types of the page's data, out of the schema that the program documents. `--check` only compares.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const out = new URL("src/data/page.gen.ts", import.meta.url);
const schema = JSON.parse(
  await readFile(new URL("../docs/page.schema.json", import.meta.url), "utf8"),
);
// A reference with a text beside it would become a type of its own.
const bare = (node) => {
  if (node === null || typeof node !== "object") return;
  if ("$ref" in node) delete node.description;
  for (const inner of Object.values(node)) bare(inner);
};
bare(schema);
const bannerComment =
  "// Made by `npm run types` from docs/page.schema.json: change crates/model/src/page.rs instead.";
const made = await compile(schema, "Page", { bannerComment, additionalProperties: false });
if (process.argv.includes("--check")) {
  if ((await readFile(out, "utf8")) !== made) {
    console.error("src/data/page.gen.ts is not what docs/page.schema.json says: npm run types");
    process.exit(1);
  }
} else {
  await writeFile(out, made);
}
