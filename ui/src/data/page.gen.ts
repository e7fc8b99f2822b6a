// Made by `npm run types` from docs/page.schema.json: change crates/model/src/page.rs instead.

/**
 * A point in time: nanoseconds on `CLOCK_BOOTTIME` of the recorded machine.
 */
export type Timestamp = number;
/**
 * An entity's number within one recording.
 */
export type EntityId = number;
/**
 * The kinds of things that are measured.
 */
export type EntityKind =
  | "machine"
  | "cgroup"
  | "process"
  | "thread"
  | "cpu"
  | "disk"
  | "group_disk"
  | "filesystem"
  | "file"
  | "interface"
  | "connection"
  | "workload"
  | "pool"
  | "waker"
  | "wait_event"
  | "series"
  | "block_stream"
  | "flow"
  | "log"
  | "log_template"
  | "logged_call"
  | "statement";
/**
 * The role of an entity in what is measured.
 */
export type Role = "target" | "generator" | "dependency" | "recorder" | "rest";
/**
 * What kind of thing happened.
 */
export type PageEventKind = "workload_started" | "workload_ended" | "target_found" | "oom_kill" | "mark";
/**
 * Where the numbers of a workload metric come from.
 */
export type Provenance = "tool_mean" | "tool_count" | "kernel" | "log" | "account" | "derived" | "none";
/**
 * What requests are for.
 */
export type IoPart = "log" | "journal" | "metadata" | "data" | "all";
/**
 * An interval in which something was not seen.
 */
export type Gap = {
  /**
   * The table concerned; `*` for all.
   */
  table: string;
  /**
   * The column, source or group concerned; empty for the whole table.
   */
  what?: string;
  /**
   * The interval; `None` for the whole recording.
   */
  window?: Window | null;
} & Gap1;
export type Gap1 =
  | {
      detail: string;
      reason: "unsupported";
    }
  | {
      detail: string;
      reason: "denied";
    }
  | {
      reason: "vanished";
    }
  | {
      reason: "overrun";
    }
  | {
      detail: string;
      reason: "malformed";
    }
  | {
      detail: number;
      reason: "dropped";
    }
  | {
      detail: string;
      reason: "unwritten";
    };
/**
 * A latency over a window.
 */
export type Latency =
  | "mean"
  | {
      quantile: number;
    };
/**
 * The two kinds of stall.
 */
export type StallKind = "some" | "full";
/**
 * The resources of pressure-stall information.
 */
export type Resource = "cpu" | "memory" | "io" | "irq";
/**
 * The kinds of parts of a machine.
 */
export type UnitKind = "service" | "container" | "virtual_machine" | "group" | "process";
/**
 * The classes of the ledger.
 */
export type LedgerClass =
  | "on_cpu"
  | "cpu_wait"
  | "throttled"
  | "uninterruptible"
  | "page_fault"
  | "reclaim"
  | "sync"
  | "sync_queue"
  | "read_write"
  | "database_lock"
  | "internal_lock"
  | "futex"
  | "output"
  | "input"
  | "sleep"
  | "other_call"
  | "unknown"
  | "outside"
  | "lag"
  | "remote";
/**
 * The kinds of parts of a part.
 */
export type PartKind =
  | "own"
  | "partner"
  | "other"
  | "stolen"
  | "nobody"
  | "untold"
  | "generator_on_cpu"
  | "generator_cpu_wait"
  | "generator_input"
  | "generator_else"
  | "network";
/**
 * How well a value is known.
 */
export type Quality = "exact" | "sampled" | "estimated" | "unknown";
/**
 * What a share is a share of.
 */
export type ShareBasis = "response_time" | "busy_time";
/**
 * How sure a finding is; each word is bound to a condition.
 */
export type Confidence = "suspected" | "consistent" | "measured" | "proved";
/**
 * How much of something a window holds; not a number where nothing of it is known.
 */
export type Amount =
  | {
      /**
       * The columns.
       */
      columns: string[];
      kind: "recorded";
      reading: Reading;
      /**
       * Their table.
       */
      table: string;
      whose: Whose;
    }
  | {
      /**
       * The counter.
       */
      by: string;
      /**
       * The gauge.
       */
      column: string;
      kind: "weighed";
      /**
       * The table of both.
       */
      table: string;
      whose: Whose;
    }
  | {
      /**
       * The classes.
       */
      classes: LedgerClass[];
      kind: "ledger";
      whose: Whose;
    }
  | {
      kind: "lifetime";
      whose: Whose;
    }
  | {
      /**
       * The columns.
       */
      columns: string[];
      kind: "queued";
      whose: Whose;
    }
  | {
      kind: "generator_wait";
    }
  | {
      kind: "outside";
    }
  | {
      kind: "lag";
    }
  | {
      kind: "account";
    }
  | {
      kind: "requests";
    }
  | {
      kind: "completed";
    }
  | {
      kind: "reported";
    }
  | {
      kind: "time";
    }
  | {
      kind: "number";
      /**
       * The number.
       */
      value: number;
    }
  | {
      /**
       * The amounts.
       */
      amounts: Amount[];
      kind: "sum";
    }
  | {
      /**
       * The amounts.
       */
      amounts: Amount[];
      kind: "product";
    }
  | {
      /**
       * The amounts.
       */
      amounts: Amount[];
      kind: "least";
    }
  | {
      /**
       * The amounts.
       */
      amounts: Amount[];
      kind: "most";
    }
  | {
      kind: "ratio";
      of: Amount;
      per: Amount;
    }
  | {
      kind: "rest";
      part: Amount;
      whole: Amount;
    }
  | {
      amount: Amount;
      kind: "named";
      /**
       * The name, in words.
       */
      name: string;
    }
  | {
      amount: Amount;
      kind: "or_nothing";
    };
/**
 * What is taken of a column over a window, from the part of it in which the column is known.
 */
export type Reading = "growth" | "rate" | "mean" | "last" | "lowest";
/**
 * Of whom a table's rows are meant.
 */
export type Whose =
  | {
      kind: "all";
    }
  | {
      id: EntityId;
      kind: "one";
    }
  | {
      kind: "role";
      role: Role;
    }
  | {
      kind: "serving";
      role: Role;
    }
  | {
      id: EntityId;
      kind: "under";
    };
/**
 * What a gain is a part of.
 */
export type GainOf = "throughput" | "response_time";
/**
 * Present, absent, or cannot tell.
 */
export type Answer = "present" | "absent" | "cannot_tell";
/**
 * The kinds of phases.
 */
export type PhaseKind = "warm_up" | "steady" | "ramp" | "congested" | "end";
/**
 * A capacity that can be lowered for a while.
 */
export type Capacity = "cpu" | "disk" | "memory" | "clients";
/**
 * What an experiment says about a capacity or a cause.
 */
export type ProofOutcome = "proved" | "ruled_out" | "inconclusive" | "not_tried";
/**
 * What kind of measure is different in spikes.
 */
export type MeasureKind =
  "time" | "calls" | "code" | "waits" | "cpu" | "group" | "traffic" | "disk" | "kernel" | "application" | "statement";
/**
 * The unit of a column's integer values.
 */
export type Unit =
  "nanoseconds" | "bytes" | "count" | "hundredths" | "millionths" | "milli_per_second" | "code" | "string" | "stack";
/**
 * What keeps a period.
 */
export type Schedule =
  | {
      /**
       * The period that divides the minute or the hour, ns.
       */
      every_ns: number;
      kind: "clock";
      /**
       * Its first onset within each minute, of periods of a minute and more within each hour, ns, in UTC.
       */
      phase_ns: number;
    }
  | {
      kind: "loop";
    }
  | {
      kind: "unknown";
    };
/**
 * What kind of event comes before spikes.
 */
export type TriggerKind = "program" | "connections" | "sends" | "cpu_burst" | "counter" | "log" | "calls" | "statement";
/**
 * What can end a wait.
 */
export type WakerKind = "threads" | "ended" | "interrupt" | "kernel";
/**
 * The kinds of errors, recognised by common messages of databases and the C library.
 */
export type ComplaintKind =
  | "too_many_connections"
  | "connection_refused"
  | "server_gone"
  | "no_space"
  | "out_of_memory"
  | "too_many_files"
  | "unknown";
/**
 * Exit code or signal.
 */
export type ExitKind =
  | {
      code: number;
    }
  | {
      signal: number;
    };
/**
 * Whether a column adds up over time or stands for an instant.
 */
export type ColumnKind = "counter" | "gauge";
/**
 * The layout of a table's numbers in its block.
 */
