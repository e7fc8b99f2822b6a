import { describe, expect, it } from "vitest";
import type { MeasureKind, SpikeDifference, SpikeReport, Trigger, Unit } from "../data/page.gen";
import {
  amountWords,
  bandsPath,
  calmSpans,
  changeWords,
  differenceWords,
  lagWords,
  methodWords,
  parted,
  periods,
  precededWords,
  spikesInShort,
  surroundings,
  triggerWords,
  usualLength,
} from "./spikes";

describe("calmSpans", () => {
  it("has a stretch of the same length in the middle of the time behind each spike", () => {
    const spikes = [
      { from: 0, to: 2 },
      { from: 10, to: 14 },
      { from: 15, to: 16 },
    ];
    expect(calmSpans(spikes, { from: 0, to: 18 })).toEqual([
      { from: 5, to: 7 },
      { from: 16.5, to: 17.5 },
    ]);
    expect(calmSpans([], { from: 0, to: 18 })).toEqual([]);
  });
});

const MS = 1e6;
const S = 1e9;

/** Ten spikes of 800 ms, nine of them each 15 s. */
function report(own: Partial<SpikeReport> = {}): SpikeReport {
  return {
    window: { start: 0, end: 150 * S },
    provenance: "kernel",
    interval_ns: 100 * MS,
    usual_latency_ns: 2e5,
    usual_throughput: 1000,
    spikes: Array.from({ length: 10 }, (_, cycle) => ({
      window: { start: 15 * S * cycle, end: 15 * S * cycle + 800 * MS },
      peak_latency_ns: 4e8,
      lowest_throughput: 0,
      lost: 12,
    })),
    spiking_ns: 8 * S,
    lost: 0,
    trains: [
      {
        period_ns: 15 * S,
        period_low_ns: 14.99 * S,
        period_high_ns: 15.01 * S,
        jitter_ns: 34 * MS,
        coverage: 0.9,
        purity: 0.9,
        cycles: 10,
        spikes: [0, 1, 2, 3, 4, 5, 6, 7, 8],
        schedule: { kind: "clock", every_ns: 15 * S, phase_ns: 14.98 * S },
      },
    ],
    triggers: [],
    compared: 40,
    ...own,
  };
}

function trigger(own: Partial<Trigger>): Trigger {
  return {
    kind: "program",
    name: "/bin/sh /opt/sync",
    events: 10,
    followed: 9,
    recall: 0.9,
    precision: 0.9,
    lift: 3,
    lag_ns: 40 * MS,
    lag_spread_ns: MS,
    resolution_ns: MS,
    p_value: 0.002,
    confidence: "suspected",
    ...own,
  };
}

function difference(
  kind: MeasureKind,
  what: string,
  unit: Unit,
  [inside, outside]: readonly [number, number],
): SpikeDifference {
  const counts = { spikes: 11, of_spikes: 12, p_value: 0.02 };
  return { kind, who: "postgres", what, unit, inside, outside, ...counts };
}

const shown = (it: SpikeDifference) =>
  [
    differenceWords(it),
    amountWords(it, it.inside),
    amountWords(it, it.outside),
    changeWords(it),
  ].join(" | ");

describe("spikes", () => {
  it("are told in a sentence, with p99 where it is known", () => {
    expect(spikesInShort(report())).toBe(
      "10 of 800 ms, 5.3 % of the time; latency up to 400 ms, usually 0.200 ms",
    );
    const known = { p99_inside_ns: 4e8, p99_outside_ns: 5e5, added: 0.85, lost: 12_345 };
    expect(spikesInShort(report(known))).toBe(
      "10 of 800 ms, 5.3 % of the time; p99 400 ms in them, 0.500 ms otherwise; " +
        "they add 85 % of the time of requests; about 12,000 requests lost",
    );
  });

  it("have a period as the terminal says it", () => {
    expect(periods(report())).toBe(
      "15.00 s (95 % CI 14.99 to 15.01 s), in 9 of 10 cycles, jitter less than 100 ms: " +
        "kept by the clock, each 15 s, on the full minute; 1 other spike",
    );
    const [train] = report().trains;
    if (train === undefined) throw new Error("it has one");
    const loop = { ...train, spikes: [0, 1], schedule: { kind: "loop" } as const };
    expect(periods(report({ trains: [loop] }))).toMatch(
      /: kept by a pause between runs, not by the clock; 8 other spikes$/,
    );
  });

  it("of which there are few have no word of a period", () => {
    expect(periods(report({ trains: [] }))).toBe("none");
    expect(periods(report({ trains: [], spikes: report().spikes.slice(0, 3) }))).toBe("");
  });

  it("are selected with a little around them, and drawn where they are in sight", () => {
    expect(surroundings({ from: 2 * S, to: 3 * S }, report())).toEqual({
      from: 1.5 * S,
      to: 3.5 * S,
    });
    expect(surroundings({ from: S, to: S + MS }, report()).from).toBe(S - 100 * MS);
    const view = { from: 0, to: 4 * S };
    expect(bandsPath([{ from: 3 * S, to: 5 * S }], view)).toBe("M0.75 0h0.25v1h-0.25z");
    expect(bandsPath([{ from: 5 * S, to: 6 * S }], view)).toBe("");
    expect(usualLength(report({ spikes: [] }))).toBe(0);
  });
});

