// The page's stream against the real server and its simulator.

import {
  type ApiClient,
  type ChatOptions,
  createClient,
  fetchConversation,
  followRun,
  followSave,
  newIdempotencyKey,
  postChat,
  slotsOver,
  stopRun,
  turnOver,
} from "@signalbox/client/requests";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  countingFetch,
  hasServer,
  type RealServer,
  startCuttingProxy,
  startServer,
} from "../../../../clients/typescript/tests/fixtures/real.ts";
import { eventsOf, traceOf } from "../../fixtures/read.ts";
import type { ChatBody, ChatEvent, Loop, RunTrace } from "../../types/models.ts";

let server: RealServer;
beforeAll(async () => {
  if (hasServer) {
    server = await startServer({ SIGNALBOX_SIMULATOR_PACE: "0.001", SIGNALBOX_ALLOW_LOOP_HEADER: "true" });
  }
}, 30_000);
afterAll(() => server?.stop());

/** A client whose runs use this loop. */
function clientOf(loop: Loop = "v2", base = server.base, fetch = globalThis.fetch): ApiClient {
  const plain = createClient({ baseUrl: base, fetch });
  return {
    request(path, init = {}) {
      const headers = new Headers(init.headers);
      headers.set("x-tool-loop", loop);
      return plain.request(path, { ...init, headers });
    },
  };
}

const SEARCH = "What is the tool loop of Signalbox?";
const HIDDEN = "What is 17 * 23, and what is the time in Tokyo?";

interface Asked {
  model: string;
  prompt?: string;
  loop?: Loop;
  more?: Partial<ChatOptions>;
}

interface Heard {
  ended: string;
  runId: string;
  conversationId: string;
  events: ChatEvent[];
  seqs: number[];
  connection: string[];
  trace: RunTrace;
}

async function ask({ model, prompt = SEARCH, loop = "v2", more = {} }: Asked): Promise<Heard> {
  const heard: Heard = {
    ended: "",
    runId: "",
    conversationId: "",
    events: [],
    seqs: [],
    connection: [],
    trace: traceOf([], model),
  };
  const body: ChatBody = {
    model,
    conversation_id: `live-${newIdempotencyKey()}`,
    parent_id: null,
    messages: [{ role: "user", content: prompt }],
    reasoning: { effort: "low" },
    on_disconnect: "continue",
  };
  const { onEvent, onStart, ...rest } = more;
  heard.ended = await postChat(body, {
    client: clientOf(loop),
    signal: new AbortController().signal,
    slots: slotsOver(undefined),
    turn: turnOver(undefined),
    askDelays: [0, 0, 0],
    lineDelays: [],
    resumeDelays: [0, 0, 0, 0],
    ...rest,
    onStart: (started) => {
      Object.assign(heard, { runId: started.runId, conversationId: started.conversationId });
      onStart?.(started);
    },
    onEvent: (event, seq) => {
      heard.events.push(event);
      heard.seqs.push(seq);
      onEvent?.(event, seq);
    },
    onConnection: (state) => heard.connection.push(state),
  });
  heard.trace = traceOf(heard.events, model);
  return heard;
}

async function replayed(runId: string): Promise<ChatEvent[]> {
  const response = await clientOf().request(`/api/runs/${runId}/events`);
  return eventsOf(new Uint8Array(await response.arrayBuffer()));
}

const wordsOf = (events: readonly ChatEvent[], type: "content" | "reasoning"): string =>
  events.map((event) => (event.type === type ? event.content : "")).join("");
const shownOf = (trace: RunTrace, kind: "content" | "reasoning"): string =>
  trace.items.map((item) => (item.kind === kind ? item.text : "")).join("");

/** Checks that hold for every complete run. */
async function expectWhole({ ended, runId, conversationId, events, seqs, trace }: Heard): Promise<void> {
  expect(ended).toBe("done");
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  expect(events.filter((event) => event.type === "done")).toEqual(events.slice(-1));
  const again = await replayed(runId);
  expect(events).toEqual(again);
  expect(trace).toEqual(traceOf(again, trace.model));
  expect(trace.runId).toBe(runId);
  for (const kind of ["content", "reasoning"] as const) expect(shownOf(trace, kind)).toBe(wordsOf(events, kind));
  const calls = events.flatMap((event) => (event.type === "tool_calls" ? event.calls.map(({ id }) => id) : []));
  const results = events.flatMap((event) => (event.type === "tool_result" ? [event.id] : []));
  expect(results.toSorted()).toEqual(calls.toSorted());
  expect(new Set(calls).size).toBe(calls.length);
  const items = trace.items.flatMap((item) => (item.kind === "call" ? [item] : []));
  expect(items.map(({ id }) => id)).toEqual(calls);
  expect(items.filter(({ status }) => status === "waiting" || status === "running")).toEqual([]);
  const { nodes } = await fetchConversation(clientOf(), conversationId);
  expect(nodes.find(({ id }) => id === runId)?.text).toBe(shownOf(trace, "content"));
}

const FAMILIES = ["openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen"];

