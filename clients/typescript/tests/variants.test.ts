// Several runs that answer one question.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InvalidRequest, NotSignalbox, Signalbox } from "../src/index.ts";
import { hasServer, type RealServer, startServer } from "./fixtures/real.ts";
import { errorResponse, serve } from "./fixtures/serve.ts";

const JSON_HEAD = { "content-type": "application/json" };
const ASKED = { model: "openai/sim", prompt: "What is 17 * 23?", conversation_id: "talk" };
const FAST = { firstMs: 1, longestMs: 1 };

describe("variants", () => {
  it("are asked for again with the same key if the response is lost", async () => {
    const body = { conversation_id: "talk", parent_id: "words", variants: [{ number: 1, model: "m", run_id: "run" }] };
    const { base, seen } = await serve(
      errorResponse(502, ""),
      (_, response) => void response.writeHead(200, JSON_HEAD).end(JSON.stringify(body)),
      (_, response) => void response.writeHead(204, { "content-type": "text/event-stream" }).end(),
    );
    const client = new Signalbox({ baseUrl: base, backoff: FAST });
    const started = await client.variants({ ...ASKED, variants: [{}], on_disconnect: "continue" });
    expect(started).toMatchObject({ conversationId: "talk", messageId: "words" });
    expect(started.variants[0]).toMatchObject({ model: "m", number: 1, run: { id: "run" } });
    const keys = seen.slice(0, 2).map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toBeTruthy();
    expect(keys[1]).toBe(keys[0]);
  });

  it("without a run and without an error are a response of another server", async () => {
    const { base } = await serve((_, response) =>
      response.writeHead(200, JSON_HEAD).end(JSON.stringify({ variants: [{ model: "m" }] })),
    );
    const client = new Signalbox({ baseUrl: base, backoff: FAST });
    await expect(client.variants({ ...ASKED, variants: [{}] })).rejects.toBeInstanceOf(NotSignalbox);
  });
});

describe.runIf(hasServer)("variants of the real server", () => {
  let server: RealServer;
  let client: Signalbox;

  beforeAll(async () => {
    server = await startServer({ SIGNALBOX_SIMULATOR_PACE: "0.01" });
    client = new Signalbox({ baseUrl: server.base });
  }, 60_000);
  afterAll(() => server?.stop());

  it("are read separately, and the next question follows the chosen one", async () => {
    const { conversationId, messageId, variants } = await client.variants({
      ...ASKED,
      tools: [],
      variants: [{}, { model: "anthropic/sim" }, { model: "unknown/model" }],
    });
    expect(variants.map(({ model, number }) => [model, number])).toEqual([
      ["openai/sim", 1],
      ["anthropic/sim", 2],
      ["unknown/model", undefined],
    ]);
    expect(variants[2]?.error).toMatchObject({ code: "UNKNOWN_MODEL", retryable: false });
    const answers = await Promise.all(variants.flatMap(({ run }) => (run ? [run.answer()] : [])));
    expect(answers.map(({ status }) => status)).toEqual(["complete", "complete"]);
    const parent_id = variants[1]?.run?.id ?? "";
    const next = await client.ask("And 18 * 23?", { ...ASKED, prompt: "And 18 * 23?", tools: [], parent_id });
    const { nodes } = await client.conversations.get(conversationId);
    const children = (id: string) => nodes.filter((node) => node.parentId === id).map((node) => node.id);
    expect(children(messageId)).toEqual(variants.flatMap(({ run }) => (run ? [run.id] : [])));
    expect(children(parent_id)).toEqual([next.messageId]);
  });

  it("are stopped one by one, by a stop or by leaving the loop", async () => {
    const { variants } = await client.variants({
      ...ASKED,
      conversation_id: "stopped",
      model: "openai/sim-long-3000",
      tools: [],
      variants: [{}, {}, { model: "openai/sim" }],
    });
    const [first, second, third] = variants.map(({ run }) => run);
    if (!first || !second || !third) throw new Error("a variant was refused");
    await first.stop();
    for await (const event of second) if (event.type === "content") break;
    const answers = await Promise.all([first, second, third].map((run) => run.answer()));
    expect(answers.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "complete"]);
  });

  it("that are all refused throw the error of the first", async () => {
    const refused = client.variants({ ...ASKED, variants: [{ model: "unknown/model" }] });
    await expect(refused).rejects.toBeInstanceOf(InvalidRequest);
  });
});
