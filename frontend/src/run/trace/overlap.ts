// A continuation behind the text it continues: what it adds, without what it repeats. As on the server
// (`backend/signalbox/conversations/overlap.py`); both are tested against `tests/unit/conversations/overlaps.json`.

/** Characters of the text before that a model may repeat. */
const WINDOW = 600;
/**
 * Text that comes again may be meant to, so each kind of repetition has its least length: words of an unfinished line,
 * a word that is finished, and whole lines, of which there are two.
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

/** What `more` adds to `before`. While it may still turn out to be a repetition, it adds nothing yet. */
export function added(before: string, more: string, isWhole: boolean): string {
  if (!isWhole && mayRepeat(before, more)) return "";
  const inside = insideFence(before, more);
  for (const text of [inside, inside.replace(BLANK, "")]) {
    const size = repeated(before, text, opensLine(inside));
    if (size > 0) return text.slice(size);
  }
  return inside;
}

const opensLine = (text: string): boolean => BLANK.exec(text)?.[0].includes("\n") ?? false;

/** Whether the next characters may show that what came so far is said a second time. */
function mayRepeat(before: string, more: string): boolean {
  if (more.length > 2 * WINDOW) return false;
  if (openFence(before) && isFenceSoFar(more)) return true;
  const inside = insideFence(before, more);
  const text = inside.replace(BLANK, "");
  if (before.slice(-WINDOW).includes(text)) return true;
  // What is said a third time is repeated on purpose.
  return [inside, text].some((from) => {
    const size = repeated(before, from, opensLine(inside));
    return size > 0 && from.slice(0, size).startsWith(from.slice(size));
  });
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

/** How many characters at the beginning of `more` are the end of `before`, said a second time. */
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

/** Whether the words repeat themselves, alone or with what is around them: such a text repeats on purpose. */
function isPeriodic(head: string, words: string, rest: string): boolean {
  const size = words.length;
  let period = 1;
  while (!words.startsWith(words.slice(period))) period++;
  const unit = words.slice(0, period);
  return 2 * period <= size || head.endsWith(unit) || (period === size && rest.startsWith(unit));
}

/** The line goes on. */
const goesOn = (rest: string): boolean => rest !== "" && !rest.startsWith("\n");

/** Whether a repetition behind a finished line is long enough: code, tables and lists have equal lines. */
function areLines(head: string, words: string): boolean {
  const lines = words.split("\n").filter((line) => line.trim());
  const isFromStart = !head || ENDS_LINE.test(head) || words.startsWith("\n");
  return isFromStart && lines.length > 1 && words.length >= LEAST_LINES;
}

/** Whether words are the end of an unfinished line, or the beginning of one that now goes on. */
function isUnfinished(head: string, words: string, rest: string): boolean {
  const found = words.match(WORDS) ?? [];
  if (words.length >= LEAST && found.length > 1) return true;
  if (found.length > 0 && head.endsWith("\n") && goesOn(rest)) return true;
  // The word in which the text was cut, from its beginning.
  return ALPHABETIC.test(words) && /^\p{L}/u.test(rest) && !ENDS_IN_WORD.test(head);
}