export type PageForm =
  | {
      kind: "bins";
      /**
       * Edges per bin of the finest series.
       */
      stride: number;
    }
  | {
      kind: "rows";
    }
  | {
      kind: "stacks";
    }
  | {
      kind: "samples";
      /**
       * One of so many samples is in the page, drawn at random, and stands for all of them.
       */
      one_of: number;
    }
  | {
      kind: "waits";
      /**
       * Of waits that stand for less blocked time than this, ns, the page has some, drawn at random in proportion to
       * that time, each of which stands for as much. 0 where it has all.
       */
      least_ns: number;
    };

/**
 * All that a page knows.
 */
export interface Page {
  /**
   * The recording that call stacks are compared with; `None` without one.
   */
  against?: PageAgainst | null;
  /**
   * Whether the recording was closed; false after a crash, or while it is still written.
   */
  complete: boolean;
  /**
   * Who is in the tables, their parents and groups included; tables name them by their place here.
   */
  entities: PageEntity[];
  /**
   * What happened at an instant.
   */
  events: PageEvent[];
  /**
   * The recording's folder, as it is typed in a command: `pgbench-1.stall`.
   */
  recording: string;
  report: Report;
  /**
   * `PAGE_SCHEMA`.
   */
  schema: string;
  /**
   * Whether the page came from `report --serve` and may ask it for a report of any window.
   */
  served: boolean;
  /**
   * The usual distance between two edges, ns: the finest step in which a window can be selected.
   */
  step_ns: number;
  /**
   * The tables, in the order of the data dictionary.
   */
  tables: PageTable[];
  /**
   * The command line that recorded, secrets replaced; empty where an older version did.
   */
  typed: string[];
  window: Window;
}
/**
 * Another recording, whose call stacks are in the tables `against_cpu_sample` and `against_wait_sample`.
 */
export interface PageAgainst {
  /**
   * The edges of its bins, over its judged window, ns after the first.
   */
  edges_ns: number[];
  /**
   * Its name, as it was typed.
   */
  recording: string;
  /**
   * Operations that its workload completed in each bin; empty where it did not say.
   */
  requests?: number[];
}
/**
 * Somebody that rows are about.
 */
export interface PageEntity {
  first_seen: Timestamp;
  /**
   * A process's control group: its index in `entities`.
   */
  group?: number | null;
  /**
   * Its number in the recording, which codes in tables name it by (`session.blocked_by`); `None` of
   * those that stand for several.
   */
  id?: EntityId | null;
  kind: EntityKind;
  /**
   * What a person calls it.
   */
  name: string;
  /**
   * A thread's process, a process's parent, a group's parent: its index in `entities`.
   */
  parent?: number | null;
  /**
   * What tells it from others of its name: a group's path, a process's number.
   */
  path: string;
  role: Role;
  /**
   * Whether it holds a connection of the load generator; of a thread, whether it serves requests.
   */
  serving: boolean;
  /**
   * When it was found gone.
   */
  vanished?: Timestamp | null;
}
/**
 * Something that happened at an instant.
 */
export interface PageEvent {
  at: Timestamp;
  kind: PageEventKind;
  /**
   * In words.
   */
  text: string;
}
/**
 * The answer to "what is this system waiting for", over one window of one recording.
 */
export interface Report {
  /**
   * The run second by second, with its stalls; `None` where neither the workload nor the kernel said what was completed when.
   */
  by_second?: BySecond | null;
  /**
   * Who talked to whom, by the service's port: those of measured processes first, then those with most bytes; at most
   * 20. Empty where it was not recorded.
   */
  connections?: PortReport[];
  cost: Cost;
  /**
   * What block devices did for whom, those with most time first; empty where their requests were not recorded.
   */
  disks?: DiskReport[];
  /**
   * Facts about the machine.
   */
  environment: {
    [k: string]: string;
  };
  /**
   * What was not seen.
   */
  gaps: Gap[];
  /**
   * The user's goals, and whether they were met.
   */
  goals?: GoalReport[];
  identity: Identity;
  /**
   * The operations of each label over the window, where the workload tells several apart.
   */
  labels?: LabelReport[];
  /**
   * Who held the locks of the target's database that others waited for, those first that most waited behind; at most
   * 10. Empty where nobody waited, and where the database was not asked.
   */
  lock_holders?: LockHolder[];
  /**
   * Of a recording of the whole machine, everybody who was followed; the rest of the report is about the
   * first of them. `None` where targets were named or a workload was run.
   */
  machine?: MachineReport | null;
  /**
   * How long after `origin` the first finding was first named and stayed, ns: by judging windows from
   * there on that grow by a second or a fifth. `None` where no cause is named, or none was asked for.
   */
  named_after_ns?: number | null;
  origin: Timestamp;
  /**
   * Parts of the run.
   */
  phases: Phase[];
  /**
   * Pressure over the window.
   */
  pressure: Pressure[];
  /**
   * Programs that were started in the window, those with most CPU time first; empty where that was not recorded.
   */
  programs?: StartedProgram[];
  /**
   * What an experiment on the running target showed (`prove`); `None` where there was none.
   */
  proof?: Proof | null;
  /**
   * `REPORT_SCHEMA`.
   */
  schema: string;
  /**
   * The workload's own view.
   */
  signals: Signal[];
  /**
   * Spikes of latency and dips of throughput of the whole run, their periods, and what comes before them; `None` where
   * nothing stands out.
   */
  spikes?: SpikeReport | null;
  /**
   * What ran on the CPUs, in which functions; `None` where it was not asked for, or not recorded.
   */
  stacks?: StackReport | null;
  /**
   * The statements of the target's database, those with most time first, with the time that belongs to none; at most
   * 50, and the rare ones. Empty where that was not recorded.
   */
  statements?: StatementTime[];
  /**
   * The entity that was measured.
   */
  subjects: ReportSubject[];
  /**
   * Think time of the load's clients; `None` where there is next to none, or it is not known.
   */
  think_time?: ThinkTime | null;
  /**
   * The target's threads one by one, ordered by how long they wanted a CPU; at most 50.
   */
  threads?: ThreadTimes[];
  verdict: Verdict;
  /**
   * Who waits for whom, between thread pools, those edges first in which most threads wait; at most 40, without waits for
   * work. Empty where it was not recorded.
   */
  wait_graph?: WaitEdge[];
  window: Window;
  /**
   * The workload, its command line and its final report; `None` for `record`.
   */
  workload?: WorkloadRun | null;
}
/**
 * Throughput and the longest response times second by second, and the stalls among them.
 */
export interface BySecond {
  /**
   * What a closed loop left out because of stalls in the judged window; `None` where there were none, and where a
   * rate was asked for: such a generator keeps to its schedule.
   */
  omitted?: Omitted | null;
  provenance: Provenance;
  /**
   * The whole recording in intervals of a second; of a long one, of more.
   */
  seconds: SecondReport[];
  /**
   * Whose sockets those are; `None` where the workload's own intervals are told.
   */
  sockets?: Role | null;
  /**
   * Time of the judged window that lay in stalls, ns.
   */
  stalled_ns: number;
  /**
   * Every stall of the whole recording, in the order of time.
   */
  stalls: Stall[];
}
/**
 * What a closed loop did not send, as its clients waited for answers: estimated.
 */
export interface Omitted {
  /**
   * The p99 over the judged window if they had been sent and had waited too, ns (HdrHistogram's correction with the
   * expected interval); `None` where too few requests were timed.
   */
  p99_ns?: number | null;
  /**
   * Requests that it would have sent at its usual rate.
   */
  requests: number;
}
/**
 * One interval.
 */
export interface SecondReport {
  /**
   * Whether both may be too low: a longer one had no reply yet when the recording ended.
   */
  at_least?: boolean;
  /**
   * The longest that was seen, ns; `None` where none was timed. Those of 33.6 ms and more were all timed.
   */
  max_ns?: number | null;
  /**
   * What 99 of 100 did not exceed, ns; `None` where too few were timed.
   */
  p99_ns?: number | null;
  /**
   * Completed per second.
   */
  throughput: number;
  window: Window;
}
/**
 * A half-open interval `[start, end)`; empty when `end <= start`.
 */
export interface Window {
  end: Timestamp;
  start: Timestamp;
}
/**
 * A stretch in which nearly nothing was answered while requests were open.
 */
export interface Stall {
  /**
   * What was completed in it nevertheless.
   */
  completed: number;
  /**
   * What would have been completed at the usual rate.
   */
  expected: number;
  window: Window;
}
/**
 * What was exchanged over the window at one port, or one unix socket's path, of a service.
 */
