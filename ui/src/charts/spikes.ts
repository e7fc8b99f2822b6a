// Spikes in words, the same as the terminal's (crates/stallscope/src/outputs/spikes.rs and spike_differences.rs).
// Pure; `views/Spikes.tsx` shows them.

import { duration, integer, percent, perSecond, rate, traffic } from "../data/format";
import type {
  BurstingMethod,
  MeasureKind,
  Provenance,
  Report,
  SpikeDifference,
  SpikeReport,
  Train,
  Trigger,
  TriggerKind,
} from "../data/page.gen";
import type { Recording } from "../data/recording";
import { length, type Nanoseconds, SECOND, type Span } from "../data/units";
import { shortName } from "./programs";
import { placed } from "./timeline";

/** Fewer spikes have no period, and nothing is expected to come before them. */
const LEAST_COMPARED = 6;

/** The spikes of the recording after its origin, in the order of time; none where none were found. */
export function spikeSpans(recording: Recording): Span[] {
  return recording.page.report.spikes?.spikes.map(({ window }) => recording.span(window)) ?? [];
}

/** A stretch of calm time for each spike, as long as it: the middle of what lies between it and the next, or the end of
    `window`. None where there is not so much. */
export function calmSpans(spikes: readonly Span[], window: Span): Span[] {
  return spikes.flatMap((spike, place) => {
    const gap = { from: spike.to, to: spikes[place + 1]?.from ?? window.to };
    const from = (gap.from + gap.to - length(spike)) / 2;
    return length(gap) < length(spike) ? [] : { from, to: from + length(spike) };
  });
}

/** The window of a spike with a little around it: half its length, and at least an interval. */
export function surroundings(span: Span, { interval_ns }: SpikeReport): Span {
  const around = Math.max(length(span) / 2, interval_ns);
  return { from: span.from - around, to: span.to + around };
}

/** Spans in a box of 1 by 1 that is as wide as `view`, as an SVG path. */
export function bandsPath(spans: readonly Span[], view: Span): string {
  const seen = spans.flatMap((span) => placed(span, view) ?? []);
  return seen.map(({ left, width }) => `M${left} 0h${width}v1h-${width}z`).join("");
}

/** The middle one of their lengths. */
export function usualLength({ spikes }: SpikeReport): Nanoseconds {
  const all = spikes.map(({ window }) => window.end - window.start).sort((a, b) => a - b);
  return all[all.length >> 1] ?? 0;
}

/** What spikes are of, where they are not of requests. */
const OF_WHAT: Partial<Record<Provenance, string>> = {
  log: " (bursts of calls in the log)",
  account: " (of the target's threads: nobody reported requests)",
};

/** `12 of 798 ms, 6.3 % of the time; p99 426 ms in them, 0.514 ms otherwise; they add 85 % of the time of requests`. */
export function spikesInShort(report: SpikeReport): string {
  const { spikes, window, p99_inside_ns, p99_outside_ns, usual_latency_ns, added, lost } = report;
  const share = report.spiking_ns / Math.max(window.end - window.start, 1);
  const ofCalls = OF_WHAT[report.provenance] ?? "";
  const many = `${spikes.length} of ${duration(usualLength(report))}`;
  const words = [`${many}, ${percent(share)} of the time${ofCalls}`];
  const peaks = spikes.flatMap(({ peak_latency_ns }) => peak_latency_ns ?? []);
  if (p99_inside_ns != null && p99_outside_ns != null)
    words.push(`p99 ${duration(p99_inside_ns)} in them, ${duration(p99_outside_ns)} otherwise`);
  else if (report.usual_threads != null) {
    const peak = spikes.reduce((most, it) => Math.max(most, it.peak_threads ?? 0), 0);
    words.push(`up to ${rate(peak)} threads work or wait, usually ${rate(report.usual_threads)}`);
  } else if (peaks.length > 0 && usual_latency_ns != null) {
    const peak = peaks.reduce((a, b) => Math.max(a, b));
    words.push(`latency up to ${duration(peak)}, usually ${duration(usual_latency_ns)}`);
  }
  if (added != null) words.push(`they add ${percent(added)} of the time of requests`);
  if (lost >= 1) words.push(`about ${integer(twoDigits(lost))} requests lost`);
  return words.join("; ");
}

function twoDigits(value: number): number {
  const unit = 10 ** Math.max(Math.floor(Math.log10(value)) - 1, 0);
  return Math.round(value / unit) * unit;
}

/** Each train in words; of few spikes nothing. */
export function periods(report: SpikeReport): string {
  const found = report.trains.map((train) => periodWords(train, report));
  if (found.length > 0 || report.spikes.length < LEAST_COMPARED) return found.join("; ");
  return "none";
}

