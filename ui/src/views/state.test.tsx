import { Window } from "happy-dom";
import { type ComponentChild, render } from "preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { drawnPage } from "../../tests/drawn";
import { Recording } from "../data/recording";
import { timeAxis } from "./axis";
import { Readable } from "./Readable";
import { StateContext, useTables } from "./state";

const S = 1e9;
let root: Element;

beforeEach(() => {
  const { document } = new Window();
  vi.stubGlobal("document", document);
  root = document.body as unknown as Element;
  return () => vi.unstubAllGlobals();
});

/** A recording of two tables, the second of which was cut in its block. */
async function cut(): Promise<Recording> {
  const { page, blocks } = drawnPage({
    edges: [0, S],
    tables: ["cpu", "disk"].map((name) => ({
      name,
      entity: "machine" as const,
      columns: [{ name: "busy_ns" }],
      series: [{ entity: 0, column: "busy_ns", values: S }],
    })),
  });
  return Recording.open(page, (block) => (blocks[block] ?? "").slice(0, block === 2 ? 20 : 999));
}

function Named({ name }: { name: string }) {
  const tables = useTables(name);
  if (tables === undefined) return <p>waiting for {name}</p>;
  return (
    <p>
      {name} has {tables.bins(name)?.columns.length} column
    </p>
  );
}

function show(recording: Recording, child: ComponentChild): void {
  const { report } = recording.page;
  const state = {
    recording,
    report,
    judgement: { report, of: undefined, asking: false, trouble: "" },
    window: recording.judged,
    selected: undefined,
    select: () => {},
    axis: timeAxis(recording.whole),
  };
  render(<StateContext.Provider value={state}>{child}</StateContext.Provider>, root);
}

describe("tables", () => {
  it("that are damaged are said to be, and the others stand", async () => {
    const recording = await cut();
    const parts = ["cpu", "disk"].map((name) => (
      <Readable key={name}>
        <Named name={name} />
      </Readable>
    ));
    show(recording, parts);
    await vi.waitFor(() => expect(root.textContent).not.toContain("waiting"));
    expect(root.textContent).toContain("cpu has 1 column");
    expect(root.querySelector("[role=alert]")?.textContent).toMatch(
      /^The table disk cannot be shown: it is damaged in this file \(.+\)\. .* stallscope report drawn-1\.stall$/,
    );
  });

  it("that can be read are shown below what is said of those that cannot", async () => {
    const recording = await cut();
    function Both() {
      const tables = useTables("cpu", "disk");
      if (tables === undefined) return <p>waiting</p>;
      return (
        <p>
          {tables.bins("cpu")?.columns.length} column, {tables.bins("disk") ? "and" : "not"} disk
        </p>
      );
    }
    show(
      recording,
      <Readable>
        <Both />
      </Readable>,
    );
    await vi.waitFor(() => expect(root.querySelector("[role=alert]")).not.toBeNull());
    expect(root.textContent).toMatch(/^The table disk cannot be shown: .*1 column, not disk$/);
  });

  it("that were asked for before do not answer for others", async () => {
    const recording = await cut();
    await recording.load(["cpu"]);
    show(recording, <Named name="cpu" />);
    await vi.waitFor(() => expect(root.textContent).toBe("cpu has 1 column"));
    show(recording, <Named name="none" />);
    expect(root.textContent).toBe("waiting for none");
    await vi.waitFor(() => expect(root.textContent).toBe("none has  column"));
  });
});
