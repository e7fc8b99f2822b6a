// Pages that the program wrote, kept beside the sources, for tests.

import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "../src/data/page.gen";
import { Recording } from "../src/data/recording";

const FIXTURES = new URL("../fixtures/", import.meta.url);

/** Their names. */
export function keptNames(): string[] {
  return readdirSync(FIXTURES)
    .filter((file) => file.endsWith(".data.html"))
    .map((file) => file.replace(".data.html", ""))
    .sort();
}

/** A kept page, opened. */
export function kept(name: string): Promise<Recording> {
  const text = readFileSync(new URL(`${name}.data.html`, FIXTURES), "utf8");
  const element = (id: string) => new RegExp(`id="${id}">([^<]*)<`).exec(text)?.[1] ?? "";
  return Recording.open(JSON.parse(element("page")) as Page, (block) => element(`block-${block}`));
}
