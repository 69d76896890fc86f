// @vitest-environment jsdom
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import Markdown from "./Markdown.tsx";

const draw = (text: string, settled = true): HTMLElement =>
  new DOMParser().parseFromString(
    renderToStaticMarkup(<Markdown text={text} sources={new Map()} settled={settled} />),
    "text/html",
  ).body;

const STRONG = /(?<rtl>[\p{Script=Arabic}\p{Script=Hebrew}])|\p{Letter}/u;

/** Resolves `dir="auto"` like browsers: by the first strong character outside elements that have a direction. */
function resolved(block: Element): "ltr" | "rtl" | "none" {
  const copy = block.cloneNode(true) as Element;
  for (const other of copy.querySelectorAll("[dir], bdi")) other.remove();
  const letter = STRONG.exec(copy.textContent ?? "");
  return letter ? (letter.groups?.rtl ? "rtl" : "ltr") : "none";
}

const blocksOf = (text: string, settled?: boolean) => [...draw(text, settled).querySelectorAll('[dir="auto"]')];

describe("the direction of a block", () => {
  it.each([
    ["مرحبا بالعالم", "rtl"],
    ["# שלום", "rtl"],
    ["Hello, عالم", "ltr"],
    ["`npm test` يشغّل الاختبارات", "rtl"],
    ["https://example.org/ را ببینید", "rtl"],
    ["[مستندات](https://example.org/) here", "rtl"],
    ["- React\n- مكتبة", "ltr"],
    ["- مكتبة\n- React", "rtl"],
    ["> اقتباس", "rtl"],
    ["| الأمر | x |\n|---|---|\n| a | b |", "rtl"],
    ["[^1]: حاشية", "rtl"],
  ])("of %j is %s", (text, direction) => {
    const [block, ...others] = blocksOf(text);
    expect(others).toEqual([]);
    expect(block && resolved(block)).toBe(direction);
  });

  it("is shared by all items of a list, however deep and long", () => {
    const long = Array.from({ length: 200 }, (_, n) => `- ${n % 2 ? "item" : "عنصر"} ${n} with some more words\n  - x`);
    expect(blocksOf(long.join("\n")).map(({ localName }) => localName)).toEqual(["ul"]);
  });

  it("is left-to-right for code, formulas and URLs", () => {
    const page = draw("שלום `a` https://example.org/ a@example.org\n\n```js\nb\n```\n\n$$\nx\n$$");
    const fixed = [...page.querySelectorAll('[dir="ltr"]')].map((each) => each.className || each.localName);
    expect(fixed).toEqual(["code", "a", "a", "code", "formula"]);
  });

  it.each([
    "يعمل `npm install` مع [React](https://react.dev/) **منذ** 2013 [1].",
    "`npm install` מתקין את **React** ואת [התיעוד](https://example.org/) שלה.",
    "- **React**: مكتبة\n- `vue`: مكتبة أخرى",
    "| الأمر | `npm` |\n|---|---|\n| a | **ב** |",
    "## 1. شرح `useState`\n\ntext",
    "React یک کتابخانه است.",
  ])("turns at most once while %j grows", (text) => {
    const seen = Array.from({ length: text.length }, (_, end) => blocksOf(text.slice(0, end + 1), false)[0]);
    const turns = seen
      .map((block) => (block && resolved(block) === "rtl" ? "rtl" : "ltr"))
      .filter((direction, at, all) => at > 0 && direction !== all[at - 1]);
    expect(turns.length).toBeLessThanOrEqual(1);
  });
});
