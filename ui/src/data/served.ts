// Asking the engine about another window: only a page that `stallscope report --serve` shows can.

import { harmlessJson } from "./harmless";
import type { Report } from "./page.gen";
import type { Span } from "./units";

/** Where the report over a window is to be had, beside the page itself (docs/page.md). */
export function reportAddress(page: string, window: Span): string {
  const address = new URL("report.json", page);
  address.searchParams.set("from", String(Math.round(window.from)));
  address.searchParams.set("to", String(Math.round(window.to)));
  return address.href;
}

/** The engine's report over a window. Rejects with a sentence for the reader. */
export async function askedReport(
  page: string,
  window: Span,
  signal: AbortSignal,
): Promise<Report> {
  let response: Response;
  try {
    response = await fetch(reportAddress(page, window), { signal, cache: "no-store" });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error("Stallscope does not answer: has `stallscope report --serve` ended?");
  }
  const answer = answerIn(await response.text());
  if (response.ok && answer?.verdict !== undefined) return answer as Report;
  throw new Error(answer?.error ?? `Stallscope answered with status ${response.status}`);
}

function answerIn(text: string): Answer | undefined {
  try {
    return harmlessJson(text) as Answer;
  } catch {
    return undefined;
  }
}

type Answer = Partial<Report> & { readonly error?: string };
