// How each number of the verdict is drawn: by its formula. What is no function of columns has a source only.

import type { Evidence } from "../data/page.gen";
import { rateOver } from "../data/series";
import { bounds } from "./bins";
import { meant } from "./entitySets";
import { byFormula } from "./formula";
import { added } from "./quantity";
import type { Recipe } from "./recipe";
import { scaleOf } from "./scale";

export function recipeOf({ formula, column }: Evidence): Recipe {
  if (formula) return byFormula(formula);
  const why = Object.hasOwn(UNDRAWN, column) ? UNDRAWN[column] : undefined;
  return why === undefined ? source(column) : { tables: [], make: () => ({ why }) };
}

/** Why a source has no course over time. */
const UNDRAWN: Readonly<Record<string, string>> = {
  "workload.outcome.complaints": "counted in what the workload said; it did not say when",
  "wakeup.wait_ns": "added up over the waits that this thread ended, pool by pool",
  "mysql_session.blocked_by": "counted over looks at sessions, each of which names who blocks it",
  "session.blocked_by": "counted over looks at sessions, each of which names who blocks it",
  "signal.latency_mean_ns":
    "what was in line at the target's sockets is not in it, which both ends of connections tell",
};

/** The counters that a number was worked out from: of whom it is about, else of all. */
function source(column: string): Recipe {
  const [table = "", names = ""] = column.split(/\.(.*)/);
  const columns = names.split(" + ");
  return {
    tables: [table],
    make: ({ evidence, recording, tables }) => {
      const about = recording.table(table);
      const described = about?.columns.find(({ name }) => name === columns[0]);
      if (about === undefined || described === undefined)
        return { why: `the recording has no ${column}` };
      const own = recording.placeOf(evidence.entity);
      const all =
        about.entity !== evidence.entity.kind
          ? meant(recording, about.entity, { kind: "all" })
          : own === undefined
            ? []
            : [own];
      const found = all.flatMap((place) =>
        columns.map((name) => tables.series(table, place, name)),
      );
      const edges = tables.bins(table)?.edges;
      if (edges === undefined || found.every((one) => one === undefined))
        return { why: `${evidence.entity.name} has no ${column} in this page` };
      const scale = scaleOf(table, described);
      const rate = added(found, rateOver);
      return {
        quantity: {
          of: (window) => scale.factor * rate(window),
          per: () => 1,
          edges: bounds(edges),
        },
        how: `${column}, ${scale.words}, which the number is worked out from`,
        scale,
      };
    },
  };
}
