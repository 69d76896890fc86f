// No component has a body of more than 80 lines, including JSX and blank lines.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ESTree, parseSync } from "vite";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL(".", import.meta.url));
const MOST_LINES = 80;

interface Component {
  name: string;
  lines: number;
}

function* nodesOf(value: unknown): Generator<ESTree.Node> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value) yield value as ESTree.Node;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

/** The function components of a module: declared, assigned, or wrapped as in `memo(function Name() { … })`. */
function componentsOf(file: string, source: string): readonly Component[] {
  const { program, errors } = parseSync(file, source);
  expect(errors).toEqual([]);
  const found: Component[] = [];
  const addComponent = (name: string | undefined, body: ESTree.Node | null) => {
    if (!name || !body || !/^[A-Z]/.test(name)) return;
    found.push({ name, lines: source.slice(body.start, body.end).split("\n").length });
  };
  for (const node of nodesOf(program)) {
    if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression")
      addComponent(node.id?.name, node.body);
    if (node.type !== "VariableDeclarator" || node.id.type !== "Identifier") continue;
    const value = node.init?.type === "CallExpression" ? node.init.arguments[0] : node.init;
    if (value?.type === "ArrowFunctionExpression") addComponent(node.id.name, value.body);
  }
  return found;
}

describe("components", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".tsx") && !name.endsWith(".test.tsx"),
  );

  it(`have no body of more than ${MOST_LINES} lines`, () => {
    const all = files.flatMap((file) =>
      componentsOf(file, readFileSync(join(SRC, file), "utf8")).map((component) => ({ file, ...component })),
    );
    expect(all).toContainEqual(expect.objectContaining({ file: "App.tsx", name: "App" }));
    expect(all.filter(({ lines }) => lines > MOST_LINES)).toEqual([]);
  });

  it.each([
    ["function Name() {\n  return null;\n}", 3],
    ["export default function Name() {\n  return (\n    <p />\n  );\n}", 5],
    ["const Name = () => (\n  <p />\n);", 3],
    ["const Name = memo(() => {\n  return <p />;\n});", 3],
    ["const Name = memo(function Name() {\n\n  return <p />;\n});", 4],
  ])("are found with their lines in %j", (source, lines) => {
    expect(componentsOf("Name.tsx", source)).toEqual([{ name: "Name", lines }]);
  });

  it("are only functions named like components", () => {
    expect(componentsOf("Name.tsx", "const name = () => {\n  return 1;\n};\nfunction useName() {}")).toEqual([]);
  });
});
