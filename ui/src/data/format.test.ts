import { describe, expect, it } from "vitest";
import { random } from "../../tests/random";
import {
  bound,
  brief,
  bytes,
  duration,
  instant,
  integer,
  percent,
  rate,
  storage,
  tied,
  traffic,
} from "./format";

describe("numbers as they are read", () => {
  it("shares", () => {
    const shares = [0, 0.0004, 0.001, 0.05, 0.0995, 0.344, 0.99, 0.998, 0.9999, 1, 4.56, -0.02];
    expect(shares.map(percent)).toEqual([
      "0",
      "0",
      "0.1 %",
      "5 %",
      "10 %",
      "34 %",
      "99 %",
      "99.8 %",
      "100 %",
      "100 %",
      "456 %",
      "-2 %",
    ]);
    expect(percent(Number.NaN)).toBe("unknown");
  });

  it("sentences, with their shares on one line", () => {
    expect(tied("100 % of 5 % a")).toBe("100\u00a0% of 5\u00a0% a");
  });

  it("whole numbers and rates", () => {
    expect([0, 999, 1000, 20928.4, -1234567].map(integer)).toEqual([
      "0",
      "999",
      "1,000",
      "20,928",
      "-1,234,567",
    ]);
    expect([0, 0.5, 1.5, 12.34, 99.96, 100, 20928].map(rate)).toEqual([
      "0",
      "0.500",
      "1.50",
      "12.3",
      "100",
      "100",
      "20,928",
    ]);
    expect([0.5, 75.04, 113_563, 31_749].map(bound)).toEqual([
      "0.500",
      "75.0",
      "114,000",
      "31,700",
    ]);
  });

  it("lengths of time and amounts", () => {
    expect([0, 87e3, 423e3, 1.25e9, 12.5e6, 20e9].map(duration)).toEqual([
      "0",
      "87.0 us",
      "0.423 ms",
      "1.25 s",
      "12.5 ms",
      "20.0 s",
    ]);
    expect([0, 1023, 1024, 1.25 * 2 ** 30, 2 ** 60].map(bytes)).toEqual([
      "0 B",
      "1,023 B",
      "1.00 KiB",
      "1.25 GiB",
      "1,024 PiB",
    ]);
    expect([0, 999, 1000, 41.94e6].map(storage)).toEqual(["0 B", "999 B", "1.00 kB", "41.9 MB"]);
    expect([0, 0.4, 12.5e6].map(traffic)).toEqual(["0", "0", "12.5 MB/s"]);
  });

  it("instants, as finely as their step needs", () => {
    expect(instant(12.44e9)).toBe("12.4 s");
    expect(instant(12.44e9, 1e9)).toBe("12 s");
    expect(instant(12.44e9, 1e6)).toBe("12.440 s");
    expect(instant(-0.04e9)).toBe("0.0 s");
    expect(instant(3723e9)).toBe("1:02:03.0");
    expect(instant(3723e9, 1e9)).toBe("1:02:03");
  });

  it("instants from ten minutes on as finely as before", () => {
    expect(instant(723.2e9, 0.2e9)).toBe("0:12:03.2");
    expect(instant(723.8e9, 0.2e9)).toBe("0:12:03.8");
    expect(instant(723.8e9, 1e9)).toBe("0:12:04");
    expect(instant(723.0625e9, 1e6)).toBe("0:12:03.063");
    expect(instant(3599.96e9)).toBe("1:00:00.0");
    expect(instant(-723.2e9)).toBe("-0:12:03.2");
  });

  it("on an axis in few digits", () => {
    const all = ["999,999", "1,000,000", "12,345,678/s", "2,000,000,000", "2.50 MB/s"];
    expect(all.map(brief)).toEqual(["999,999", "1.00 M", "12.3 M/s", "2.00 G", "2.50 MB/s"]);
  });

  it("stay with their units where a line ends", () => {
    const text = "99.9 % of 12 ms, 3 us and 4 GiB; 5 kB, 6 s, 7 sessions, 8 MB/s";
    expect(tied(text).replaceAll("\u00a0", "_")).toBe(
      "99.9_% of 12_ms, 3_us and 4_GiB; 5_kB, 6_s, 7 sessions, 8_MB/s",
    );
  });

  it("never look larger where they are smaller", () => {
    const next = random(4);
    const read = (text: string) => Number(text.replace(/[^0-9.-]/g, ""));
    const shares = Array.from({ length: 500 }, next).sort((a, b) => a - b);
    const shown = shares.map((share) => read(percent(share)));
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    const rates = Array.from({ length: 500 }, () => 10 ** (next() * 8 - 2)).sort((a, b) => a - b);
    const said = rates.map((value) => read(rate(value)));
    expect(said).toEqual([...said].sort((a, b) => a - b));
  });
});