export interface PortReport {
  /**
   * Mean time from a query to its reply, ns; of DNS.
   */
  answer_ns?: number | null;
  /**
   * Bytes that servers sent, per second.
   */
  answered_bytes_per_second: number;
  /**
   * Bytes that clients sent, per second.
   */
  asked_bytes_per_second: number;
  /**
   * How many processes of this machine ask there.
   */
  client_processes: number;
  /**
   * Processes of this machine that ask there, likewise.
   */
  clients: Party[];
  /**
   * Mean time from connect to the established TCP connection, ns.
   */
  connect_ns?: number | null;
  /**
   * Attempts to connect that came to nothing otherwise.
   */
  failed: number;
  /**
   * Whether a process of this machine serves there; the figures are then the servers', else the clients'.
   */
  is_served: boolean;
  /**
   * Mean connections open.
   */
  open: number;
  /**
   * Connections that were established.
   */
  opened: number;
  /**
   * The same per second.
   */
  opened_per_second: number;
  /**
   * The unix socket's path; an abstract one begins with `@`.
   */
  path?: string | null;
  /**
   * How many addresses there are.
   */
  peer_count: number;
  /**
   * Addresses of the other ends, those with most bytes first; at most 10.
   */
  peers: string[];
  /**
   * The port; 0 of unix sockets, and where it is not known.
   */
  port: number;
  /**
   * `tcp`, `udp` or `unix`.
   */
  protocol: string;
  /**
   * Attempts to connect that were refused.
   */
  refused: number;
  /**
   * Requests per second; `None` where they are not counted: of processes that are not measured.
   */
  requests_per_second?: number | null;
  /**
   * Connections that were reset.
   */
  reset: number;
  /**
   * Share of the TCP segments sent by this end that were sent again.
   */
  retransmitted?: number | null;
  /**
   * Mean smoothed round-trip time of TCP, ns.
   */
  rtt_ns?: number | null;
  /**
   * Who asks whom: `26 postgres processes -> port 7100 of 10.0.0.3`.
   */
  sentence: string;
  /**
   * Processes of this machine that serve there, by name, those with most bytes first; at most 10 names.
   */
  servers: Party[];
  /**
   * TCP connections that ended and had lasted less than a second.
   */
  short_lived: number;
  /**
   * Connections, and attempts to connect, that timed out.
   */
  timed_out: number;
}
/**
 * Processes of one name.
 */
export interface Party {
  /**
   * Their name.
   */
  name: string;
  /**
   * How many there are.
   */
  processes: number;
  role: Role;
}
/**
 * What a recording cost and how well the sampler kept its times.
 */
export interface Cost {
  /**
   * Readings that decreased and were held, by `table.column`.
   */
  corrections: {
    [k: string]: number;
  };
  /**
   * CPU time of the recorder, its threads included, ns.
   */
  cpu_ns: number;
  /**
   * How thread-time accounting agreed with the kernel's own counts of the same threads.
   */
  cross_check?: CrossCheck | null;
  /**
   * Period of the target's threads at the end, ns: longer where sampling cost too much.
   */
  fast_period_ns: number;
  /**
   * The most of the kernel's memory that programs took, by name, bytes.
   */
  kernel_bytes?: {
    [k: string]: number;
  };
  /**
   * Wake-ups later than half a period.
   */
  late_ticks: number;
  /**
   * The latest wake-up, ns after its deadline.
   */
  lateness_max_ns: number;
  /**
   * Whether memory was locked.
   */
  memory_locked: boolean;
  /**
   * The priority that the sampler had: `SCHED_RR 1`, `nice -10`, `normal`.
   */
  priority: string;
  /**
   * BPF programs by name, and why those that were not used could not be.
   */
  programs?: {
    [k: string]: string | null;
  };
  /**
   * The recorder's peak resident memory, bytes; 0 where an older version recorded.
   */
  resident_bytes?: number;
  /**
   * Wake-ups of the sampler.
   */
  ticks: number;
  /**
   * Length of the recording, ns.
   */
  wall_ns: number;
}
/**
 * How thread-time accounting agreed with the scheduler's own run times and run-queue delays: per
 * thread and interval between two readings they may differ by 20 us, or 0.1 % of the interval.
 */
export interface CrossCheck {
  /**
   * Intervals that were compared.
   */
  compared: number;
  /**
   * Comparisons in which the two differed by more than that.
   */
  diff: number;
  /**
   * Events of target and generator that were not counted because there was no memory for a thread's
   * record.
   */
  drops: number;
  /**
   * Switches and wake-ups that were missed, and backfilled from the scheduler's own counts.
   */
  switches_missed: number;
  /**
   * The largest difference within an interval, ns.
   */
  worst_ns: number;
}
/**
 * One block device over the window.
 */
export interface DiskReport {
  entity: Entity;
  /**
   * Control groups that requests were charged to, with most time first; at most 10.
   */
  groups: IoPattern[];
  /**
   * All of its requests, by operation.
   */
  operations: IoPattern[];
  /**
   * The same by what they are for: log, journal, data, metadata; those with most time first. Flushes and discards
   * are among the operations only.
   */
  parts: IoPattern[];
  /**
   * Processes that submitted requests, with most time first; at most 10.
   */
  processes: IoPattern[];
  /**
   * What it did for whom, by part: `log: 16-32 KiB, sequential, one at a time, 0.21 ms; data: ...`.
   */
  sentence: string;
  /**
   * Single files, journals, metadata, and processes whose file is not known, with most time first; at most 20.
   */
  streams: IoPattern[];
}
/**
 * An entity: its kind, the name that a person uses, and the path that identifies it.
 */
export interface Entity {
  kind: EntityKind;
  /**
   * What a person calls it: `postgres`, `vda`, `cpu0`.
   */
  name: string;
  /**
   * Unique within the recording and the kind: `pid:1234@256402`, `/system.slice/x.service`.
   */
  path: string;
}
/**
 * Requests of one operation over the window: their number, sizes, order, depth, bursts and times.
 */
export interface IoPattern {
  /**
   * How many times as often as on average requests come in the interval that the average request comes in, by
   * intervals of 100 ms: 1 where they come evenly or at random; `None` where they are too few to say.
   */
  bursts?: number | null;
  /**
   * Bytes read, written or discarded.
   */
  bytes: number;
  /**
   * Mean requests in progress, queued or at the device, while there is any of the same stream.
   */
  depth: number;
  device: IoTimes;
  /**
   * Requests that failed.
   */
  errors: number;
  /**
   * Share with FUA.
   */
  fua: number;
  /**
   * Mean requests in progress over the whole window.
   */
  in_flight: number;
  /**
   * Most requests in progress at once in one stream.
   */
  in_flight_most: number;
  /**
   * Whose they are: a path where it is known, a process, a control group; the part's word for a part.
   */
  name: string;
  /**
   * `read`, `write`, `flush`, `discard` or `other`.
   */
  operation: string;
  part: IoPart;
  /**
   * Most requests per second in an interval of 100 ms.
   */
  peak_per_second: number;
  /**
   * Requests per second.
   */
  per_second: number;
  queue: IoTimes;
  /**
   * Requests completed.
   */
  requests: number;
  /**
   * Share of the requests that begin where the request before ended.
   */
  sequential: number;
  /**
   * Four fifths of the requests have at least this size, bytes, by the buckets of the histogram; `None` without
   * data.
   */
  size_from?: number | null;
  /**
   * And at most this size, or less than it where it is larger than `size_from`; `None` beyond the last bound.
   */
  size_to?: number | null;
  /**
   * Files, processes and journals that they belong to.
   */
  streams: number;
  /**
   * Share that somebody waits for on stable storage; `None` where it is not counted, or of reads.
   */
  synced?: number | null;
}
/**
 * How long requests take, ns; quantiles by a histogram of powers of two.
 */
export interface IoTimes {
  /**
   * Mean.
   */
  mean_ns: number;
  /**
   * Median; `None` without requests.
   */
  median_ns?: number | null;
  /**
   * What 99 % do not exceed; `None` where requests are too few.
   */
  p99_ns?: number | null;
}
/**
 * A goal, and whether it was met.
 */
export interface GoalReport {
  goal: Goal;
  /**
   * Whether it was below; `None` where that is not known.
   */
  met?: boolean | null;
  /**
   * The latency over the judged window, ns; `None` where it was not measured.
   */
  value?: number | null;
}
/**
 * A latency that must stay below a time: `p99<10ms`.
 */
export interface Goal {
  /**
   * It must be below this, ns.
   */
  below_ns: number;
  of: Latency;
}
/**
 * The identity of this recording.
 */
