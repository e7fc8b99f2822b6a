// The disks in numbers, each with its lanes on demand, and whose requests they served.

import { useMemo } from "preact/hooks";
import { patterns, sizes } from "../charts/diskRequests";
import { type Disk, diskLanes, disks, law } from "../charts/disks";
import { duration, percent, rate, traffic } from "../data/format";
import type { DiskReport } from "../data/page.gen";
import type { Tables } from "../data/recording";
import { LaneChart } from "./LaneChart";
import { NumberTable } from "./NumberTable";
import { usePage, useTables } from "./state";
import { numberColumn, type TreeColumn, TreeTable } from "./TreeTable";

const COLUMNS: readonly TreeColumn<Disk>[] = [
  numberColumn("Reads/s", "Reads completed per second.", (it) => it.reads, rate),
  numberColumn("Writes/s", "Writes completed per second.", (it) => it.writes, rate),
  numberColumn("Flushes/s", "Flushes completed per second.", (it) => it.flushes, rate, "extra"),
  numberColumn("Read", "Bytes read per second.", (it) => it.readBytes, traffic, "wide"),
  numberColumn("Written", "Bytes written per second.", (it) => it.writeBytes, traffic, "wide"),
  numberColumn(
    "Mean read",
    "Mean time of a read from queueing to completion: read_ns / reads.",
    (it) => it.readEach,
    duration,
    "wide",
  ),
  numberColumn(
    "Mean write",
    "Mean time of a write from queueing to completion: write_ns / writes.",
    (it) => it.writeEach,
    duration,
    "wide",
  ),
  numberColumn(
    "In progress",
    "Mean number of operations in progress: the rate of queue_ns.",
    (it) => it.queue,
    rate,
  ),
  numberColumn(
    "Busy",
    "Part of the time with an operation in progress. A disk that takes several at once is not full at 100 %.",
    (it) => it.busy,
    percent,
  ),
];

export function Disks() {
  const { recording, report, window } = usePage();
  const tables = useTables("disk");
  const nodes = useMemo(
    () => (tables === undefined ? [] : disks(recording, tables, window)),
    [recording, tables, window],
  );
  if (tables === undefined) return <p class="muted">Reading the disks…</p>;
  return (
    <>
      <p class="summary muted">
        Operations per second x mean time of one = mean number in progress (Little's law); from the
        kernel's own times of completed operations. Unfold a disk for its course.
      </p>
      <TreeTable
        caption="Disks over the window"
        nodes={nodes}
        columns={COLUMNS}
        nameTitle="Disk"
        name={(it) => it.name}
        nameOf={nameOf}
        textOf={nameOf}
        detail={(it) => <Course disk={it} tables={tables} />}
        unfoldsDetail
        open={[]}
        sortedBy="In progress"
        fixed={0}
      />
      {report.disks?.slice(0, MOST).map((it) => (
        <Requests key={it.entity.path} disk={it} />
      ))}
    </>
  );
}

/** Disks whose requests are shown, those with most time first. */
const MOST = 4;

/** Whose requests a disk served, over the judged window. */
function Requests({ disk }: { readonly disk: DiskReport }) {
  const { name } = disk.entity;
  const known = (ns: number | null | undefined) => (ns == null ? "" : duration(ns));
  return (
    <>
      <p>
        <strong>{name}</strong> over the judged window: {disk.sentence}.
      </p>
      <NumberTable
        caption={`Whose requests ${name} served`}
        titles={[
          ["Whose"],
          ["Operation", ""],
          "Requests/s",
          "Size",
          "Sequential",
          ["In progress", "number wide"],
          ["Peak / mean", "number wide"],
          ["Queue p99", "number wide"],
          "At device",
          ["Device p99", "number wide"],
        ]}
        rows={patterns(disk).map(([whose, it]) => [
          <span key="whose" title={whose}>
            {whose.split("/").at(-1)}
          </span>,
          it.operation,
          rate(it.per_second),
          sizes(it),
          percent(it.sequential),
          rate(it.depth),
          it.bursts == null ? "" : rate(it.bursts),
          known(it.queue.p99_ns),
          known(it.device.median_ns),
          known(it.device.p99_ns),
        ])}
      />
    </>
  );
}

const nameOf = (disk: Disk) => disk.name;

function Course({ disk, tables }: { readonly disk: Disk; readonly tables: Tables }) {
  const { recording } = usePage();
  const { place, name } = disk;
  const lanes = useMemo(() => diskLanes(recording, tables, place), [recording, tables, place]);
  const held = law(disk);
  return (
    <>
      {held && <p class="muted">{held}</p>}
      <LaneChart lanes={lanes} label={`Disk ${name} over time`} />
    </>
  );
}
