import { describe, expect, it } from "vitest";
import { aModel, catalogue } from "../../fixtures/catalogue.ts";
import { providerOf, shortName } from "./modelNames.ts";
import {
  FILTERS,
  freeId,
  otherModel,
  passes,
  perMillion,
  priceText,
  search,
  sectionsOf,
  tokenText,
} from "./modelSearch.ts";

const MODELS = catalogue();
const ids = (query: string, models = MODELS) => search(models, query).map(({ id }) => id);
const NONE = { query: "", filters: new Set<never>(), starred: [], recent: [] };

describe("the fixture", () => {
  it("is as large as the real list, with unique ids", () => {
    expect(MODELS).toHaveLength(354);
    expect(new Set(MODELS.map(({ id }) => id)).size).toBe(354);
  });
});

describe("a search", () => {
  it.each(["gpt4o mini", "mini gpt-4o", "GPT-4o-mini", "openai 4o mini", "gpt4omini", "openai/gpt-4o-m"])(
    "for %j finds openai/gpt-4o-mini first",
    (query) => {
      expect(ids(query)[0]).toBe("openai/gpt-4o-mini");
    },
  );

  it("finds only models that contain every word", () => {
    expect(ids("openai sonnet")).toEqual([]);
    expect(ids("claude sonnet")).toEqual(["anthropic/claude-sonnet-4"]);
  });

  it("ranks an exact id before a prefix, and a prefix before an infix", () => {
    const models = ["b/my-ago", "b/go-mini", "a/gopher", "a/go", "a/x.go", "a/ago"].map((id) => aModel(id));
    expect(ids("a/go", models).slice(0, 2)).toEqual(["a/go", "a/gopher"]);
    expect(ids("go", models)).toEqual(["a/go", "b/go-mini", "a/gopher", "a/x.go", "a/ago", "b/my-ago"]);
  });

  it("for punctuation finds nothing, and treats none of it as a pattern", () => {
    expect(ids("***")).toEqual([]);
    expect(ids("(")).toContain("meta-llama/llama-3.3-70b-instruct:free");
  });
});

describe("the list", () => {
  it("begins with the favourites, then all by provider, every model once", () => {
    const sections = sectionsOf(MODELS, {
      ...NONE,
      starred: ["qwen/chat-only"],
      recent: ["openai/gpt-4o", "qwen/chat-only", "own/model"],
    });
    expect(sections.slice(0, 2).map(({ title, models }) => [title, models.map(({ id }) => id)])).toEqual([
      ["Starred", ["qwen/chat-only"]],
      ["Recent", ["openai/gpt-4o", "own/model"]],
    ]);
    expect(sections.slice(2, 5).map(({ title }) => title)).toEqual(["Anthropic", "DeepSeek", "Google"]);
    const all = sections.flatMap(({ models }) => models.map(({ id }) => id));
    expect(all).toHaveLength(355);
    expect(new Set(all).size).toBe(355);
  });

  it("of search results has one section", () => {
    const sections = sectionsOf(MODELS, { ...NONE, query: "gpt-4o", starred: ["qwen/chat-only"] });
    expect(sections.map(({ title }) => title)).toEqual([""]);
    expect(sectionsOf(MODELS, { ...NONE, query: "no such model" })).toEqual([]);
  });

  it.each(FILTERS)("with the filter %s has nothing else, favourites neither", (filter) => {
    const sections = sectionsOf(MODELS, {
      ...NONE,
      filters: new Set([filter]),
      starred: ["qwen/chat-only"],
      recent: ["own/model"],
    });
    const found = sections.flatMap(({ models }) => models);
    expect(found.every((model) => passes(model, filter))).toBe(true);
    expect(found).toHaveLength(MODELS.filter((model) => passes(model, filter)).length);
    expect(found.length).toBeGreaterThan(10);
    expect(found.length).toBeLessThan(354);
  });
});

describe("a model's words", () => {
  it.each([
    [500, "500"],
    [32_768, "33k"],
    [128_000, "128k"],
    [999_999, "1M"],
    [1_048_576, "1M"],
    [1_500_000, "1.5M"],
    [2_000_000, "2M"],
  ])("%d tokens are %s", (tokens, words) => {
    expect(tokenText(tokens)).toBe(words);
  });

  it.each([
    [0.00000015, "$0.15"],
    [0.0000006, "$0.60"],
    [0.000003, "$3"],
    [0.0000001, "$0.10"],
    [0.00000005, "$0.05"],
    [0.00000007, "$0.07"],
    [0.000000075, "$0.075"],
    [0.0000125, "$12.50"],
    [0.00015, "$150"],
    [0.0000000001, "<$0.001"],
    [0, "$0"],
  ])("%d USD per token are %s per million", (usd, words) => {
    expect(perMillion(usd)).toBe(words);
  });

  it("price: in and out, free, or not known", () => {
    expect(priceText({ prompt: 0.00000015, completion: 0.0000006 })).toBe("$0.15 · $0.60");
    expect(priceText({ prompt: 0, completion: 0 })).toBe("free");
    expect(priceText({ prompt: undefined, completion: undefined })).toBe("");
    expect(priceText({ prompt: 0.000001, completion: undefined })).toBe("$1 · ?");
  });

  it("name: its provider apart", () => {
    const named = aModel("openai/gpt-4o", { name: "OpenAI: GPT-4o" });
    expect([providerOf(named), shortName(named)]).toEqual(["OpenAI", "GPT-4o"]);
    const bare = aModel("own/model");
    expect([providerOf(bare), shortName(bare)]).toEqual(["own", "own/model"]);
  });
});

describe("an id that is on no list", () => {
  it("is taken as it is; a listed one and a sentence are not ids of that kind", () => {
    expect(freeId(MODELS, " own/model ")).toBe("own/model");
    expect(freeId(MODELS, "openai/gpt-4o:nitro")).toBe("openai/gpt-4o:nitro");
    expect(freeId(MODELS, "openai/gpt-4o")).toBeUndefined();
    expect(freeId(MODELS, "gpt mini")).toBeUndefined();
    expect(freeId(MODELS, " ")).toBeUndefined();
  });
});

describe("another model", () => {
  it("is the first that is known and not this one", () => {
    expect(otherModel("a/one", ["", "a/one", "b/two", "c/three"])).toBe("b/two");
    expect(otherModel("a/one", ["a/one"])).toBe("");
  });
});