export interface Identity {
  anchor_boottime: Timestamp;
  /**
   * Wall-clock time at `anchor_boottime`, ns since 1970.
   */
  anchor_realtime_ns: number;
  /**
   * `/proc/sys/kernel/random/boot_id`.
   */
  boot_id: string;
  /**
   * `/etc/machine-id`; empty when there is none.
   */
  machine_id: string;
  /**
   * Host name.
   */
  node: string;
  /**
   * Random, made at the start.
   */
  recording_id: string;
  /**
   * Version of the program that recorded.
   */
  stallscope: string;
}
/**
 * The operations of one label: a sampler, an endpoint, a kind of operation.
 */
export interface LabelReport {
  /**
   * Operations completed; `None` where it does not say.
   */
  completed?: number | null;
  /**
   * Operations failed; `None` where it does not say.
   */
  failed?: number | null;
  /**
   * Their mean latency, ns.
   */
  latency_mean_ns?: number | null;
  /**
   * The latency that 99 % of them do not exceed, ns; `None` where too few are known.
   */
  latency_p99_ns?: number | null;
  /**
   * What the load generator calls them.
   */
  name: string;
  /**
   * Whether the load generator reported it at its end: it is of its whole run, and not of the window alone.
   */
  of_whole_run?: boolean;
}
/**
 * Sessions that held locks alike while others waited for them: what they ran, and who waited.
 */
export interface LockHolder {
  /**
   * Whether they ran nothing: a transaction was open, and waited for its client.
   */
  is_idle: boolean;
  /**
   * Sessions that waited behind them, on average over the window.
   */
  sessions: number;
  /**
   * The part of all these waits, 0 to 1.
   */
  share: number;
  /**
   * The statement that they ran, or had run last; `None` where the server did not say.
   */
  statement?: NamedStatement | null;
  /**
   * Who waited, those first that did so most.
   */
  waiters: LockWaiter[];
}
/**
 * A statement by its text and id.
 */
export interface NamedStatement {
  /**
   * Its id, as in `pg_stat_statements.queryid`. A text, since it has up to 64 bits.
   */
  query_id: string;
  /**
   * Its text without values; `statement` and its id where that is not known.
   */
  text: string;
}
/**
 * Sessions that waited for the locks of a `LockHolder`, by what they wanted to run.
 */
export interface LockWaiter {
  /**
   * Sessions that waited in it, on average over the window.
   */
  sessions: number;
  /**
   * The part of all waits of the report, 0 to 1.
   */
  share: number;
  /**
   * The statement that waited; `None` where the server did not say.
   */
  statement?: NamedStatement | null;
}
/**
 * Who of a machine waits, for what, and who makes them wait.
 */
export interface MachineReport {
  /**
   * Pressure of at least 1 % in control groups outside of these, `some` alone, most first; at most 10.
   */
  not_followed: Pressure[];
  /**
   * Services, containers, virtual machines and processes that were followed, by the time that they lost,
   * most first.
   */
  units: UnitReport[];
}
/**
 * Pressure of one group and resource over the window, from differences of `total=`, folded over 2 s.
 */
export interface Pressure {
  entity: Entity;
  /**
   * Interval over which the kernel's per-CPU times were folded, ns.
   */
  fold_ns: number;
  kind: StallKind;
  resource: Resource;
  /**
   * Share of the window, 0 to 1.
   */
  share: number;
}
/**
 * A service, container, virtual machine or process with its descendants, judged as a target of its own.
 */
export interface UnitReport {
  /**
   * The user's goals, and whether it met them.
   */
  goals?: GoalReport[];
  kind: UnitKind;
  /**
   * Time lost: of its requests where these were measured, else of its threads that were at work, s per
   * second.
   */
  lost_per_second: number;
  /**
   * What people call it: a container's name, a unit without `.service`.
   */
  name: string;
  /**
   * Pressure of the machine and of its group, or of its processes.
   */
  pressure: Pressure[];
  /**
   * Its requests, where it answers any.
   */
  signals: Signal[];
  /**
   * It, with where the time of its threads went.
   */
  subjects: ReportSubject[];
  /**
   * How it can be named as a target: `unit:nginx`, `cgroup:/system.slice/docker-0f.scope`, `pid:17`.
   */
  target: string;
  /**
   * Its threads one by one, as in the report.
   */
  threads: ThreadTimes[];
  /**
   * The verdict; `None` beyond the first (`--top`).
   */
  verdict?: Verdict | null;
  /**
   * What it waits for, most first.
   */
  waits: UnitWait[];
  window: Window;
}
/**
 * One metric of the workload over the window.
 */
export interface Signal {
  /**
   * Intervals of the window in which nothing was completed.
   */
  empty_intervals: number;
  /**
   * The mean over the window; `None` when nothing was completed.
   */
  mean?: number | null;
  /**
   * `throughput`, `latency`, `failed`, `skipped`, `lag`.
   */
  name: string;
  provenance: Provenance;
  /**
   * Quantiles of single operations, 1 being the highest; empty where the tool has none.
   */
  quantiles: Quantile[];
  /**
   * Standard deviation of single operations, where the tool reports it.
   */
  stddev?: number | null;
  /**
   * `per_second`, `ns`, `count`.
   */
  unit: string;
}
/**
 * A quantile.
 */
export interface Quantile {
  /**
   * Whether the true value is this or more: requests that had no reply yet count as if it had come at the end.
   */
  at_least?: boolean;
  /**
   * Whether the load generator printed it at its end: it is of its whole run, warm-up included, and not of the
   * window alone.
   */
  of_whole_run?: boolean;
  /**
   * 0 to 1.
   */
  q: number;
  /**
   * Number of operations, taken at random, that it was worked out from; `None` for all of them.
   */
  sampled?: number | null;
  /**
   * In the signal's unit.
   */
  value: number;
}
/**
 * A target, the generator, or the rest, with what it used.
 */
export interface ReportSubject {
  /**
   * CPU time over the window, ns.
   */
  cpu_ns: number;
  entity: Entity;
  /**
   * How it was found.
   */
  found_by: string;
  role: Role;
  /**
   * Serving processes, or processes when nothing is known to serve.
   */
  serving: number;
  /**
   * Where its threads' time went.
   */
  threads?: ThreadsAccount | null;
  /**
   * The name of one of its serving processes.
   */
  unit: string;
}
/**
 * Where the time of a set of threads went; the parts add up to `wall_ns`.
 */
export interface ThreadsAccount {
  /**
   * Hidden time: time on a CPU that the scheduler did not count as theirs; `None` where that was not
   * recorded, or for less than a second.
   */
  hidden?: Hidden | null;
  /**
   * The parts.
   */
  items: AccountItem[];
  /**
   * Number of threads.
   */
  threads: number;
  /**
   * Their lifetimes inside the window, added up, ns.
   */
  wall_ns: number;
}
/**
 * Time on a CPU less the run time that the scheduler counted: signed, since over short times it is
 * noise around zero.
 */
export interface Hidden {
  /**
   * What it is on the recorded kernel.
   */
  label: string;
  /**
   * Its sum over the threads, ns.
   */
  ns: number;
}
/**
 * One part of an account.
 */
export interface AccountItem {
  class: LedgerClass;
  /**
   * In words.
   */
  label: string;
  /**
   * More about it, or empty.
   */
  note?: string;
  /**
   * ns over the window.
   */
  ns: number;
  /**
   * Of a wait for a CPU, who held it; of the client and network remainder, what the generator did
   * meanwhile. The parts add up to the item; empty where that was not recorded.
   */
  parts?: AccountPart[];
  quality: Quality;
  /**
   * Part of the whole, 0 to 1.
   */
  share: number;
}
/**
 * What a part of an account is made of.
 */
export interface AccountPart {
  /**
   * The other process, where it is named.
   */
  entity?: Entity | null;
  kind: PartKind;
  /**
   * In words.
   */
  label: string;
  /**
   * ns over the window.
   */
  ns: number;
  quality: Quality;
  /**
   * Part of the same whole as the item's share.
   */
  share: number;
}
/**
 * Where the time of one thread went. Awake is everything but sleep; steal, as event loops use the
 * word, is being awake without a CPU: run-queue delay and blocked time. The parts add up to `wall_ns`.
 */
