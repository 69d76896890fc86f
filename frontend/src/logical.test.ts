// Checks that styles use logical sides, start and end, because right-to-left text mirrors the layout.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL(".", import.meta.url));

/** Tailwind utilities for physical sides, with their logical replacements. */
const CLASS =
  /(?<![\w-])-?(?:(?:m|p|scroll-m|scroll-p)[lr]-[\w.[(]|(?:left|right)-(?:[\d[(]|px|auto|full)|(?:border|rounded)-[lr](?![a-z])|rounded-[tb][lr](?![a-z])|(?:text|float|clear)-(?:left|right)(?![\w-]))[^\s"'`]*/g;

/** The same for style sheets. */
const PROPERTY =
  /(?<![\w-])(?:(?:margin|padding|border|inset|scroll-margin|scroll-padding)-(?:left|right)[\w-]*|left|right|border-(?:top|bottom)-(?:left|right)-radius)\s*:|(?:text-align|float|clear)\s*:\s*(?:left|right)/g;

/** Drawings, which look the same in every direction. */
const DRAWN: Readonly<Record<string, readonly string[]>> = {
  // The check mark of a task list is a rotated corner.
  "styles/prose.css": ["left:"],
};

const found = (pattern: RegExp, text: string): readonly string[] => [...text.matchAll(pattern)].map(([words]) => words);

describe("the search for sides", () => {
  it.each([
    ['"flex -ml-2 pr-[3px] text-left"', ["-ml-2", "pr-[3px]", "text-left"]],
    ['"absolute left-0 hover:right-1/2 border-l rounded-tr-md"', ["left-0", "right-1/2", "border-l", "rounded-tr-md"]],
    ['"ms-2 pe-4 start-0 text-end border-s rounded-lg truncate"', []],
    ['place === "left" ? "Turn left-handed" : "border-lamp-running"', []],
  ])("finds in %s the classes %o", (source, classes) => {
    expect(found(CLASS, source)).toEqual(classes);
  });

  it.each([
    ["padding-left: 2px; margin-inline: 0", ["padding-left:"]],
    ["text-align: right; left: 0", ["text-align: right", "left:"]],
    ["border-left-color: red; text-align: start", ["border-left-color:"]],
  ])("finds in %s the properties %o", (sheet, properties) => {
    expect(found(PROPERTY, sheet)).toEqual(properties);
  });
});

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });

it.each(files.filter((name) => name.endsWith(".tsx") && !name.endsWith(".test.tsx")))("%s names no side", (name) => {
  expect(found(CLASS, readFileSync(join(SRC, name), "utf8"))).toEqual([]);
});

it.each(files.filter((name) => name.endsWith(".css")))("%s names no side but of drawings", (name) => {
  expect(found(PROPERTY, readFileSync(join(SRC, name), "utf8"))).toEqual(DRAWN[name] ?? []);
});
