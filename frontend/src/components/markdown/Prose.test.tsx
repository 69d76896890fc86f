import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { PAYLOADS } from "../../fixtures/payloads.ts";
import type { Link } from "../../types/models.ts";
import { safeHref } from "./linkTarget.ts";
import Markdown from "./Markdown.tsx";

const NONE: ReadonlyMap<number, Link> = new Map();
/** The blocks, without their container and direction. */
const render = (text: string, sources = NONE, settled = true): string =>
  renderToStaticMarkup(<Markdown text={text} sources={sources} settled={settled} />)
    .replace(/^<div class="passage">(.*)<\/div>$/s, "$1")
    .replaceAll(/ dir="(auto|ltr)"/g, "");

/** The rendered elements with their attributes. */
const tagsOf = (html: string) =>
  [...html.matchAll(/<([a-z0-9]+)([^>]*)>/gi)].map(([, tag = "", rest = ""]) => ({ tag, rest }));

const FORBIDDEN = [
  "script",
  "img",
  "svg",
  "iframe",
  "style",
  "base",
  "object",
  "embed",
  "link",
  "form",
  "video",
  "meta",
  "input",
];

describe.each(PAYLOADS)("%j", (payload) => {
  // Also while it grows: a partial payload must be as harmless as the whole.
  const parts = Array.from({ length: payload.length }, (_, end) => render(payload.slice(0, end + 1), NONE, false));
  const all = [render(payload), ...parts].map(tagsOf);

  it("creates no element that loads or runs something", () => {
    expect(all.flat().filter(({ tag }) => FORBIDDEN.includes(tag))).toEqual([]);
  });

  it("has no handler, no inline style, and only allowed links", () => {
    for (const { tag, rest } of all.flat()) {
      expect(rest).not.toMatch(/\s(on\w+|style|src|srcset|action|formaction|background)=/i);
      const href = /href="([^"]*)"/.exec(rest)?.[1];
      if (href !== undefined) expect(href).toMatch(/^(https?:\/\/[^@]*$|mailto:[^?]*$|\/guide\/)/);
      if (tag === "a" && href !== undefined) expect(rest).toContain('rel="noopener noreferrer"');
    }
  });
});

