// Converts formulas in Markdown to `$$…$$`, the only form that the parser knows. A single dollar sign is currency
// unless the text is clearly a formula.

// Alternatives in order: code, formulas, escaped characters.
const PARTS =
  /^[^\S\n]*(`{3,}|~{3,})[\s\S]*?(?:^[^\S\n]*\1|$(?![\s\S]))|(`+)(?!`)[\s\S]*?[^`]\2(?!`)|\\\(([\s\S]+?)\\\)|\\\[([\s\S]+?)\\\]|\$\$([\s\S]+?)\$\$|\\[\s\S]|(?<![\w$])\$(?![\s$])([^\n$]{1,200}?)(?<![\s\\])\$(?![\w$])/gm;

const CLEAR = /\\[a-zA-Z]|[\^_{}=]|^[a-zA-Z]$|^[a-zA-Z]\([a-zA-Z, ]+\)$/;
const BLANK_LINE = /\n\s*\n/;

/** The search for a missing end mark covers the whole text, so long texts are skipped. */
const LONGEST = 10_000;

/** The text with its formulas converted, or undefined if it has none. */
export function mathOf(text: string): string | undefined {
  if (text.length > LONGEST || !/\$|\\[([]/.test(text)) return undefined;
  let found = false;
  const result = text.replaceAll(PARTS, (whole: string, ...groups: unknown[]) => {
    const [, , round, square, dollars, single] = groups as (string | undefined)[];
    const formula = round ?? square ?? dollars ?? (single !== undefined && CLEAR.test(single) ? single : undefined);
    if (formula === undefined || BLANK_LINE.test(formula)) return whole;
    found = true;
    const at = groups.find((group) => typeof group === "number") as number;
    return (round ?? single) === undefined && standsAlone(text, at, whole.length)
      ? display(formula, indentAt(text, at))
      : `$$${formula.trim().replaceAll(/\s*\n\s*/g, " ")}$$`;
  });
  return found ? result : undefined;
}

/** The content of a formula block, without its marks. */
export const formulaOf = (block: string): string =>
  block
    .trim()
    .replace(/^(\$\$|\\\[)/, "")
    .replace(/(\$\$|\\\])$/, "")
    .trim();

const lineBefore = (text: string, at: number): string => text.slice(text.lastIndexOf("\n", at - 1) + 1, at);

const indentAt = (text: string, at: number): string => " ".repeat(lineBefore(text, at).length);

function standsAlone(text: string, at: number, length: number): boolean {
  const after = text.slice(at + length).split("\n", 1)[0] ?? "";
  return !after.trim() && /^(\s*|\s*([-*+]|\d+[.)])\s+)$/.test(lineBefore(text, at));
}

const display = (formula: string, indent: string): string =>
  [
    "$$",
    ...formula
      .trim()
      .split("\n")
      .map((line) => indent + line.trim()),
    `${indent}$$`,
  ].join("\n");
