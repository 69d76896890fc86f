// A continuation behind the text it continues: what it adds, without what it repeats. As on the server
// (`backend/signalbox/conversations/overlap.py`); both are tested against `tests/conversations/overlaps.json`.

/** Characters of the text before that a model may repeat. */
const WINDOW = 600;
/** A repetition that may begin anywhere has so many characters and two words; one word may only be finished, or a line. */
const LEAST = 12;
const LEAST_WORD = 4;
const WORDS = /\p{L}{2,}/gu;
const ALPHABETIC = /^\p{L}+$/u;
const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const BLANK = /^[\s…]+/;

/** What `more` adds to `before`. While it may still turn out to be a repetition, it adds nothing yet. */
export function added(before: string, more: string, isWhole: boolean): string {
  if (!isWhole && mayRepeat(before, more)) return "";
  const inside = insideFence(before, more);
  for (const text of [inside, inside.replace(BLANK, "")]) {
    const size = repeated(before, text);
    if (size > 0) return text.slice(size);
  }
  return inside;
}

/** Whether the next characters may show that what came so far is said a second time. */
function mayRepeat(before: string, more: string): boolean {
  if (more.length > 2 * WINDOW) return false;
  if (openFence(before) && isFenceSoFar(more)) return true;
  const text = insideFence(before, more).replace(BLANK, "");
  return before.slice(-WINDOW).includes(text);
}

const isFenceSoFar = (more: string): boolean => {
  const head = more.replace(/^\n+/, "");
  return !head.includes("\n") && /^ {0,3}(`{0,2}|~{0,2}|`{3,}.*|~{3,}.*)$/.test(head);
};

/** Without a line that opens the block of code again in which `before` ends. */
function insideFence(before: string, more: string): string {
  const mark = openFence(before);
  const text = more.replace(/^\n+/, "");
  const end = text.indexOf("\n");
  const [, opened = "", language = ""] = FENCE.exec(end < 0 ? text : text.slice(0, end)) ?? [];
  if (!mark || opened[0] !== mark[0] || !language.trim()) return more;
  return end < 0 ? "" : text.slice(end + 1);
}

/** The mark of the block of code that is open at the end of a text. */
export function openFence(text: string): string | undefined {
  let mark: string | undefined;
  for (const line of text.split("\n")) {
    const [, found, rest = ""] = FENCE.exec(line) ?? [];
    if (!found) continue;
    if (mark === undefined) mark = found;
    else if (found.startsWith(mark) && !rest.trim()) mark = undefined;
  }
  return mark;
}

/** How many characters at the beginning of `more` are the end of `before`. */
function repeated(before: string, more: string): number {
  const end = before.slice(-WINDOW);
  for (let size = Math.min(end.length, more.length); size >= LEAST_WORD; size--) {
    if (end.endsWith(more.slice(0, size)) && isRepetition(end.slice(0, -size), more, size)) return size;
  }
  return 0;
}

/** Whether equal characters are a repetition: rows of the same cells, and lines that come again, are none. */
function isRepetition(head: string, more: string, size: number): boolean {
  const words = more.slice(0, size);
  if (head.endsWith(words)) return false;
  const found = words.match(WORDS) ?? [];
  // The whole of an unfinished line.
  if ((size >= LEAST && found.length > 1) || (found.length > 0 && head.endsWith("\n"))) return true;
  // The word in which the text was cut, from its beginning.
  return ALPHABETIC.test(words) && /^\p{L}/u.test(more.slice(size)) && !ENDS_IN_WORD.test(head);
}
