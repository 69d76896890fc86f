// The class Signalbox against the real server and its simulator.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessDenied, InvalidRequest, NotFound, type RunEvent, RunFailed, Signalbox } from "../src/index.ts";
import { hasServer, type RealServer, startCuttingProxy, startServer } from "./fixtures/real.ts";

const MODEL = "openai/sim";
const PRODUCT = "What is 17 * 23?";
const FAST = { firstMs: 20, longestMs: 200, attempts: 100, connectAttempts: 100 };

let server: RealServer;
let client: Signalbox;

beforeAll(async () => {
  if (!hasServer) return;
  server = await startServer({ SIGNALBOX_SIMULATOR_PACE: "0.01" });
  client = new Signalbox({ baseUrl: server.base, backoff: FAST });
}, 60_000);
afterAll(() => server?.stop());

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const textOf = (events: readonly RunEvent[]): string =>
  events.map((event) => (event.type === "content" ? event.content : "")).join("");

describe.runIf(hasServer)("a question", () => {
  it("is answered, and its answer is that of the server without a stream", async () => {
    const idempotencyKey = crypto.randomUUID();
    const answer = await client.ask(PRODUCT, { model: MODEL, conversation_id: "one", idempotencyKey });
    const response = await fetch(`${server.base}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
      body: JSON.stringify({ model: MODEL, prompt: PRODUCT, conversation_id: "one", on_disconnect: "continue" }),
    });
    const whole = await response.json();
    expect(answer).toMatchObject({
      runId: whole.run_id,
      text: whole.text,
      reasoning: whole.reasoning,
      status: "complete",
      conversationId: "one",
      messageId: whole.message_id,
    });
    expect(answer.text).toContain("391");
    expect(answer.calls.map(({ id, result }) => [id, result?.success])).toEqual(
      whole.calls.map((call: { id: string; result: { success: boolean } }) => [call.id, call.result.success]),
    );
    expect(answer.done.cost).toBe(whole.cost);
  });

  it("is streamed as numbered events, again for each loop", async () => {
    const run = await client.stream({ model: MODEL, messages: [{ role: "user", content: PRODUCT }] });
    expect(run.id).not.toBe("");
    const events = await all(run);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "complete" });
    expect(await all(run)).toEqual(events);
    expect((await run.answer()).text).toBe(textOf(events));
  });

  it("with the same key is the same run", async () => {
    const idempotencyKey = crypto.randomUUID();
    const [first, second] = await Promise.all([1, 2].map(() => client.ask(PRODUCT, { model: MODEL, idempotencyKey })));
    expect(first).toEqual(second);
  });

  it("loses and repeats no event if connections break", async () => {
    const proxy = await startCuttingProxy(server.base, [900, 700, 500, 0, 1500]);
    const cut = new Signalbox({ baseUrl: proxy.base, backoff: FAST });
    const run = await cut.stream(PRODUCT, { model: MODEL });
    const events = await all(run);
    expect(proxy.cuts()).toBeGreaterThan(2);
    expect(events).toEqual(await all(client.runs.follow(run.id)));
    proxy.stop();
  });

  it("that fails throws what arrived", async () => {
    const error = await client.ask("Hello!", { model: "openai/sim-error-403" }).catch((caught: unknown) => caught);
    if (error instanceof InvalidRequest) throw error;
    expect(error).toBeInstanceOf(RunFailed);
    expect(error).toMatchObject({ status: "error", answer: { status: "error" } });
  });
});

describe.runIf(hasServer)("a stop", () => {
  it("ends the run with what arrived", async () => {
    const run = await client.stream("Tell me everything.", { model: "openai/sim-long-3000" });
    for await (const event of run) if (event.type === "content") await run.stop();
    expect((await run.answer()).status).toBe("cancelled");
  });

  it("follows an early end of the loop", async () => {
    const run = await client.stream("Tell me everything.", { model: "openai/sim-long-3000" });
    for await (const event of run) if (event.type === "content") break;
    expect((await run.answer()).status).toBe("cancelled");
    expect((await client.runs.trace(run.id)).status).toBe("cancelled");
  });

  it("follows an abort", async () => {
    const abort = new AbortController();
    const run = await client.stream("Tell me everything.", { model: "openai/sim-long-3000", signal: abort.signal });
    const reading = all(run);
    abort.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    const { status } = await client.runs.follow(run.id).answer();
    expect(status).toBe("cancelled");
  });

  it("follows an abort that comes before the run has an id", async () => {
    const abort = new AbortController();
    const idempotencyKey = crypto.randomUUID();
    const question = { model: "openai/sim-long-3000", idempotencyKey };
    const asking = client.ask("Tell me everything.", { ...question, signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    const run = await client.stream("Tell me everything.", question);
    expect((await run.answer()).status).toBe("cancelled");
  });

  it("does not follow if the run is to continue", async () => {
    const run = await client.stream(PRODUCT, { model: MODEL, on_disconnect: "continue" });
    for await (const _ of run) break;
    expect((await client.runs.follow(run.id).answer()).status).toBe("complete");
  });
});

describe.runIf(hasServer)("a server that is killed", () => {
  it("is waited for, and its run is read to the ending that the server has stored", async () => {
    const own = await startServer({ SIGNALBOX_SIMULATOR_PACE: "0.05" });
    try {
      const crashed = new Signalbox({ baseUrl: own.base, backoff: FAST });
      const run = await crashed.stream("Tell me everything.", { model: "openai/sim-long-3000" });
      const events: RunEvent[] = [];
      for await (const event of run) {
        events.push(event);
        if (events.length !== 5) continue;
        await own.kill();
        void own.restart();
      }
      expect(events.at(-1)).toMatchObject({ type: "done", status: "interrupted", code: "SERVER_CRASH" });
      const seqs = events.map(({ seq }) => seq);
      expect(seqs).toEqual([...new Set(seqs)].sort((one, other) => one - other));
      const stored = await crashed.runs.follow(run.id).answer();
      expect((await run.answer()).text).toBe(stored.text);
      expect(await all(crashed.runs.list())).toHaveLength(1);
      await own.kill();
      const asking = crashed.ask(PRODUCT, { model: MODEL });
      await own.restart();
      expect((await asking).text).toContain("391");
      expect(await all(crashed.runs.list())).toHaveLength(2);
    } finally {
      await own.stop();
    }
  }, 120_000);
});

describe.runIf(hasServer)("what the server stores", () => {
  it("is a conversation with branches", async () => {
    const chat = await client.conversations.create({ title: "Multiplication" });
    const first = await client.ask(PRODUCT, { model: MODEL, conversation_id: chat.id });
    const { nodes, leafId } = await client.conversations.get(chat.id);
    expect(nodes.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(leafId).toBe(first.runId);
    const parent_id = nodes[0]?.parentId ?? null;
    await client.ask("What is 17 * 24?", { model: MODEL, conversation_id: chat.id, parent_id });
    expect((await client.conversations.get(chat.id)).nodes).toHaveLength(4);
    await client.conversations.rename(chat.id, "Products");
    await client.conversations.select(chat.id, first.runId);
    expect(await client.conversations.get(chat.id)).toMatchObject({ title: "Products", leafId: first.runId });
    expect(await client.conversations.export(chat.id)).toContain("391");
    expect((await all(client.conversations.list({ search: "17 * 24" }))).map(({ id }) => id)).toEqual([chat.id]);
    await client.conversations.delete(chat.id);
    await expect(client.conversations.get(chat.id)).rejects.toBeInstanceOf(NotFound);
  });

  it("is a trace, a list of runs, and saves", async () => {
    const answer = await client.ask(PRODUCT, { model: MODEL });
    const trace = await client.runs.trace(answer.runId);
    expect(trace.tools.map(({ name }) => name)).toEqual(answer.calls.map(({ name }) => name));
    expect(trace.attempts.length).toBe(answer.done.steps);
    for await (const { runId } of client.runs.list({ status: ["complete"] })) {
      expect(runId).toBe(answer.runId);
      break;
    }
    const save = await client.saves.create(answer.runId, { title: "Product", data: { note: 1 } });
    expect(await client.saves.get(save.id)).toMatchObject({ title: "Product", data: { note: 1 }, runId: answer.runId });
    expect((await client.saves.events(save.id).answer()).text).toBe(answer.text);
    expect((await all(client.saves.list())).map(({ id }) => id)).toContain(save.id);
    await client.saves.delete(save.id);
    await client.runs.delete(answer.runId);
    await expect(client.runs.trace(answer.runId)).rejects.toBeInstanceOf(NotFound);
  });

  it("is read after any event", async () => {
    const { runId, done } = await client.ask(PRODUCT, { model: MODEL });
    const events = await all(client.runs.follow(runId));
    expect(await all(client.runs.follow(runId, { after: 3 }))).toEqual(events.slice(3));
    expect(await all(client.runs.follow(runId, { after: events.length }))).toEqual([]);
    await expect(client.runs.follow(runId, { after: events.length }).answer()).rejects.toMatchObject({
      code: "NO_DONE",
    });
    expect(events.at(-1)).toMatchObject(done);
    await expect(all(client.runs.follow("unknown"))).rejects.toBeInstanceOf(NotFound);
  });

  it("has models and tools", async () => {
    expect((await client.models()).models.map(({ id }) => id)).toContain(MODEL);
    expect((await client.tools()).tools.length).toBeGreaterThan(1);
  });
});

describe.runIf(hasServer)("a rejection", () => {
  it("names the invalid field", async () => {
    const asking = client.ask(PRODUCT, { model: MODEL, temperature: 9 });
    await expect(asking).rejects.toMatchObject({ name: "InvalidRequest", status: 422, field: "temperature" });
  });

  it("ends with the right token, which can be changed", async () => {
    const own = await startServer({ SIGNALBOX_ACCESS_TOKEN: "secret-secret-secret" });
    try {
      const guarded = new Signalbox({ baseUrl: own.base, token: "wrong" });
      await expect(guarded.ask(PRODUCT, { model: MODEL })).rejects.toBeInstanceOf(AccessDenied);
      await expect(guarded.tools()).rejects.toBeInstanceOf(AccessDenied);
      guarded.token = "secret-secret-secret";
      expect((await guarded.ask(PRODUCT, { model: MODEL })).text).toContain("391");
    } finally {
      await own.stop();
    }
  }, 60_000);
});
