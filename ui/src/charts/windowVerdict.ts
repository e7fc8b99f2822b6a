// What was said of every cause, by what it is about.

import type { Answer, Judged } from "../data/page.gen";
import { familyOf } from "./evidence";

/** The causes of one subject. */
export interface Family {
  readonly title: string;
  readonly causes: readonly Judged[];
}

const ORDER: Readonly<Record<Answer, number>> = { present: 0, cannot_tell: 1, absent: 2 };

/** The answer in words, with a mark that needs no colour. */
export const ANSWERS: Readonly<Record<Answer, { mark: string; word: string }>> = {
  present: { mark: "●", word: "present" },
  cannot_tell: { mark: "?", word: "cannot tell" },
  absent: { mark: "○", word: "absent" },
};

/** Families in the order in which their first cause was judged; what is there stands first. */
export function families(judged: readonly Judged[]): Family[] {
  const byTitle = new Map<string, Judged[]>();
  for (const cause of judged) {
    const title = familyOf(cause.cause);
    byTitle.set(title, [...(byTitle.get(title) ?? []), cause]);
  }
  return [...byTitle].map(([title, causes]) => ({
    title,
    causes: causes.sort((a, b) => ORDER[a.answer] - ORDER[b.answer]),
  }));
}

/** Causes that concern where the time went, and the others. */
export function parted(judged: readonly Judged[]): { concerned: Judged[]; others: Judged[] } {
  const concerns = (cause: Judged) => cause.concerns !== false || cause.answer === "present";
  return {
    concerned: judged.filter(concerns),
    others: judged.filter((cause) => !concerns(cause)),
  };
}

/** `3 present, 2 cannot be told, 28 absent`. */
export function counted(judged: readonly Judged[]): string {
  const count = (answer: Answer) => judged.filter((cause) => cause.answer === answer).length;
  return `${count("present")} present, ${count("cannot_tell")} cannot be told, ${count("absent")} absent`;
}
