// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plugins } from "./katex.ts";
import Markdown from "./Markdown.tsx";
import { parseCounts } from "./parseCount.ts";

const NONE = new Map();
const view = (text: string, settled: boolean) => <Markdown text={text} sources={NONE} settled={settled} />;

const section = (n: number) => `## Part ${n}: how it works

A paragraph with **bold words**, *stress*, \`code\` and a [link](https://example.org/${n}), as said in [1]. It costs $5.

- first item with a few words
- second item
  - nested

1. one
2. two

\`\`\`python
def f${n}(x: int) -> int:
    return x * ${n}
\`\`\`

| name | value |
|---|---:|
| a | ${n} |

$$
E = mc^${n}
$$

`;

/** Tokens of about four characters. */
const tokensOf = (text: string) => text.match(/[\s\S]{1,4}/g) ?? [];
/** The text of a fast model between two frames. */
const framesOf = (text: string) => text.match(/[\s\S]{1,40}/g) ?? [];
const answer = (tokens: number) => {
  let text = "";
  for (let n = 0; text.length < tokens * 4; n++) text += section(n);
  return text.slice(0, tokens * 4);
};

function grow(text: string, parts: readonly string[] = tokensOf(text)): { parses: number; characters: number } {
  parseCounts.parses = parseCounts.characters = 0;
  const { rerender, unmount } = render(view("", false));
  let shown = "";
  for (const part of parts) {
    shown += part;
    rerender(view(shown, false));
  }
  rerender(view(shown, true));
  unmount();
  return { ...parseCounts };
}

afterEach(cleanup);
beforeEach(() => {
  parseCounts.parses = parseCounts.characters = 0;
});

describe("what a token costs", () => {
  it("does not depend on the length of the answer", () => {
    const [short, long] = [grow(answer(150)), grow(answer(750))];
    // One parse for the growing block, and one for each finished block. Code and formulas need none.
    expect(long.parses).toBeLessThan(750 * 1.4);
    expect(long.parses / short.parses).toBeLessThan(5.5);
    expect(long.characters / short.characters).toBeLessThan(5.5);
  }, 120_000);

  it.each([
    ["code", `\`\`\`js\n${"let x = 1;\n".repeat(600)}`, 1],
    ["a list", "- an item of a list\n".repeat(200), 1_100],
    ["a table", `| a | b |\n|---|---|\n${"| some words | 2 |\n".repeat(150)}`, 1_100],
    ["a paragraph", "Some words of a long sentence. ".repeat(250), 1_200],
    ["a quote", `> ${"Some words of a long sentence. ".repeat(250)}`, 4_600],
  ])(
    "is bounded within %s that never ends",
    (_, text, characters) => {
      // The limit of parsed characters per frame, at the beginning and at the end.
      const frames = framesOf(text);
      expect(grow(text, frames).characters / frames.length).toBeLessThan(characters);
    },
    120_000,
  );

  it("is nothing for finished blocks", () => {
    const text = answer(2_000);
    const { rerender } = render(view(text, false));
    const before = parseCounts.parses;
    rerender(view(`${text}\n\nand`, false));
    rerender(view(`${text}\n\nand so on`, false));
    // The new paragraph twice, and once the block before it, whose marks are no longer closed.
    expect(parseCounts.parses - before).toBeLessThanOrEqual(3);
  });
});

it("parses only blocks again that refer to a new definition", () => {
  const before = `${"Nothing is referred to here.\n\n".repeat(50)}See [docs].\n\n`;
  const { container, rerender } = render(view(before, false));
  parseCounts.parses = 0;
  rerender(view(`${before}[docs]: https://example.org/\n\n`, false));
  expect(container.querySelector("a")?.href).toBe("https://example.org/");
  expect(parseCounts.parses).toBe(1);
});

it("ends with the same elements as when it arrives at once, however it was split", () => {
  const parts = fc.constantFrom(
    ...[
      "a **b** c",
      "",
      "- x [1]",
      "  - y",
      "```js",
      "let z",
      "```",
      "# h",
      "| a | b |",
      "|---|---|",
      "| 1 | 2 |",
      "[x]",
    ],
    ...["[x]: https://e.example", "[^n]", "[^n]: note", "> q", "1. n", "***", "<b>", "    pre", "~~s~~", "$$", "x^2"],
  );
  const texts = fc.array(parts, { maxLength: 14 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(texts, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }), (text, cuts) => {
      const { container, rerender, unmount } = render(view("", false));
      for (const part of [...cuts].sort((a, b) => a - b)) rerender(view(text.slice(0, text.length * part), false));
      rerender(view(text, true));
      const grown = container.innerHTML;
      unmount();
      const once = render(view(text, true));
      expect(grown).toBe(once.container.innerHTML);
      once.unmount();
    }),
    { numRuns: 60 },
  );
}, 120_000);

it("keeps an element where it is when its block settles", () => {
  const { container, rerender } = render(view("a **b", false));
  const [before] = container.getElementsByTagName("p");
  rerender(view("a **b** c\n\nd", false));
  expect(container.getElementsByTagName("p")[0]).toBe(before);
});

it("lays out only the last passage of a growing answer, and all of a finished one", () => {
  const text = "A paragraph.\n\n".repeat(100);
  const { container, rerender } = render(view(text, false));
  const still = () => [...container.getElementsByClassName("passage")].map(({ classList }) => classList.length > 1);
  expect(still()).toEqual([true, true, true, false]);
  rerender(view(text, true));
  expect(still()).toEqual([false, false, false, false]);
});

describe("formulas", () => {
  it("are rendered by KaTeX without links", async () => {
    expect(plugins).toBeDefined();
    const { container, findAllByText } = render(view("so \\(x^2\\)\n\n\\[ \\href{javascript:alert(1)}{y} \\]", true));
    await findAllByText("x");
    expect(container.getElementsByClassName("katex").length).toBeGreaterThan(0);
    expect(container.querySelectorAll("a, img").length).toBe(0);
  });

  it("stay as written while they grow", () => {
    const { container } = render(view("so $$x^2$$ and", false));
    expect(container.textContent).toBe("so $$x^2$$ and");
  });
});
