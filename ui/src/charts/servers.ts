// What servers report themselves, as lanes: one recipe per server, over the table that it is asked into (docs/data.md).

import type { Recording, Tables } from "../data/recording";
import { withNumber } from "./database";
import type { Lane } from "./lane";
import { type LaneRecipes, recipeLanes } from "./laneRecipe";

/** A kind of server. */
export interface Server extends LaneRecipes {
  readonly title: string;
  /** The table of its sessions. */
  readonly sessions?: string;
}

/** In the order of the page. */
export const SERVERS: readonly Server[] = [
  {
    table: "mysql",
    title: "MySQL, MariaDB",
    sessions: "mysql_session",
    colour: "--latency",
    lanes: [
      {
        title: "Sessions",
        lines: [
          ["running a statement", "active_sessions", "--cpu"],
          ["waiting for a row lock", "row_lock_waiters", "--lock"],
          ["connected", "sessions", "--ink"],
        ],
      },
      {
        title: "Sessions in waits for row locks that ended",
        several: true,
        lines: [["mean", "row_lock_time_ns", "--lock"]],
      },
      {
        title: "Waits for locks",
        lines: [
          ["row locks", "row_lock_waits", "--lock"],
          ["table locks", "table_lock_waits"],
          ["deadlocks", "deadlocks", "--ink"],
        ],
      },
      {
        title: "Statements",
        lines: [
          ["all", "questions"],
          ["slow", "slow_queries", "--ink"],
        ],
      },
      {
        title: "InnoDB's buffer pool",
        lines: [
          ["pages not in it", "pages_read", "--io"],
          ["waits for a free page", "free_page_waits", "--ink"],
        ],
      },
    ],
  },
  {
    table: "pgbouncer",
    title: "PgBouncer",
    colour: "--latency",
    lanes: [
      {
        title: "Clients",
        lines: [
          ["waiting for a server connection", "clients_waiting", "--lock"],
          ["active", "clients_active", "--cpu"],
        ],
      },
      {
        title: "Server connections",
        lines: [
          ["active", "servers_active", "--cpu"],
          ["idle", "servers_idle", "--ink"],
          ["logging in", "servers_login"],
        ],
      },
      {
        title: "Longest wait for a server connection",
        lines: [["so far", "longest_wait_ns", "--lock"]],
      },
      {
        title: "Clients in waits that ended",
        several: true,
        lines: [["mean", "wait_time_ns", "--lock"]],
      },
      {
        title: "Pooled",
        lines: [
          ["queries", "queries"],
          ["transactions", "transactions", "--ink"],
        ],
      },
    ],
  },
  {
    table: "redis",
    title: "Redis, Valkey",
    colour: "--latency",
    lanes: [
      {
        title: "Time of the main thread",
        lines: [
          ["in commands", "command_time_ns", "--cpu"],
          ["in its loop", "loop_time_ns", "--ink"],
        ],
      },
      { title: "Commands", lines: [["all", "commands"]] },
      {
        title: "Clients",
        lines: [
          ["connected", "connected_clients"],
          ["blocked by their own wish", "blocked_clients", "--ink"],
        ],
      },
      {
        title: "Memory",
        lines: [
          ["used", "used_memory_bytes", "--memory"],
          ["limit", "memory_limit_bytes", "--ink"],
        ],
      },
      {
        title: "Keys removed",
        lines: [
          ["for the memory limit", "evicted_keys", "--memory"],
          ["because their time was over", "expired_keys", "--ink"],
        ],
      },
      { title: "Last fork", lines: [["stopped it for", "last_fork_ns", "--memory"]] },
      {
        title: "Append-only file",
        lines: [["writes delayed", "delayed_fsyncs", "--io"]],
      },
    ],
  },
  {
    table: "jvm",
    title: "Java virtual machines",
    colour: "--memory",
    lanes: [
      {
        title: "Time in which no Java code ran",
        least: 0.05,
        lines: [
          ["safepoints", "safepoint_ns", "--lock"],
          ["of it stopping threads", "safepoint_sync_ns", "--ink"],
        ],
      },
      {
        title: "Time of collections, with what ran beside Java code",
        least: 0.05,
        lines: [
          ["first collector", "collector0_ns"],
          ["second", "collector1_ns", "--ink"],
          ["third", "collector2_ns"],
        ],
      },
      {
        title: "Heap after collections",
        lines: [
          ["used", "heap_used_bytes"],
          ["capacity", "heap_capacity_bytes", "--ink"],
        ],
      },
      {
        title: "Compilers at work",
        several: true,
        lines: [["mean", "compile_ns", "--cpu"]],
      },
      { title: "Java monitors", lines: [["contended", "contended_locks", "--lock"]] },
    ],
  },
];

/** Servers of a kind that are drawn. */
export const MOST_SERVERS = 4;

/** A server with its lanes. */
export interface ServerLanes {
  readonly name: string;
  readonly lanes: readonly Lane[];
}

/** The servers of a kind that a recording has something of, those of the target first. */
export function serverLanes(recording: Recording, tables: Tables, of: Server): ServerLanes[] {
  const places = new Set(tables.bins(of.table)?.columns.flatMap((column) => [...column.keys()]));
  return [...places]
    .flatMap((place) => {
      const entity = recording.entity(place);
      return entity === undefined ? [] : [{ place, entity }];
    })
    .sort((a, b) => Number(b.entity.role === "target") - Number(a.entity.role === "target"))
    .map(({ place, entity }) => {
      const recipes = { ...of, prefix: `${of.table}-${place}-` };
      return {
        name: withNumber(entity),
        lanes: recipeLanes(recording, tables, recipes, (other) => other === place),
      };
    });
}
