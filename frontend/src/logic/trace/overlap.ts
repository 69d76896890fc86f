// Removes repeated text from the beginning of a continuation, like the server
// (`backend/signalbox/conversations/overlap.py`). Both are tested against `tests/unit/conversations/overlaps.json`.

/** How far back a repetition may begin, in characters. */
const WINDOW = 600;
/**
 * Text may repeat on purpose, so a repetition needs a minimum length: words in an unfinished line, a finished word, or
 * at least two whole lines.
 */
const LEAST = 12;
const LEAST_WORD = 4;
const LEAST_LINES = 40;
const WORDS = /\p{L}{2,}/gu;
const ALPHABETIC = /^\p{L}+$/u;
const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const BLANK = /^[\s…]+/;
const ENDS_LINE = /\n[ \t]*$/;

/** The text that `more` adds to `before`. While `more` may still be a repetition, it is empty. */
export function addedText(before: string, more: string, isWhole: boolean): string {
  if (!isWhole && mayRepeat(before, more)) return "";
  const inside = insideFence(before, more);
  for (const text of [inside, inside.replace(BLANK, "")]) {
    const size = repeated(before, text, opensLine(inside));
    if (size > 0) return text.slice(size);
  }
  return inside;
}

const opensLine = (text: string): boolean => BLANK.exec(text)?.[0].includes("\n") ?? false;

/** Whether the next characters may show that the text so far is a repetition. */
function mayRepeat(before: string, more: string): boolean {
  if (more.length > 2 * WINDOW) return false;
  if (openFence(before) && isFenceSoFar(more)) return true;
  const inside = insideFence(before, more);
  const text = inside.replace(BLANK, "");
  if (before.slice(-WINDOW).includes(text)) return true;
  // Text that occurs three times is repeated on purpose.
  return [inside, text].some((from) => {
    const size = repeated(before, from, opensLine(inside));
    return size > 0 && from.slice(0, size).startsWith(from.slice(size));
  });
}

const isFenceSoFar = (more: string): boolean => {
  const head = more.replace(/^\n+/, "");
  return !head.includes("\n") && /^ {0,3}(`{0,2}|~{0,2}|`{3,}.*|~{3,}.*)$/.test(head);
};

/** Remove the line with which a continuation reopens the code block that `before` ends in. */
function insideFence(before: string, more: string): string {
  const mark = openFence(before);
  const text = more.replace(/^\n+/, "");
  const end = text.indexOf("\n");
  const [, opened = "", language = ""] = FENCE.exec(end < 0 ? text : text.slice(0, end)) ?? [];
  if (!mark || opened[0] !== mark[0] || !language.trim()) return more;
  return end < 0 ? "" : text.slice(end + 1);
}

/** The mark of the code block that is open at the end of a text. */
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

/** The number of characters at the beginning of `more` that repeat the end of `before`. */
function repeated(before: string, more: string, opens: boolean): number {
  const end = before.slice(-WINDOW);
  for (let size = Math.min(end.length, more.length); size >= LEAST_WORD; size--) {
    const [words, rest] = [more.slice(0, size), more.slice(size)];
    if (!end.endsWith(words)) continue;
    const head = end.slice(0, -size);
    if (isPeriodic(head, words, rest)) return 0;
    const isWhole = ENDS_LINE.test(before) || (opens && !goesOn(rest));
    if (isWhole ? areLines(head, words) : isUnfinished(head, words, rest)) return size;
  }
  return 0;
}

/** Whether the text is periodic, alone or with its surroundings. Such text repeats on purpose. */
function isPeriodic(head: string, words: string, rest: string): boolean {
  const size = words.length;
  let period = 1;
  while (!words.startsWith(words.slice(period))) period++;
  const unit = words.slice(0, period);
  return 2 * period <= size || head.endsWith(unit) || (period === size && rest.startsWith(unit));
}

/** Whether the line continues. */
const goesOn = (rest: string): boolean => rest !== "" && !rest.startsWith("\n");

/** Whether a repetition of finished lines is long enough. Code, tables and lists may have equal lines. */
function areLines(head: string, words: string): boolean {
  const lines = words.split("\n").filter((line) => line.trim());
  const isFromStart = !head || ENDS_LINE.test(head) || words.startsWith("\n");
  return isFromStart && lines.length > 1 && words.length >= LEAST_LINES;
}

/** Whether the words end an unfinished line, or begin a line that now continues. */
function isUnfinished(head: string, words: string, rest: string): boolean {
  const found = words.match(WORDS) ?? [];
  if (words.length >= LEAST && found.length > 1) return true;
  if (found.length > 0 && head.endsWith("\n") && goesOn(rest)) return true;
  // The word in which the text was cut, repeated from its beginning.
  return ALPHABETIC.test(words) && /^\p{L}/u.test(rest) && !ENDS_IN_WORD.test(head);
}