export interface ThreadTimes {
  /**
   * Blocked in the middle of its work (disk, lock, a call that does not return), ns; sampled where
   * the thread's events were not counted.
   */
  blocked_ns: number;
  entity: Entity;
  /**
   * On a CPU, ns: exact.
   */
  on_cpu_ns: number;
  /**
   * Run-queue delay, ns: exact, throttling by a CPU quota included; `None` where the kernel does not
   * count it, and the other parts contain it.
   */
  run_queue_ns?: number | null;
  /**
   * Waiting for work or for a time that it chose, ns; known as `blocked_ns` is.
   */
  sleep_ns: number;
  /**
   * Off a CPU, in what is not known, ns.
   */
  unseen_ns: number;
  /**
   * Its lifetime inside the window, as far as it was observed, ns.
   */
  wall_ns: number;
}
/**
 * The answer.
 */
export interface Verdict {
  /**
   * Where the response time went; `None` without a target.
   */
  account?: Account | null;
  /**
   * Doubts about the measurement.
   */
  caveats: Caveat[];
  /**
   * The causes that are present; the first is the headline, `healthy` and `undetermined` included.
   */
  findings: Finding[];
  /**
   * Where the time of the generator's threads went.
   */
  generator?: ThreadsAccount | null;
  /**
   * What this load proves to be free.
   */
  headroom?: Headroom | null;
  /**
   * The answer for every cause.
   */
  judged: Judged[];
  /**
   * What could not be seen, and what would show it.
   */
  not_collected: string[];
  /**
   * What was ruled out.
   */
  ruled_out: RuledOut[];
}
/**
 * Where the response time went; the shares add up to 1.
 */
export interface Account {
  basis: ShareBasis;
  /**
   * The parts, largest first, `outside` last.
   */
  items: AccountItem[];
  /**
   * Mean response time, ns; `None` without a signal.
   */
  response_ns?: number | null;
  /**
   * 100 %, ns over the window.
   */
  total_ns: number;
}
/**
 * A doubt about the measurement itself.
 */
export interface Caveat {
  /**
   * The gate that raised it: `gate.short`.
   */
  gate: string;
  /**
   * One sentence.
   */
  sentence: string;
}
/**
 * One finding: a cause that is present.
 */
export interface Finding {
  /**
   * Of a peer that was recorded as a dependency: what it waits for itself, as if it were the target; shares are of
   * the calls to it.
   */
  at_peer?: Finding | null;
  /**
   * The cause: `cpu.saturated`.
   */
  cause: string;
  confidence: Confidence;
  entity: Entity;
  /**
   * What it rests on.
   */
  evidence: Evidence[];
  /**
   * What is evidence against it, or nothing.
   */
  evidence_against: string[];
  /**
   * One full sentence with the number.
   */
  sentence: string;
  /**
   * Share of the response time (or of busy time), 0 to 1.
   */
  share?: number | null;
  /**
   * 95 % interval of the share by block bootstrap over seconds.
   */
  share_interval?: Interval | null;
  /**
   * How to to confirm, to be typed.
   */
  to_confirm: string;
  /**
   * What would help, best first.
   */
  would_help: Remedy[];
  /**
   * What would not.
   */
  would_not_help: string[];
}
/**
 * A number that a finding rests on, with what is needed to draw it.
 */
export interface Evidence {
  /**
   * Table and column it was worked out from: `thread.wait_ns`.
   */
  column: string;
  entity: Entity;
  /**
   * How it is worked out, over any window; `None` where only the columns are told.
   */
  formula?: Formula | null;
  /**
   * Whether it passed: what the cause needs.
   */
  passed: boolean;
  /**
   * The threshold with which it was compared.
   */
  threshold?: number | null;
  /**
   * `share`, `per_second`, `ns`, `count`.
   */
  unit: string;
  /**
   * The value: a share of 1 unless `unit` says otherwise.
   */
  value: number;
  /**
   * What it is, in words.
   */
  what: string;
  window: Window;
}
/**
 * How a number is worked out from what was recorded: one amount in proportion to another.
 */
export interface Formula {
  of: Amount;
  per: Amount;
}
/**
 * A 95 % interval, unless the field says otherwise.
 */
export interface Interval {
  /**
   * Upper end.
   */
  high: number;
  /**
   * Lower end.
   */
  low: number;
}
/**
 * A change that would help, with an estimate of what it would bring if the rest of a request stays as it is.
 */
export interface Remedy {
  /**
   * Why, or empty.
   */
  because?: string;
  /**
   * The change: `a third CPU`.
   */
  change: string;
  /**
   * The middle of the estimate: 0.5 is 50 % of what `gain_of` says; `None` where nothing sound can be said.
   */
  gain?: number | null;
  /**
   * Its low and high end, by what is known to be uncertain; never below 0. No confidence level.
   */
  gain_interval?: Interval | null;
  /**
   * Its model, in a few words: `CPU law`; empty where the gain is not known.
   */
  gain_model?: string;
  /**
   * What it is a part of.
   */
  gain_of?: GainOf | null;
  /**
   * Throughput then, operations per second, in the middle of the estimate; `None` where the gain is
   * none in throughput, or not known.
   */
  throughput?: number | null;
}
/**
 * The least that is known to be free, from a load that found no limit.
 */
export interface Headroom {
  /**
   * One sentence.
   */
  sentence: string;
  /**
   * Throughput that the CPU law allows at least, operations per second.
   */
  throughput: number;
}
/**
 * The answer for one cause.
 */
export interface Judged {
  answer: Answer;
  /**
   * The cause.
   */
  cause: string;
  /**
   * Whether it matters for where the time went: a cause about disks does not where no thread waited
   * for one.
   */
  concerns?: boolean;
  /**
   * Why, one sentence with the number.
   */
  sentence: string;
}
/**
 * A cause that was ruled out.
 */
export interface RuledOut {
  /**
   * In words, with the number: `steal 0.1 %`.
   */
  sentence: string;
  /**
   * The number, as a share of 1.
   */
  value: number;
  /**
   * What: `steal`.
   */
  what: string;
}
/**
 * What somebody waits for, and who makes them.
 */
export interface UnitWait {
  /**
   * Who held what was waited for, as far as that is known.
   */
  behind?: AccountPart[];
  class: LedgerClass;
  /**
   * In words: `waiting for a CPU`.
   */
  label: string;
  /**
   * Time lost in it, s per second.
   */
  lost_per_second: number;
}
/**
 * A phase of the run.
 */
export interface Phase {
  /**
   * What changed where it began; `None` for the first phase that has a verdict, and where there is no verdict.
   */
  change?: PhaseChange | null;
  /**
   * What the busiest disks did in it, at most two; empty where `verdict` is, and where their requests were not recorded.
   */
  disks?: DiskWork[];
  kind: PhaseKind;
  /**
   * Mean latency, ns.
   */
  latency_ns?: number | null;
  /**
   * Mean throughput, operations per second.
   */
  throughput?: number | null;
  /**
   * What this phase waited for; `None` for warm-up and end, and where the run has one phase, which
   * `verdict` is about.
   */
  verdict?: PhaseVerdict | null;
  window: Window;
}
/**
 * The border between two phases: what is different behind it, and how long it took until throughput held.
 */
export interface PhaseChange {
  at: Timestamp;
  /**
   * What else is different, at most three: what was set or came and went first, then what was measured, by the part
   * of the time that it concerns. Empty where nothing differs by more than it varies within the phases.
   */
  differences?: PhaseDifference[];
  /**
   * What people marked within 10 s of it.
   */
  marks?: Mark[];
  /**
   * One full sentence of how throughput, or where that stayed latency, changed.
   */
  sentence: string;
  /**
   * The same as one full sentence.
   */
  settled: string;
  /**
   * From the border to where throughput stays near the level of this phase, ns; of a ramp its whole length. `None`
   * where it never did.
   */
  settled_after_ns?: number | null;
  /**
   * Mean throughput of the phase behind it, operations per second.
   */
  throughput_after?: number | null;
  /**
   * Mean throughput of the phase before, operations per second.
   */
  throughput_before?: number | null;
}
/**
 * What is different behind a border.
 */
export interface PhaseDifference {
  /**
   * Mean over the phase behind the border; `None` for a limit: there is none.
   */
  after?: number | null;
  /**
   * Mean over the phase before; `None` for a limit: there was none.
   */
  before?: number | null;
  /**
   * Table and column that it was worked out from: `disk.read_bytes`.
   */
  column: string;
  entity: Entity;
  /**
   * One full sentence with both numbers.
   */
  sentence: string;
  /**
   * `share` (of the time), `cpus`, `bytes_per_second`, `bytes_per_request`, `per_second`, `ns_per_request`.
   */
  unit: string;
  /**
   * What was compared: `limit.cpu`, `process`, `pressure.cpu`, `disk.read`, `wait.read_write`.
   */
  what: string;
}
/**
 * One.
 */
