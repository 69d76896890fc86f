// Variables in a text, such as {{date}}: finds them and fills them in.
import { codeRanges } from "../markdown/codeRanges.ts";

/** Names may contain spaces: `{{company name}}`. */
const VARIABLE = /\{\{\s*([\p{L}\p{N}_.-]+(?: [\p{L}\p{N}_.-]+)*)\s*\}\}/gu;
export interface Variable {
  name: string;
  /** The known value. Undefined if there is none. */
  value: string | undefined;
  /** The first occurrence in the text. */
  start: number;
  end: number;
}

/** Other chat apps write `CURRENT_DATE` for `date`. */
const plainName = (name: string): string => name.toLowerCase().replace(/^current_/, "");

const two = (n: number): string => String(n).padStart(2, "0");
const dateOf = (now: Date): string => `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
const timeOf = (now: Date): string => `${two(now.getHours())}:${two(now.getMinutes())}`;

const KNOWN: Readonly<Record<string, (now: Date) => string>> = {
  date: dateOf,
  time: timeOf,
  datetime: (now) => `${dateOf(now)} ${timeOf(now)}`,
  weekday: (now) => now.toLocaleDateString("en-US", { weekday: "long" }),
  timezone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
};

function known(name: string, now: Date): string | undefined {
  const plain = plainName(name);
  return Object.hasOwn(KNOWN, plain) ? KNOWN[plain]?.(now) : undefined;
}

/** The variables outside of code, in order. */
function matchesIn(text: string): readonly RegExpExecArray[] {
  // Most texts have no variables, so they need no search for code.
  if (!text.includes("{{")) return [];
  const code = codeRanges(text);
  return [...text.matchAll(VARIABLE)].filter(({ index }) => !code.some(([from, to]) => index >= from && index < to));
}

/** Return each variable once. */
export function variablesIn(text: string, now: Date): readonly Variable[] {
  const found = new Map<string, Variable>();
  for (const match of matchesIn(text)) {
    const [whole, name = ""] = match;
    if (found.has(name)) continue;
    found.set(name, { name, value: known(name, now), start: match.index, end: match.index + whole.length });
  }
  return [...found.values()];
}

/** Return the variables without a known value. */
export const missingVariables = (text: string): readonly Variable[] =>
  variablesIn(text, new Date(0)).filter(({ value }) => value === undefined);

/** Fill in known values and the given ones. Other variables stay as written. */
export function fillVariables(text: string, now: Date, values: Readonly<Record<string, string>> = {}): string {
  let filled = "";
  let at = 0;
  for (const match of matchesIn(text)) {
    const [whole, name = ""] = match;
    const given = Object.hasOwn(values, name) ? values[name] : undefined;
    filled += text.slice(at, match.index) + (known(name, now) ?? (given || whole));
    at = match.index + whole.length;
  }
  return filled + text.slice(at);
}
