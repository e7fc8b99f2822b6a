// Request times over the window in words and as a table: what the heat in the timeline shows.

import { requestSentence, requestTimes, timesRows } from "../charts/requestTimes";
import { duration, integer, percent } from "../data/format";
import type { Tables } from "../data/recording";
import { Aligned } from "./Aligned";
import { NumberTable } from "./NumberTable";
import { usePage } from "./state";

export function RequestTimes({ tables }: { readonly tables: Tables }) {
  const { window } = usePage();
  const all = requestTimes(tables, window);
  if (all.length === 0) return null;
  return (
    <div class="request-times">
      {all.map((times) => (
        <details key={times.what}>
          <summary>{requestSentence(times)}</summary>
          <NumberTable
            caption={`Of ${times.what}`}
            titles={["Took at least", "Less than", "Requests timed", "Part of them", "Took longer"]}
            rows={timesRows(times.buckets).map((row) => [
              duration(row.from),
              Number.isFinite(row.below) ? duration(row.below) : "no bound",
              integer(row.count),
              <Aligned key="share" text={percent(row.share)} />,
              <Aligned key="beyond" text={percent(row.beyond)} />,
            ])}
          />
        </details>
      ))}
    </div>
  );
}
