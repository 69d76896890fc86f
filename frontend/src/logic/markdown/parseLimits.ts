// Decides whether Markdown is simple enough for the parser. Text that is nested too deeply or has too many marks is
// shown as plain text.

/** Nested quotes and lists. The parser's time is quadratic in the depth, and it walks its tree recursively. */
const DEEPEST = 32;
/** Marks in one paragraph: the parser compares each with those before it. */
const MARKS = 3_000;
/** `<!--`, `<?`: for each, the parser searches the rest of the paragraph for the end. */
const OPENINGS = 200;
/** Table cells, including empty ones. A cell takes about a seventh of a millisecond. */
export const MAX_CELLS = 5_000;
/** Characters of a piece. A piece is parsed at once, so it must not take noticeably long. */
const LENGTH = 100_000;
/** Characters of a formula. Its markup is about a hundred times as long. */
const FORMULA = 2_000;
/** Nested groups of a formula. A group adds half a dozen levels, and browsers fail at about a thousand. */
const BRACES = 60;

/** The beginning of a line that opens quotes, lists and footnotes. */
const PREFIX = /^(?:[ \t]|>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|\[\^[^\]\s]{1,99}\]:)*/;
const LAST_MARK = /[^ \t][ \t]*$/;
const MARK = /[[\]]|[*~`$]+|(?<!\w)_+|_+(?!\w)|<[!?]?|\\[([]|【|https?:|www\.|@/g;
const INDENT = 2;
const TAB = "    ";

/** Runs in one pass. Text that exceeds a limit still does when it grows. */
export function isWithinLimits(text: string): boolean {
  if (text.length > LENGTH) return false;
  let [marks, openings, lines, pipes, cells] = [0, 0, 0, 0, 0];
  for (const line of text.split("\n")) {
    if (depthOf(line) > DEEPEST) return false;
    if (!line.trim()) {
      // Open marks end with the paragraph.
      cells += lines * pipes;
      [marks, openings, lines, pipes] = [0, 0, 0, 0];
      continue;
    }
    for (const [mark] of line.matchAll(MARK)) {
      marks++;
      if (mark.length > 1 && mark.startsWith("<")) openings++;
      if (marks > MARKS || openings > OPENINGS) return false;
    }
    lines++;
    pipes = Math.max(pipes, line.split("|").length - 1);
    // Every row has as many cells as the header.
    if (cells + lines * pipes > MAX_CELLS) return false;
  }
  return true;
}

/**
 * An upper bound for the nesting depth at the end of this line. Each level needs a mark or at least two columns of
 * indentation.
 */
function depthOf(line: string): number {
  const prefix = (PREFIX.exec(line)?.[0] ?? "").replaceAll("\t", TAB);
  const end = prefix.search(LAST_MARK) + 1;
  const quotes = prefix.split(">").length - 1;
  return quotes + (end - quotes) / INDENT;
}

/** Whether a formula is within the limits. */
export function isFormulaWithinLimits(formula: string): boolean {
  if (formula.length > FORMULA) return false;
  let depth = 0;
  for (const [brace] of formula.matchAll(/\\.|[{}]/g)) {
    if (brace === "{") depth++;
    if (brace === "}") depth--;
    if (depth > BRACES) return false;
  }
  return true;
}
