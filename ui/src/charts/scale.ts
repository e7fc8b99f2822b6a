// How the numbers of a column are drawn: counters as rates, gauges as they are, each in its unit.

import {
  bytes,
  duration,
  integer,
  percent,
  perSecond,
  rate,
  storage,
  traffic,
} from "../data/format";
import type { PageColumn } from "../data/page.gen";

/** From a column's own numbers to what is drawn. */
export interface Scale {
  /** What a number of the axis is: `share of time`, `bytes per second`. */
  readonly words: string;
  /** To be multiplied with a counter's growth per second, or with a gauge. */
  readonly factor: number;
  readonly format: (value: number) => string;
  /** The axis reaches at least to here. */
  readonly least: number;
  /** Whether the axis divides by powers of 1024. */
  readonly binary: boolean;
}

const numbers = { factor: 1, least: 0, binary: false };

/** Tables whose nanoseconds are CPU time of several threads together. */
const CPU_TIME = new Set(["process", "cgroup_cpu"]);
/** Tables whose bytes are in memory; all others are on disks and networks. */
const MEMORY = new Set(["memory", "cgroup_memory", "process", "redis", "jvm"]);

/** `several`: whether times of several add up in one number, so that it may exceed its interval. */
export function scaleOf(table: string, column: PageColumn, several = false): Scale {
  return column.kind === "counter" ? rateScale(table, column, several) : gaugeScale(table, column);
}

function rateScale(table: string, { unit, name }: PageColumn, several: boolean): Scale {
  switch (unit) {
    case "nanoseconds":
      if (CPU_TIME.has(table)) return { ...cpus, factor: 1e-9 };
      // The kernel's weighted time: operations in progress on average.
      if (several || /^(queue|read|write|discard|flush)_ns$/.test(name))
        return { ...numbers, words: "at a time", factor: 1e-9, format: rate };
      return { ...shares, words: "share of time", factor: 1e-9 };
    case "bytes":
      return {
        ...numbers,
        words: "bytes per second",
        format: traffic,
      };
    case "hundredths":
      return { ...rates, factor: 0.01 };
    case "millionths":
      return { ...rates, factor: 1e-6 };
    case "milli_per_second":
      return { ...rates, factor: 1e-3 };
    default:
      return rates;
  }
}

function gaugeScale(table: string, { unit }: PageColumn): Scale {
  switch (unit) {
    case "nanoseconds":
      return { ...numbers, words: "length of time", format: duration };
    case "bytes":
      return MEMORY.has(table)
        ? { ...numbers, words: "bytes", format: bytes, binary: true }
        : { ...numbers, words: "bytes", format: storage };
    case "hundredths":
      return { ...numbers, words: "number", factor: 0.01, format: rate };
    case "millionths":
      return { ...numbers, words: "number", factor: 1e-6, format: rate };
    case "milli_per_second":
      return { ...rates, factor: 1e-3 };
    case "code":
      return { ...numbers, words: "who was in which state", format: integer };
    default:
      return { ...numbers, words: "number", format: rate };
  }
}

/** Parts of a whole. */
export const shares: Scale = {
  ...numbers,
  words: "share",
  format: percent,
  least: 1,
};

const rates: Scale = {
  ...numbers,
  words: "per second",
  format: perSecond,
};

const cpus: Scale = {
  ...numbers,
  words: "CPUs",
  format: (value) => `${rate(value)} CPUs`,
};

/** The scale of a number of the verdict, by its own word for its unit. */
export function scaleOfUnit(unit: string): Scale {
  switch (unit) {
    case "share":
      return shares;
    case "ns":
      return { ...numbers, words: "length of time", format: duration };
    case "per_second":
      return rates;
    case "bytes_per_second":
      return {
        ...numbers,
        words: "bytes per second",
        format: traffic,
      };
    case "factor":
      return { ...numbers, words: "factor", format: (value) => `${rate(value)} times` };
    default:
      return { ...numbers, words: "number", format: rate };
  }
}
