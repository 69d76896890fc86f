// Whether a piece of markdown may be given to the parser: what is deep or tangled beyond reason is shown as plain text.

/** Quotes and lists within each other. The parser's work grows with the square of it, and it walks its tree by recursion. */
const DEEPEST = 32;
/** Marks of a paragraph that may open or close something: each is compared with those before it. */
const MARKS = 3_000;
/** `<!--`, `<?`: for each of them the parser looks for its end through the rest of the paragraph. */
const OPENINGS = 200;
/** Cells of tables, empty ones too: each is several elements, about a seventh of a millisecond. */
export const CELLS = 5_000;
/** A piece is parsed in one go, so no piece may take longer than a reader waits. */
const LENGTH = 100_000;
/** A formula becomes a hundred times as much mark-up as it has letters. */
const FORMULA = 2_000;
/** Groups within groups of a formula: each is half a dozen elements deep, and browsers fail at about a thousand. */
const BRACES = 60;

/** What stands before the words of a line and opens quotes, lists and notes. */
const PREFIX = /^(?:[ \t]|>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|\[\^[^\]\s]{1,99}\]:)*/;
const LAST_MARK = /[^ \t][ \t]*$/;
const MARK = /[[\]]|[*~`$]+|(?<!\w)_+|_+(?!\w)|<[!?]?|\\[([]|【|https?:|www\.|@/g;
const INDENT = 2;
const TAB = "    ";

/** In one pass; what it refuses stays refused when the text grows. */
export function tame(text: string): boolean {
  if (text.length > LENGTH) return false;
  let [marks, openings, lines, pipes, cells] = [0, 0, 0, 0, 0];
  for (const line of text.split("\n")) {
    if (depthOf(line) > DEEPEST) return false;
    if (!line.trim()) {
      // What is open in a paragraph ends with it.
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
    // Every row has as many cells as the head.
    if (cells + lines * pipes > CELLS) return false;
  }
  return true;
}

/**
 * At most so many quotes and lists are open at the end of this line: each has its mark here, or goes on by an
 * indentation of two columns and more.
 */
function depthOf(line: string): number {
  const prefix = (PREFIX.exec(line)?.[0] ?? "").replaceAll("\t", TAB);
  const end = prefix.search(LAST_MARK) + 1;
  const quotes = prefix.split(">").length - 1;
  return quotes + (end - quotes) / INDENT;
}

/** Whether a formula may be set. */
export function tameFormula(formula: string): boolean {
  if (formula.length > FORMULA) return false;
  let depth = 0;
  for (const [brace] of formula.matchAll(/\\.|[{}]/g)) {
    if (brace === "{") depth++;
    if (brace === "}") depth--;
    if (depth > BRACES) return false;
  }
  return true;
}
