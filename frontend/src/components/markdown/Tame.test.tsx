// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { elementsOf, plugins } from "./katex.ts";
import Markdown from "./Markdown.tsx";
import { parseCounts } from "./parseCount.ts";

const NONE = new Map();
const view = (text: string, settled = true) => <Markdown text={text} sources={NONE} settled={settled} />;
const bare = (text: string | null) => (text ?? "").replaceAll(/\s+/g, "");
const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");
const fractions = (depth: number) => `$$\n${"\\frac{1}{".repeat(depth)}x${"}".repeat(depth)}\n$$`;
const row = (cell: string) => `${`|${cell}`.repeat(20)}|`;

const CASES: readonly [string, string][] = [
  ["quotes", `${">".repeat(2_500)}x`],
  ["fractions", fractions(200)],
  ["more fractions", fractions(300)],
  ["a list 400 deep", lines(400, (n) => `${"  ".repeat(n)}- item`)],
  ["a list 1000 deep", lines(1_000, (n) => `${"  ".repeat(n)}- item`)],
  ["links that do not end", "[a](b".repeat(20_000)],
  ["a table of 40,000 cells", [row("a"), row("-"), ...Array(2_000).fill(row("1"))].join("\n")],
];

afterEach(cleanup);
beforeEach(() => {
  parseCounts.parses = parseCounts.characters = 0;
});

describe.each(CASES)("%s", (_, text) => {
  it("are plain text, and are never parsed", () => {
    const { container } = render(view(text));
    expect(bare(container.textContent)).toBe(bare(text).replaceAll("$$", ""));
    expect(parseCounts.parses).toBe(0);
    expect(container.getElementsByTagName("*").length).toBeLessThan(10);
  });

  it("are cheap while they grow", () => {
    const { container, rerender } = render(view("", false));
    // Character by character up to the limit, then in larger steps.
    for (let end = 1; end < text.length; end += end < 300 ? 1 : Math.ceil(text.length / 30)) {
      rerender(view(text.slice(0, end), false));
    }
    rerender(view(`${text}\n\nThe **end**.`, true));
    expect(parseCounts.characters).toBeLessThan(1_000_000);
    expect(container.querySelector("strong")?.textContent).toBe("end");
  }, 60_000);
});

it("renders any nesting without losing a word", () => {
  const opening = fc.constantFrom(
    "> ",
    ">",
    "- ",
    "  ",
    "1. ",
    "    ",
    "+ ",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "![",
    "`",
    "](",
    "\n",
    "\n\n",
  );
  const nest = fc.array(fc.tuple(opening, fc.integer({ min: 1, max: 300 })), { minLength: 1, maxLength: 6 });
  const closing = fc.tuple(fc.constantFrom("*", "**", "_", "~~", ")", "]"), fc.integer({ min: 0, max: 400 }));
  fc.assert(
    fc.property(nest, closing, fc.boolean(), (parts, [end, times], settled) => {
      const text = `alpha\n\n${parts.map(([mark, count]) => `${mark.repeat(count)}word`).join("")} omega${end.repeat(times)}`;
      const { container, unmount } = render(view(text, settled));
      const shown = container.textContent ?? "";
      unmount();
      // URLs, images and the line of a code fence are shown differently.
      if (!/\]\(|~{3}|`{3}/.test(text)) for (const word of ["alpha", "word", "omega"]) expect(shown).toContain(word);
    }),
    { numRuns: 150 },
  );
}, 120_000);

it("renders emphasis that is nested too deeply as text", () => {
  const text = `${"*a **b ".repeat(300)}x${"** *".repeat(300)}`;
  const { container } = render(view(text));
  expect(container.querySelector("em, strong")).toBeNull();
  expect(bare(container.textContent)).toBe(bare(text));
});

it("renders no formula that macros make too deep", () => {
  expect(plugins).toBeDefined();
  expect(() => elementsOf("<span>".repeat(600))).toThrow(RangeError);
  expect(elementsOf("<span></span>".repeat(600))).toHaveLength(600);
});

const Broken = (): never => {
  throw new RangeError("too deep");
};

it("keeps the page if something fails to render", () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { container } = render(
    <p>
      before <ErrorBoundary fallback="words">{<Broken />}</ErrorBoundary> after
    </p>,
  );
  expect(container.textContent).toBe("before words after");
  logged.mockRestore();
});
