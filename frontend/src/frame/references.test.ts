import { describe, expect, it } from "vitest";
import { pathOf } from "./paths.ts";
import { type Files, resolvedCss, resolvedModule, resolvedSrcset } from "./references.ts";

const filesOf = (texts: Readonly<Record<string, string>>): Files => ({
  text: (path) => texts[path],
  address: (path) => (path in texts ? `blob:${path}` : undefined),
});

describe("a reference", () => {
  it.each([
    ["style.css", "index.html", "style.css"],
    ["./style.css?v=1#x", "index.html", "style.css"],
    ["../img/a%20b.png", "pages/about.html", "img/a b.png"],
    ["/img/a.png", "pages/about.html", "img/a.png"],
    ["../../../a.png", "index.html", "a.png"],
    ["100%.png", "index.html", "100%.png"],
    ["https://example.org/a.png", "index.html", undefined],
    ["//example.org/a.png", "index.html", undefined],
    ["data:image/png;base64,AA", "index.html", undefined],
    ["#part", "index.html", undefined],
    ["?query", "index.html", undefined],
    ["", "index.html", undefined],
  ])("%j in %j names %j", (reference, from, path) => {
    expect(pathOf(reference, from)).toBe(path);
  });
});

describe("a style sheet", () => {
  const files = filesOf({
    "img/a.png": "",
    "css/base.css": "p{background:url(../img/a.png)}",
    "css/loop.css": "@import 'site.css';",
  });

  it("gets the addresses of its images, and keeps others", () => {
    expect(resolvedCss(`a{background:url("../img/a.png"),url( ../img/a.png )}`, "css/site.css", files)).toBe(
      `a{background:url("blob:img/a.png"),url("blob:img/a.png")}`,
    );
    const others = "a{background:url(#mask),url(data:,x),url('missing.png')}";
    expect(resolvedCss(others, "css/site.css", files)).toBe(others);
  });

  it("contains the sheets that it imports, each once", () => {
    const css = '@import "base.css" print; @import url(base.css); @import "loop.css"; b{}';
    expect(resolvedCss(css, "css/site.css", files)).toBe(
      '@media print {p{background:url("blob:img/a.png")}} p{background:url("blob:img/a.png")}  b{}',
    );
  });
});

it("a module names other modules by their place in the import map", () => {
  const script = `import a from "./a.js"; export * from '../b.js'; await import("/c.js"); import "react"; import"./d.js"`;
  expect(resolvedModule(script, "js/main.js")).toBe(
    `import a from "workspace:///js/a.js"; export * from 'workspace:///b.js'; await import("workspace:///c.js"); import "react"; import"workspace:///js/d.js"`,
  );
});

it("a srcset gets each address", () => {
  expect(resolvedSrcset("a.png 1x,  b.png 2x", "index.html", filesOf({ "a.png": "" }))).toBe("blob:a.png 1x, b.png 2x");
});
