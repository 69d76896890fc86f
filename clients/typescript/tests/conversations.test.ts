import { describe, expect, it } from "vitest";
import { createClient } from "../src/requests/client.ts";
import {
  chooseLeaf,
  deleteConversation,
  exportConversation,
  fetchConversation,
  fetchConversations,
  renameConversation,
} from "../src/requests/conversations.ts";
import { ApiError } from "../src/requests/errors.ts";

interface Asked {
  method: string;
  path: string;
  body: unknown;
}

/** A client whose server sends one response, and the requests that it received. */
function answering(answer: unknown, headers: Record<string, string> = {}, status = 200) {
  const asked: Asked[] = [];
  const fetch = async (path: string | URL | Request, init: RequestInit = {}) => {
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    asked.push({ method: init.method ?? "GET", path: String(path), body });
    return new Response(typeof answer === "string" ? answer : JSON.stringify(answer), { status, headers });
  };
  return { client: createClient({ fetch }), asked };
}

const LINE = {
  id: "c1",
  title: "Tokyo",
  created: 1795227719.6,
  updated: 1795227801.2,
  messages: 4,
  cost: 0.0027,
  paid: 0,
  model: "anthropic/sim",
  is_running: true,
  match: "…in Tokyo…",
  newer: {},
};

describe("the list", () => {
  it("is converted, without invalid rows", async () => {
    const { client, asked } = answering({ conversations: [LINE, null, 3, { title: "no id" }], next: "cursor" });
    expect(await fetchConversations(client)).toEqual({
      lines: [
        {
          id: "c1",
          title: "Tokyo",
          created: 1795227719600,
          updated: 1795227801200,
          messages: 4,
          cost: 0.0027,
          paid: 0,
          model: "anthropic/sim",
          isRunning: true,
          match: "…in Tokyo…",
        },
      ],
      next: "cursor",
    });
    expect(asked[0]?.path).toBe("/api/conversations");
  });

  it("has defaults for missing values", async () => {
    const { client } = answering({ conversations: [{ id: "c1", updated: 2, cost: null }], next: null });
    expect(await fetchConversations(client)).toEqual({
      lines: [
        {
          id: "c1",
          title: "",
          created: 2000,
          updated: 2000,
          messages: 0,
          cost: undefined,
          model: "",
          isRunning: false,
          match: undefined,
        },
      ],
      next: undefined,
    });
  });

  it("sends search, page and size, with escaped characters", async () => {
    const { client, asked } = answering({ conversations: [] });
    await fetchConversations(client, { search: "zürich & more", before: "1:a b", limit: 20 });
    const query = new URL(asked[0]?.path ?? "", "http://test").searchParams;
    expect([...query]).toEqual([
      ["search", "zürich & more"],
      ["before", "1:a b"],
      ["limit", "20"],
    ]);
  });

  it("limits the search to the server's maximum, without splitting a character", async () => {
    const { client, asked } = answering({ conversations: [] });
    await fetchConversations(client, { search: "🦊".repeat(300) });
    expect(new URL(asked[0]?.path ?? "", "http://test").searchParams.get("search")).toBe("🦊".repeat(200));
  });

  it("throws a readable error for a foreign page", async () => {
    const { client } = answering("<html>proxy</html>");
    await expect(fetchConversations(client)).rejects.toThrow(ApiError);
    await expect(fetchConversations(client)).rejects.toThrow("unreadable response");
  });
});

describe("a conversation", () => {
  const opened = async (...messages: unknown[]) =>
    (await fetchConversation(answering({ ...LINE, leaf_id: "a", messages }).client, "c1")).nodes;

  it("has its nodes in order", async () => {
    const { client, asked } = answering({
      ...LINE,
      leaf_id: "b",
      messages: [
        { id: "q", parent_id: null, role: "user", created: 1.5, text: "Hi", system: "Be brief." },
        { id: "b", parent_id: "a", role: "assistant", created: 3, text: "Told by a client" },
        {
          id: "a",
          parent_id: "q",
          role: "assistant",
          created: 2,
          text: "Hello",
          run_id: "a",
          status: "complete",
          code: null,
          model: "openai/sim",
          loop: "v2",
          cost: 0.01,
          cost_estimated: true,
          simulated: true,
          steps: 2,
        },
      ],
    });
    expect(await fetchConversation(client, "c/1")).toEqual({
      id: "c1",
      title: "Tokyo",
      leafId: "b",
      nodes: [
        {
          id: "q",
          parentId: null,
          role: "user",
          created: 1500,
          text: "Hi",
          pictures: [],
          files: [],
          system: "Be brief.",
        },
        { id: "b", parentId: "a", role: "assistant", created: 3000, text: "Told by a client", run: undefined },
        {
          id: "a",
          parentId: "q",
          role: "assistant",
          created: 2000,
          text: "Hello",
          run: {
            status: "complete",
            code: undefined,
            model: "openai/sim",
            loop: "v2",
            cost: 0.01,
            costEstimated: true,
            simulated: true,
            steps: 2,
          },
        },
      ],
    });
    expect(asked[0]?.path).toBe("/api/conversations/c%2F1");
  });

  it("leaves out invalid nodes and unknown roles", async () => {
    expect(await opened(null, "x", { role: "user" }, { id: "s", role: "system", text: "" }, [])).toEqual([]);
  });

  it("shows inline images, and only lists the names of remote ones", async () => {
    const [node] = await opened({
      id: "q",
      role: "user",
      text: "",
      parts: [
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
        { type: "image_url", image_url: { url: "https://example.org/a/cat%20one.png?size=2" } },
        { type: "image_url", image_url: { url: "https://example.org/" } },
        { type: "image_url", image_url: { url: "data:text/html,<b>" } },
        { type: "file", file: { filename: "notes.pdf", file_data: "data:application/pdf;base64,AA" } },
        { type: "video" },
        null,
      ],
    });
    expect(node).toMatchObject({
      pictures: [{ id: "q-1", name: "Image 1", url: "data:image/png;base64,AAAA" }],
      files: ["cat one.png", "example.org", "An image", "notes.pdf"],
    });
  });
});

describe("changes", () => {
  it.each([
    ["a title", renameConversation, { title: "x" }],
    ["a leaf", chooseLeaf, { leaf_id: "x" }],
  ] as const)("sends %s", async (_, change, body) => {
    const { client, asked } = answering({});
    await change(client, "c1", "x");
    expect(asked).toEqual([{ method: "PATCH", path: "/api/conversations/c1", body }]);
  });

  it("deletes, and returns how many saved answers stay", async () => {
    const { client, asked } = answering({ deleted: true, saves_kept: 2 });
    expect(await deleteConversation(client, "c1")).toEqual({ savesKept: 2 });
    expect(asked).toEqual([{ method: "DELETE", path: "/api/conversations/c1", body: undefined }]);
  });

  it("exports under the server's file name", async () => {
    const { client, asked } = answering("# Tokyo", {
      "content-type": "text/markdown; charset=utf-8",
      "content-disposition": 'attachment; filename="Tokyo.md"',
    });
    expect(await exportConversation(client, "c1", "markdown")).toEqual({
      name: "Tokyo.md",
      type: "text/markdown; charset=utf-8",
      text: "# Tokyo",
    });
    expect(asked[0]?.path).toBe("/api/conversations/c1/export?format=markdown");
  });

  it("exports under a default name if the server gives none", async () => {
    expect((await exportConversation(answering("{}").client, "c1", "json")).name).toBe("conversation.json");
  });
});
