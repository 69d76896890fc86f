// Closes open marks at the end of a growing text, so that half a mark does not flicker.
import remend, { type RemendOptions } from "remend";
import { cells } from "../../logic/markdown/blocks.ts";

const OPTIONS: RemendOptions = {
  linkMode: "text-only",
  // HTML is shown as text, so its tags are not closed.
  htmlTags: false,
  comparisonOperators: false,
  singleTilde: false,
  katex: false,
  inlineKatex: false,
};

/** `[1`, `[1, `, `【2`: an incomplete citation. */
const HALF_CITATION = /(\[\^?\d[\d,\s]*|【[^】]{0,20}|\[)$/;
const HALF_FENCE = /(^|\n) {0,3}(`{1,2}|~{1,2})$/;
const HALF_DELIMITERS = /^ {0,3}[|:-][\s|:-]*$/;

export function closeOpenMarks(text: string): string {
  const lines = text.replace(HALF_CITATION, "").replace(HALF_FENCE, "");
  const [head = "", delimiters = "", ...others] = lines.split("\n");
  if (/^ {0,3}\|.*\|\s*$/.test(head) && others.length === 0 && (!delimiters || HALF_DELIMITERS.test(delimiters)))
    return `${remend(head, OPTIONS)}\n${"|---".repeat(cells(head))}|`;
  return remend(lines, OPTIONS);
}

const SOON = 4_500;
const GROWTH = 1.25;

/**
 * How many characters of a long unfinished block are parsed. The length grows in geometric steps, so that the total
 * work is linear. The rest is shown as plain text.
 */
export function parsedLength(text: string): number {
  if (text.length <= SOON) return text.length;
  let length = SOON;
  while (length * GROWTH <= text.length) length *= GROWTH;
  return Math.max(text.lastIndexOf("\n", length), text.lastIndexOf(" ", length), SOON);
}
