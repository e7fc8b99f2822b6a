import { Window } from "happy-dom";
import { render } from "preact";
import { beforeEach, expect, it, vi } from "vitest";
import { drawnPage, golden } from "../../tests/drawn";
import type { SpikeReport } from "../data/page.gen";
import { Recording } from "../data/recording";
import type { Span } from "../data/units";
import { timeAxis } from "./axis";
import { SPIKES, SpikeMarks } from "./Spikes";
import { StateContext } from "./state";

const S = 1e9;
let root: Element;

beforeEach(() => {
  const { document } = new Window();
  vi.stubGlobal("document", document);
  root = document.body as unknown as Element;
  return () => vi.unstubAllGlobals();
});

const STARTS = [10, 25, 40, 55, 70, 85, 100];

/** A recording of two minutes whose CPU is busy in seven spikes of a second. */
async function spiky(own: Partial<SpikeReport> = {}): Promise<Recording> {
  const report = golden("cpu-saturated");
  const at = (second: number) => report.origin + second * S;
  const spikes: SpikeReport = {
    window: { start: at(0), end: at(120) },
    provenance: "kernel",
    interval_ns: S / 10,
    usual_throughput: 1000,
    spikes: STARTS.map((start) => ({
      window: { start: at(start), end: at(start + 1) },
      peak_latency_ns: 4e8,
      lowest_throughput: 3.5,
      lost: 12,
    })),
    spiking_ns: STARTS.length * S,
    lost: 0,
    trains: [],
    triggers: [
      {
        kind: "program",
        name: "/bin/sh /opt/sync<b>",
        parent: "cron",
        events: 8,
        followed: 7,
        recall: 1,
        precision: 0.875,
        lift: 3,
        lag_ns: 3e8,
        lag_spread_ns: 1e6,
        resolution_ns: 1e6,
        p_value: 0.002,
        confidence: "consistent",
      },
    ],
    compared: 4,
    ...own,
  };
  const seconds = Array.from({ length: 121 }, (_, second) => second * S);
  const busy = seconds.slice(1).map((_, second) => (STARTS.includes(second) ? 0.9 * S : 0.1 * S));
  const { page, blocks } = drawnPage({
    edges: seconds,
    report: { ...report, spikes },
    entities: [{ kind: "machine" }],
    tables: [
      {
        name: "pressure",
        entity: "machine",
        columns: [{ name: "cpu_some_ns" }, { name: "cpu_full_ns" }],
        series: [{ entity: 0, column: "cpu_some_ns", values: busy }],
      },
    ],
  });
  return Recording.open(page, (block) => blocks[block] ?? "");
}

function show(recording: Recording): (Span | undefined)[] {
  const { report } = recording.page;
  const chosen: (Span | undefined)[] = [];
  const state = {
    recording,
    report,
    judgement: { report, of: undefined, asking: false, trouble: "" },
    window: recording.judged,
    selected: undefined,
    select: (span: Span | undefined) => chosen.push(span),
    axis: timeAxis(recording.whole),
  };
  const { view: View } = SPIKES;
  render(
    <StateContext.Provider value={state}>
      <SpikeMarks />
      <View />
    </StateContext.Provider>,
    root,
  );
  return chosen;
}

it("each spike is a mark and a line, which select it with a little around it", async () => {
  const chosen = show(await spiky());
  const marks = [...root.querySelectorAll<HTMLElement>(".spike-marks button")];
  const lines = [...root.querySelectorAll<HTMLElement>("th .link")];
  expect(marks.map((it) => it.title)).toEqual(STARTS.map((at) => `Spike at ${at} s, 1.00 s`));
  expect(lines.map((it) => it.textContent)).toEqual(STARTS.map((at) => `${at} s`));
  lines[1]?.click();
  expect(chosen).toEqual([{ from: 24 * S, to: 26 * S }]);
  marks[1]?.click();
  expect(chosen[1]).toEqual({ from: 24.5 * S, to: 26.5 * S });
});

it("what comes before spikes is text, whatever it holds", async () => {
  show(await spiky());
  const row = root.querySelector("table tbody tr");
  expect([...(row?.children ?? [])].map((it) => it.textContent)).toEqual([
    "sh sync<b> startsby cron",
    "7 of 7",
    "7 of 8",
    "300 ms",
    "1.00 ms",
    "0.002",
    "consistent",
  ]);
});

it("lanes around the onset show what moves", async () => {
  show(await spiky());
  await vi.waitFor(() => expect(root.querySelector(".courses li")).not.toBeNull());
  expect(root.querySelector(".courses li")?.textContent).toMatch(/some10 % → 90 %$/);
});

it("many spikes are folded away, and a recording without any has no such section", async () => {
  const recording = await spiky();
  const { report } = recording.page;
  expect(SPIKES.isOf?.(report)).toBe(true);
  expect(SPIKES.isOf?.({ ...report, spikes: null })).toBe(false);
  const [spike] = report.spikes?.spikes ?? [];
  if (spike === undefined) throw new Error("it has spikes");
  const many = Array.from({ length: 30 }, (_, at) => {
    const { start, end } = spike.window;
    return { ...spike, window: { start: start + at * S, end: end + at * S } };
  });
  show(await spiky({ spikes: many }));
  expect(root.querySelector("details:not([open]) table")?.querySelectorAll("tr").length).toBe(31);
});
