import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BlockReader, blocksOf } from "./blocks.ts";
import { formulaOf, mathOf } from "./formulas.ts";

const cut = (text: string) => blocksOf(text).map(({ kind, pieces }) => [kind, pieces.join("|")]);

describe("blocksOf", () => {
  it.each<[string, string, [string, string][]]>([
    [
      "paragraphs",
      "a\n\nb\n\n\nc",
      [
        ["text", "a"],
        ["text", "b"],
        ["text", "c"],
      ],
    ],
    [
      "a loose list",
      "- a\n\n- b\n\n  more\n\nend",
      [
        ["list", "- a\n\n- b\n\n  more"],
        ["text", "end"],
      ],
    ],
    [
      "a list right after its sentence",
      "these:\n- a\n- b",
      [
        ["text", "these:"],
        ["list", "- a\n- b"],
      ],
    ],
    ["a year at the start of a line, which is no list", "in\n1984. b", [["text", "in\n1984. b"]]],
    [
      "lists with other markers",
      "- a\n\n1. b\n\n2. c",
      [
        ["list", "- a"],
        ["list", "1. b\n\n2. c"],
      ],
    ],
    [
      "a fence with blank lines",
      "```py\na\n\nb\n```\n\nc",
      [
        ["code", "a\n\nb\n"],
        ["text", "c"],
      ],
    ],
    [
      "a fence inside a longer fence",
      "````\n```\n\n```\n````\nc",
      [
        ["code", "```\n\n```\n"],
        ["text", "c"],
      ],
    ],
    [
      "a fence right after its sentence",
      "so:\n```\nx\n```\nthen",
      [
        ["text", "so:"],
        ["code", "x\n"],
        ["text", "then"],
      ],
    ],
    [
      "a fence within an item",
      "1. a\n\n   ```\n   x\n   ```\n\n2. b",
      [["list", "1. a\n\n   ```\n   x\n   ```\n\n2. b"]],
    ],
    [
      "headings",
      "# a\ntext\n## b\n- c",
      [
        ["text", "# a"],
        ["text", "text"],
        ["text", "## b"],
        ["list", "- c"],
      ],
    ],
    [
      "a rule, which is no list",
      "a\n\n* * *\n\n---",
      [
        ["text", "a"],
        ["text", "* * *"],
        ["text", "---"],
      ],
    ],
    [
      "a table",
      "| a | b |\n|---|---|\n| 1 | 2 |\n\nc",
      [
        ["table", "| a | b |\n|---|---|\n| 1 | 2 |"],
        ["text", "c"],
      ],
    ],
    [
      "a formula",
      "so\n$$\nx\n$$\nthen",
      [
        ["text", "so"],
        ["math", "$$\nx\n$$"],
        ["text", "then"],
      ],
    ],
    [
      "a formula on one line",
      "\\[ x \\]\n$$y$$\n$$z$$ is",
      [
        ["math", "\\[ x \\]"],
        ["math", "$$y$$"],
        ["text", "$$z$$ is"],
      ],
    ],
    [
      "no formula out of money",
      "$$ is money\n\nb",
      [
        ["text", "$$ is money"],
        ["text", "b"],
      ],
    ],
    [
      "definitions",
      "[a] b\n\n[a]: https://e.example\n[^n]: note\n    more",
      [
        ["text", "[a] b"],
        ["definition", "[a]: https://e.example"],
        ["note", "[^n]: note\n    more"],
      ],
    ],
    [
      "indented code",
      "    a\n\n    b\n\nc",
      [
        ["text", "    a\n\n    b"],
        ["text", "c"],
      ],
    ],
    ["nothing", "\n\n", []],
  ])("cuts %s", (_, text, blocks) => {
    expect(cut(text)).toEqual(blocks);
  });

  it("leaves an open code block open, without its mark", () => {
    expect(new BlockReader().read("a\n\n```py\nx", false).groups.flat().at(-1)).toEqual({
      kind: "code",
      language: "py",
      pieces: ["x\n"],
      open: true,
    });
  });

  it("has the definitions of a finished text", () => {
    const reader = new BlockReader();
    expect(reader.read("[A  b]\n\n[a B]: https://e.example", false).definitions.size).toBe(0);
    expect([...reader.read("[A  b]\n\n[a B]: https://e.example/x", true).definitions]).toEqual([
      ["a b", "[a B]: https://e.example/x"],
    ]);
  });

  it.each([
    ["list", Array.from({ length: 2000 }, (_, n) => `${n + 1}. item ${n}`).join("\n")],
    ["table", `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(2000)}`],
    ["code", `\`\`\`\n${"let x = 1;\n".repeat(5000)}`],
    ["text", "Some words of a sentence. ".repeat(2000)],
  ])("cuts a long %s into pieces", (kind, text) => {
    const [block, ...others] = blocksOf(text);
    expect([block?.kind, others.length]).toEqual([kind, 0]);
    expect(block?.pieces.length).toBeGreaterThan(5);
    for (const piece of block?.pieces ?? []) expect(piece.length).toBeLessThan(2_200);
  });

  it("does not cut a paragraph inside marks", () => {
    const text = `${"a ".repeat(990)}**bold ${"b ".repeat(200)}c** end ${"d ".repeat(100)}`;
    expect(blocksOf(text)[0]?.pieces[0]).toMatch(/c\*\*$/);
  });
});

