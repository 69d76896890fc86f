import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countsOf, diffLines, hunksOf } from "./lineDiff.ts";

const signs = { same: " ", added: "+", removed: "-" };
const shown = (before: string, after: string) =>
  diffLines(before, after)
    .map(({ kind, text }) => signs[kind] + text)
    .join("\n");

describe("the difference of two texts", () => {
  it("has the removed and the added lines, with their numbers", () => {
    expect(shown("a\nb\nc\nd", "a\nx\nc\nd\ne")).toBe(" a\n-b\n+x\n c\n d\n+e");
    expect(diffLines("a\nb", "a\nc").at(-1)).toEqual({ kind: "added", text: "c", old: undefined, now: 2 });
  });

  it("is empty for equal texts, and whole for a new text", () => {
    expect(shown("a\nb\n", "a\nb")).toBe(" a\n b");
    expect(shown("", "a\nb")).toBe("+a\n+b");
    expect(shown("a", "")).toBe("-a");
    expect(diffLines("", "")).toEqual([]);
  });

  it("leads from one text to the other, and is no longer than needed for one change", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "")).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const without = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text);
        const trimmed = (value: string) => value.replace(/\n$/, "").split("\n");
        expect(without("added").join("\n")).toBe(trimmed(before).join("\n"));
        expect(without("removed").join("\n")).toBe(trimmed(after).join("\n"));
      }),
    );
    const many = Array.from({ length: 400 }, (_, index) => `line ${index}`);
    expect(countsOf(diffLines(many.join("\n"), many.with(200, "x").join("\n")))).toEqual({ added: 1, removed: 1 });
  });

  it("of texts with nothing in common ends soon", () => {
    const text = (sign: string) => Array.from({ length: 5000 }, (_, index) => `${sign} ${index}`).join("\n");
    expect(countsOf(diffLines(text("a"), text("b")))).toEqual({ added: 5000, removed: 5000 });
  });
});

it("a hunk has the changed lines and three lines around them", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index}`);
  const hunks = hunksOf(diffLines(lines.join("\n"), lines.with(0, "x").with(20, "y").join("\n")));
  expect(hunks.map((hunk) => hunk.length)).toEqual([5, 8]);
  expect(hunksOf(diffLines("a", "a"))).toEqual([]);
});
