// Finds errors in a JSON schema. Unknown keywords are accepted, because providers differ in what they support.

const TYPES: readonly unknown[] = ["object", "array", "string", "number", "integer", "boolean", "null"];
/** A schema without any of these has no effect. */
const KEYWORDS = ["type", "properties", "items", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"] as const;
const MAPS = ["properties", "$defs", "definitions"] as const;
const LISTS = ["anyOf", "oneOf", "allOf"] as const;
const DEEPEST = 64;

/** A sentence with the location of the error, or undefined. */
export function schemaError(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (!KEYWORDS.some((keyword) => keyword in schema))
    return 'This is no JSON schema: it needs a "type" or another keyword of JSON Schema.';
  return errorAt(schema, "the schema", 0);
}

function errorAt(value: unknown, place: string, depth: number): string | undefined {
  if (typeof value === "boolean") return undefined;
  if (!isObject(value)) return `${capital(place)} must be an object.`;
  if (depth > DEEPEST) return `${capital(place)} is nested too deeply.`;
  return typeError(value, place) ?? requiredError(value, place) ?? childError(value, place, depth);
}

function typeError({ type }: Record<string, unknown>, place: string): string | undefined {
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type];
  const wrong = types.find((one) => !TYPES.includes(one));
  return wrong === undefined ? undefined : `"type" of ${place} is ${JSON.stringify(wrong)}, which is not a JSON type.`;
}

function requiredError({ required }: Record<string, unknown>, place: string): string | undefined {
  const isList = Array.isArray(required) && required.every((name) => typeof name === "string");
  return required === undefined || isList ? undefined : `"required" of ${place} must be a list of names.`;
}

function childError(value: Record<string, unknown>, place: string, depth: number): string | undefined {
  for (const keyword of MAPS) {
    const map = value[keyword];
    if (map === undefined) continue;
    if (!isObject(map)) return `"${keyword}" of ${place} must be an object.`;
    for (const [name, child] of Object.entries(map)) {
      const wrong = errorAt(child, `"${name}"`, depth + 1);
      if (wrong) return wrong;
    }
  }
  for (const keyword of LISTS) {
    const list = value[keyword];
    if (list === undefined) continue;
    if (!Array.isArray(list)) return `"${keyword}" of ${place} must be a list.`;
    for (const child of list) {
      const wrong = errorAt(child, `a choice in "${keyword}"`, depth + 1);
      if (wrong) return wrong;
    }
  }
  const { items } = value;
  return items === undefined || Array.isArray(items) ? undefined : errorAt(items, `"items" of ${place}`, depth + 1);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
