// Formulas of numbers, worked out over any window. The engine declares them and has the other evaluator
// (crates/analysis/src/evaluator.rs); both are tested on the cases of fixtures/formulas.json.

import { lastIn, lowestIn } from "../data/measure";
import type { Amount as Declared, Formula, LedgerClass, Reading, Whose } from "../data/page.gen";
import { growth, meanOver, rateOver } from "../data/series";
import { length } from "../data/units";
import { bounds } from "./bins";
import { meant } from "./entitySets";
import {
  type Amount,
  added,
  edgesOfIntervals,
  ofIntervals,
  orNothing,
  perRequest,
  rest,
  type Taken,
} from "./quantity";
import type { Asked, Recipe } from "./recipe";
import * as requests from "./requests";

/** What is worked out, and its words. */
interface Evaluated {
  readonly amount: Amount;
  readonly words: string;
}

/** How a number is drawn that a formula gives. */
export function byFormula({ of, per }: Formula): Recipe {
  const all = [...everyOf(of), ...everyOf(per)];
  const tables = [...new Set(all.flatMap(tablesOf))];
  const classes = all.flatMap((it) => (it.kind === "ledger" ? it.classes : []));
  return {
    tables,
    make: (asked) => {
      const [part, whole] = [evaluate(of, asked), evaluate(per, asked)];
      const edges = edgesFor(asked, all, tables);
      if (edges === undefined) return { why: `no numbers of ${tables.join(", ")} are here` };
      const alone = per.kind === "number" && per.value === 1;
      return {
        quantity: { of: part.amount, per: whole.amount, edges },
        how: `${part.words}${alone ? "" : ` / ${whole.words}`}${sampled(asked, classes)}`,
      };
    },
  };
}

function evaluate(amount: Declared, asked: Asked): Evaluated {
  const all = requests.signalOf(asked);
  const each = (amounts: readonly Declared[]) => amounts.map((one) => evaluate(one, asked));
  switch (amount.kind) {
    case "recorded":
      return recorded(amount, asked);
    case "weighed":
      return weighed(amount, asked);
    case "ledger": {
      const [threads, who] = whom(amount.whose, "ledger", asked);
      return {
        amount: requests.inClasses(asked, threads, amount.classes),
        words: `time ${inWords(amount.classes)} of ${who}`,
      };
    }
    case "lifetime": {
      const [threads] = whom(amount.whose, "ledger", asked);
      return { amount: requests.lifetime(asked, threads), words: "time" };
    }
    case "queued": {
      const grown = recorded({ ...amount, table: "thread_time", reading: "growth" }, asked);
      return { ...grown, amount: orNothing(grown.amount) };
    }
    case "generator_wait":
      return {
        amount: requests.generatorWait(asked),
        words: "of what was outside of them the part that the generator's threads waited for a CPU",
      };
    case "outside":
      return {
        amount: requests.outside(asked),
        words: "what the target's threads and the lag leave of the time that requests took",
      };
    case "lag":
      return { amount: requests.lag(asked), words: "lag behind the schedule" };
    case "account":
      return {
        amount: requests.account(asked),
        words: requests.isOfRequests(asked) ? "time that requests took" : "their busy time",
      };
    case "requests":
      return { amount: perRequest(all, (it) => it.latency), words: "throughput x latency" };
    case "completed":
      return { amount: perRequest(all), words: "requests completed" };
    case "reported":
      return { amount: ofIntervals(all, length), words: "time" };
    case "time":
      return { amount: length, words: "time" };
    case "number":
      return { amount: () => amount.value, words: String(Number(amount.value.toPrecision(3))) };
    case "sum":
      return together(each(amount.amounts), " + ", (a, b) => a + b);
    case "product":
      return together(each(amount.amounts), " x ", (a, b) => a * b);
    case "least":
      return together(each(amount.amounts), " or at most ", Math.min);
    case "most":
      return together(each(amount.amounts), " or at least ", Math.max);
    case "ratio":
      return together(each([amount.of, amount.per]), " / ", (a, b) => a / b);
    case "rest": {
      const [whole, part] = [evaluate(amount.whole, asked), evaluate(amount.part, asked)];
      return {
        amount: rest(whole.amount, part.amount),
        words: `(${whole.words} - ${part.words})`,
      };
    }
    case "named":
      return { ...evaluate(amount.amount, asked), words: amount.name };
    case "or_nothing": {
      const one = evaluate(amount.amount, asked);
      return { ...one, amount: orNothing(one.amount) };
    }
  }
}

/** Several as one; not known while one of them is not. */
function together(
  all: readonly Evaluated[],
  sign: string,
  fold: (a: number, b: number) => number,
): Evaluated {
  const words = all.map((one) => one.words).join(sign);
  return {
    amount: (window) => {
      const [first = Number.NaN, ...others] = all.map((one) => one.amount(window));
      return others.reduce((a, b) => fold(a, b), first);
    },
    words: all.length > 1 ? `(${words})` : words,
  };
}

