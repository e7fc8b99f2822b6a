// The CPUs: heat map, and the same in numbers.

import { useMemo } from "preact/hooks";
import { type Cpu, cpuSentence, cpus as cpusOf } from "../charts/cpus";
import { percent } from "../data/format";
import { HeatMap } from "./HeatMap";
import { usePage, useTables } from "./state";

const COLUMNS: readonly {
  readonly title: string;
  readonly of: (cpu: Cpu) => number | undefined;
}[] = [
  { title: "Busy", of: (cpu) => cpu.busy },
  { title: "user", of: (cpu) => cpu.user },
  { title: "system", of: (cpu) => cpu.system },
  { title: "irq", of: (cpu) => cpu.irq },
  { title: "softirq", of: (cpu) => cpu.softirq },
  { title: "iowait", of: (cpu) => cpu.iowait },
  { title: "Steal", of: (cpu) => cpu.steal },
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
      <p class="summary">{cpuSentence(cpus, tables, window)}</p>
      <HeatMap tables={tables} cpus={same} />
      <details>
        <summary>In numbers, over the window</summary>
        <table class="number-table">
          <caption class="offscreen">Parts of each CPU's time over the window</caption>
          <thead>
            <tr>
              <th scope="col">CPU</th>
              {COLUMNS.map(({ title }) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cpus.map((cpu) => (
              <tr key={cpu.place}>
                <th scope="row">{cpu.name}</th>
                {COLUMNS.map(({ title, of }) => {
                  const share = of(cpu);
                  return (
                    <td key={title} class="number">
                      {share === undefined ? "not seen" : percent(share)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
