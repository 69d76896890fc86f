// What the class Signalbox does after rejections and without a connection: scripted responses, fake timers.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConnectionLost, Signalbox } from "../src/index.ts";
import { contentFrame, doneFrame, frame, HEAD } from "./fixtures/serve.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const BROKEN = new TypeError("fetch failed");
/** No response arrives. */
const SILENCE = "silence";
type Scripted = Response | TypeError | typeof SILENCE;

const rejection = (status: number, headers: Record<string, string> = {}): Response =>
  Response.json(
    { error: { code: `CODE_${status}`, message: "No." } },
    { status, headers: { "x-request-id": "r1", ...headers } },
  );
const stream = (...frames: string[]): Response => new Response(frames.join(""), { headers: HEAD });
const answered = (): Response => stream(contentFrame(1, "Well met."), doneFrame(2));

function scripted(...responses: Scripted[]) {
  const requests: { line: string; at: number; key: string | null }[] = [];
  const start = Date.now();
  const fetch = async (url: unknown, { method = "GET", headers, signal }: RequestInit = {}) => {
    signal?.throwIfAborted();
    const { pathname } = new URL(String(url));
    const key = new Headers(headers).get("idempotency-key");
    requests.push({ line: `${method} ${pathname}`, at: Date.now() - start, key });
    const response = responses[requests.length - 1] ?? BROKEN;
    if (response instanceof Response) return response;
    if (response === SILENCE)
      return new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    throw response;
  };
  return { client: new Signalbox({ baseUrl: "http://127.0.0.1:1", fetch }), fetch, requests };
}

/** The promise's value or error, after all timers. */
async function settled<T>(promise: Promise<T>): Promise<T | Error> {
  const outcome = promise.catch((error: Error) => error);
  await vi.runAllTimersAsync();
  return outcome;
}

const ask = (client: Signalbox) => client.ask("Hello!", { model: "m" });

describe("a temporary rejection", () => {
  it.each([425, 429, 503])("of status %i is retried after the server's delay, with the same key", async (status) => {
    const later = () => rejection(status, { "retry-after": "7" });
    const { client, requests } = scripted(later(), later(), answered());
    expect(await settled(ask(client))).toMatchObject({ text: "Well met.", status: "complete" });
    expect(requests.map(({ line }) => line)).toEqual(Array(3).fill("POST /api/chat/stream"));
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
    expect(requests.map(({ at }) => at)).toEqual([0, 7000, 14_000]);
  });

  it("of a list is retried after the server's delay", async () => {
    const { client, requests } = scripted(rejection(429, { "retry-after": "7" }), Response.json({ tools: [] }));
    expect(await settled(client.tools())).toEqual({ tools: [], defaultLimits: {} });
    expect(requests.map(({ at }) => at)).toEqual([0, 7000]);
  });

  it("is thrown if it lasts, or if the delay is more than a minute", async () => {
    const lasting = scripted(...Array.from({ length: 20 }, () => rejection(429)));
    expect(await settled(ask(lasting.client))).toMatchObject({
      name: "RateLimited",
      code: "CODE_429",
      requestId: "r1",
    });
    expect(lasting.requests).toHaveLength(10);
    const long = scripted(rejection(429, { "retry-after": "61" }));
    const thrown = { name: "RateLimited", retryable: true, retryAfter: 61 };
    expect(await settled(ask(long.client))).toMatchObject(thrown);
    const listed = scripted(rejection(429, { "retry-after": "61" }));
    expect(await settled(listed.client.tools())).toMatchObject(thrown);
    const followed = scripted(rejection(429, { "retry-after": "61" }));
    expect(await settled(followed.client.runs.follow("run").answer())).toMatchObject(thrown);
    for (const { requests } of [long, listed, followed]) expect(requests).toHaveLength(1);
  });
});

describe("any other rejection", () => {
  it.each([
    [400, "InvalidRequest"],
    [401, "AccessDenied"],
    [403, "AccessDenied"],
    [404, "NotFound"],
    [409, "Conflict"],
    [422, "InvalidRequest"],
    [500, "ServerError"],
  ])("of status %i is thrown at once as %s", async (status, name) => {
    for (const call of [ask, (client: Signalbox) => client.runs.trace("run")]) {
      const { client, requests } = scripted(rejection(status));
      expect(await settled<unknown>(call(client))).toMatchObject({ name, status, code: `CODE_${status}` });
      expect(requests).toHaveLength(1);
    }
  });
});

