import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { PAYLOADS } from "../../fixtures/payloads.ts";
import type { Link } from "../../types/models.ts";
import Markdown, { safeHref } from "./Markdown.tsx";

const NONE: ReadonlyMap<number, Link> = new Map();
const render = (text: string, sources = NONE): string =>
  renderToStaticMarkup(<Markdown text={text} sources={sources} />);

describe.each(PAYLOADS)("%j", (payload) => {
  const html = render(payload);
  const tags = [...html.matchAll(/<([a-z0-9]+)([^>]*)>/gi)].map(([, tag = "", rest = ""]) => ({ tag, rest }));

  it("becomes none of the elements that load or run something", () => {
    const forbidden = ["script", "img", "svg", "iframe", "style", "base", "object", "embed", "link", "form", "video"];
    expect(tags.filter(({ tag }) => forbidden.includes(tag))).toEqual([]);
  });

  it("has no handler, no inline style, and links that go where links may go", () => {
    for (const { tag, rest } of tags) {
      expect(rest).not.toMatch(/\s(on\w+|style|src|srcset)=/i);
      const href = /href="([^"]*)"/.exec(rest)?.[1];
      if (href !== undefined) expect(href).toMatch(/^(https?:\/\/|mailto:|\/guide\/)/);
      if (tag === "a" && href !== undefined) expect(rest).toContain('rel="noopener noreferrer"');
    }
  });
});

describe("markdown", () => {
  it("shows raw HTML as the text it is, so that nothing is lost", () => {
    expect(render("a <b>c</b>")).toBe("<p>a &lt;b&gt;c&lt;/b&gt;</p>");
  });

  it("names an image and links to it, without loading it", () => {
    expect(render("![a cat](https://example.org/cat.png)")).toContain(">[image: a cat]</a>");
  });

  it("reads tables, lists and code", () => {
    const html = render("| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- [x] y\n\n```py\nz = 1\n```");
    expect(html).toContain("<td>1</td>");
    expect(html).toContain("<li>x</li>");
    expect(html).toContain('<code class="language-py">z = 1\n</code>');
    expect(html).not.toContain("<input");
  });

  it.each([
    ["https://example.org/a", "https://example.org/a"],
    ["mailto:a@example.org", "mailto:a@example.org"],
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
  const sources = new Map([link(1, "https://example.org/1"), link(2, "/guide/two.md")]);
  const cites = (text: string) =>
    [...render(text, sources).matchAll(/<a class="cite" href="([^"]*)"[^>]*>(\[\d+\])/g)].map(([, ...rest]) => rest);

  it("link to the source of the server's number", () => {
    expect(cites("As said [1], and [2].")).toEqual([
      ["https://example.org/1", "[1]"],
      ["/guide/two.md", "[2]"],
    ]);
  });

  it("come alone, next to each other, in a list and inside other text", () => {
    expect(cites("a [1][2]").length).toBe(2);
    expect(cites("a [1, 2]").length).toBe(2);
    expect(cites("**a [1]**\n\n- b [2]\n\n| c [1] |\n|---|\n| d [2] |").length).toBe(4);
  });

  it("stay text where no source has the number, in code, and in links", () => {
    expect(cites("a [3]")).toEqual([]);
    expect(render("a [3]", sources)).toBe("<p>a [3]</p>");
    expect(cites("`x[1]`\n\n```\ny[1]\n```")).toEqual([]);
    expect(cites("[see [1]](https://example.org/)")).toEqual([]);
  });
});