describe("markdown", () => {
  it("shows raw HTML as text, so that nothing is lost", () => {
    expect(render("a <b>c</b>")).toBe("<p>a &lt;b&gt;c&lt;/b&gt;</p>");
  });

  it("names an image and links to it, without loading it", () => {
    expect(render("![a cat](https://example.org/cat.png)")).toContain(">[image: <bdi>a cat</bdi>]</a>");
  });

  it("reads tables, lists and code", () => {
    const html = render("| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- [x] y\n\n```py\nz = 1\n```");
    expect(html).toContain('<td><span class="cell">1</span></td>');
    expect(html).toContain("<li>x</li>");
    expect(html).toContain("z = 1\n");
    expect(html).not.toContain("<input");
  });

  it.each([
    ["https://example.org/a", "https://example.org/a"],
    ["mailto:a@example.org", "mailto:a@example.org"],
    ["mailto:a@example.org?bcc=b@evil.example&body=x", "mailto:a@example.org"],
    ["https://known.example@evil.example/", undefined],
    ["https://аpple.example/", "https://xn--pple-43d.example/"],
    ["/guide/a.md", "/guide/a.md"],
    ["/notes/a.md", "/notes/a.md"],
    ["/", undefined],
    ["a.md", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("follows %j to %j", (href, target) => {
    expect(safeHref(href)).toBe(target);
  });
});

describe("citations", () => {
  const link = (n: number, url: string): [number, Link] => [n, { n, url, title: `T${n}`, host: "h", snippet: "" }];
  const sources = new Map([link(1, "https://example.org/1"), link(2, "/guide/two.md"), link(3, "javascript:alert(1)")]);
  const cites = (text: string) =>
    [...render(text, sources).matchAll(/<a [^>]*data-part="cite"[^>]*>/g)].map(
      ([tag]) => `${/aria-label="([^"]*)"/.exec(tag)?.[1]} ${/href="([^"]*)"/.exec(tag)?.[1]}`,
    );
  const ONE = "Source 1: T1 https://example.org/1";
  const TWO = "Source 2: T2 /guide/two.md";

  it.each([
    ["As said [1], and [2].", [ONE, TWO]],
    ["a [1][2]", [ONE, TWO]],
    ["a [1, 2]", [ONE, TWO]],
    ["a 【1】 and 【2†source】", [ONE, TWO]],
    ["**a [1]**\n\n- b [2]\n\n| c [1] |\n|---|\n| d [2] |", [ONE, TWO, ONE, TWO]],
    ["[^1]", []],
    ["a [4]", []],
    ["a [1, 4]", []],
    ["`x[1]`\n\n```\ny[1]\n```", []],
    ["[see [1]](https://example.org/)", []],
    ["a[1] = b", [ONE]],
  ])("in %j", (text, expected) => {
    expect(cites(text)).toEqual(expected);
  });

  it("stay text if no source has the number, and link to nothing else", () => {
    expect(render("a [4] and [1, 4]", sources)).toBe("<p>a [4] and [1, 4]</p>");
    expect(cites("[3]")).toEqual(["Source 3: T3 undefined"]);
  });
});

describe("an unfinished text", () => {
  const grows = (text: string) => render(text, NONE, false);

  it.each([
    ["a **b", "<p>a <strong>b</strong></p>"],
    ["a `b", "<p>a <code>b</code></p>"],
    ["a [b](https://exam", "<p>a b</p>"],
    ["a [", "<p>a</p>"],
    ["a [1", "<p>a</p>"],
    ["a [1, ", "<p>a</p>"],
    ["a\n``", "<p>a</p>"],
    ["a\n-", "<p>a\n-\u200b</p>"],
    ["![a](https://exa", "<p><span>[image: <bdi>a</bdi>]</span></p>"],
  ])("%j is closed", (text, html) => {
    expect(grows(text).replaceAll("\u200b", "")).toBe(html.replaceAll("\u200b", ""));
  });

  it("is a table from its first row", () => {
    expect(grows("| a | b |")).toContain('<th scope="col"><span class="cell">a</span></th>');
    expect(grows("| a | b |\n|--")).toContain('<th scope="col"><span class="cell">a</span></th>');
    expect(grows("| a | b |\n|--")).not.toContain("<td>");
  });

  it("shows an open code fence as plain code without a copy button", () => {
    expect(grows("```py\nx = 1")).toContain("x = 1");
    expect(grows("```py\nx = 1")).not.toContain("Copy");
    expect(render("```py\nx = 1")).toContain("Copy");
  });
});

describe("a reference", () => {
  it("is linked once its definition has arrived", () => {
    const text = "see [Docs]\n\nand more\n\n[docs]: https://example.org/";
    expect(render(text)).toContain('<a href="https://example.org/"');
    expect(render(text)).not.toContain("[docs]");
  });

  it("is shown as a footnote where it was written", () => {
    const html = render("a [^n] and [^x]\n\n[^n]: A *note*\n    of two lines");
    expect(html).toContain('a <sup class="note-mark">n</sup> and [^x]');
    expect(html).toContain('<div class="note"><sup>n</sup><div><p>A <em>note</em>\nof two lines</p></div></div>');
  });
});

describe("a long block", () => {
  it("is one element, even if it is parsed in several pieces", () => {
    const list = render(Array.from({ length: 900 }, (_, n) => `${n + 4}. item **${n}**`).join("\n"));
    expect([list.match(/<ol/g)?.length, list.match(/<li>/g)?.length]).toEqual([1, 900]);
    expect(list).toContain('<ol start="4">');
    const table = render(`| a | b |\n|---|---|\n${"| **1** | 2 |\n".repeat(900)}`);
    expect([table.match(/<table/g)?.length, table.match(/<thead/g)?.length, table.match(/<tr>/g)?.length]).toEqual([
      1, 1, 901,
    ]);
    const words = render("Some **words** of a sentence. ".repeat(900).trim());
    expect([words.match(/<p>/g)?.length, words.match(/<strong>/g)?.length]).toEqual([1, 900]);
    expect(words).not.toContain("sentence.Some");
  });
});
