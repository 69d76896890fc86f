import { describe, expect, it } from "vitest";
import { aFileTool, aModel, aTool } from "../../fixtures/catalogue.ts";
import type { RequestSettings, Tool } from "../../types/api.ts";
import {
  changedCount,
  clamped,
  correctionOf,
  PARAMETER_NAMES,
  RANGES,
  rangeOf,
  requestFields,
  roughTokens,
  supports,
  unsentChoiceReason,
  unsupported,
} from "./parameters.ts";

const PLAIN: RequestSettings = {
  model: "a/b",
  effort: "auto",
  parameters: {},
  toolsOff: [],
  files: true,
  toolChoice: "",
  format: { kind: "", schema: "" },
  system: "",
};
const ABLE = aModel("a/b", { parameters: ["max_tokens", "reasoning", "temperature", "tools"] });
const UNABLE = aModel("a/c", { parameters: ["max_tokens", "top_k"] });
const SILENT = aModel("a/d", { parameters: [] });
const tool = (name: string, unavailable?: string): Tool => aTool(name, { unavailable });
const TOOLS = [tool("search"), tool("time"), tool("calculator"), tool("paid", "No key is set.")];

describe("what is sent", () => {
  it("is nothing where nothing is set", () => {
    expect(requestFields(PLAIN, ABLE, TOOLS)).toEqual({});
  });

  it("is what is set and supported by the model", () => {
    const settings: RequestSettings = {
      ...PLAIN,
      effort: "high",
      parameters: { temperature: 0, top_k: 5, max_tokens: 9 },
    };
    expect(requestFields(settings, ABLE, TOOLS)).toEqual({
      temperature: 0,
      max_tokens: 9,
      reasoning: { effort: "high" },
    });
    expect(requestFields(settings, UNABLE, TOOLS)).toEqual({ top_k: 5, max_tokens: 9 });
    for (const unknown of [undefined, SILENT])
      expect(requestFields(settings, unknown, TOOLS)).toEqual({
        temperature: 0,
        top_k: 5,
        max_tokens: 9,
        reasoning: { effort: "high" },
      });
  });

  it("names the remaining tools only if one is switched off", () => {
    expect(requestFields({ ...PLAIN, toolsOff: ["time"] }, ABLE, TOOLS)).toEqual({ tools: ["search", "calculator"] });
    expect(requestFields({ ...PLAIN, toolsOff: ["search", "time", "calculator"] }, ABLE, TOOLS)).toEqual({ tools: [] });
    expect(requestFields({ ...PLAIN, toolsOff: ["gone", "paid"] }, ABLE, TOOLS)).toEqual({});
    expect(requestFields({ ...PLAIN, toolsOff: ["time"] }, UNABLE, TOOLS)).toEqual({});
  });

  it("names all tools if files are on, asks for previews, and leaves out other tools on request", () => {
    const tools = [...TOOLS, aFileTool("create_file"), aFileTool("edit_file", { unavailable: "No." })];
    const files = { tools: ["search", "time", "calculator", "create_file"], previews: true };
    expect(requestFields(PLAIN, ABLE, [...tools, aTool("secret", { onRequest: true })])).toEqual(files);
    expect(requestFields({ ...PLAIN, files: false }, ABLE, tools)).toEqual({});
    expect(requestFields(PLAIN, UNABLE, tools)).toEqual({});
    expect(requestFields(PLAIN, ABLE, [])).toEqual({});
  });

  it("offers no switched-off tool while the list of tools is unknown", () => {
    expect(requestFields({ ...PLAIN, toolsOff: ["time"] }, ABLE, [])).toEqual({ tools: [] });
  });

  it("leaves out unsupported settings, and lists them", () => {
    expect(unsupported({ temperature: 1, top_k: 5, max_tokens: 9 }, UNABLE)).toEqual(["temperature"]);
    expect(unsupported({ temperature: 1 }, SILENT)).toEqual([]);
  });

  it("may always have a token limit", () => {
    expect(supports(aModel("a/b", { parameters: ["temperature"] }), "max_tokens")).toBe(true);
  });

  it("is counted if it differs from the default", () => {
    expect(changedCount(PLAIN)).toBe(0);
    expect(
      changedCount({
        ...{ model: "", effort: "low", parameters: { seed: 1, max_steps: 3 }, toolsOff: ["a", "b"], files: false },
        ...{ toolChoice: "none", format: { kind: "json", schema: "" }, system: "Be brief." },
      }),
    ).toBe(9);
  });
});

