import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Line } from "./highlight.ts";
import { IncrementalHighlight } from "./incrementalHighlight.ts";
import type { Language } from "./languageNames.ts";
import { type Grammar, loadGrammar } from "./shikiLanguages.ts";

/** Code whose colours depend on earlier lines: comments, strings and templates over several lines. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is code that is coloured.
const CODE: readonly (readonly [Language, string])[] = [
  ["typescript", "/* a\n b */ const s = `x ${f({ a: `y\n${1}` })}\nz`;\nif (a !== b) return 1; // no\n"],
  ["tsx", "const a = (\n  <b c={`d\n${e}`}>\n    f {/* g\n h */}\n  </b>\n);\n"],
  ["python", 'def f(x: int) -> str:\n    """A\n    text."""\n    return f"{x!r:>{4}} {\n1}"\n\n# end'],
  ["bash", "cat <<EOF | tr a b\nfor $x in `date`\nEOF\nif true; then echo 'a\nb'; fi\n"],
  ["ruby", "x = <<~A + <<~B\n  one #{2}\nA\n  two\nB\n=begin\nno\n=end\nputs :y\n"],
  ["html", "<style>\na { color: red }\n</style>\n<script>\nlet x = `<b\n>`;\n</script>\n<!-- a\nb --><p\nclass=c>"],
  ["markdown", "# A\n\n```js\nlet x = `\n`;\n```\n\n- **b\n  c**\n"],
  ["yaml", "a: |\n  b: c\n  # d\ne: [1,\n  2]\n"],
  ["rust", 'let s = r#"a\n"b" "#; /* a /* b\n */ c\n */ fn f() {}\r\n'],
  ["php", "<p>\n<?php\n$a = <<<X\nb $c\nX;\n?>\n</p>"],
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: it is code that is coloured.

function grown(grammar: Grammar, parts: readonly string[]): { lines: readonly Line[]; length: number } {
  const colouring = new IncrementalHighlight(grammar);
  let [lines, length]: [readonly Line[], number] = [[], 0];
  for (const part of parts) {
    const change = colouring.add(part);
    lines = [...lines.slice(0, change.from), ...change.lines];
    length = change.length;
  }
  return { lines, length };
}

const wordsOf = (lines: readonly Line[]) => lines.map((line) => line.map(([, text]) => text).join("")).join("\n");

describe.each(CODE)("%s that grows", (language, code) => {
  it("has the same colours as when it arrives at once, wherever it is cut", async () => {
    const grammar = await loadGrammar(language);
    const whole = grammar(code, undefined).lines;
    expect(new Set(whole.flat().map(([colour]) => colour)).size).toBeGreaterThan(1);
    const cuts = fc.array(fc.nat(code.length), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (places) => {
        const at = [0, ...places.toSorted((a, b) => a - b), code.length];
        const parts = at.slice(1).map((end, index) => code.slice(at[index], end));
        expect(grown(grammar, parts)).toEqual({ lines: whole, length: code.length });
      }),
      { numRuns: 40 },
    );
  });

  it("shows its own text after every character", async () => {
    const colouring = new IncrementalHighlight(await loadGrammar(language));
    let lines: readonly Line[] = [];
    for (const [at, letter] of [...code].entries()) {
      const change = colouring.add(letter);
      lines = [...lines.slice(0, change.from), ...change.lines];
      expect(wordsOf(lines)).toBe(code.slice(0, at + 1).replaceAll("\r", ""));
    }
  });
});

describe("the cost of a character", () => {
  const plain: Grammar = (code) => ({ lines: code.split("\n").map((text) => [["", text]]), state: undefined });
  const readFor = (code: string): number => {
    let read = 0;
    const counting: Grammar = (text, state) => {
      read += text.length;
      return plain(text, state);
    };
    grown(counting, code.match(/[\s\S]{1,4}/g) ?? []);
    return read;
  };

  it.each([
    ["lines", "const a = [1, 2, 3];\n"],
    ["one long line", "[1, 2, 3], "],
  ])("does not grow with %s", (_, piece) => {
    const [short, long] = [readFor(piece.repeat(500)), readFor(piece.repeat(5_000))];
    expect(long / short).toBeLessThan(11);
  });

  it("leaves the end of a long line without colours instead of tokenizing it again", () => {
    const { lines, length } = grown(plain, ["x".repeat(1_000), "y".repeat(100)]);
    expect([lines, length]).toEqual([[[["", "x".repeat(1_000)]]], 1_000]);
    expect(grown(plain, ["x".repeat(1_000), "y".repeat(100), "\n"]).length).toBe(1_101);
  });
});
