// The architecture rules of the page as tests: imports, styles, and packages.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL(".", import.meta.url));

interface Place {
  from: readonly string[];
  /** Allowed packages. A name that ends in `/` covers everything below it. */
  npm: readonly string[];
}

/** The TypeScript client, built from its sources: the types of the contract, and the functions that send requests. */
const TYPES = "@signalbox/client";
const REQUESTS = "@signalbox/client/requests";

/** The allowed imports by folder. */
const MAY: Readonly<Record<string, Place>> = {
  types: { from: [], npm: [TYPES] },
  logic: { from: ["types"], npm: [TYPES] },
  state: { from: ["types", "logic"], npm: [TYPES, REQUESTS, "react"] },
  frame: { from: ["types"], npm: [] },
  hooks: { from: ["types", "logic", "state"], npm: [TYPES, REQUESTS, "react"] },
  components: {
    from: ["types", "logic", "state", "hooks"],
    npm: ["react", "@base-ui/react/", "lucide-react", "virtua"],
  },
};

/** Packages that render Markdown are large. Only components/markdown may import them, and it is loaded on demand. */
const MARKDOWN = ["react-markdown", "remark-gfm", "remark-math", "katex", "katex/", "remend", "shiki/"];

/** The component folders that a component folder may import besides its own. Every folder may import `ui`. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  ui: [],
  markdown: [],
  table: [],
  answer: ["markdown", "table"],
  inspector: ["markdown"],
  sidebar: [],
  picker: [],
  settings: [],
  composer: [],
  compare: ["answer", "markdown"],
  pages: ["markdown"],
  operator: ["pages"],
  files: ["markdown"],
  // Combines the parts of a chat.
  chat: ["markdown", "answer", "inspector", "sidebar", "picker", "settings", "composer", "compare", "files"],
};

/** The library of the charts is loaded with them. */
const CHARTS = ["uplot", "uplot/"];

const OWN_PACKAGES: Readonly<Record<string, readonly string[]>> = { markdown: MARKDOWN, operator: CHARTS };

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name),
);
const sourceOf = (name: string): string => readFileSync(join(SRC, name), "utf8");
const partsOf = (name: string): readonly string[] => name.split("/");
const roomOf = (name: string): string => (partsOf(name).length > 2 ? (partsOf(name)[1] ?? "") : "");

const importsOf = (source: string): readonly string[] =>
  [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, target = ""]) => target);
const isPackage = (target: string): boolean => !target.startsWith(".");
const isOf = (names: readonly string[], target: string): boolean =>
  names.some((name) => target === name || (name.endsWith("/") && target.startsWith(name)));
/** Relative to the source folder. */
const pathOf = (name: string, target: string): string => relative(SRC, join(SRC, dirname(name), target));

describe.each(files.filter((name) => (partsOf(name)[0] ?? "") in MAY))("%s", (name) => {
  const [folder = ""] = partsOf(name);
  const source = sourceOf(name);
  const imports = importsOf(source);

  it("imports only what its folder allows", () => {
    const packages = [...(MAY[folder]?.npm ?? []), ...(OWN_PACKAGES[roomOf(name)] ?? [])];
    const wrong = imports.filter((target) => {
      if (isPackage(target)) return !isOf(packages, target);
      const [other = ""] = partsOf(pathOf(name, target));
      return other !== folder && !MAY[folder]?.from.includes(other);
    });
    expect(wrong).toEqual([]);
  });

  it("imports only types from the client's main entry point, which holds what the page does not need", () => {
    expect(source).not.toMatch(/(?:import|export) (?!type)[^;"]*"@signalbox\/client"/);
  });

  // The frame shows pages, and has no access to this one.
  it.skipIf(folder === "frame")("builds no HTML from text", () => {
    expect(source).not.toMatch(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|\beval\(/);
  });

  it("begins with a comment on its purpose", () => {
    expect(source).toMatch(/^\/\/ \S/);
  });
});

const components = files.filter((name) => name.startsWith("components/"));

describe.each(components)("%s", (name) => {
  it("is in a folder and imports only from allowed folders", () => {
    const room = roomOf(name);
    expect(Object.keys(ROOMS)).toContain(room);
    const entered = importsOf(sourceOf(name))
      .filter((target) => !isPackage(target))
      .map((target) => pathOf(name, target))
      .filter((path) => path.startsWith("components/"))
      .map(roomOf);
    const allowed = [room, "ui", ...(ROOMS[room] ?? [])];
    expect(entered.filter((other) => !allowed.includes(other))).toEqual([]);
  });

  it("contains no colour and no inline style", () => {
    expect(sourceOf(name)).not.toMatch(/#[0-9a-f]{3,8}\b|oklch|rgba?\(|hsla?\(|\bstyle=/i);
  });
});

describe("styles", () => {
  const sheets = readdirSync(join(SRC, "styles")).filter((name) => name !== "tokens.css");

  it.each(sheets)("%s takes its colours from the tokens", (name) => {
    const css = readFileSync(join(SRC, "styles", name), "utf8");
    expect(css).not.toMatch(/#[0-9a-f]{3,8}\b|oklch|rgba?\(|hsla?\(/i);
  });
});

describe("packages", () => {
  const listed = JSON.parse(readFileSync(join(SRC, "..", "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const names = Object.keys(listed.dependencies);

  it("are listed where they are used", () => {
    const ours = files.filter((name) => (partsOf(name)[0] ?? "") in MAY);
    const used = ours
      .flatMap((name) => importsOf(sourceOf(name)).filter(isPackage))
      .filter((target) => ![TYPES, REQUESTS].includes(target));
    const unlisted = used.filter((target) => !names.some((name) => target === name || target.startsWith(`${name}/`)));
    expect([...new Set(unlisted)]).toEqual([]);
  });
});