const TAKEN: Readonly<Record<Reading, readonly [Taken, string]>> = {
  growth: [growth, ""],
  rate: [rateOver, " per second"],
  mean: [meanOver, ""],
  last: [lastIn, ""],
  lowest: [lowestIn, ", the lowest"],
};

function recorded(
  { reading, table, columns, whose }: Omit<Extract<Declared, { kind: "recorded" }>, "kind">,
  asked: Asked,
): Evaluated {
  const [places, who] = whom(whose, table, asked);
  const [taken, words] = TAKEN[reading];
  const of = (place: number) => columns.map((name) => asked.tables.series(table, place, name));
  return {
    amount: added(places.flatMap(of), taken),
    words: `${table}.${columns.join(" + ")}${words} of ${who}`,
  };
}

function weighed(
  { table, column, by, whose }: Extract<Declared, { kind: "weighed" }>,
  asked: Asked,
): Evaluated {
  const [places, who] = whom(whose, table, asked);
  const amount: Amount = (window) => {
    const read = places.flatMap((place) => {
      const [value, weight] = [column, by].map((name) => asked.tables.series(table, place, name));
      const last = value && lastIn(value, window);
      const grown = Math.max((weight && growth(weight, window)) ?? 0, 0);
      return last === undefined ? [] : [[last, grown] as const];
    });
    const even = read.every(([, weight]) => weight === 0);
    const all = read.map(([value, weight]) => [value, even ? 1 : weight] as const);
    const sum = all.reduce((sum, [, weight]) => sum + weight, 0);
    return all.reduce((mean, [value, weight]) => mean + value * weight, 0) / sum;
  };
  return { amount, words: `${table}.${column} of ${who}, by ${by}` };
}

/** The places of those in a table that are meant, and who they are in words. */
function whom(whose: Whose, table: string, { recording }: Asked): [readonly number[], string] {
  const kind = recording.table(table)?.entity;
  const places = kind === undefined ? [] : meant(recording, kind, whose);
  const count = places.length;
  switch (whose.kind) {
    case "all":
      return [places, `all ${count}`];
    case "role":
      return [places, `all ${count} of the ${whose.role}`];
    case "serving":
      return [places, `${count} serving ones of the ${whose.role}`];
    default: {
      const top = recording.page.entities.find(({ id }) => id === whose.id)?.name ?? "nobody";
      return [places, whose.kind === "one" ? top : `${top} (${count} in all)`];
    }
  }
}

/** The bins of the workload's intervals where one is asked for; else of the table with the longest. */
function edgesFor(
  asked: Asked,
  all: readonly Declared[],
  tables: readonly string[],
): Float64Array | undefined {
  const isOfRequests = all.some(({ kind }) =>
    kind === "account"
      ? requests.isOfRequests(asked)
      : tablesOf({ kind } as Declared)[0] === "signal",
  );
  const own = tables.flatMap((table) => {
    const bins = asked.tables.bins(table);
    return bins ? [bounds(bins.edges)] : [];
  });
  const edges = isOfRequests
    ? edgesOfIntervals(requests.signalOf(asked))
    : own.sort((a, b) => a.length - b.length)[0];
  return edges !== undefined && edges.length > 1 ? edges : undefined;
}

/** An amount and those inside of it. */
function everyOf(amount: Declared): readonly Declared[] {
  const inside =
    "amounts" in amount
      ? amount.amounts
      : "per" in amount
        ? [amount.of, amount.per]
        : "whole" in amount
          ? [amount.whole, amount.part]
          : "amount" in amount
            ? [amount.amount]
            : [];
  return [amount, ...inside.flatMap(everyOf)];
}

/** The tables that amounts are worked out from which name none. */
const TABLES: Readonly<Partial<Record<Declared["kind"], readonly string[]>>> = {
  ledger: ["ledger"],
  lifetime: ["ledger"],
  queued: ["thread_time"],
  generator_wait: [...requests.SIGNAL_TABLES, "ledger"],
  outside: [...requests.SIGNAL_TABLES, "ledger"],
  lag: ["signal"],
  account: [...requests.SIGNAL_TABLES, "ledger"],
  requests: requests.SIGNAL_TABLES,
  completed: requests.SIGNAL_TABLES,
  reported: ["signal"],
};

function tablesOf(amount: Declared): readonly string[] {
  return "table" in amount ? [amount.table] : (TABLES[amount.kind] ?? []);
}

/** Classes that the kernel counts; into the others blocked time is divided by what samples met. */
const COUNTED: readonly LedgerClass[] = ["on_cpu", "cpu_wait", "throttled"];

/** What to say of classes that are divided anew in each bin. */
function sampled({ evidence }: Asked, classes: readonly LedgerClass[]): string {
  const counted = evidence.column.startsWith("thread_time.");
  return counted || classes.every((name) => COUNTED.includes(name))
    ? ""
    : "; blocked time is divided by the samples of each bin here, by those of the whole window there, so the two differ a little";
}

function inWords(classes: readonly LedgerClass[]): string {
  // More are no list that a person reads.
  if (classes.length > 6) return "in waits of any kind";
  return `in ${classes.map((name) => name.replaceAll("_", " ")).join(", ")}`;
}
