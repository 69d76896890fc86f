// Checks that every class name in a component exists in Tailwind or in our style sheets: a typo would fail silently.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { __unstable__loadDesignSystem as loadDesign } from "tailwindcss";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL(".", import.meta.url));
const STYLES = join(SRC, "styles");
const resolve = createRequire(import.meta.url).resolve;

const loadStylesheet = async (id: string, base: string) => {
  const path = id.startsWith(".") ? join(base, id) : resolve(`${id}/index.css`);
  return { path, base: dirname(path), content: readFileSync(path, "utf8") };
};
const design = await loadDesign(readFileSync(join(STYLES, "app.css"), "utf8"), { base: STYLES, loadStylesheet });

/** Classes that our style sheets define, for Markdown and documents. */
const own = new Set(
  readdirSync(STYLES).flatMap((name) =>
    [...readFileSync(join(STYLES, name), "utf8").matchAll(/\.([a-z][\w-]*)/gi)].map(([, found = ""]) => found),
  ),
);

/** Marker classes without a style. */
const MARK = /^(group|peer)(\/[\w-]+)?$/;

/**
 * The beginning of a composed name, `code-${…}`. Only allowed for our own classes, because Tailwind needs whole names.
 */
const isBeginning = (word: string): boolean => word.endsWith("-") && [...own].some((name) => name.startsWith(word));

const isClass = (word: string): boolean =>
  own.has(word) || isBeginning(word) || MARK.test(word) || Boolean(design.candidatesToCss([word])[0]);

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean);

/** The expression in the braces that open at this index. */
function braced(source: string, start: number): string {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "{") depth++;
    if (source[at] === "}" && --depth === 0) return source.slice(start + 1, at);
  }
  return "";
}

const TEXT = /(?<!\\)"((?:[^"\\\n]|\\.)*)"/g;
const TEMPLATE = /`((?:[^`\\]|\\.)*)`/g;

/** The string literals of an expression, except those in comparisons. */
function textsIn(code: string): readonly string[] {
  const compared = /([=!]==?\s*)"[^"\n]*"|"[^"\n]*"(?=\s*[=!]==)/g;
  const rest = code.replaceAll(compared, "");
  const plain = [...rest.matchAll(TEXT)].map(([, text = ""]) => text);
  const templates = [...rest.replaceAll(TEXT, "").matchAll(TEMPLATE)].map(([, text = ""]) =>
    text.replaceAll(/\$\{[^}]*\}/g, " "),
  );
  return [...plain, ...templates];
}

/** The texts in `className`, and other texts that mostly consist of class names. */
function classLists(source: string): readonly string[] {
  const named = [...source.matchAll(/className=(?:"([^"]*)"|(?=\{))/g)].flatMap((found) =>
    found[1] === undefined ? textsIn(braced(source, found.index + "className=".length)) : [found[1]],
  );
  const others = textsIn(source).filter((text) => {
    const words = wordsOf(text);
    return words.length >= 3 && words.filter(isClass).length > words.length / 2;
  });
  return [...named, ...others];
}

const unknownIn = (source: string): readonly string[] => [
  ...new Set(
    classLists(source)
      .flatMap(wordsOf)
      .filter((word) => !isClass(word)),
  ),
];

it("defines no class that Tailwind defines, whose utilities would win", () => {
  expect([...own].filter((name) => design.candidatesToCss([name])[0])).toEqual([]);
});

describe("the search for classes", () => {
  it.each([
    [`<p className="flex itmes-center" />`, ["itmes-center"]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a component.
    ['<p className={`flex ${on ? "text-ikn" : "text-dim"} gap-1x`} />', ["text-ikn", "gap-1x"]],
    [`const ROW = "flex gap-2 text-smal rounded-md";`, ["text-smal"]],
    [`<p className="bg-red-500 text-lg shadow-md rounded-xl" />`, ["bg-red-500", "text-lg", "shadow-md", "rounded-xl"]],
    [`<p className={look === "primary" ? "bg-accent" : "prose"} />`, []],
    [`<p title="A hidden block of a table that stands there">not a class</p>`, []],
  ])("finds in %s the unknown %o", (source, unknown) => {
    expect(unknownIn(source)).toEqual(unknown);
  });
});

const components = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".tsx") && !name.endsWith(".test.tsx"),
);

it.each(components)("%s names only classes that exist", (name) => {
  expect(unknownIn(readFileSync(join(SRC, name), "utf8"))).toEqual([]);
});
