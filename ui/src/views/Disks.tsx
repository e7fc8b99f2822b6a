// The disks in numbers, each with its lanes on demand.

import { useMemo } from "preact/hooks";
import { type Disk, diskLanes, disks, law } from "../charts/disks";
import { duration, percent, rate, traffic } from "../data/format";
import type { Tables } from "../data/recording";
import { LaneChart } from "./LaneChart";
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
  const { recording, window } = usePage();
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
