// Finds where a very long paragraph can be cut: between two words, outside all marks.

const LONG = 2_000;
/** A mark that never ends does not prevent the cut beyond this length. */
const TOO_LONG = 3 * LONG;
const LETTER = /\p{L}/u;

/** The index of the space to cut at, or -1. The result is stable while the text grows. */
export function paragraphCut(text: string): number {
  if (text.length <= LONG) return -1;
  const odd = new Set<string>();
  let depth = 0;
  for (let at = 0; at < text.length - 1; at++) {
    const char = text[at] ?? "";
    if (char === "\\") at++;
    else if (char === "[") depth++;
    else if (char === "]") depth--;
    else if (char === "`" || char === "*" || char === "~" || char === "$" || (char === "_" && atWordEdge(text, at))) {
      const run = runAt(text, at);
      at += run.length - 1;
      if (!odd.delete(run)) odd.add(run);
    } else if (char === " " && at >= LONG && text[at - 1]?.trim() && LETTER.test(text[at + 1] ?? "")) {
      if ((odd.size === 0 && depth <= 0) || at >= TOO_LONG) return at;
    }
  }
  return -1;
}

function runAt(text: string, at: number): string {
  let end = at + 1;
  while (text[end] === text[at]) end++;
  return text.slice(at, end);
}

const atWordEdge = (text: string, at: number): boolean =>
  !/\w/.test(text[at - 1] ?? " ") || !/\w/.test(text[at + 1] ?? " ");