export interface Mark {
  at: Timestamp;
  /**
   * What, on one line; never empty.
   */
  text: string;
}
/**
 * What a block device did in a part of a recording, in short.
 */
export interface DiskWork {
  entity: Entity;
  /**
   * As in `DiskReport`.
   */
  parts: IoPattern[];
  /**
   * As in `DiskReport`: `log: 16-32 KiB, sequential, one at a time, 0.21 ms; data: ...`.
   */
  sentence: string;
}
/**
 * The headline of one phase of several.
 */
export interface PhaseVerdict {
  /**
   * Of a peer that was recorded as a dependency: the cause there.
   */
  at_peer?: string | null;
  /**
   * The cause: `cpu.saturated`.
   */
  cause: string;
  confidence: Confidence;
  entity: Entity;
  /**
   * One full sentence with the number.
   */
  sentence: string;
  /**
   * Share of the response time (or of busy time), 0 to 1.
   */
  share?: number | null;
}
/**
 * Starts of programs whose command lines differ only in numbers, identifiers and temporary files.
 */
export interface StartedProgram {
  /**
   * What their command lines have in common: `N` stands for a number, `*` for an identifier, `..` for more of the
   * same.
   */
  command: string;
  /**
   * CPU time of those whose end was seen, ns.
   */
  cpu_ns: number;
  /**
   * One of them, without its secrets.
   */
  example: string;
  /**
   * How many ended with another exit status than 0.
   */
  failed: number;
  /**
   * Whether they are copies of a process with that command (forks) that started no program.
   */
  is_fork: boolean;
  /**
   * How many a signal ended.
   */
  killed: number;
  /**
   * The longest time that one ran, up to the end of the recording, ns.
   */
  longest_ns: number;
  /**
   * Mean time that they ran, ns; `None` where none ended.
   */
  mean_ns?: number | null;
  /**
   * The command of whoever started most of them, in the same form; empty where that is not known.
   */
  started_by: string;
  /**
   * How many began in the window.
   */
  starts: number;
}
/**
 * What was proved on a running target, and what was ruled out.
 */
export interface Proof {
  /**
   * A few sentences, the most important first.
   */
  answers: string[];
  as_it_is: Window;
  /**
   * Latency was not to grow beyond so many times what it was.
   */
  at_most: number;
  /**
   * The capacities, in the order in which they were tried.
   */
  capacities: CapacityTrial[];
  /**
   * The cause that the recording named before anything was changed.
   */
  cause: string;
  /**
   * The capacity that this cause is about; `None` where it is about none.
   */
  cause_capacity?: Capacity | null;
  /**
   * Whose it is.
   */
  cause_of: string;
  /**
   * Doubts about the answer.
   */
  caveats: string[];
  outcome: ProofOutcome;
  /**
   * The recording that it was made with.
   */
  recording: string;
  /**
   * `PROOF_SCHEMA`.
   */
  schema: string;
  /**
   * The target's name.
   */
  target: string;
  /**
   * Processes that were stopped to see what happens without them.
   */
  without?: WithoutTrial | null;
}
/**
 * A capacity that was lowered.
 */
export interface CapacityTrial {
  /**
   * What it could have had: what it used and what was free, up to its limit.
   */
  available?: number | null;
  capacity: Capacity;
  /**
   * By how much throughput changed meanwhile, over all pairs: -0.2 is a fifth less.
   */
  change?: number | null;
  /**
   * Change of throughput by change of capacity, both as logarithms: 1 where throughput follows the capacity, 0 where it
   * does not care.
   */
  elasticity?: ProofEstimate | null;
  /**
   * What it was lowered to, over all pairs (the geometric mean).
   */
  lowered_to?: number | null;
  /**
   * Whose: the path of a cgroup, a disk, a pattern of processes; empty where it was not tried.
   */
  of: string;
  outcome: ProofOutcome;
  /**
   * In the order of time.
   */
  pairs: ProofPair[];
  /**
   * One sentence.
   */
  sentence: string;
  /**
   * What the target used of it as it is, in its unit: CPUs, requests per second, bytes, processes.
   */
  used?: number | null;
}
/**
 * A value with its 95 % interval.
 */
export interface ProofEstimate {
  interval: Interval;
  /**
   * The value.
   */
  value: number;
}
/**
 * Two blocks as it is, with one between them in which something was changed.
 */
export interface ProofPair {
  at: Timestamp;
  /**
   * What was available of it in the blocks around it, in the same unit.
   */
  available: number;
  /**
   * While it was changed.
   */
  latency_changed_ns?: number | null;
  /**
   * Mean latency as it is, ns, where it is known.
   */
  latency_ns?: number | null;
  /**
   * What the capacity was then, in its unit; of stopped processes how many were left.
   */
  lowered_to: number;
  /**
   * Operations per second as it is: the mean of the blocks before and after.
   */
  throughput: number;
  /**
   * While it was changed.
   */
  throughput_changed: number;
}
/**
 * Processes that were stopped.
 */
export interface WithoutTrial {
  /**
   * Change of the mean latency without them.
   */
  latency?: ProofEstimate | null;
  outcome: ProofOutcome;
  /**
   * Blocks with and without them.
   */
  pairs: ProofPair[];
  /**
   * What names of programs were to match.
   */
  pattern: string;
  /**
   * How many processes were stopped at most at once.
   */
  processes: number;
  /**
   * The programs that did.
   */
  programs: string[];
  /**
   * One sentence.
   */
  sentence: string;
  /**
   * Change of throughput without them: 0.1 is a tenth more.
   */
  throughput?: ProofEstimate | null;
}
/**
 * The spikes of a run, or of the window that was asked for.
 */
export interface SpikeReport {
  /**
   * Part of all the time that requests took which the spikes add to what they usually take, 0 to 1; `None` where no
   * latency is known.
   */
  added?: number | null;
  /**
   * From what starts the spikes to what waits in them, one sentence; empty where nothing comes before them.
   */
  chain?: string;
  /**
   * Streams of events that were compared with the spikes.
   */
  compared: number;
  /**
   * What is different in spikes, what explains most of them first.
   */
  differences?: SpikeDifference[];
  /**
   * Length of the intervals that were compared, ns: no onset is known better.
   */
  interval_ns: number;
  /**
   * Requests that were not served because of the spikes, at the usual throughput.
   */
  lost: number;
  /**
   * Measures that were compared for that; 0 where there are too few spikes.
   */
  measures?: number;
  /**
   * What is called far more in the spikes than between them, as logs report it; most calls first.
   */
  methods?: BurstingMethod[];
  /**
   * p99 of the requests that ended in spikes, ns; `None` where too few were timed.
   */
  p99_inside_ns?: number | null;
  /**
   * p99 of all others, ns.
   */
  p99_outside_ns?: number | null;
  provenance: Provenance;
  /**
   * Each spike, in the order of time.
   */
  spikes: Spike[];
  /**
   * Time of the window that lies in spikes, ns.
   */
  spiking_ns: number;
  /**
   * Periodic trains among them, the one with most spikes first.
   */
  trains: Train[];
  /**
   * What comes before the spikes, the likeliest to start them first.
   */
  triggers: Trigger[];
  /**
   * Median over the intervals of the mean latency in each, ns.
   */
  usual_latency_ns?: number | null;
  /**
   * Median over the intervals of the number of the target's threads that work or wait for what they need; only where
   * that is the signal (`account`).
   */
  usual_threads?: number | null;
  /**
   * Median over the intervals of the throughput, per second; 0 where it is not known (`account`).
   */
  usual_throughput: number;
  window: Window;
}
/**
 * A measure that is different in spikes.
 */
export interface SpikeDifference {
  /**
   * Whom it is about, where that is one entity of the recording.
   */
  entity?: EntityId | null;
  /**
   * Mean in the spikes.
   */
  inside: number;
  kind: MeasureKind;
  /**
   * Of all spikes that have a calm stretch beside them.
   */
  of_spikes: number;
  /**
   * Mean in calm stretches, each of the same cycle as a spike.
   */
  outside: number;
  /**
   * How often chance makes any of all measures so different: 0 to 1.
   */
  p_value: number;
  /**
   * Part that it is of what spikes add to the time of the target's threads, 0 to 1; of code, of what they add to CPU
   * time. `None` of other measures, and where it falls.
   */
  share?: number | null;
  /**
   * Spikes in which it is clearly different, in the same direction.
   */
  spikes: number;
  unit: Unit;
  /**
   * What of it: a wait class, functions, a column.
   */
  what: string;
  /**
   * Whose: a pool of threads, a process, connections, a disk, a table of counters.
   */
  who: string;
}
/**
 * A method that is called far more in spikes.
 */
