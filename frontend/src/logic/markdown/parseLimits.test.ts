import { describe, expect, it } from "vitest";
import { isFormulaWithinLimits, isWithinLimits } from "./parseLimits.ts";

const nested = (depth: number) => Array.from({ length: depth }, (_, n) => `${"  ".repeat(n)}- item`).join("\n");
const table = (rows: number, columns: number) =>
  [`${"|a".repeat(columns)}|`, `${"|-".repeat(columns)}|`, ...Array(rows).fill(`${"|1".repeat(columns)}|`)].join("\n");

it.each([
  ["quotes", `${"> ".repeat(16)}x`],
  ["lists", nested(16)],
  ["numbered lists", Array.from({ length: 12 }, (_, n) => `${"   ".repeat(n)}1. item`).join("\n")],
  ["a table", table(400, 8)],
  ["many citations", "As **said** in [1][2] and `there`. ".repeat(200)],
  ["code within an item", `- see\n\n${"      if (a[i] * b[j] > c_d[k]) { x = y_z; }\n".repeat(200)}`],
  ["many paragraphs", "A [link](https://example.org/) and **more**.\n\n".repeat(1_000)],
])("lets %s through", (_, text) => {
  expect(isWithinLimits(text)).toBe(true);
});

describe.each([
  ["quotes", ">".repeat(2_500)],
  ["quotes with blanks", "> ".repeat(40)],
  ["lists by lines", nested(400)],
  ["lists in a line", `${"- ".repeat(200)}x`],
  ["lists by tabs", Array.from({ length: 40 }, (_, n) => `${"\t".repeat(n)}- x`).join("\n")],
  ["numbers that end nothing", Array.from({ length: 80 }, (_, n) => `${" ".repeat(2 * n)}- x\n 2. y`).join("\n")],
  ["lists in a quote", nested(80).replaceAll(/^/gm, "> ")],
  ["notes within notes", "[^a]: ".repeat(100)],
  ["links that do not end", "[a](b".repeat(6_000)],
  ["emphasis", "a**b*".repeat(6_000)],
  ["backticks", "`a ``b ".repeat(6_000)],
  ["comments that do not end", "<!-- ".repeat(1_000)],
  ["cells", table(2_000, 20)],
  ["cells that are not written", `${"|a".repeat(500)}|\n${"|-".repeat(500)}|\n${"|\n".repeat(500)}`],
  ["tables one after another", `${table(40, 40)}\n\n`.repeat(8)],
])("%s", (_, text) => {
  it("are not parsed, and stay so when they grow", () => {
    expect(isWithinLimits(text)).toBe(false);
    expect(isWithinLimits(`${text}\n\n]**\n\nand more`)).toBe(false);
  });
});

it("limits formulas by length and nesting", () => {
  const fractions = (depth: number) => `${"\\frac{1}{".repeat(depth)}x${"}".repeat(depth)}`;
  expect(isFormulaWithinLimits(fractions(40))).toBe(true);
  expect(isFormulaWithinLimits(fractions(200))).toBe(false);
  expect(isFormulaWithinLimits("x_{1} + ".repeat(100))).toBe(true);
  expect(isFormulaWithinLimits("x + ".repeat(1_000))).toBe(false);
});
