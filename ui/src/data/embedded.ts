// What Rust wrote into the document.

import { harmlessJson } from "./harmless";
import type { Page } from "./page.gen";
import type { BlockText } from "./recording";

/** The page's JSON and its blocks; throws where the document holds none. */
export function embedded(document: Document): { page: Page; text: BlockText } {
  const element = (id: string) => {
    const found = document.getElementById(id);
    if (found === null)
      throw new Error(`this file holds no element ${id}: it was cut off, or is the empty page`);
    return found.textContent ?? "";
  };
  const page = harmlessJson(element("page")) as Page;
  return { page, text: (block) => element(`block-${block}`) };
}
