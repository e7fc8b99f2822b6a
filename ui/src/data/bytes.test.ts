import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { integers } from "../../tests/drawn";
import { random } from "../../tests/random";
import { Integers, unpacked } from "./bytes";

function read(bytes: Uint8Array): number[] {
  const all: number[] = [];
  const from = new Integers(bytes);
  while (!from.ended) all.push(from.next());
  return all;
}

describe("integers", () => {
  it("come back as they were written, at every length of their bytes", () => {
    const edge = [0, 1, -1, 63, 64, -64, -65, 8191, 8192, 2 ** 27 - 1, 2 ** 27, -(2 ** 27) - 1];
    const long = [2 ** 31, -(2 ** 31), 2 ** 35, 2 ** 48 + 1, -(2 ** 48) - 1, 2 ** 52, -(2 ** 52)];
    expect(read(integers([...edge, ...long]))).toEqual([...edge, ...long]);
  });

  it("come back whatever they are", () => {
    const next = random(1);
    const all = Array.from({ length: 5000 }, () =>
      Math.round((next() - 0.5) * 2 ** (next() * 52)),
    ).map((number) => number + 0);
    expect(read(integers(all))).toEqual(all);
  });

  it("say where a block was cut off", () => {
    const whole = integers([2 ** 40]);
    for (let length = 1; length < whole.length; length++) {
      const from = new Integers(whole.subarray(0, length));
      expect(() => from.next()).toThrow("the block ends inside a number");
    }
    expect(() => new Integers(new Uint8Array()).next()).toThrow(RangeError);
  });
});

describe("blocks", () => {
  it("are unpacked, with white space around them", async () => {
    const bytes = integers([1, 2, 3, -400]);
    const text = `\n${gzipSync(bytes).toString("base64")}\n`;
    expect(await unpacked(text)).toEqual(bytes);
  });

  it("are refused where they are no gzip stream, or one that was cut off", async () => {
    await expect(unpacked(btoa("nonsense"))).rejects.toThrow();
    await expect(unpacked("###")).rejects.toThrow();
    const whole = gzipSync(integers(Array.from({ length: 500 }, (_, i) => i * i)));
    await expect(unpacked(whole.subarray(0, 40).toString("base64"))).rejects.toThrow();
  });
});