describe("without a connection", () => {
  it("a question is repeated with its key, and its stream is resumed", async () => {
    const { client, requests } = scripted(
      BROKEN,
      BROKEN,
      stream(contentFrame(1, "Well ")),
      BROKEN,
      stream(contentFrame(2, "met."), doneFrame(3)),
    );
    expect(await settled(ask(client))).toMatchObject({ text: "Well met." });
    expect(requests.map(({ line }) => line)).toEqual([
      ...Array(3).fill("POST /api/chat/stream"),
      ...Array(2).fill("GET /api/runs/run/events"),
    ]);
    expect(new Set(requests.slice(0, 3).map(({ key }) => key)).size).toBe(1);
  });

  it("events of unknown types are read once, too", async () => {
    const plan = frame(2, { type: "plan", content: "1. Read" });
    const { client } = scripted(
      stream(contentFrame(1, "Well "), plan),
      BROKEN,
      stream(plan, contentFrame(3, "met."), doneFrame(4)),
    );
    const run = await client.stream("Hello!", { model: "m" });
    expect(await settled(run.answer())).toMatchObject({ text: "Well met." });
    const events = [];
    for await (const event of run) events.push(event);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(events[1]).toEqual({ type: "unknown", seq: 2, raw: { type: "plan", content: "1. Read" } });
  });

  it("the client gives up after five attempts, and says what to do", async () => {
    const follow = (client: Signalbox) => client.runs.follow("run").answer();
    for (const call of [ask, follow, (client: Signalbox) => client.tools()]) {
      const { client, requests } = scripted();
      const error = await settled<unknown>(call(client));
      expect(error).toBeInstanceOf(ConnectionLost);
      expect(error).toMatchObject({ code: "CONNECTION_LOST", retryable: true });
      expect(String(error)).toContain("Check that the server is running");
      expect(requests).toHaveLength(5);
      expect(requests.at(-1)?.at).toBeGreaterThanOrEqual(3750);
      expect(requests.at(-1)?.at).toBeLessThanOrEqual(7500);
    }
  });

  it("a run in mid-answer is waited for longer, because its server may be restarting", async () => {
    const { client, requests } = scripted(stream(contentFrame(1, "Well ")));
    expect(await settled(ask(client))).toBeInstanceOf(ConnectionLost);
    expect(requests).toHaveLength(10);
  });

  it("the number of attempts can be set", async () => {
    const { fetch, requests } = scripted();
    const client = new Signalbox({ baseUrl: "http://127.0.0.1:1", fetch, backoff: { connectAttempts: 1 } });
    for (const call of [ask, (client: Signalbox) => client.tools()])
      expect(await settled<unknown>(call(client))).toBeInstanceOf(ConnectionLost);
    expect(requests).toHaveLength(2);
  });

  it("a save is not repeated, because it could be made twice", async () => {
    const { client, requests } = scripted(BROKEN);
    expect(await settled(client.saves.create("run"))).toBeInstanceOf(ConnectionLost);
    expect(requests).toHaveLength(1);
  });

  it("a repeated deletion that finds nothing has succeeded", async () => {
    expect(await settled(scripted(BROKEN, rejection(404)).client.runs.delete("run"))).toBeUndefined();
    expect(await settled(scripted(rejection(404)).client.runs.delete("run"))).toMatchObject({ name: "NotFound" });
  });

  it("a silent server is asked again after a minute", async () => {
    const { client, requests } = scripted(SILENCE, Response.json({ tools: [] }));
    expect(await settled(client.tools())).toEqual({ tools: [], defaultLimits: {} });
    expect(requests[1]?.at).toBeGreaterThanOrEqual(60_000);
  });

  it("a response that breaks off is requested again", async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(BROKEN) });
    const { client, requests } = scripted(new Response(broken), Response.json({ tools: [] }));
    expect(await settled(client.tools())).toEqual({ tools: [], defaultLimits: {} });
    expect(requests).toHaveLength(2);
  });

  it("nothing is sent for an aborted signal", async () => {
    const { client, requests } = scripted();
    const signal = AbortSignal.abort(new Error("enough"));
    expect(await settled(client.ask("Hello!", { model: "m", signal }))).toMatchObject({ message: "enough" });
    expect(await settled(client.runs.follow("run", { signal }).answer())).toMatchObject({ message: "enough" });
    expect(requests).toEqual([]);
  });

  it("an abort ends the delay", async () => {
    const abort = new AbortController();
    const { client, requests } = scripted(rejection(429, { "retry-after": "50" }));
    const loading = client.tools({ signal: abort.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1000);
    abort.abort(new Error("enough"));
    expect(await loading).toMatchObject({ message: "enough" });
    expect(requests).toHaveLength(1);
  });
});
