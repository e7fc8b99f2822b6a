// Room on the filesystems that the target works on.

import { useMemo } from "preact/hooks";
import { filesystems, room } from "../charts/filesystems";
import { integer, percent } from "../data/format";
import { NumberTable } from "./NumberTable";
import { usePage, useTables } from "./state";

export function Filesystems() {
  const { recording, window } = usePage();
  const tables = useTables("filesystem");
  const found = useMemo(
    () => (tables === undefined ? undefined : filesystems(recording, tables, window)),
    [recording, tables, window],
  );
  if (found === undefined) return <p class="muted">Reading the filesystems…</p>;
  if (found.length === 0) return <p class="muted">None was seen in this window.</p>;
  return (
    <NumberTable
      caption="Room on filesystems: the least in the window"
      titles={[["Mounted at"], "Least room", ["Files that still fit", "number wide"]]}
      rows={found.map(({ name, total, free, freePart, files, filesPart }) => [
        name,
        free === undefined ? "not seen" : room(free, total, freePart),
        files === undefined || filesPart === undefined
          ? "no limit"
          : `${integer(files)} (${percent(filesPart)})`,
      ])}
    />
  );
}
