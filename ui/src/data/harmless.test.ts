import { describe, expect, it } from "vitest";
import { FIXTURES, fixture } from "../../tests/fixture";
import { harmless, harmlessJson } from "./harmless";

describe("texts of a recording", () => {
  it("lose what a browser would obey, and nothing that people read", () => {
    expect(harmless("a\nb\u001b[31m")).toBe("a\ufffdb\ufffd[31m");
    expect(harmless("\u202edesrever\u2069")).toBe("\ufffddesrever\ufffd");
    const read = "<script>alert(1)</script> naïve 日本語 עברית &amp; 🙂 /a/b";
    expect(harmless(read)).toBe(read);
  });

  it("lose it wherever they stand in the JSON", () => {
    const json = JSON.stringify({ "k\u202e": ["x\u0007", { y: "\u2066" }], n: 1, z: null });
    expect(harmlessJson(json)).toEqual({ "k\ufffd": ["x\ufffd", { y: "\ufffd" }], n: 1, z: null });
  });

  it.each(FIXTURES)("are all harmless in %s", async (name) => {
    const { page } = await fixture(name);
    const texts = JSON.stringify(page).match(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g);
    expect(texts).toBeNull();
  });
});
