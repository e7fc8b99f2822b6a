// What an experiment on the running target showed: each capacity that was lowered, and what throughput did meanwhile.

import { amount, timesAsLong } from "../charts/experiment";
import { percent } from "../data/format";
import { NumberTable } from "./NumberTable";
import type { Section } from "./section";
import { usePage } from "./state";

export const EXPERIMENT: Section = {
  id: "experiment",
  title: "Experiment",
  view: Experiment,
  isOf: ({ proof }) => proof != null,
};

function Experiment() {
  const { proof } = usePage().report;
  if (proof == null) return null;
  const tried = proof.capacities.filter(({ pairs }) => pairs.length > 0);
  const others = proof.capacities.filter(({ pairs }) => pairs.length === 0);
  const said = [...others.map(({ sentence }) => sentence), ...proof.caveats];
  return (
    <div class="card">
      {proof.answers.map((answer) => (
        <p key={answer}>{answer}</p>
      ))}
      {tried.length > 0 && (
        <NumberTable
          caption="Capacities that were lowered"
          titles={[
            ["Lowered"],
            "Used",
            "Available",
            "Lowered to",
            "Throughput",
            ["Latency", "number wide"],
            "Elasticity",
            ["Outcome", ""],
          ]}
          rows={tried.map(({ capacity, elasticity: known, ...it }) => {
            const of = (value: number | null | undefined) =>
              value == null ? "" : amount(capacity, value);
            return [
              capacity,
              of(it.used),
              of(it.available),
              of(it.lowered_to),
              it.change == null ? "" : percent(it.change),
              timesAsLong(it.pairs),
              known == null
                ? ""
                : `${known.value.toFixed(2)} (${known.interval.low.toFixed(2)} to ${known.interval.high.toFixed(2)})`,
              it.outcome.replace("_", " "),
            ];
          })}
        />
      )}
      {said.map((sentence) => (
        <p key={sentence} class="muted">
          {sentence}
        </p>
      ))}
    </div>
  );
}
