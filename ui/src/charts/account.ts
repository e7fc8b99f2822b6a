// Where the response time went, as one bar with its parts: the report's own account.

import { duration, percent } from "../data/format";
import type { Account, Report } from "../data/page.gen";
import { classPaint } from "./ledger";
import { type Part, whole } from "./parts";

/** Shares under this are not shown, as in the terminal. */
const LEAST_SHOWN = 0.0005;

/** One part of the response time. */
export interface AccountPart extends Part {
  /** The label beside the others: the target is named by the first that begins with it. */
  readonly short: string;
  /** More about it, or empty. */
  readonly note: string;
  /** What of one response it is: `0.042 ms`, or empty without a response time. */
  readonly each: string;
  /** What it is made of, where that was counted: `46 % others, 0.35 ms, exact`. */
  readonly made: readonly string[];
}

export interface AccountBar {
  /** `Where the 0.111 ms went`. */
  readonly title: string;
  /** What 100 % is. */
  readonly basis: string;
  readonly parts: readonly AccountPart[];
  /** The bar in one sentence, for who does not see it. */
  readonly alternative: string;
}

/** What stands in the bar's place. */
export function withoutBar(report: Report): string {
  return report.subjects.some((subject) => subject.role === "target")
    ? "Where the time went cannot be shown: the target's threads did nothing in this window that could be measured."
    : "Where the time went is not known: no target was found.";
}

/** The bar of a report; `undefined` without a target, or where it did nothing. */
export function accountBar(report: Report): AccountBar | undefined {
  const { account } = report.verdict;
  if (!account) return undefined;
  const shown = account.items.filter((item) => item.share >= LEAST_SHOWN);
  const bar = whole(
    shown.map((item, place) => ({
      key: `${place} ${item.class}`,
      label: item.label,
      value: item.share,
      paint: classPaint(item.class),
      quality: item.quality,
      help: "",
    })),
  );
  const name = `${targetName(report)} `;
  const named = shown.findIndex((item) => item.label.startsWith(name));
  const parts = (bar?.parts ?? []).map((part, place): AccountPart => {
    const item = shown[place];
    const again = place > named && part.label.startsWith(name);
    // Parts may be more than all of it where they are only estimated: the numbers are the report's.
    return {
      ...part,
      short: again ? part.label.slice(name.length) : part.label,
      share: item?.share ?? part.share,
      note: item?.note ?? "",
      each: item === undefined ? "" : each(item, account),
      made: (item?.parts ?? []).map((own) =>
        [`${percent(own.share)} ${own.label}`, each(own, account), own.quality]
          .filter((it) => it !== "")
          .join(", "),
      ),
    };
  });
  const said = parts.map((part) => `${percent(part.share)} ${part.label} (${part.quality})`);
  const title = accountTitle(report, account);
  return {
    title,
    basis: basis(report, account),
    parts,
    alternative: `${title}: ${said.join(", ")}.`,
  };
}

function each(item: { readonly share: number }, account: Account): string {
  return typeof account.response_ns === "number" ? duration(item.share * account.response_ns) : "";
}

/** The same words as in the terminal. */
function accountTitle(report: Report, account: Account): string {
  if (account.basis === "response_time" && typeof account.response_ns === "number") {
    return `Where the ${duration(account.response_ns)} went`;
  }
  return `Where the non-idle time of ${targetName(report)} went`;
}

function basis(report: Report, account: Account): string {
  if (account.basis === "response_time") {
    return "100 % is the mean response time: all operations completed times their mean latency";
  }
  return `100 % is the time of ${targetName(report)}'s serving threads less their waiting for work: there is no signal of response times`;
}

export function targetName(report: Report): string {
  const target = report.subjects.find((subject) => subject.role === "target");
  return target?.entity.name ?? "the target";
}
