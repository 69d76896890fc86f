import { describe, expect, it } from "vitest";
import { curlOf, type Operation, referenceOf } from "./openapi.ts";

const API = {
  openapi: "3.1.0",
  info: { title: "T", version: "1", summary: "S" },
  paths: {
    "/api/ask": {
      post: {
        tags: ["chat"],
        summary: "Ask",
        description: "Asks.",
        parameters: [{ name: "x-a", in: "header", schema: { anyOf: [{ type: "string" }, { type: "null" }] } }],
        requestBody: {
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/Ask" },
              examples: { one: { value: { q: "it's" } }, two: { value: {} } },
            },
          },
        },
        responses: {
          200: {
            description: "ok",
            content: { "application/json": { example: { a: 1 } }, "text/event-stream": { example: "data: 1\n\n" } },
          },
          204: {},
        },
      },
      parameters: [],
    },
    "/api/runs/{id}": { get: { tags: ["runs"], summary: "Get" }, delete: {} },
  },
  components: {
    schemas: {
      Ask: {
        description: "A question.",
        type: "object",
        required: ["q"],
        properties: {
          q: { type: "string", maxLength: 9, description: "the question" },
          n: { anyOf: [{ type: "integer", minimum: 1, maximum: 20 }, { type: "null" }] },
          m: {
            type: "array",
            items: { oneOf: [{ $ref: "#/components/schemas/A" }, { $ref: "#/components/schemas/B" }] },
          },
          e: { enum: ["a", "b"] },
          c: { const: "x" },
          any: {},
        },
      },
    },
  },
};

const reference = referenceOf(API);
const [ask] = reference.groups[0]?.operations ?? [];

describe("referenceOf", () => {
  it("groups the operations by their first tag", () => {
    expect(reference).toMatchObject({ title: "T", version: "1", summary: "S" });
    expect(reference.groups.map(({ name, operations }) => [name, operations.map(({ id }) => id)])).toEqual([
      ["chat", ["post-api-ask"]],
      ["runs", ["get-api-runs-id"]],
      ["other", ["delete-api-runs-id"]],
    ]);
  });

  it("has an operation's description, parameters, body, examples and responses", () => {
    expect(ask).toEqual({
      id: "post-api-ask",
      method: "POST",
      path: "/api/ask",
      words: "Asks.",
      parameters: [{ name: "x-a", place: "header", type: "string", schemas: [], required: false, description: "" }],
      body: "Ask",
      examples: [
        { name: "one", text: '{\n  "q": "it\'s"\n}' },
        { name: "two", text: "{}" },
      ],
      answers: [
        { status: "200", words: "ok", example: "data: 1" },
        { status: "204", words: "", example: "" },
      ],
    });
  });

  it("has readable types", () => {
    expect(reference.schemas[0]?.fields.map(({ name, type, required }) => [name, type, required])).toEqual([
      ["q", "string, at most 9 characters", true],
      ["n", "integer, 1 to 20", false],
      ["m", "array of (A | B)", false],
      ["e", '"a" | "b"', false],
      ["c", '"x"', false],
      ["any", "anything", false],
    ]);
    expect(reference.schemas[0]?.fields[2]?.schemas).toEqual(["A", "B"]);
  });

  it.each([null, "text", [], { paths: { "/": null } }, { paths: 1, components: { schemas: [] } }])(
    "is empty for %j",
    (value) => {
      expect(referenceOf(value)).toMatchObject({ groups: [], schemas: [] });
    },
  );
});

describe("curlOf", () => {
  it("requests a stream with the first example, escaped for a shell", () => {
    expect(curlOf(ask as Operation, "http://h")).toBe(
      `curl -N http://h/api/ask \\\n  -H 'content-type: application/json' \\\n  -d '{\n  "q": "it'\\''s"\n}'`,
    );
  });

  it("has the method if curl would use another one", () => {
    const [get, remove] = reference.groups.slice(1).map(({ operations }) => operations[0] as Operation);
    expect([get, remove].map((one) => curlOf(one as Operation, ""))).toEqual([
      "curl /api/runs/{id}",
      "curl -X DELETE /api/runs/{id}",
    ]);
  });
});
