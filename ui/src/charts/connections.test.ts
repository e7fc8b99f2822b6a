import { describe, expect, it } from "vitest";
import { drawn } from "../../tests/drawn";
import type { PortReport } from "../data/page.gen";
import { keyOfFlow, portLanes, trouble } from "./connections";

const S = 1e9;

function port(own: Partial<PortReport>): PortReport {
  return {
    sentence: "a -> b",
    is_served: true,
    protocol: "tcp",
    port: 5432,
    servers: [],
    clients: [],
    client_processes: 0,
    peers: [],
    peer_count: 0,
    open: 0,
    opened: 0,
    opened_per_second: 0,
    short_lived: 0,
    refused: 0,
    reset: 0,
    timed_out: 0,
    failed: 0,
    asked_bytes_per_second: 0,
    answered_bytes_per_second: 0,
    ...own,
  };
}

describe("keyOfFlow", () => {
  it("finds the service's port at either end, or the path", () => {
    expect(
      [
        "postgres (1) :5432 <- 10.0.0.7",
        "a (2) b (17) -> [fe80::1]:80",
        "dig (3) -> 10.0.0.2:53/udp",
        "statsd (4) :8125/udp <- any",
        "psql (5) -> /tmp/.s:1",
        "postgres (6) <- @x",
        "x (7) -- socket pair",
      ].map(keyOfFlow),
    ).toEqual(["<-:5432", "->:80", "->:53/udp", "<-:8125/udp", "->/tmp/.s:1", "<-@x", undefined]);
  });
});

describe("portLanes", () => {
  it("adds up the flows of each port", async () => {
    const flow = (name: string, path: string) => ({ kind: "flow" as const, name, path });
    const recording = await drawn({
      edges: [0, S, 2 * S],
      entities: [
        flow("postgres (1) :5432 <- 127.0.0.1", "flow:1"),
        flow("postgres (2) :5432 <- 127.0.0.1", "flow:2"),
        flow("pgbench (3) -> 127.0.0.1:5432", "flow:3"),
      ],
      tables: [
        {
          name: "flow",
          entity: "flow",
          columns: [
            { name: "sent_bytes", unit: "bytes" },
            { name: "received_bytes", unit: "bytes" },
            { name: "opened", unit: "count" },
          ],
          series: [
            { entity: 0, column: "sent_bytes", values: [100, 200] },
            { entity: 0, column: "received_bytes", values: [1, 2] },
            { entity: 1, column: "sent_bytes", values: [1000, 0] },
            { entity: 1, column: "opened", values: [3, 0] },
            { entity: 2, column: "sent_bytes", values: [7, 7] },
          ],
        },
      ],
    });
    const tables = await recording.load(["flow"]);
    const lanes = portLanes(recording, tables, [port({}), port({ port: 7100 })]);
    expect(lanes.map(({ title }) => title)).toEqual(["Bytes by port", "Connections established"]);
    const [bytes] = lanes;
    expect(bytes?.lines.map(({ label }) => label)).toEqual(["port 5432"]);
    expect([...(bytes?.lines[0]?.values ?? [])]).toEqual([1101, 202]);
  });
});

describe("trouble", () => {
  it("names what went wrong, and nothing else", () => {
    expect(trouble(port({}))).toBe("");
    expect(trouble(port({ refused: 3, short_lived: 12 })).replaceAll("\u00a0", " ")).toBe(
      "3 refused, 12 under 1 s",
    );
  });
});
