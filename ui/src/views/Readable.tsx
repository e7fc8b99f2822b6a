// A part of the page whose tables may be damaged: then it says so, and the others stand.

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { reportCommand } from "../charts/commands";
import { Damaged } from "../data/recording";
import { usePage } from "./state";

export function Readable({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  return error === undefined ? children : <Unreadable error={error} />;
}

/** Why something is not shown, and what to do; what is no damage is a mistake of the page's, and no part
    of it may hide that. */
export function Unreadable({ error }: { readonly error: unknown }) {
  const { recording } = usePage();
  if (!(error instanceof Damaged)) throw error;
  return (
    <p class="unreadable" role="alert">
      This cannot be shown: the table <code>{error.table}</code> of this file is damaged (
      {error.reason}). Copy the file again, or make it anew:{" "}
      <code>{reportCommand(recording.page.recording)}</code>
    </p>
  );
}
