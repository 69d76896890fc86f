import { describe, expect, it } from "vitest";
import { formatError, formatOfWire, readFormat, wireFormat } from "./responseFormat.ts";

const schema = (text: string) => ({ kind: "schema", schema: text }) as const;
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe("response format", () => {
  it("is sent in the API's form", () => {
    expect(wireFormat({ kind: "", schema: "{}" })).toBeUndefined();
    expect(wireFormat({ kind: "text", schema: "" })).toEqual({ type: "text" });
    expect(wireFormat({ kind: "json", schema: "" })).toEqual({ type: "json_object" });
    expect(wireFormat(schema(JSON.stringify(CITY)))).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: CITY },
    });
  });

  it("accepts a schema in OpenAI's wrapper with its name", () => {
    const wrapped = { name: "place", strict: true, schema: CITY };
    expect(wireFormat(schema(JSON.stringify(wrapped)))).toEqual({ type: "json_schema", json_schema: wrapped });
    const odd = wireFormat(schema(JSON.stringify({ name: "not a name!", schema: CITY })));
    expect(odd).toMatchObject({ json_schema: { name: "answer" } });
  });

  it("is restored from a request", () => {
    const formats = [
      { kind: "text", schema: "" },
      { kind: "json", schema: "" },
      schema(JSON.stringify(CITY, null, 2)),
      schema(JSON.stringify({ name: "place", schema: CITY, strict: true }, null, 2)),
    ] as const;
    for (const format of formats) {
      const wire = wireFormat(format);
      expect(wireFormat(formatOfWire(wire))).toEqual(wire);
    }
    expect(formatOfWire(undefined)).toEqual({ kind: "", schema: "" });
    expect(readFormat({ kind: "made up", schema: 5 })).toEqual({ kind: "", schema: "" });
  });

  it.each([
    ["", /Enter a JSON schema/],
    ['{"type": "object",', /not valid JSON/],
    ["[]", /is an object/],
    ['{"colour": "red"}', /needs a "type"/],
    ['{"type": "text"}', /"type" of the schema is "text"/],
    ['{"type": "object", "properties": {"a": {"type": "int"}}}', /"type" of "a" is "int"/],
    ['{"type": "object", "properties": []}', /"properties" of the schema must be an object/],
    ['{"type": "object", "required": "a"}', /"required" of the schema/],
    ['{"type": "array", "items": {"anyOf": {}}}', /"anyOf" of "items" of the schema must be a list/],
    ['{"type": "object", "properties": {"a": 5}}', /"a" must be an object/i],
  ])("of a schema that cannot be used is not sent, and it says why: %s", (text, why) => {
    expect(formatError(schema(text))).toMatch(why);
    expect(wireFormat(schema(text))).toBeUndefined();
  });

  it("names the line of an error if the engine reports it", () => {
    expect(formatError(schema('{\n  "type": object\n}'))).toMatch(/This is not valid JSON( \(line 2, column \d+\))?\./);
  });

  it.each([
    '{"anyOf": [{"type": "string"}, true]}',
    '{"$ref": "#/$defs/a", "$defs": {"a": {"type": ["string", "null"]}}}',
    '{"type": "object", "properties": {"name": {"type": "string"}, "schema": {"type": "object"}}}',
  ])("lets sound schemas through: %s", (text) => {
    expect(formatError(schema(text))).toBeUndefined();
  });
});
