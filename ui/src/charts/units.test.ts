import { describe, expect, it } from "vitest";
import { golden } from "../../tests/drawn";
import type { AccountPart, MachineReport, UnitReport, UnitWait } from "../data/page.gen";
import { lostWords, notFollowed, rankingSentence, unitRows } from "./units";

const QUOTA = golden("cpu-quota");
const SATURATED = golden("cpu-saturated");

/** Who had what was waited for, and how much of it, s per second. */
function part(kind: AccountPart["kind"], label: string, lost: number): AccountPart {
  const { start, end } = SATURATED.window;
  return { kind, label, ns: lost * (end - start), share: 0, quality: "exact" };
}

function wait(of: UnitWait["class"], label: string, lost: number, ...behind: AccountPart[]) {
  return { class: of, label, lost_per_second: lost, behind };
}

function unit(name: string, waits: readonly UnitWait[], own: Partial<UnitReport> = {}): UnitReport {
  return {
    kind: "service",
    name,
    target: `unit:${name}`,
    window: SATURATED.window,
    lost_per_second: waits.reduce((sum, it) => sum + it.lost_per_second, 0),
    waits: [...waits],
    signals: SATURATED.signals,
    subjects: SATURATED.subjects,
    threads: [],
    pressure: [],
    ...own,
  };
}

const SHOP = unit("shop", [wait("throttled", "throttled by a CPU quota", 2.5)], {
  kind: "virtual_machine",
  verdict: QUOTA.verdict,
});
const POSTGRES = unit("postgres", [
  wait(
    "cpu_wait",
    "waiting for a CPU",
    0.75,
    part("own", "postgres", 0.4),
    part("other", "rustc (12 processes)", 0.25),
    part("nobody", "nobody", 0.1),
  ),
  wait("outside", "in line at its sockets", 0.25),
]);
const IDLE = unit("idle", [], { signals: [] });

const machine = (...units: UnitReport[]): MachineReport => ({ units, not_followed: [] });

describe("the whole machine", () => {
  it("says who waits most, for what", () => {
    expect(rankingSentence(machine(SHOP, POSTGRES, IDLE))).toBe(
      "shop (virtual machine) waits most of the 3 that were followed: 2.50 s in each second, 100 % of it throttled by a CPU quota.",
    );
    expect(rankingSentence(machine(IDLE))).toBe(
      "idle did not lose time to speak of: nobody waits among those that were followed.",
    );
    expect(rankingSentence(machine(IDLE, IDLE))).toMatch(/^None of the 2 that were followed lost /);
    expect(rankingSentence(machine())).toMatch(/^Nobody on this machine was measured: /);
  });

  it("names who had what was waited for, as parts of all that was lost", () => {
    const [row] = unitRows(machine(POSTGRES));
    expect(row?.value.behind).toBe("itself 40 %, rustc (12 processes) 25 %");
    // Nobody is named only where it is listed.
    expect(row?.value.waits?.parts.map(({ label, help }) => [label, help])).toEqual([
      ["a CPU", "itself 40 %, rustc (12 processes) 25 %, nobody 10 %"],
      ["in line at its sockets", ""],
    ]);
  });

  it("names whom the verdict blames where nobody was counted, and not the unit itself", () => {
    const [blaming] = unitRows(machine(SHOP));
    expect(blaming?.value.behind).toBe("stallscope-lab-10734");
    const itself = { ...SHOP, verdict: SATURATED.verdict, subjects: SATURATED.subjects };
    expect(unitRows(machine(itself))[0]?.value.behind).toBe("");
  });

  it("knows each wait as well as the account that it is from", () => {
    const of = (unit: UnitReport) => unitRows(machine(unit))[0]?.value.waits?.parts[0]?.quality;
    const account = QUOTA.verdict.account?.items.find((it) => it.class === "throttled");
    expect(of(SHOP)).toBe(account?.quality);
    expect(of({ ...POSTGRES, subjects: [] })).toBe("unknown");
  });

  it("has request times of who answers any, and no bar of who lost nothing", () => {
    const [shop, idle] = unitRows(machine(SHOP, IDLE)).map(({ value }) => value);
    const latency = SATURATED.signals.find(({ name }) => name === "latency");
    expect(shop?.throughput).toBeGreaterThan(0);
    expect(shop?.latency).toBe(latency?.mean);
    expect(shop?.headline?.cause).toBe("cpu.quota");
    expect(idle).toMatchObject({ waits: undefined, throughput: undefined, latency: undefined });
  });

  it("lists groups with pressure that nobody is part of, a few of them", () => {
    const [pressure] = QUOTA.pressure;
    if (pressure === undefined) throw new Error("a golden report has pressure");
    const group = { ...pressure, entity: { ...pressure.entity, path: "/batch" }, share: 0.25 };
    const said = notFollowed({ units: [], not_followed: Array(6).fill(group) });
    expect(said.split(", ")).toEqual(Array(4).fill("/batch (cpu 25 % some)"));
    expect(lostWords(0.0125)).toBe("12.5 ms");
  });
});
