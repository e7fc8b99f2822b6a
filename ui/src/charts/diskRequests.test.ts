import { describe, expect, it } from "vitest";
import type { IoPattern } from "../data/page.gen";
import { patterns, sizes } from "./diskRequests";

function pattern(name: string, part: IoPattern["part"], in_flight: number): IoPattern {
  const times = { mean_ns: 2e5, median_ns: 2e5, p99_ns: 1e6 };
  return {
    name,
    part,
    operation: "write",
    streams: 1,
    requests: 9000,
    per_second: 900,
    bytes: 9000 * 16_384,
    errors: 0,
    size_from: 16_384,
    size_to: 32_768,
    sequential: 1,
    synced: 1,
    fua: 0,
    depth: 1,
    in_flight,
    in_flight_most: 1,
    bursts: 1,
    peak_per_second: 950,
    queue: times,
    device: times,
  };
}

describe("patterns", () => {
  it("are the operations and what has a hundredth of the disk's time", () => {
    const disk = {
      entity: { kind: "disk", name: "vda", path: "vda" } as const,
      sentence: "",
      operations: [pattern("vda", "all", 1)],
      parts: [],
      streams: [
        pattern("/var/lib/pg_wal/1", "log", 0.5),
        pattern("journal", "journal", 0.3),
        pattern("/data/1", "data", 0.1),
        pattern("/data/2", "data", 0.009),
      ],
      processes: [],
      groups: [],
    };
    expect(patterns(disk).map(([name]) => name)).toEqual([
      "all",
      "/var/lib/pg_wal/1 (log)",
      "journal",
      "/data/1",
    ]);
  });
});

describe("sizes", () => {
  const of = (size_from: number | null, size_to: number | null) =>
    sizes({ ...pattern("", "all", 1), size_from, size_to });

  it("are said as the engine says them", () => {
    expect(of(16_384, 32_768)).toBe("16-32 KiB");
    expect(of(524_288, 1_048_576)).toBe("512 KiB-1 MiB");
    expect(of(16_384, 16_384)).toBe("16 KiB");
    expect(of(0, 4096)).toBe("under 4 KiB");
    expect(of(1_048_576, null)).toBe("1 MiB and more");
    expect(of(null, null)).toBe("");
  });
});
