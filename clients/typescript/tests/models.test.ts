import { describe, expect, it } from "vitest";
import type { ApiClient } from "../src/requests/client.ts";
import { fetchModels, fetchTools } from "../src/requests/models.ts";

/** Sends this response to every request. */
const answering = (body: unknown, asked: string[] = []): ApiClient => ({
  async request(path) {
    asked.push(path);
    return new Response(JSON.stringify(body));
  },
});

describe("the models", () => {
  it("are converted", async () => {
    const asked: string[] = [];
    const entry = {
      id: "a/b",
      name: "AB",
      context_length: 128000,
      max_output: 16384,
      created: 1700000000,
      pricing: { prompt: "0.00000015", completion: "0.0000006", request: "0" },
      supported_parameters: ["tools", "temperature"],
      badges: ["tools", 3],
      hidden: false,
    };
    expect(await fetchModels(answering({ models: [entry], default: "a/b" }, asked))).toEqual({
      models: [
        {
          id: "a/b",
          name: "AB",
          badges: ["tools"],
          context: 128000,
          maxOutput: 16384,
          pricing: { prompt: 0.00000015, completion: 0.0000006 },
          parameters: ["tools", "temperature"],
        },
      ],
      preferred: "a/b",
    });
    expect(asked).toEqual(["/api/models?hidden=false"]);
  });

  it("name the upstreams that serve them, if the server has several", async () => {
    const entries = [{ id: "a/b", upstreams: ["local", 3, "openrouter"] }, { id: "c/d", upstreams: [] }, { id: "e/f" }];
    const { models } = await fetchModels(answering({ models: entries }));
    expect(models.map(({ upstreams }) => upstreams)).toEqual([["local", "openrouter"], undefined, undefined]);
  });

  it("with few fields get no invented values, and invalid entries are skipped", async () => {
    const { models, preferred } = await fetchModels(
      answering({ models: [{ id: "c/d", pricing: "free", context_length: null }, { name: "no id" }, null, 5] }),
    );
    expect(models).toEqual([
      {
        id: "c/d",
        name: "c/d",
        badges: [],
        context: undefined,
        maxOutput: undefined,
        pricing: { prompt: undefined, completion: undefined },
        parameters: [],
      },
    ]);
    expect(preferred).toBe("");
    expect(await fetchModels(answering([]))).toEqual({ models: [], preferred: "" });
    expect(await fetchModels(answering(null))).toEqual({ models: [], preferred: "" });
  });

  it("that are hidden are left out", async () => {
    const { models } = await fetchModels(answering({ models: [{ id: "a/fault", hidden: true }, { id: "a/b" }] }));
    expect(models.map(({ id }) => id)).toEqual(["a/b"]);
  });

  it.each([
    ["0", 0],
    ["0.000001", 0.000001],
    [0.5, 0.5],
    ["-1", undefined], // a router: it depends on what it picks
    ["", undefined],
    ["cheap", undefined],
    [null, undefined],
  ])("cost %j: %j", async (prompt, usd) => {
    const { models } = await fetchModels(answering({ models: [{ id: "a/b", pricing: { prompt } }] }));
    expect(models[0]?.pricing.prompt).toBe(usd);
  });
});

describe("the tools", () => {
  it("have the reason if they are unavailable", async () => {
    const asked: string[] = [];
    const shape = { title: "T", summary: "S", description: "D", category: "search", visibility: "public" };
    const always = { onRequest: false, needsConversation: false };
    const tools = [
      {
        name: "a",
        ...shape,
        shows_table: true,
        on_request: true,
        needs_conversation: true,
        available: true,
        unavailable: null,
      },
      { name: "b", ...shape, available: false, unavailable: "No key is set." },
      { name: "c", available: false },
      { description: "no name" },
    ];
    expect((await fetchTools(answering({ tools }, asked))).tools).toEqual([
      { name: "a", ...shape, showsTable: true, onRequest: true, needsConversation: true, unavailable: undefined },
      { name: "b", ...shape, showsTable: false, ...always, unavailable: "No key is set." },
      {
        name: "c",
        title: "",
        summary: "",
        description: "",
        category: "",
        visibility: "",
        showsTable: false,
        ...always,
        unavailable: "Not available on this server.",
      },
    ]);
    expect(asked).toEqual(["/api/tools"]);
  });

  it("come with the server's default limits", async () => {
    const limitsIn = async (body: object) => (await fetchTools(answering(body))).defaultLimits;
    expect(await limitsIn({ tools: [], limits: { max_steps: 12, max_searches: 10, more: 1 } })).toEqual({
      max_steps: 12,
      max_searches: 10,
    });
    expect(await limitsIn({ tools: [] })).toEqual({});
    expect(await limitsIn({ limits: { max_steps: "many" } })).toEqual({});
  });

  it("are empty for an invalid response", async () => {
    expect((await fetchTools(answering({ tools: "all" }))).tools).toEqual([]);
  });
});