export interface BurstingMethod {
  /**
   * Who is called, by address and port.
   */
  callee: string;
  /**
   * How many addresses call in the spikes.
   */
  callers: number;
  /**
   * Median over the spikes of the calls in each, up to 0.1 s after its end.
   */
  calls: number;
  /**
   * How long a call takes in the spikes on average, ns, by the log.
   */
  mean_ns?: number | null;
  /**
   * What is called: `yb.master.MasterService.GetTableSchema`.
   */
  method: string;
  /**
   * In how many of the spikes it is called far more.
   */
  spikes: number;
  /**
   * Calls in as much time between the spikes.
   */
  usual_calls: number;
  /**
   * The same between them, ns.
   */
  usual_mean_ns?: number | null;
}
/**
 * One spike.
 */
export interface Spike {
  /**
   * Requests that were not served, at the usual throughput.
   */
  lost: number;
  /**
   * The lowest throughput of an interval, per second.
   */
  lowest_throughput: number;
  /**
   * The highest mean latency of an interval, ns; `None` where nothing was completed in it.
   */
  peak_latency_ns?: number | null;
  /**
   * The most threads that work or wait in an interval of it; only where that is the signal (`account`).
   */
  peak_threads?: number | null;
  window: Window;
}
/**
 * Spikes that come with a period.
 */
export interface Train {
  /**
   * Part of the cycles that have a spike, 0 to 1.
   */
  coverage: number;
  /**
   * Cycles from its first spike to its last.
   */
  cycles: number;
  /**
   * Standard deviation of the onsets around the period's own times, ns.
   */
  jitter_ns: number;
  /**
   * See `period_low_ns`.
   */
  period_high_ns: number;
  /**
   * Its 95 % confidence interval, ns.
   */
  period_low_ns: number;
  /**
   * The period, ns, by least squares over the onsets.
   */
  period_ns: number;
  /**
   * Part of all spikes that belong to it, 0 to 1.
   */
  purity: number;
  schedule: Schedule;
  /**
   * Its spikes, by their numbers in the report.
   */
  spikes: number[];
}
/**
 * Events that come before spikes.
 */
export interface Trigger {
  confidence: Confidence;
  /**
   * Whom it is about, where that is an entity of the recording.
   */
  entity?: EntityId | null;
  /**
   * How many there were in the window; those close together are one.
   */
  events: number;
  /**
   * How many of them a spike followed.
   */
  followed: number;
  kind: TriggerKind;
  /**
   * Median time from the event to the onset of the spike, ns; below 0 within one interval where the onset was seen
   * first.
   */
  lag_ns: number;
  /**
   * Median absolute deviation of that, ns.
   */
  lag_spread_ns: number;
  /**
   * How many times as often it preceded a spike as it would at random times.
   */
  lift: number;
  /**
   * The event: a command by its template, a process, a service's port, a counter, a log's template, a method.
   */
  name: string;
  /**
   * Where it is: a node, in a report on several.
   */
  node?: string | null;
  /**
   * How often events at other times, shifted in a circle, come as close before the spikes: 0 to 1.
   */
  p_value: number;
  /**
   * What started it: the parent's command, where that is known.
   */
  parent?: string | null;
  /**
   * Part of the events that a spike followed, 0 to 1.
   */
  precision: number;
  /**
   * Part of the spikes that such an event preceded, 0 to 1.
   */
  recall: number;
  /**
   * How exactly the times of the events are known, ns: what is counted at readings, to the time between two.
   */
  resolution_ns: number;
}
/**
 * What ran on the CPUs, in which functions.
 */
export interface StackReport {
  /**
   * The CPU time that they stand for, ns.
   */
  cpu_ns: number;
  /**
   * The paths that took most CPU time, most first.
   */
  paths: HotPath[];
  /**
   * Samples in the window, those of the recorder left out.
   */
  samples: number;
  /**
   * Share of the CPU time whose innermost frame has no name: only its file and an address.
   */
  unnamed: number;
  /**
   * Where threads waited; `None` where no stack of a wait was taken.
   */
  waits?: WaitReport | null;
  /**
   * Share of the stacks in user space that lead to the outermost function; `None` without any.
   */
  whole?: number | null;
}
/**
 * Samples with the same functions, from the outermost to the innermost.
 */
export interface HotPath {
  /**
   * The functions, the innermost first; `FILE+0xADDRESS` for one without a name.
   */
  frames: string[];
  /**
   * What the process is called.
   */
  process: string;
  role: Role;
  /**
   * Share of the CPU time of all samples.
   */
  share: number;
}
/**
 * Where threads of target and generator waited, in which functions.
 */
export interface WaitReport {
  /**
   * The blocked time that they stand for, ns.
   */
  blocked_ns: number;
  /**
   * The blocked time of all threads in the window is within this of `blocked_ns`, ns (95 %): some stand for others. 0
   * where every wait was taken.
   */
  error_ns: number;
  /**
   * The part of `blocked_ns` in which they waited for something that they needed to go on, ns; the others waited for
   * work or for a time.
   */
  needed_ns: number;
  /**
   * The paths in which most time passed: first those of what was needed, then those that waited for work.
   */
  paths: WaitPath[];
  /**
   * Waits whose stack was taken.
   */
  waits: number;
  /**
   * Share of the stacks in user space that lead to the outermost function; `None` without any.
   */
  whole?: number | null;
}
/**
 * Waits for the same, with the same functions from the outermost to the innermost.
 */
export interface WaitPath {
  class: LedgerClass;
  /**
   * Who ended most of them, if threads did.
   */
  ended_by?: WaitEnd | null;
  /**
   * The functions, the innermost first; `FILE+0xADDRESS` for one without a name.
   */
  frames: string[];
  /**
   * How many of them, at the front, are the kernel's.
   */
  kernel_frames?: number;
  /**
   * What the process is called.
   */
  process: string;
  role: Role;
  /**
   * Share of `needed_ns`; where it waited for work, of the rest.
   */
  share: number;
  /**
   * Waits whose stack was taken.
   */
  waits: number;
}
/**
 * Who ended waits.
 */
export interface WaitEnd {
  /**
   * Where it was, the innermost function first.
   */
  frames: string[];
  /**
   * How many of these, at the front, are the kernel's.
   */
  kernel_frames?: number;
  /**
   * What the process is called.
   */
  process: string;
  /**
   * Share of the path's time in waits that it ended, in these functions.
   */
  share: number;
}
/**
 * Time of the target's database processes in one statement, over the window; between statements they wait for their
 * clients, which is in none.
 */
export interface StatementTime {
  /**
   * When a rare one began, in the window, ns after the report's `origin`; at most 100.
   */
  began_ns?: number[];
  /**
   * How often it was seen to begin; several that follow each other without a sleep count as one.
   */
  calls: number;
  /**
   * Waiting for its client in the middle of the statement, ns.
   */
  client_ns: number;
  /**
   * Waiting for a disk, except for stable storage, ns.
   */
  disk_ns: number;
  /**
   * Waiting for an internal lock of the server, ns.
   */
  internal_lock_ns: number;
  /**
   * Waiting for a row, table or transaction that another session had locked, ns.
   */
  lock_ns: number;
  /**
   * Waiting for memory, ns.
   */
  memory_ns: number;
  /**
   * On a CPU, ns.
   */
  on_cpu_ns: number;
  /**
   * Waiting for anything else, ns.
   */
  other_ns: number;
  /**
   * Its id, as in `pg_stat_statements.queryid`; `None` of time without one, and of other statements. A text, since it
   * has up to 64 bits.
   */
  query_id?: string | null;
  queued: QueuedBehind;
  /**
   * What kind of rare statement it is that may start much: `GRANT, REVOKE`; `None` of others.
   */
  rare?: string | null;
  /**
   * Its part of the time of all statements, that without one included, 0 to 1.
   */
  share: number;
  /**
   * Waiting for stable storage (fsync, another session's flush of the log), ns.
   */
  sync_ns: number;
  /**
   * Its text without values; `statement` and its id where the text is not known; `no statement` for time of active
   * processes that belongs to none with an id: autovacuum, logins; `other statements` for those beyond what a
   * recording tells apart.
   */
  text: string;
  /**
   * Its time, ns: the sum of those that follow.
   */
  total_ns: number;
}
/**
 * Time of waits for a CPU by who had it, ns.
 */
export interface QueuedBehind {
  /**
   * The generator.
   */
  generator_ns: number;
  /**
   * Nobody: the process was being woken.
   */
  nobody_ns: number;
  /**
   * A process that is neither target nor generator.
   */
  rest_ns: number;
  /**
   * The target itself.
   */
  target_ns: number;
}
/**
 * What the clients of a load let pass between a reply and their next request, as their script says.
 */
