import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { PAYLOADS } from "../../fixtures/payloads.ts";
import { MarkdownDocument } from "./Document.tsx";

const render = (text: string): string =>
  renderToStaticMarkup(<MarkdownDocument text={text} base="/guide/more/page.md" />).replaceAll(' dir="auto"', "");

describe.each(PAYLOADS)("%j", (payload) => {
  const tags = [...render(payload).matchAll(/<([a-z0-9]+)([^>]*)>/gi)].map(([, tag = "", rest = ""]) => ({
    tag,
    rest,
  }));

  it("loads and runs nothing, and only has allowed links", () => {
    const forbidden = ["script", "img", "svg", "iframe", "style", "base", "object", "embed", "link", "form", "video"];
    expect(tags.filter(({ tag }) => forbidden.includes(tag))).toEqual([]);
    for (const { rest } of tags) {
      expect(rest).not.toMatch(/\s(on\w+|style|src|srcset)=/i);
      const href = /href="([^"]*)"/.exec(rest)?.[1];
      if (href !== undefined) expect(href).toMatch(/^(https?:\/\/|mailto:|\/guide\/|#)/);
    }
  });
});

describe("a document", () => {
  it("has an anchor on each heading, numbered over the whole document", () => {
    const html = render("# The `API`\n\ntext\n\n## Same\n\n```\n# no heading\n```\n\n## Same");
    expect([...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id)).toEqual(["the-api", "same", "same-1"]);
  });

  it("opens links within the guide in the same tab, and others in a new one", () => {
    expect(render("[x](../api.md#errors)")).toBe('<p><a href="/guide/api.md#errors">x</a></p>');
    expect(render("[x](#here)")).toBe('<p><a href="#here">x</a></p>');
    expect(render("[x][ref]\n\n[ref]: other.md")).toBe('<p><a href="/guide/more/other.md">x</a></p>');
    expect(render("[x](https://example.org/)")).toContain('target="_blank" rel="noopener noreferrer"');
    expect(render("[x](../../../backend/app.py)")).toBe("<p><span>x</span></p>");
  });

  it("hides comments and shows other HTML as text", () => {
    expect(render("<!-- table: a -->\n\ntext <!-- b --> <b>c</b>").trim()).toBe("<p>text  &lt;b&gt;c&lt;/b&gt;</p>");
  });
});