/** `15.00 s (95 % CI 14.98 to 15.02 s), in 11 of 12 cycles, jitter 20 ms: kept by the clock, …`. */
function periodWords(train: Train, { spikes, interval_ns }: SpikeReport): string {
  const exact = (ns: Nanoseconds) => (ns / SECOND).toFixed(2);
  const { schedule, period_low_ns, period_high_ns } = train;
  let kept = "";
  if (schedule.kind === "clock") {
    const { every_ns, phase_ns } = schedule;
    const whole = every_ns < 60 * SECOND ? "minute" : "hour";
    // Onsets are known to an interval: just before is on it.
    const first =
      Math.min(phase_ns, every_ns - phase_ns) <= interval_ns
        ? `on the full ${whole}`
        : `first ${duration(phase_ns)} past the full ${whole}`;
    kept = `: kept by the clock, each ${every_ns / SECOND} s, ${first}`;
  } else if (schedule.kind === "loop") kept = ": kept by a pause between runs, not by the clock";
  const others = spikes.length - train.spikes.length;
  const rest = others > 0 ? `; ${others} other spike${others > 1 ? "s" : ""}` : "";
  return (
    `${exact(train.period_ns)} s (95 % CI ${exact(period_low_ns)} to ${exact(period_high_ns)} s), ` +
    `in ${train.spikes.length} of ${train.cycles} cycles, jitter ${known(train.jitter_ns, interval_ns)}${kept}${rest}`
  );
}

/** What the recording is folded at first: the period that most spikes have. */
export function foundPeriod({ spikes }: Report): Nanoseconds | undefined {
  const [train] = spikes?.trains ?? [];
  if (train === undefined) return undefined;
  return train.schedule.kind === "clock" ? train.schedule.every_ns : train.period_ns;
}

/** What is said of each kind. */
const DOES: Readonly<Record<TriggerKind, string>> = {
  program: "starts",
  connections: "opens connections",
  sends: "sends far more",
  cpu_burst: "begins to work",
  counter: "grows",
  log: "is logged",
  calls: "is called far more",
  statement: "runs",
};

/** `sh sync-permissions starts`. */
export function triggerWords({ kind, name }: Trigger): string {
  return `${kind === "program" ? shortName(name) : name} ${DOES[kind]}`;
}

/** A time of onsets, none of which is known better than to an interval. */
function known(ns: Nanoseconds, interval: Nanoseconds): string {
  return ns > interval ? duration(ns) : `less than ${duration(interval)}`;
}

/** How long before an onset. */
export function lagWords({ lag_ns, resolution_ns }: Trigger, report: SpikeReport): string {
  const known_ns = Math.max(report.interval_ns, resolution_ns);
  if (lag_ns < -known_ns) return `${duration(-lag_ns)} after`;
  return known(lag_ns, known_ns);
}

/** `9 of 12`: the spikes that it comes before. */
export function precededWords({ recall }: Trigger, { spikes }: SpikeReport): string {
  return `${Math.round(recall * spikes.length)} of ${spikes.length}`;
}

/** Logs give whole milliseconds: a mean below one says nothing. */
const LEAST_MEAN: Nanoseconds = 1e6;

/** `a.GetTable of 10.1.0.29:7100, by 3 addresses: 5,136 calls in a spike, else 2 in as much time, in 11 of 12`. */
export function methodWords(it: BurstingMethod, { spikes }: SpikeReport): string {
  const mean = it.mean_ns ?? 0;
  const took = mean >= LEAST_MEAN ? ` of ${duration(mean)} each` : "";
  const by = `${it.callers} address${it.callers === 1 ? "" : "es"}`;
  return `${it.method} of ${it.callee}, by ${by}: ${integer(it.calls)} calls${took} in a spike, else ${integer(it.usual_calls)} in as much time, in ${it.spikes} of ${spikes.length}`;
}

/** `postgres: waiting for a CPU`, `master: on CPU in find_schema < answer`. */
export function differenceWords({ kind, who, what }: SpikeDifference): string {
  switch (kind) {
    case "code":
      return `${who}: on CPU in ${innermost(what)}`;
    case "waits":
      return `${who}: waiting in ${innermost(what)}`;
    case "group":
      return `group ${who}: ${what}`;
    case "kernel":
      return `kernel: ${readable(what)} (${who})`;
    default:
      return `${who}: ${readable(what)}`;
  }
}

/** The two innermost functions of a path. */
function innermost(path: string): string {
  return path.split(" < ").slice(0, 2).join(" < ");
}

/** A column's name without its unit. */
function readable(what: string): string {
  return what.replace(/_(ns|bytes)$/, "").replaceAll("_", " ");
}

/** What an amount of nanoseconds per second is. */
const OF_TIME: Partial<Record<MeasureKind, string>> = {
  time: " threads",
  calls: " threads",
  waits: " threads",
  code: " CPUs",
  cpu: " CPUs",
  group: " CPUs",
};

/** An amount per second, as a person counts it: `18.0 threads`, `5.82 MB/s`. */
export function amountWords({ kind, unit }: SpikeDifference, value: number): string {
  if (value <= 0) return "0";
  switch (unit) {
    case "nanoseconds":
      return `${rate(value / SECOND)}${OF_TIME[kind] ?? " s/s"}`;
    case "bytes":
      return traffic(value);
    case "millionths":
      return perSecond(value / 1e6);
    case "hundredths":
      return perSecond(value / 100);
    default:
      return perSecond(value);
  }
}

/** `x 24.9`; `new` where there is none otherwise. */
export function changeWords({ inside, outside }: SpikeDifference): string {
  const factor = inside / outside;
  if (!Number.isFinite(factor)) return "new";
  return `x ${factor < 100 ? rate(factor) : factor.toFixed(0)}`;
}

/** What rises in spikes, and what falls. */
export function parted(all: readonly SpikeDifference[]): {
  rises: SpikeDifference[];
  falls: SpikeDifference[];
} {
  const grows = ({ inside, outside }: SpikeDifference) => inside > outside;
  return { rises: all.filter(grows), falls: all.filter((it) => !grows(it)) };
}