describe("tool choice", () => {
  const named: RequestSettings = { ...PLAIN, toolChoice: "tool:time" };

  it("is sent in the API's form", () => {
    expect(requestFields({ ...PLAIN, toolChoice: "required" }, ABLE, TOOLS)).toEqual({ tool_choice: "required" });
    expect(requestFields(named, ABLE, TOOLS)).toEqual({
      tool_choice: { type: "function", function: { name: "time" } },
    });
    expect(requestFields(named, ABLE, [])).toHaveProperty("tool_choice");
  });

  it.each([
    ["a model without tools", named, UNABLE, TOOLS],
    ["a tool that is switched off", { ...named, toolsOff: ["time"] }, ABLE, TOOLS],
    ["a tool that cannot be had", { ...PLAIN, toolChoice: "tool:paid" as const }, ABLE, TOOLS],
    ["no tools at all", { ...PLAIN, toolChoice: "required" as const, toolsOff: ["time"] }, ABLE, []],
    [
      "a search where none may be sent",
      { ...PLAIN, toolChoice: "tool:web" as const, parameters: { max_searches: 0 } },
      ABLE,
      [...TOOLS, { ...tool("web"), category: "search" }],
    ],
  ])("is not sent for %s, and that is said", (_, settings, model, tools) => {
    expect(requestFields(settings, model, tools)).not.toHaveProperty("tool_choice");
    expect(unsentChoiceReason(settings, model, tools)).toMatch(/so this setting is not used\.$/);
  });

  it("and limits are sent if the model supports tools", () => {
    const settings: RequestSettings = { ...PLAIN, parameters: { max_steps: 2, max_searches: 0 } };
    expect(requestFields(settings, ABLE, TOOLS)).toEqual({ max_steps: 2, max_searches: 0 });
    expect(requestFields(settings, UNABLE, TOOLS)).toEqual({});
    expect(unsupported(settings.parameters, UNABLE)).toEqual(["max_steps", "max_searches"]);
  });
});

describe("ranges", () => {
  it.each(PARAMETER_NAMES)("of %s: contains its default unchanged", (name) => {
    const range = RANGES[name];
    expect(clamped(range.rest, range)).toBe(range.rest);
    expect(range.slider === undefined || range.slider <= (range.max ?? Number.POSITIVE_INFINITY)).toBe(true);
  });

  it("clamp a number", () => {
    expect(clamped(5, RANGES.temperature)).toBe(2);
    expect(clamped(-5, RANGES.temperature)).toBe(0);
    expect(clamped(0.1 + 0.2, RANGES.temperature)).toBe(0.3);
    expect(clamped(7.4, RANGES.top_k)).toBe(7);
    expect(clamped(0, RANGES.max_tokens)).toBe(1);
    expect(clamped(900_000, RANGES.max_tokens)).toBe(900_000);
  });

  it("explain a clamped number", () => {
    const most = RANGES.max_tokens;
    expect(correctionOf(1e20, most)).toBe("The maximum is 1,000,000, so it was set to that.");
    expect(correctionOf(0, most)).toBe("The minimum is 1, so it was set to that.");
    expect(correctionOf(4096, most)).toBeUndefined();
    expect(correctionOf(0.30000001, RANGES.temperature)).toBeUndefined();
  });

  it("the maximum answer length is the provider's", () => {
    const limited = rangeOf("max_tokens", aModel("a/b", { maxOutput: 64_000 }));
    expect([limited.slider, limited.max]).toEqual([64_000, 64_000]);
    expect(rangeOf("max_tokens", undefined).slider).toBe(32_768);
    expect(rangeOf("top_p", ABLE)).toBe(RANGES.top_p);
  });
});

it("a token is about four characters", () => {
  expect([roughTokens(""), roughTokens("abcd"), roughTokens("abcde")]).toEqual([0, 1, 2]);
});