describe("methods", () => {
  it("are told with who calls whom, as the terminal does", () => {
    const method = { method: "a.GetTable", callee: "10.1.0.29:7100", spikes: 9, calls: 5136 };
    const words = (callers: number, mean_ns: number) =>
      methodWords({ ...method, callers, usual_calls: 2.4, mean_ns }, report());
    expect(words(3, 12 * MS)).toBe(
      "a.GetTable of 10.1.0.29:7100, by 3 addresses: 5,136 calls of 12.0 ms each in a spike, else 2 in as much time, in 9 of 10",
    );
    expect(words(1, 0.4 * MS)).toContain("by 1 address: 5,136 calls in a spike, else 2");
    const threads = report({ provenance: "account", usual_threads: 0.8 });
    for (const spike of threads.spikes) {
      spike.peak_latency_ns = null;
      spike.peak_threads = 7.25;
    }
    expect(spikesInShort(threads)).toBe(
      "10 of 800 ms, 5.3 % of the time (of the target's threads: nobody reported requests); " +
        "up to 7.25 threads work or wait, usually 0.800",
    );
    expect(spikesInShort(report({ provenance: "log" }))).toMatch(
      /^10 of 800 ms, 5.3 % of the time \(bursts of calls in the log\); /,
    );
  });
});

describe("triggers", () => {
  it("say what happens, how long before, and before how many", () => {
    expect(triggerWords(trigger({}))).toBe("sh sync starts");
    expect(triggerWords(trigger({ kind: "sends", name: "a -> :1" }))).toBe(
      "a -> :1 sends far more",
    );
    expect(precededWords(trigger({}), report())).toBe("9 of 10");
  });

  it("are no nearer to an onset than it is known", () => {
    const lag = (ms: number) => lagWords(trigger({ lag_ns: ms * MS }), report());
    expect(lag(300)).toBe("300 ms");
    expect(lag(-40)).toBe("less than 100 ms");
    expect(lag(-217)).toBe("217 ms after");
    const counted = trigger({ lag_ns: 300 * MS, resolution_ns: 1_000 * MS });
    expect(lagWords(counted, report())).toBe("less than 1.00 s");
  });
});

describe("differences", () => {
  it("are told as the terminal does", () => {
    expect(shown(difference("calls", "waiting for master", "nanoseconds", [1.8e10, 0]))).toBe(
      "postgres: waiting for master | 18.0 threads | 0 | new",
    );
    expect(shown(difference("waits", "fetch < start < run", "nanoseconds", [1.8e10, 2e8]))).toBe(
      "postgres: waiting in fetch < start | 18.0 threads | 0.200 threads | x 90.0",
    );
    expect(shown(difference("code", "main < start < run", "nanoseconds", [8e8, 4e8]))).toBe(
      "postgres: on CPU in main < start | 0.800 CPUs | 0.400 CPUs | x 2.00",
    );
    expect(shown(difference("traffic", "requests", "count", [4810, 12]))).toBe(
      "postgres: requests | 4,810/s | 12.0/s | x 401",
    );
    expect(shown(difference("kernel", "rx_bytes", "bytes", [5.8e6, 2.3e5]))).toBe(
      "kernel: rx (postgres) | 5.80 MB/s | 230 kB/s | x 25.2",
    );
    expect(shown(difference("kernel", "system_ns", "nanoseconds", [1e9, 0]))).toBe(
      "kernel: system (postgres) | 1.00 s/s | 0 | new",
    );
    expect(shown(difference("application", "load", "hundredths", [150, 100]))).toBe(
      "postgres: load | 1.50/s | 1.00/s | x 1.50",
    );
  });

  it("are parted into what rises and what falls", () => {
    const [up, down] = [2, 0.5].map((it) => difference("cpu", "on CPU", "nanoseconds", [it, 1]));
    if (up === undefined || down === undefined) throw new Error("there are two");
    expect(parted([down, up])).toEqual({ rises: [up], falls: [down] });
  });
});
