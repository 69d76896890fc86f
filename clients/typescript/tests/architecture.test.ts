// The import rules of the package.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const importsOf = (name: string): readonly string[] =>
  [...readFileSync(join(SRC, name), "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, target = ""]) => target,
  );

describe.each(files)("%s", (name) => {
  it("imports no package", () => {
    expect(importsOf(name).filter((target) => !target.startsWith("."))).toEqual([]);
  });

  it("imports nothing from a higher level: types, requests, the class", () => {
    const [level = ""] = name.includes("/") ? name.split("/") : ["class"];
    const allowed = { types: ["types"], requests: ["types", "requests"] }[level];
    const levels = importsOf(name).map((target) => relative(SRC, join(SRC, dirname(name), target)).split("/"));
    const wrong = levels.filter(([folder = "", file]) => allowed && !allowed.includes(file ? folder : "class"));
    expect(wrong).toEqual([]);
  });
});
