// Extracts the parts of an OpenAPI document that the API reference shows.

type Json = Record<string, unknown>;

export interface Field {
  name: string;
  /** The location of a parameter: path, query, header. Empty for body fields. */
  place: string;
  type: string;
  /** The schemas that the type names, for links. */
  schemas: readonly string[];
  required: boolean;
  description: string;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  words: string;
  parameters: readonly Field[];
  /** The name of the body's schema. */
  body: string | undefined;
  examples: readonly { name: string; text: string }[];
  answers: readonly { status: string; words: string; example: string }[];
}

export interface Schema {
  name: string;
  description: string;
  fields: readonly Field[];
  /** The type of a schema that is not an object. */
  type: string;
}

export interface Reference {
  title: string;
  version: string;
  summary: string;
  groups: readonly { name: string; operations: readonly Operation[] }[];
  schemas: readonly Schema[];
}

const object = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Read an OpenAPI document. Anything else gives an empty reference. */
export function referenceOf(value: unknown): Reference {
  const api = object(value);
  const info = object(api.info);
  const operations = Object.entries(object(api.paths)).flatMap(([path, item]) =>
    METHODS.filter((method) => method in object(item)).map((method) => ({
      group: text(list(object(object(item)[method]).tags)[0]) || "other",
      operation: operationOf(method, path, object(object(item)[method])),
    })),
  );
  const groups = Map.groupBy(operations, ({ group }) => group);
  return {
    title: text(info.title),
    version: text(info.version),
    summary: text(info.summary) || text(info.description),
    groups: [...groups].map(([name, found]) => ({ name, operations: found.map(({ operation }) => operation) })),
    schemas: Object.entries(object(object(api.components).schemas)).map(([name, schema]) =>
      schemaOf(name, object(schema)),
    ),
  };
}

function operationOf(method: string, path: string, operation: Json): Operation {
  const [, content] = Object.entries(object(object(operation.requestBody).content))[0] ?? [];
  const examples = Object.entries(object(object(content).examples));
  return {
    id: `${method}-${path.replaceAll(/[^a-z0-9_]+/gi, "-").replaceAll(/^-|-$/g, "")}`,
    method: method.toUpperCase(),
    path,
    words: text(operation.description) || text(operation.summary),
    parameters: list(operation.parameters).map((parameter) => parameterOf(object(parameter))),
    body: typeOf(object(object(content).schema)).schemas[0],
    examples: examples.map(([name, example]) => ({ name, text: pretty(object(example).value) })),
    answers: Object.entries(object(operation.responses)).map(([status, answer]) => ({
      status,
      words: text(object(answer).description),
      example: exampleOf(object(object(answer).content)),
    })),
  };
}

const pretty = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** The example of a response; if it can be one object or a stream, that of the stream. */
function exampleOf(contents: Json): string {
  const example = [contents["text/event-stream"], ...Object.values(contents)]
    .map((content) => object(content).example)
    .find((found) => found !== undefined);
  return example === undefined ? "" : pretty(example).trimEnd();
}

const parameterOf = (parameter: Json): Field => ({
  ...fieldOf(text(parameter.name), object(parameter.schema), parameter.required === true),
  place: text(parameter.in),
  ...(text(parameter.description) && { description: text(parameter.description) }),
});

function schemaOf(name: string, schema: Json): Schema {
  const required = new Set(list(schema.required));
  return {
    name,
    description: text(schema.description),
    fields: Object.entries(object(schema.properties)).map(([field, value]) =>
      fieldOf(field, object(value), required.has(field)),
    ),
    type: typeOf(schema).type,
  };
}

function fieldOf(name: string, schema: Json, required: boolean): Field {
  const { type, schemas } = typeOf(schema);
  return { name, place: "", type, schemas, required, description: text(schema.description) };
}

interface Type {
  type: string;
  schemas: readonly string[];
}

/** A readable type: "integer, 1 to 20", "array of string", "auto | none". */
function typeOf(schema: Json): Type {
  const ref = text(schema.$ref).split("/").at(-1);
  if (ref) return { type: ref, schemas: [ref] };
  const choices = [...list(schema.anyOf), ...list(schema.oneOf)].map((choice) => typeOf(object(choice)));
  if (choices.length > 0) return join(choices.filter(({ type }) => type !== "null"));
  if (schema.const !== undefined) return { type: JSON.stringify(schema.const), schemas: [] };
  if (Array.isArray(schema.enum))
    return { type: schema.enum.map((one) => JSON.stringify(one)).join(" | "), schemas: [] };
  if (schema.type === "array") {
    const item = typeOf(object(schema.items));
    return { type: `array of ${item.type.includes(" | ") ? `(${item.type})` : item.type}`, schemas: item.schemas };
  }
  const words = [text(schema.type) || "anything", limits(schema.minimum, schema.maximum, ""), lengths(schema)];
  return { type: words.filter(Boolean).join(", "), schemas: [] };
}

const join = (types: readonly Type[]): Type => ({
  type: types.map(({ type }) => type).join(" | "),
  schemas: types.flatMap(({ schemas }) => schemas),
});

const lengths = (schema: Json): string =>
  schema.maxLength === undefined ? "" : limits(undefined, schema.maxLength, " characters");

function limits(from: unknown, to: unknown, unit: string): string {
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  if (from !== undefined) return `at least ${from}${unit}`;
  return to === undefined ? "" : `at most ${to}${unit}`;
}

/** A curl command for the operation. */
export function curlOf(operation: Operation, origin: string, example = operation.examples[0]?.text): string {
  const streams = operation.answers.some(({ example }) => example.startsWith("data: "));
  const method =
    operation.method === "GET" || (operation.method === "POST" && example) ? "" : ` -X ${operation.method}`;
  const body = example
    ? ` \\\n  -H 'content-type: application/json' \\\n  -d '${example.replaceAll("'", "'\\''")}'`
    : "";
  return `curl${streams ? " -N" : ""}${method} ${origin}${operation.path}${body}`;
}
