import { describe, expect, it } from "vitest";
import { aModel } from "../../fixtures/catalogue.ts";
import { labelsOf, labelText, withChanged } from "./modelLabels.ts";

const MODELS = [
  aModel("anthropic/claude-sonnet-4", { name: "Anthropic: Claude Sonnet 4" }),
  aModel("openai/sim", { name: "OpenAI: Simulated" }),
  aModel("anthropic/sim", { name: "Anthropic: Simulated" }),
  aModel("openai/gpt-x", { name: "OpenAI: GPT X" }),
  aModel("openai/gpt-x:free", { name: "OpenAI: GPT X" }),
];
const words = (...ids: string[]) => [...labelsOf(MODELS, ids).values()].map(labelText);

describe("labels of models", () => {
  it("have the model and its maker", () => {
    expect(words("anthropic/claude-sonnet-4")).toEqual(["Claude Sonnet 4 · Anthropic"]);
  });

  it("distinguish models of the same name by their makers", () => {
    expect(words("openai/sim", "anthropic/sim")).toEqual(["Simulated · OpenAI", "Simulated · Anthropic"]);
  });

  it("use the ids if name and maker are the same", () => {
    expect(words("openai/gpt-x", "openai/gpt-x:free", "openai/sim")).toEqual([
      "openai/gpt-x · OpenAI",
      "openai/gpt-x:free · OpenAI",
      "Simulated · OpenAI",
    ]);
  });

  it("of a model that is not listed come from its id", () => {
    expect(words("openai/new:nitro", "own/model", "plain")).toEqual(["new:nitro · OpenAI", "model · own", "plain"]);
  });
});

describe("a changed comparison", () => {
  it("keeps the place of the model that is replaced", () => {
    expect(withChanged(["a", "b", "c"], "b", "d")).toEqual(["a", "d", "c"]);
  });

  it("swaps two models", () => {
    expect(withChanged(["a", "b", "c"], "a", "c")).toEqual(["c", "b", "a"]);
  });
});
