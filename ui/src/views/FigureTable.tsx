// Figures as a table: number, highest, course over the run.

import type { Figure } from "../charts/figures";
import { sparkline } from "../charts/sparkline";
import { NumberTable } from "./NumberTable";
import { Sparkline } from "./Sparkline";
import { usePage } from "./state";

export function FigureTable({
  caption,
  figures,
}: {
  readonly caption: string;
  readonly figures: readonly Figure[];
}) {
  const { recording, window } = usePage();
  // What did not happen is said in a line, and takes no row.
  const some = figures.filter((figure) => !figure.zero && figure.value !== undefined);
  const none = figures.filter((figure) => figure.zero).map((figure) => figure.label);
  const unseen = figures.filter((figure) => figure.value === undefined);
  return (
    <>
      {some.length > 0 && (
        <NumberTable
          caption={caption}
          titles={[
            [caption],
            "Over the window",
            ["Highest in a bin", "number muted"],
            ["Over the run", "course"],
            ["What it is", "help extra muted"],
          ]}
          look="figures"
          rows={some.map(({ label, help, value, highest, series }) => [
            label,
            value,
            highest,
            <Sparkline
              key="course"
              line={sparkline(series, recording.whole, window)}
              label={`${label} over the run`}
            />,
            help,
          ])}
        />
      )}
      {none.length > 0 && <p class="muted">None at all: {none.join(", ")}.</p>}
      {unseen.length > 0 && (
        <p class="muted">
          Not seen in this window: {unseen.map((figure) => figure.label).join(", ")}.
        </p>
      )}
    </>
  );
}
