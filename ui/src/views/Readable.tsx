// A part of the page whose tables may be damaged: then it says so, and the others stand.

import type { ComponentChildren } from "preact";
import { useErrorBoundary, useState } from "preact/hooks";
import { reportCommand } from "../charts/commands";
import { Damaged } from "../data/recording";
import { DamageContext, usePage } from "./state";

export function Readable({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  const [damaged, say] = useState<readonly Damaged[]>([]);
  if (error !== undefined) return <Unreadable error={error} />;
  return (
    <DamageContext.Provider value={say}>
      {damaged.map((each) => (
        <Unreadable key={each.table} error={each} />
      ))}
      {children}
    </DamageContext.Provider>
  );
}

/** Why something is not shown, and what to do; what is no damage is a mistake of the page's, and no part
    of it may hide that. */
export function Unreadable({ error }: { readonly error: unknown }) {
  const { recording } = usePage();
  if (!(error instanceof Damaged)) throw error;
  return (
    <p class="unreadable" role="alert">
      The table <code>{error.table}</code> cannot be shown: it is damaged in this file (
      {error.reason}
      ). Copy the file again, or make it anew:{" "}
      <code>{reportCommand(recording.page.recording)}</code>
    </p>
  );
}