describe.skipIf(!hasServer)("the real server (skipped without a .venv)", () => {
  describe.each(["v2", "legacy"] as const)("by the loop %s", (loop) => {
    it.concurrent.each(FAMILIES)("%s: a search, and hidden tools", async (family) => {
      const [searched, reckoned] = await Promise.all([
        ask({ model: `${family}/sim`, loop }),
        ask({ model: `${family}/sim`, prompt: HIDDEN, loop }),
      ]);
      for (const heard of [searched, reckoned]) {
        await expectWhole(heard);
        expect([heard.trace.end?.status, heard.trace.loop]).toEqual(["complete", loop]);
      }
      const [search] = searched.trace.items.flatMap((item) => (item.kind === "call" ? [item] : []));
      expect([search?.category, search?.status, (search?.links.length ?? 0) > 0]).toEqual(["search", "done", true]);
      const hidden = reckoned.trace.items.filter((item) => item.kind === "call" && item.visibility === "hidden");
      expect(hidden.length).toBeGreaterThan(0);
    });
  });

  it.concurrent.each([
    ["openai/sim-error-401", "error", "UPSTREAM_AUTH"],
    ["openai/sim-error-402", "error", "UPSTREAM_CREDITS"],
    ["anthropic/sim-error-403", "error", "UPSTREAM_FORBIDDEN"],
    ["openai/sim-cut", "interrupted", "STREAM_CUT"],
    ["google/sim-midstream-error", "error", undefined],
    ["openai/sim-length", "length", "LENGTH"],
    ["openai/sim-filter", "content_filter", "CONTENT_FILTER"],
    ["openai/sim-refusal", "content_filter", undefined],
    ["qwen/sim-drip", "complete", undefined],
    ["openai/sim-malformed", "complete", undefined],
    ["mistralai/sim-searches-8", "complete", undefined],
    ["x-ai/sim-steps-4", "complete", undefined],
    ["anthropic/sim-duplicate", "complete", undefined],
    ["google/sim-parallel", "complete", undefined],
    ["openai/sim-bad-args", "complete", undefined],
    ["openai/sim-unknown-tool", "complete", undefined],
    ["openai/sim-same-id", "complete", undefined],
  ])("%s ends as %s", async (model, status, code) => {
    const heard = await ask({ model });
    await expectWhole(heard);
    expect(heard.trace.end?.status).toBe(status);
    if (code) expect(heard.trace.end?.code).toBe(code);
  });

  it.concurrent("a connection that drops repeatedly loses and repeats nothing", async () => {
    // The first connection breaks within the response headers: the message is sent again under its key.
    const proxy = await startCuttingProxy(server.base, [20, 900, 1500, 700, 5000, 3333]);
    const heard = await ask({ model: "openai/sim-long-400", more: { client: clientOf("v2", proxy.base) } });
    proxy.stop();
    await expectWhole(heard);
    expect(heard.trace.end?.status).toBe("complete");
    expect(proxy.cuts()).toBe(6);
    expect(heard.connection.slice(0, 4)).toEqual(["resuming", "open", "resuming", "open"]);
  });

  it.concurrent("a stop ends the run and keeps its text", async () => {
    let stopped: Promise<void> | undefined;
    let runId = "";
    const heard = await ask({
      model: "openai/sim-long-3000",
      more: {
        onStart: (started) => {
          runId = started.runId;
        },
        onEvent: (event) => {
          if (event.type === "content") stopped ??= stopRun(clientOf(), runId);
        },
      },
    });
    await stopped;
    await expectWhole(heard);
    expect(heard.trace.end?.status).toBe("cancelled");
    expect(shownOf(heard.trace, "content")).not.toBe("");
  });

  it.concurrent("five answers at once: four live, one polled, and a connection for a stop", async () => {
    const { fetch, most } = countingFetch();
    const shared = {
      client: clientOf("v2", server.base, fetch),
      slots: slotsOver(undefined),
      turn: turnOver(undefined),
      pollDelays: [20],
    };
    const models = FAMILIES.slice(0, 5).map((family, at) => `${family}/sim-long-${at < 4 ? 600 : 300}`);
    const all = await Promise.all(models.map((model) => ask({ model, more: shared })));
    for (const heard of all) {
      await expectWhole(heard);
      expect(heard.trace.end?.status).toBe("complete");
    }
    expect(all.filter(({ connection }) => connection.includes("polling")).length).toBe(1);
    expect(most()).toBeLessThanOrEqual(5);
  });

  it.concurrent("a polled answer switches to a free stream, and a poll reports the end of a stopped one", async () => {
    const slots = slotsOver(undefined);
    const taken = await Promise.all([1, 2, 3, 4].map(() => slots.acquire(new AbortController().signal)));
    const [live, stopped] = await Promise.all([
      ask({
        model: "openai/sim-long-800",
        more: {
          slots,
          pollDelays: [20],
          onEvent: (_, seq) => {
            if (seq === 50) taken[2]?.();
          },
        },
      }),
      ask({
        model: "openai/sim-long-3000",
        more: {
          slots: { acquire: async () => undefined },
          pollDelays: [20],
          onStart: ({ runId }) => void setTimeout(() => void stopRun(clientOf(), runId), 100),
        },
      }),
    ]);
    await expectWhole(live);
    expect(live.connection).toEqual(["polling", "open"]);
    await expectWhole(stopped);
    expect([stopped.trace.end?.status, stopped.connection]).toEqual(["cancelled", ["polling"]]);
  });

  it.concurrent("a run and its saved copy are read unchanged", async () => {
    const heard = await ask({ model: "anthropic/sim" });
    const response = await clientOf().request("/api/saves", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ run_id: heard.runId }),
    });
    const { id } = (await response.json()) as { id: string };
    for (const [follow, name] of [
      [followRun, heard.runId],
      [followSave, id],
    ] as const) {
      const events: ChatEvent[] = [];
      const ended = await follow(name, {
        client: clientOf(),
        signal: new AbortController().signal,
        onEvent: (event) => events.push(event),
      });
      expect([ended, traceOf(events, "anthropic/sim")]).toEqual(["done", heard.trace]);
    }
  });
});
