// Writes TypeScript types from a JSON Schema of the contract: node scripts/types.mjs SCHEMA.json OUT.ts
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const SOURCES = { ChatEvent: "events.py", DataTable: "data_table.py" };
const banner = (
  name,
) => `// Generated from the contract (backend/signalbox/core/${SOURCES[name]}) by \`just contract\`. Do not edit.
// biome-ignore-all format: generated
// biome-ignore-all lint: generated`;

const [schemaPath, outPath] = process.argv.slice(2);
if (!outPath) {
  console.error("Which schema, and which file? node scripts/types.mjs SCHEMA.json OUT.ts");
  process.exit(2);
}

const schema = JSON.parse(await readFile(schemaPath, "utf8"));
// The title names the type. The compiler would also name it after a title.
const name = schema.title;
delete schema.title;
for (const definition of Object.values(schema.$defs ?? {})) tidy(definition);
const source = await compile(schema, name, {
  additionalProperties: false,
  bannerComment: banner(name),
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
