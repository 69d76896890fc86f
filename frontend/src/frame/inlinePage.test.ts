// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { inlinePage } from "./inlinePage.ts";
import { morph } from "./morph.ts";

const FILES: Readonly<Record<string, string>> = {
  "style.css": "p{color:red}",
  "app.js": "import './util.js'; run()",
  "util.js": "export {}",
  "a.png": "image",
};
const files = {
  text: (path: string) => FILES[path],
  address: (path: string) => (path in FILES ? `blob:${path}` : undefined),
  scripts: () => ["app.js", "util.js"],
  addressOfScript: (text: string) => `blob:(${text})`,
};
const inlined = (html: string, withScripts = true) => inlinePage(html, "index.html", files, withScripts);

describe("a page in the frame", () => {
  it("contains its style sheets, and no other links", () => {
    const page = inlined(
      "<link rel=stylesheet href=style.css media=print><link rel=preload href=x><link rel=icon href=a.png>",
    );
    expect(page.head.innerHTML).toBe('<style media="print">p{color:red}</style>');
  });

  it("gets addresses of its images", () => {
    const page = inlined('<img src="a.png" srcset="a.png 2x"><img src="none.png"><p style="background:url(a.png)">');
    const [first, second] = page.querySelectorAll("img");
    expect([first?.getAttribute("src"), first?.srcset, second?.getAttribute("src")]).toEqual([
      "blob:a.png",
      "blob:a.png 2x",
      "none.png",
    ]);
    expect(page.querySelector("p")?.getAttribute("style")).toBe('background:url("blob:a.png")');
  });

  it("gets its scripts, and a map of its modules", () => {
    const page = inlined('<script src="util.js"></script><script type="module">import "./util.js"</script>');
    const [map, classic, module] = page.querySelectorAll("script");
    expect(JSON.parse(map?.textContent ?? "")).toEqual({
      imports: {
        "workspace:///app.js": "blob:(import 'workspace:///util.js'; run())",
        "workspace:///util.js": "blob:(export {})",
      },
    });
    expect(classic?.getAttribute("src")).toBe("blob:(export {})");
    expect(module?.textContent).toBe('import "workspace:///util.js"');
  });

  it("has no scripts and handlers as a draft", () => {
    const page = inlined('<script>run()</script><p onclick="run()" ONLOAD="x" title="on">text</p>', false);
    expect(page.body.innerHTML + page.head.innerHTML).toBe('<p title="on">text</p>');
  });

  it("cannot leave by a tag", () => {
    expect(
      inlined('<base href="https://x"><meta http-equiv="refresh" content="0;url=/"><meta name=a>').head.innerHTML,
    ).toBe('<meta name="a">');
  });
});

describe("a draft that grows", () => {
  const bodyOf = (html: string) => new DOMParser().parseFromString(html, "text/html").body;

  it("keeps the elements that stay equal", () => {
    const shown = bodyOf("<h1>Title</h1><p class=a>On<b>e");
    const [title, paragraph] = shown.children;
    morph(shown, bodyOf("<h1>Title</h1><p id=x>One<b>two</b> three</p><ul><li>1</ul>"));
    expect(shown.innerHTML).toBe('<h1>Title</h1><p id="x">One<b>two</b> three</p><ul><li>1</li></ul>');
    expect([shown.children[0], shown.children[1]]).toEqual([title, paragraph]);
  });

  it("may lose elements, and change their kind", () => {
    const shown = bodyOf("<p>1</p><p>2</p><p>3</p>");
    morph(shown, bodyOf("<div>1</div>text"));
    expect(shown.innerHTML).toBe("<div>1</div>text");
  });
});
