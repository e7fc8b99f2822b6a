// The CPUs: heat map, and the same in numbers.

import { useMemo } from "preact/hooks";
import { type Cpu, cpuSentence, cpus as cpusOf } from "../charts/cpus";
import { percent, tied } from "../data/format";
import { Aligned } from "./Aligned";
import { HeatMap } from "./HeatMap";
import { NumberTable, type Title } from "./NumberTable";
import { usePage, useTables } from "./state";

/** On a phone only those that tell where a CPU's time was lost. */
const COLUMNS: readonly (readonly [title: string, of: keyof Cpu, look: string])[] = [
  ["Busy", "busy", "number"],
  ["user", "user", "number wide"],
  ["system", "system", "number"],
  ["irq", "irq", "number wide"],
  ["softirq", "softirq", "number wide"],
  ["iowait", "iowait", "number"],
  ["Steal", "steal", "number"],
];

export function Cpus() {
  const { recording, window } = usePage();
  const tables = useTables("cpu");
  const cpus = useMemo(
    () => (tables === undefined ? [] : cpusOf(recording, tables, window)),
    [recording, tables, window],
  );
  const places = cpus.map((cpu) => cpu.place).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: who they are, whatever the window
  const same = useMemo(() => cpus, [tables, places]);
  if (tables === undefined) return <p class="muted">Reading the CPUs…</p>;
  return (
    <>
      <p class="summary">{tied(cpuSentence(cpus, tables, window))}</p>
      <HeatMap tables={tables} cpus={same} />
      <details>
        <summary>In numbers, over the window</summary>
        <NumberTable
          caption="Parts of each CPU's time over the window"
          titles={[["CPU"], ...COLUMNS.map(([title, , look]): Title => [title, look])]}
          rows={cpus.map((cpu) => [
            cpu.name,
            ...COLUMNS.map(([title, of]) => {
              const share = cpu[of];
              const text = typeof share === "number" ? percent(share) : "not seen";
              return <Aligned key={title} text={text} />;
            }),
          ])}
        />
      </details>
    </>
  );
}