export interface ThinkTime {
  /**
   * Its mean, ns.
   */
  between_requests_ns: number;
  /**
   * Whether the latency holds it: the tool counts its own sleeps.
   */
  in_latency: boolean;
  quality: Quality;
}
/**
 * An edge of the wait-for graph: waits of the threads of one pool, in one class, that one other ended.
 */
export interface WaitEdge {
  class: LedgerClass;
  /**
   * How long one took, on average, ns.
   */
  mean_ns: number;
  /**
   * What the waker did meanwhile, parts of these waits from 0 to 1, the largest first. What is missing to 1 was before
   * the last wait of its own, or is not known.
   */
  meanwhile?: Meanwhile[];
  /**
   * Waits per second.
   */
  rate: number;
  /**
   * How many threads waited so at a time, on average over the window.
   */
  threads: number;
  waiter: PoolName;
  waker: Waker;
}
/**
 * Part of the waits in which the waker was in a class.
 */
export interface Meanwhile {
  class: LedgerClass;
  /**
   * The part, 0 to 1.
   */
  share: number;
}
/**
 * A pool of threads by the name that they have in common.
 */
export interface PoolName {
  /**
   * Its name.
   */
  name: string;
  role: Role;
}
/**
 * Who ended waits.
 */
export interface Waker {
  kind: WakerKind;
  /**
   * The name of the pool or process, or what it was: the disk, a timer.
   */
  name: string;
  /**
   * Whose the threads are; `None` of the other kinds.
   */
  role?: Role | null;
}
/**
 * The workload that was run, and what it reported.
 */
export interface WorkloadRun {
  /**
   * The adapter that understood it; `None` for any other command.
   */
  adapter?: string | null;
  /**
   * The command line as it was executed, secrets replaced.
   */
  command: string[];
  /**
   * Whether its standard error, or all that it printed, was searched for complaints. Recordings of before do not
   * say so of commands that had an adapter or a pattern, and whose output was.
   */
  is_heard?: boolean;
  latency: Provenance;
  load: Load;
  /**
   * Its name: `pgbench`.
   */
  name: string;
  /**
   * What was changed or noticed, as reported to the user.
   */
  notices: string[];
  /**
   * How it ended; `None` while it runs.
   */
  outcome?: Outcome | null;
  /**
   * The option that would have recorded quantiles: `--quantiles`; `None` where it was used, or would
   * not help.
   */
  quantiles_option?: string | null;
  /**
   * The patterns by which its output was read, as typed: `latency:us=lat ([0-9]+)us`.
   */
  signals?: string[];
  started: Timestamp;
}
/**
 * The load that a command line asks for.
 */
export interface Load {
  /**
   * Concurrent clients; `None` when unknown.
   */
  clients?: number | null;
  /**
   * The option that sets the clients, so that advice can be typed: `-c`.
   */
  clients_option?: string | null;
  /**
   * Asked-for rate, operations per second; `None` for a closed loop.
   */
  rate?: number | null;
  /**
   * The option that sets the rate: `-R`.
   */
  rate_option?: string | null;
  /**
   * The word for one operation's rate: `tps`.
   */
  rate_unit: string;
  /**
   * Threads of the generator.
   */
  threads?: number | null;
}
/**
 * How a workload ended.
 */
export interface Outcome {
  /**
   * Errors in its output, by kind: known only of output that the program reads, that is with an
   * adapter or with `--metric`.
   */
  complaints?: Complaint[];
  ended: Timestamp;
  exit: ExitKind;
  /**
   * What its final report means, in sentences: an aborted run, clients that failed.
   */
  remarks: string[];
  /**
   * The tool's own final report, where it printed one.
   */
  summary?: Summary | null;
}
/**
 * Lines of a workload's output that report the same kind of error.
 */
export interface Complaint {
  /**
   * Number of such lines. A generator that gives up at the first refusal prints one.
   */
  count: number;
  kind: ComplaintKind;
  /**
   * The first of them, secrets replaced, cut at 200 characters.
   */
  message: string;
}
/**
 * A load generator's closing report.
 */
export interface Summary {
  /**
   * Number of clients that it reported.
   */
  clients?: number | null;
  /**
   * False when the generator reported that the run was aborted: the rest is then incomplete.
   */
  complete: boolean;
  /**
   * Operations completed.
   */
  completed?: number | null;
  /**
   * Time to connect, ns.
   */
  connect_ns?: number | null;
  /**
   * Length of the run as the tool reports it, s.
   */
  duration_s?: number | null;
  /**
   * Operations failed.
   */
  failed?: number | null;
  /**
   * Highest lag behind the schedule, ns.
   */
  lag_max_ns?: number | null;
  /**
   * Mean lag behind the schedule, ns.
   */
  lag_mean_ns?: number | null;
  /**
   * Operations above the latency limit.
   */
  late?: number | null;
  /**
   * Whether the mean was computed from clients / tps and not measured.
   */
  latency_derived: boolean;
  /**
   * Mean latency, ns.
   */
  latency_mean_ns?: number | null;
  /**
   * Quantiles of latency as the tool printed them, lowest first.
   */
  latency_quantiles?: LatencyQuantile[];
  /**
   * Standard deviation of latency, ns.
   */
  latency_stddev_ns?: number | null;
  /**
   * Operations that were retried.
   */
  retried?: number | null;
  /**
   * Retries in all.
   */
  retries?: number | null;
  /**
   * Per script.
   */
  scripts: ScriptSummary[];
  /**
   * Operations skipped because they were late.
   */
  skipped?: number | null;
  /**
   * Number of threads that it reported.
   */
  threads?: number | null;
  /**
   * Operations per second.
   */
  throughput?: number | null;
  /**
   * What ran: `<builtin: select only>`.
   */
  transaction_type?: string | null;
  /**
   * The tool's own version line.
   */
  version?: string | null;
}
/**
 * A quantile of latency in a load generator's closing report: of its whole run, and as exact as the tool is.
 */
export interface LatencyQuantile {
  /**
   * Latency, ns.
   */
  latency_ns: number;
  /**
   * 0 to 1; 1 is the highest.
   */
  q: number;
}
/**
 * One script's part of a final report.
 */
export interface ScriptSummary {
  /**
   * Operations completed.
   */
  completed?: number | null;
  /**
   * Operations failed.
   */
  failed?: number | null;
  /**
   * Mean latency, ns.
   */
  latency_mean_ns?: number | null;
  /**
   * Quantiles of latency, lowest first.
   */
  latency_quantiles?: LatencyQuantile[];
  /**
   * Standard deviation of latency, ns.
   */
  latency_stddev_ns?: number | null;
  /**
   * The name as printed.
   */
  name: string;
  /**
   * Operations per second.
   */
  throughput?: number | null;
  /**
   * The script's weight (`-b NAME@WEIGHT`).
   */
  weight?: number | null;
}
/**
 * One table: what it is, and where its numbers are.
 */
export interface PageTable {
  /**
   * The block's number: the element `block-N` of the page.
   */
  block: number;
  /**
   * Its columns.
   */
  columns: PageColumn[];
  entity: EntityKind;
  /**
   * How often it was read, unless that cost too much; `None` where an older version recorded, or
   * where the workload reported it.
   */
  every?: ReadEvery | null;
  form: PageForm;
  /**
   * What it holds, one sentence.
   */
  help: string;
  /**
   * Number of entities that were left out: the least active.
   */
  left_out: number;
  /**
   * Its name: `cgroup_pressure`.
   */
  name: string;
}
/**
 * One column, as the recording describes it.
 */
export interface PageColumn {
  /**
   * What it means, one sentence.
   */
  help: string;
  kind: ColumnKind;
  /**
   * Name with the unit in it: `run_ns`.
   */
  name: string;
  quality: Quality;
  /**
   * Units per step of the integers in the block: 1000 where microseconds of a column in nanoseconds
   * are kept.
   */
  scale: number;
  /**
   * The kernel since which it exists, or empty.
   */
  since?: string;
  /**
   * Where it is read: file and field.
   */
  source: string;
  unit: Unit;
  /**
   * What codes that were seen stand for, beyond what `help` says.
   */
  words?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^-?\d+$".
     */
    [k: string]: string;
  };
}
/**
 * How often something is read.
 */
export interface ReadEvery {
  /**
   * Of the machine, and of what belongs to target and generator, ns.
   */
  near_ns: number;
  /**
   * Of all else, ns.
   */
  rest_ns: number;
}
