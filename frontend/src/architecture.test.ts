import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL(".", import.meta.url));

/** Who may import whom, by folder; `npm` says whether packages of the browser's side may be used. */
const MAY: Record<string, { from: readonly string[]; npm: readonly string[] }> = {
  types: { from: [], npm: [] },
  stream: { from: ["types"], npm: ["eventsource-parser"] },
  run: { from: ["types"], npm: [] },
  hooks: { from: ["types", "stream", "run"], npm: ["react"] },
  components: { from: ["types", "run", "hooks"], npm: ["react", "react-markdown", "remark-gfm"] },
};

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name),
);

describe.each(files.filter((name) => (name.split("/")[0] ?? "") in MAY))("%s", (name) => {
  const folder = name.split("/")[0] ?? "";
  const source = readFileSync(join(SRC, name), "utf8");
  const imports = [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, target = ""]) => target);

  it("imports only what its place allows", () => {
    const wrong = imports.filter((target) => {
      if (!target.startsWith(".")) return !MAY[folder]?.npm.includes(target);
      const other = relative(SRC, join(SRC, dirname(name), target)).split("/")[0] ?? "";
      return other !== folder && !MAY[folder]?.from.includes(other);
    });
    expect(wrong).toEqual([]);
  });

  it("builds no HTML from text", () => {
    expect(source).not.toMatch(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|\beval\(/);
  });

  it("begins with a sentence on what it is for", () => {
    expect(source).toMatch(/^\/\/ \S/);
  });
});

describe("styles", () => {
  it.each(files.filter((name) => name.startsWith("components/")))("%s writes no colour and no style", (name) => {
    expect(readFileSync(join(SRC, name), "utf8")).not.toMatch(/#[0-9a-f]{3,8}\b|oklch|rgba?\(|style=/i);
  });

  it.each(["base", "page", "line", "prose", "paper"])("%s.css takes its colours from the tokens", (name) => {
    const css = readFileSync(join(SRC, "styles", `${name}.css`), "utf8");
    expect(css.replaceAll(/oklch\(0% 0 0 \/ [\d.]+\)/g, "")).not.toMatch(/#[0-9a-f]{3,8}\b|oklch|rgba?\(/i);
  });
});
