// The response format: text, JSON, or JSON that matches a typed schema.
import { FORMATS, type ResponseFormat } from "../../types/api.ts";
import type { WireFormat } from "../../types/models.ts";
import { schemaError } from "./jsonSchema.ts";

export const NO_FORMAT: ResponseFormat = { kind: "", schema: "" };

type Wrapped = Extract<WireFormat, { type: "json_schema" }>["json_schema"];

/** The error in a typed schema, as a sentence. Undefined if it is valid. */
export function formatError({ kind, schema }: ResponseFormat): string | undefined {
  if (kind !== "schema") return undefined;
  const parsed = parse(schema);
  return "error" in parsed ? parsed.error : undefined;
}

/** The API's form. Undefined if nothing is set or the schema is invalid. */
export function wireFormat({ kind, schema }: ResponseFormat): WireFormat | undefined {
  switch (kind) {
    case "":
      return undefined;
    case "text":
      return { type: "text" };
    case "json":
      return { type: "json_object" };
    case "schema": {
      const parsed = parse(schema);
      return "error" in parsed ? undefined : { type: "json_schema", json_schema: parsed };
    }
  }
}

/** The setting that corresponds to a request's field. */
export function formatOfWire(wire: unknown): ResponseFormat {
  const { type, json_schema } = (wire ?? {}) as { type?: unknown; json_schema?: unknown };
  if (type === "text") return { kind: "text", schema: "" };
  if (type === "json_object") return { kind: "json", schema: "" };
  if (type !== "json_schema" || !isObject(json_schema)) return NO_FORMAT;
  const { name, schema, ...rest } = json_schema;
  const isPlain = name === "answer" && Object.keys(rest).length === 0;
  return { kind: "schema", schema: JSON.stringify(isPlain ? schema : json_schema, null, 2) };
}

/** Read a stored setting. */
export function readFormat(saved: unknown): ResponseFormat {
  const { kind, schema } = (saved ?? {}) as { kind?: unknown; schema?: unknown };
  return {
    kind: FORMATS.find((one) => one === kind) ?? "",
    schema: typeof schema === "string" ? schema : "",
  };
}

/** Accepts a schema, or OpenAI's wrapper `{"name", "schema", "strict"}`. */
function parse(text: string): Wrapped | { error: string } {
  if (!text.trim()) return { error: "Enter a JSON schema to send the format." };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { error: `This is not valid JSON${placeOf(error, text)}. Fix it to send the format.` };
  }
  if (!isObject(value)) return { error: 'A JSON schema is an object, such as {"type": "object"}.' };
  const { name, schema, strict } = value;
  const isWrapped = isObject(schema) && !("type" in value && "properties" in value);
  const wrong = schemaError(isWrapped ? schema : value);
  if (wrong) return { error: `${wrong} Fix it to send the format.` };
  return {
    name: isWrapped && typeof name === "string" && NAME.test(name) ? name : "answer",
    schema: isWrapped ? schema : value,
    ...(isWrapped && typeof strict === "boolean" && { strict }),
  };
}

/** The schema names that providers accept. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Engines word the position of the error differently, and some omit it. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : "";
  const named = /line (\d+) column (\d+)/.exec(message);
  if (named) return ` (line ${named[1]}, column ${named[2]})`;
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return /end of (JSON|data)/i.test(message) ? " (it ends too early)" : "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}
