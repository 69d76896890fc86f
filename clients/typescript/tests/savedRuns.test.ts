import { describe, expect, it } from "vitest";
import { createClient } from "../src/requests/client.ts";
import { deleteSave, fetchSave, fetchSaves, saveRun } from "../src/requests/savedRuns.ts";

function answering(answer: unknown) {
  const asked: [method: string, path: string, body: unknown][] = [];
  const fetch = async (path: string | URL | Request, init: RequestInit = {}) => {
    asked.push([init.method ?? "GET", String(path), typeof init.body === "string" ? JSON.parse(init.body) : undefined]);
    return new Response(JSON.stringify(answer));
  };
  return { client: createClient({ fetch }), asked };
}

const LINE = {
  id: "s1",
  title: "Tokyo",
  created: 1795227801.25,
  run_id: "r1",
  model: "openai/sim",
  status: "complete",
};
const READ = { id: "s1", title: "Tokyo", created: 1795227801250, runId: "r1", model: "openai/sim", status: "complete" };
const opened = (more: object) => fetchSave(answering({ ...LINE, trace: { run_id: "r1" }, ...more }).client, "s1");

describe("saves", () => {
  it("are listed page by page, without invalid rows", async () => {
    const { client, asked } = answering({ saves: [LINE, null, { id: "no run" }], next: "n" });
    expect(await fetchSaves(client, { before: "b", limit: 10 })).toEqual({ lines: [READ], next: "n" });
    expect(asked[0]?.[1]).toBe("/api/saves?before=b&limit=10");
  });

  it("keep a run", async () => {
    const { client, asked } = answering(LINE);
    expect(await saveRun(client, "r1", { title: "Tokyo", data: { tab: "tools" } })).toEqual(READ);
    await saveRun(client, "r1");
    expect(asked.map(([, , body]) => body)).toEqual([
      { run_id: "r1", title: "Tokyo", data: { tab: "tools" } },
      { run_id: "r1" },
    ]);
  });

  it("throw if the response contains no saved answer", async () => {
    await expect(saveRun(answering({}).client, "r1")).rejects.toThrow("unreadable response");
  });

  it("are deleted", async () => {
    const { client, asked } = answering({ deleted: true });
    await deleteSave(client, "s/1");
    expect(asked).toEqual([["DELETE", "/api/saves/s%2F1", undefined]]);
  });
});

describe("reopening", () => {
  it("returns the record, the page's data and the events as in the stream", async () => {
    const save = await opened({
      trace: { run_id: "r1", status: "complete", model: "openai/sim", started: 2 },
      data: { tab: "tools" },
      events: [
        { seq: 1, at: 1000, type: "reasoning", content: "Hm" },
        { seq: 2, at: 1001, type: "content", content: "Hi" },
        { seq: "3", type: "content" },
        { seq: 4, at: 1002, type: "newer", ts: 7 },
        null,
      ],
    });
    expect(save).toMatchObject({ ...READ, data: { tab: "tools" }, record: { runId: "r1", startedAt: 2000 } });
    expect(save.events).toEqual([
      { seq: 1, event: { type: "reasoning", content: "Hm", ts: 1000 } },
      { seq: 2, event: { type: "content", content: "Hi" } },
      { seq: 4, event: { type: "newer", ts: 7 } },
    ]);
  });

  it("returns the runs that it continues", async () => {
    const events = [{ seq: 1, at: 1000, type: "content", content: "Hi" }];
    const save = await opened({ earlier: [{ run_id: "r0", trace: { model: "openai/sim" }, events }] });
    expect(save.earlier).toMatchObject([
      { runId: "r0", record: { runId: "r0", model: "openai/sim" }, events: [{ seq: 1, event: { content: "Hi" } }] },
    ]);
  });

  it("finds the question in a prompt", async () => {
    const { question } = await opened({ question: { prompt: "When?", system: "Be brief." } });
    expect(question).toEqual({ text: "When?", pictures: [], files: [], system: "Be brief." });
  });

  it("finds the question in the last user message, with its attachments", async () => {
    const content = [
      { type: "text", text: "What is" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
      { type: "text", text: "in this?" },
    ];
    const messages = [
      { role: "user", content: "Before" },
      { role: "user", content },
      { role: "assistant", content: "A" },
    ];
    const { question } = await opened({ question: { messages } });
    expect(question.text).toBe("What is\n\nin this?");
    expect(question.pictures).toEqual([{ id: "r1-1", name: "Image 1", url: "data:image/png;base64,AA" }]);
  });

  it("reads an incomplete one", async () => {
    const save = await fetchSave(answering({ id: "s1" }).client, "s1");
    expect(save).toMatchObject({ id: "s1", events: [], data: {}, question: { text: "" }, record: { attempts: [] } });
  });
});