describe("a growing text", () => {
  const words = fc.constantFrom(
    ...[
      "a",
      "",
      "- b",
      "```",
      "  c",
      "# d",
      "> e",
      "1. f",
      "$$",
      "| a | b |",
      "|---|---|",
      "[x]: y",
      "[^1]: z",
      "    g",
      "---",
    ],
    "A long sentence with **marks**. ".repeat(150),
    "- long item\n".repeat(300),
  );
  const texts = fc.array(words, { maxLength: 20 }).map((lines) => lines.join("\n"));

  it("ends with the same blocks, however it was split", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (text, cuts) => {
        const reader = new BlockReader();
        for (const part of [...cuts].sort((a, b) => a - b)) reader.read(text.slice(0, text.length * part), false);
        expect(reader.read(text, true)).toEqual(new BlockReader().read(text, true));
      }),
      { numRuns: 500 },
    );
  });

  it("keeps every word", () => {
    const solid = (text: string) => text.replaceAll(/[\s`]/g, "");
    const unfenced = texts.filter((text) => !text.includes("```"));
    fc.assert(
      fc.property(unfenced, (text) => {
        expect(
          solid(
            blocksOf(text)
              .flatMap(({ pieces }) => pieces)
              .join(""),
          ),
        ).toBe(solid(text));
      }),
    );
  });

  it("is read again if it is a different text", () => {
    const reader = new BlockReader();
    reader.read("a\n\nb", false);
    expect(reader.read("c\n\nd", true)).toEqual(new BlockReader().read("c\n\nd", true));
  });

  it("keeps full groups", () => {
    const reader = new BlockReader();
    const [first] = reader.read("a\n\n".repeat(40), false).groups;
    expect(reader.read("a\n\n".repeat(90), false).groups[0]).toBe(first);
  });
});

describe("mathOf", () => {
  it.each([
    ["\\(x^2\\) and \\[y\\] there", "$$x^2$$ and $$y$$ there"],
    ["so\n  \\[\n  y\n  \\]", "so\n  $$\n  y\n  $$"],
    ["- $$x$$", "- $$\n  x\n  $$"],
    ["where $x$ and $a_1 = 2$.", "where $$x$$ and $$a_1 = 2$$."],
    ["it costs $5 and $10, or $3-$4", undefined],
    ["US$5 = C$7", undefined],
    ["`$x$` and\n```\n$$y$$\n```", undefined],
    ["\\$x$ and $ x$", undefined],
    ["$HOME and $PATH", undefined],
    ["plain", undefined],
  ])("reads %j", (text, result) => {
    expect(mathOf(text)).toBe(result);
  });

  it("has no marks as a block", () => {
    expect(["$$\nx\n$$", "\\[ x \\]"].map(formulaOf)).toEqual(["x", "x"]);
  });
});
