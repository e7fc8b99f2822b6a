// Formulas of numbers, worked out over any window. The engine declares them and has the other evaluator
// (crates/analysis/src/formula.rs).

import type { Amount as Declared, Formula, LedgerClass } from "../data/page.gen";
import { length } from "../data/units";
import { ofKind, servingThreads } from "./entitySets";
import {
  type Amount,
  edgesOfIntervals,
  grown,
  ofIntervals,
  responses,
  sum,
  times,
  wall,
} from "./quantity";
import { type Asked, drawn, type Recipe, series, signalOf } from "./recipe";
import { generatorWait, inClasses, sampled, wholeOf } from "./recipes/requests";

/** What is worked out, with its words and, where it has some of its own, its bins. */
interface Evaluated {
  readonly amount: Amount;
  readonly words: string;
  readonly edges?: Float64Array | undefined;
}

/** The recipe that a formula is. */
export function byFormula(formula: Formula): Recipe {
  const { of, per } = formula;
  const tables = [...new Set([...tablesOf(of), ...tablesOf(per)])];
  return {
    tables,
    make: (asked) => {
      const part = evaluate(of, asked);
      const whole = evaluate(per, asked);
      const edges = whole.edges ?? part.edges;
      return drawn(asked.tables, tables.find((table) => table !== "signal") ?? "signal", {
        quantity: { of: part.amount, per: whole.amount, ...(edges ? { edges } : {}) },
        how: `${part.words} / ${whole.words}${sampled(asked, classesOf(of))}`,
      });
    },
  };
}

function evaluate(amount: Declared, asked: Asked): Evaluated {
  const threads = servingThreads(asked.recording, "target");
  switch (amount.kind) {
    case "ledger":
      return {
        amount: inClasses(asked, threads, amount.classes),
        words: `time of ${threads.length} serving threads in ${inWords(amount.classes)}`,
      };
    case "generator_wait":
      return {
        amount: generatorWait(asked, threads),
        words: "of what was outside of them the part that the generator's threads waited for a CPU",
      };
    case "account":
      return wholeOf(asked, threads);
    case "requests": {
      const all = signalOf(asked);
      return {
        amount: responses(all),
        words: "throughput x latency",
        edges: edgesOfIntervals(all),
      };
    }
    case "time":
      return { amount: timeOf(asked), words: "time" };
    case "growth":
      return grownBy(amount, asked);
    case "sum": {
      const all = amount.amounts.map((one) => evaluate(one, asked));
      return {
        amount: sum(...all.map((one) => one.amount)),
        words: all.map((one) => one.words).join(", and "),
        edges: all.find((one) => one.edges)?.edges,
      };
    }
    case "times": {
      const one = evaluate(amount.amount, asked);
      const factor = Number(amount.factor.toPrecision(3));
      return {
        ...one,
        amount: times(amount.factor, one.amount),
        words: `${factor} x ${one.words}`,
      };
    }
  }
}

/** Time, of a number about requests that in which the workload said anything. */
function timeOf(asked: Asked): Amount {
  const formula = asked.evidence.formula;
  return formula?.of.kind === "requests" ? ofIntervals(signalOf(asked), length) : wall;
}

function grownBy(
  { table, columns }: Extract<Declared, { kind: "growth" }>,
  { recording, tables }: Asked,
): Evaluated {
  const kind = recording.table(table)?.entity;
  const places = kind === undefined ? [] : ofKind(recording, kind);
  return {
    amount: grown(...series(tables, table, places, columns)),
    words: `(${columns.join(" + ")}) of all ${places.length}`,
  };
}

/** Tables that an amount is worked out from. */
function tablesOf(amount: Declared): readonly string[] {
  switch (amount.kind) {
    case "ledger":
    case "generator_wait":
      return ["ledger"];
    case "account":
      return ["signal", "ledger"];
    case "requests":
      return ["signal"];
    case "time":
      return [];
    case "growth":
      return [amount.table];
    case "sum":
      return amount.amounts.flatMap(tablesOf);
    case "times":
      return tablesOf(amount.amount);
  }
}

/** Classes of the ledger that an amount is the time in. */
function classesOf(amount: Declared): readonly LedgerClass[] {
  switch (amount.kind) {
    case "ledger":
      return amount.classes;
    case "sum":
      return amount.amounts.flatMap(classesOf);
    case "times":
      return classesOf(amount.amount);
    default:
      return [];
  }
}

function inWords(classes: readonly LedgerClass[]): string {
  // More are no list that a person reads.
  if (classes.length > 6) return "waits of any kind";
  return classes.map((name) => name.replaceAll("_", " ")).join(", ");
}
