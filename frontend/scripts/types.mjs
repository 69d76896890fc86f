// Writes src/types/events.ts from a JSON Schema of the contract: node scripts/types.mjs SCHEMA.json [OUT.ts]
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const BANNER = `// Generated from the contract (backend/signalbox/core/events.py) by \`just contract\`. Do not edit.
// biome-ignore-all format: generated
// biome-ignore-all lint: generated`;

const [schemaPath, outPath = fileURLToPath(new URL("../src/types/events.ts", import.meta.url))] = process.argv.slice(2);
if (!schemaPath) {
  console.error("Which schema? node scripts/types.mjs SCHEMA.json [OUT.ts]");
  process.exit(2);
}

const schema = JSON.parse(await readFile(schemaPath, "utf8"));
// A title would name the union. The page calls it ChatEvent.
delete schema.title;
for (const definition of Object.values(schema.$defs ?? {})) tidy(definition);
const source = await compile(schema, "ChatEvent", {
  additionalProperties: false,
  bannerComment: BANNER,
  unreachableDefinitions: true,
  format: true,
});
await writeFile(outPath, source);
console.log(`wrote ${outPath}`);

/** Allows any property in objects that list none (a call's arguments), and removes the docstrings' indentation. */
function tidy(node) {
  if (typeof node.description === "string") node.description = node.description.replace(/\n[ \t]+/g, "\n");
  if (node.type === "object" && !node.properties) node.additionalProperties = true;
  for (const property of Object.values(node.properties ?? {})) tidy(property);
}
