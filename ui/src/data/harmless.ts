// Texts of a recording, so that they show as what they are: they may hold anything that a browser would
// obey when it lays out a line, and turn the order of what follows. The same that the terminal replaces
// (crates/stallscope/src/outputs/mod.rs).

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function harmless(text: string): string {
  return text.replace(OBEYED, "\ufffd");
}

/** JSON with all of its texts made harmless, the keys of its objects included. */
export function harmlessJson(json: string): unknown {
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value === "string") return harmless(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const keys = Object.keys(value);
    if (keys.every((key) => harmless(key) === key)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [harmless(key), of]));
  });
}
