// Numbers as people read them, one way each: axis, tooltip and table use the same. They are those of
// the engine's sentences (crates/analysis/src/number_format.rs), so a number looks alike wherever it stands.

import type { Nanoseconds, Share } from "./units";

/** `34 %`; with one decimal below 10 and above 99, where a unit hides the difference. */
export function percent(share: Share): string {
  const value = share * 100;
  const magnitude = Math.abs(value);
  if (!Number.isFinite(value)) return "unknown";
  if (magnitude < 0.05) return "0";
  if (magnitude < 9.95 || (value > 99 && value < 99.95)) {
    return `${value.toFixed(1).replace(/\.0$/, "")} %`;
  }
  return `${value.toFixed(0)} %`;
}

/** A sentence in which no line ends between a number and its unit. */
export function tied(sentence: string): string {
  return sentence.replace(/(\d) (?=%|[mu]?s\b|[kKMGT]i?B\b)/g, "$1\u00a0");
}

/** A whole number with thousands apart: `20,928`. */
export function integer(value: number): string {
  const digits = Math.abs(value)
    .toFixed(0)
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return value <= -0.5 ? `-${digits}` : digits;
}

/** With as many digits as it deserves: `20,928`, `12.5`. */
export function rate(value: number): string {
  if (value === 0) return "0";
  return Math.abs(value) < 100 ? threeDigits(value) : integer(value);
}

/** A bound, rounded to three digits since it is no better known: `31,700`. */
export function bound(value: number): string {
  if (value < 100) return threeDigits(value);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return integer(Math.round(value / unit) * unit);
}

/** A length of time: `0.423 ms`, `1.25 s`, `87.0 us`. */
export function duration(ns: Nanoseconds): string {
  const magnitude = Math.abs(ns);
  if (magnitude === 0) return "0";
  if (magnitude < 1e5) return `${threeDigits(ns / 1e3)} us`;
  if (magnitude < 1e9) return `${threeDigits(ns / 1e6)} ms`;
  return `${threeDigits(ns / 1e9)} s`;
}

/** An amount of memory, whose limits are multiples of powers of two: `1.25 GiB`. */
export function bytes(value: number): string {
  return amount(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
}

/** An amount on disks or networks, which are sold by powers of ten: `1.25 GB`. */
export function storage(value: number): string {
  return amount(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"]);
}

/** What moves to and from disks and networks: `12.5 MB/s`. */
export function traffic(value: number): string {
  return Math.abs(value) < 1 ? "0" : `${storage(value)}/s`;
}

function amount(value: number, step: number, units: readonly string[]): string {
  let scaled = value;
  let unit = 0;
  while (Math.abs(scaled) >= step && unit < units.length - 1) {
    scaled /= step;
    unit += 1;
  }
  return `${unit === 0 ? integer(scaled) : threeDigits(scaled)} ${units[unit]}`;
}

/** How often something happened: `1,204/s`; nothing is 0, whatever its unit. */
export function perSecond(value: number): string {
  return value === 0 ? "0" : `${rate(value)}/s`;
}

/** An instant on the run's own clock: `12.4 s`, `1:02:03.5`; `step` says how fine it must be. */
export function instant(at: Nanoseconds, step: Nanoseconds = 1e8): string {
  const seconds = at / 1e9;
  const decimals = Math.min(3, Math.max(0, Math.ceil(9 - Math.log10(step))));
  if (Math.abs(seconds) < 600)
    return `${(seconds + 0).toFixed(decimals).replace(/^-(0(\.0*)?)$/, "$1")} s`;
  // Rounded before it is divided: 59.96 s are the next minute.
  const [whole = "", fraction] = Math.abs(seconds).toFixed(decimals).split(".");
  const pad = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(Number(whole) / 3600), Math.floor(Number(whole) / 60) % 60];
  const rest = fraction === undefined ? "" : `.${fraction}`;
  const clock = `${hours}:${pad(minutes)}:${pad(Number(whole) % 60)}${rest}`;
  return seconds < 0 ? `-${clock}` : clock;
}

/** A number in millions or more in few digits, for an axis: `12.0 M/s`. */
export function brief(text: string): string {
  return text.replace(/\d+(,\d{3}){2,}/, (digits) => {
    const value = Number(digits.replaceAll(",", ""));
    return value < 1e9 ? `${threeDigits(value / 1e6)} M` : `${threeDigits(value / 1e9)} G`;
  });
}

function threeDigits(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 99.95) return integer(value);
  if (magnitude >= 9.995) return value.toFixed(1);
  if (magnitude >= 0.9995) return value.toFixed(2);
  return value.toFixed(3);
}
