import { ApiError } from "@signalbox/client/requests";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { content, done, reasoning, ScriptedServer } from "../../fixtures/server.ts";
import { answerText } from "../../logic/answer/stops.ts";
import { emptyTrace, runReducer } from "../../logic/trace/reducer.ts";
import type { AnswerRun } from "../../types/api.ts";
import type { ChatBody, ChatEvent } from "../../types/models.ts";
import { Answer } from "./answer.ts";
import type { AnswerDeps } from "./answerState.ts";

const BODY: ChatBody = { model: "m", conversation_id: "c", parent_id: null, messages: [], on_disconnect: "continue" };
const RUN: AnswerRun = {
  status: "complete",
  code: undefined,
  model: "m",
  loop: "v2",
  cost: 0.5,
  costEstimated: false,
  simulated: false,
  firstTokenMs: 700,
  provider: "OpenAI",
  column: undefined,
  steps: 1,
  ms: 4012,
};

const free = { acquire: async () => () => undefined };

function deps(more: Partial<AnswerDeps> = {}) {
  const server = new ScriptedServer();
  let now = 1000;
  const pass = (ms: number) => {
    now += ms;
    return vi.advanceTimersByTimeAsync(ms);
  };
  const given: AnswerDeps = {
    client: server,
    schedule: (run) => run(),
    now: () => now,
    stream: { slots: free, resumeDelays: [0, 3000] },
    ...more,
  };
  return { server, given, pass };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tick = () => vi.advanceTimersByTimeAsync(0);

/** Send events without waiting for timers. */
async function feed(connection: { send: (...events: object[]) => Promise<void> } | undefined, ...events: object[]) {
  void connection?.send(...events);
  await tick();
}

describe("a requested answer", () => {
  it("measures its first event and duration by the page's clock", async () => {
    const { server, given, pass } = deps();
    const answer = Answer.asked(given, { model: "m", effort: "high" });
    void answer.ask(BODY, "key");
    await tick();
    await pass(250);
    await feed(server.asked[0], reasoning("hm", 5));
    await pass(750);
    await feed(server.asked[0], content("yes"), done({ cost: 1 }));
    expect(answer.state.trace).toMatchObject({ runId: "run1", loop: "v2", firstEventMs: 250, totalMs: 1000 });
    expect([answer.isOver, answer.isLive, answerText(answer.state.trace)]).toEqual([true, false, "yes"]);
    expect(answer.events.map(({ seq, event }) => [seq, event.type])).toEqual([
      [1, "reasoning"],
      [2, "content"],
      [3, "done"],
    ]);
  });

  it("has the server's duration, live and when reopened", async () => {
    const { server, given, pass } = deps();
    const live = Answer.asked(given, { model: "m", effort: "high" });
    void live.ask(BODY, "key");
    await tick();
    await pass(4300);
    const events = [content("yes"), done({ ts: 9000, duration_ms: 4000, first_token_ms: 3100 })];
    await feed(server.asked[0], ...events);
    const reopened = Answer.stored(given, "run1", { text: "yes", run: RUN });
    void reopened.load();
    await tick();
    await feed(server.followed[0]?.connection, ...events);
    const [first, second] = [live.state.trace, reopened.state.trace];
    expect([first.totalMs, first.firstEventMs]).toEqual([4000, 3100]);
    expect([second.totalMs, second.firstEventMs]).toEqual([4000, 3100]);
  });

  it("has the conversation's duration if the server sends none", async () => {
    const { server, given } = deps();
    const answer = Answer.stored(given, "run9", { text: "said", run: RUN });
    expect(answer.state.trace.totalMs).toBe(4012);
    void answer.load();
    await tick();
    await feed(server.followed[0]?.connection, content("said"), done({ ts: 3000 }));
    expect(answer.state.trace.totalMs).toBe(4012);
    const named = Answer.named(given, "run8");
    void named.load();
    await tick();
    await feed(server.followed[1]?.connection, content("said"), done({ ts: 3000 }));
    expect(named.isOver).toBe(true);
    expect(named.state.trace.totalMs).toBeUndefined();
  });

  it("hides a short connection loss, and shows a longer one", async () => {
    const { server, given, pass } = deps({ quietMs: 1500 });
    const answer = Answer.asked(given, { model: "m", effort: "auto" });
    void answer.ask(BODY, "key");
    await tick();
    await feed(server.asked[0], content("one "));
    server.asked[0]?.drop();
    await pass(100);
    expect(answer.state.connection).toBe("open");
    expect(server.followed).toHaveLength(1);
    const seen = new Set<string>();
    answer.subscribe(() => seen.add(answer.state.connection));
    server.followed[0]?.connection.drop();
    await pass(1600);
    expect(answer.state.connection).toBe("resuming");
    await pass(1500);
    await feed(server.followed[1]?.connection, content("one "), content("two"), done());
    expect(answer.state.connection).toBe("open");
    expect([...seen]).toEqual(["resuming", "open"]);
    expect(answerText(answer.state.trace)).toBe("one two");
  });

  it("ends if the server does not report the end of a stopped run, and keeps its text", async () => {
    const { server, given, pass } = deps({ stopGraceMs: 2000 });
    const answer = Answer.asked(given, { model: "m", effort: "auto" });
    void answer.ask(BODY, "key");
    await tick();
    await feed(server.asked[0], content("half"));
    void answer.stop();
    expect(answer.state.stopping).toBe(true);
    await pass(2000);
    expect(answer.state).toMatchObject({ stopping: false, trace: { end: { status: "cancelled", local: true } } });
    expect(answerText(answer.state.trace)).toBe("half");
  });

  it("that is stopped before it has a run id is stopped on the server once it has one", async () => {
    const { server, given, pass } = deps({ stopGraceMs: 2000 });
    let answerTheAsk: () => void = () => undefined;
    const ask = server.request.bind(server);
    server.request = (path, init) =>
      path === "/api/chat/stream"
        ? new Promise((resolve) => {
            answerTheAsk = () => void ask(path, init).then(resolve);
          })
        : ask(path, init);
    const answer = Answer.asked(given, { model: "m", effort: "auto" });
    void answer.ask(BODY, "key");
    await tick();
    void answer.stop();
    await pass(2500);
    expect(answer.state.trace.end).toMatchObject({ status: "cancelled", local: true });
    expect(server.stopped).toEqual([]);
    answerTheAsk();
    await tick();
    expect(server.stopped).toEqual(["/api/runs/run1/stop"]);
    expect([answer.isLive, answer.state.stopping]).toEqual([false, false]);
  });

  it("ends with the error if the server rejects it, and asks for a missing token", async () => {
    const onUnauthorized = vi.fn();
    const { server, given } = deps({ onUnauthorized });
    server.refuse = () => new ApiError(401, "UNAUTHORIZED", "An access token is required.");
    const answer = Answer.asked(given, { model: "m", effort: "auto" });
    await answer.ask(BODY, "key");
    expect(answer.state.trace.end).toMatchObject({
      status: "error",
      code: "UNAUTHORIZED",
      error: "An access token is required.",
    });
    expect(onUnauthorized).toHaveBeenCalledOnce();
  });

  it("that is left reports nothing more, and its run continues", async () => {
    const { server, given } = deps();
    const answer = Answer.asked(given, { model: "m", effort: "auto" });
    void answer.ask(BODY, "key");
    await tick();
    answer.leave();
    await server.asked[0]?.aborted;
    await tick();
    expect(answer.state.trace.end).toBeUndefined();
    expect(server.stopped).toEqual([]);
  });
});

describe("an old answer", () => {
  it("shows its text at once, and after loading the trace of its events", async () => {
    const { server, given } = deps();
    const answer = Answer.stored(given, "run9", { text: "said", run: RUN });
    expect(answer.state).toMatchObject({ known: "text", trace: { end: { status: "complete", cost: 0.5 } } });
    void answer.load();
    await tick();
    const took = { duration_ms: 4000, first_token_ms: 700 };
    const events = [reasoning("hm", 1000), content("said"), done({ ts: 3000, cost: 0.5, ...took })] as ChatEvent[];
    await feed(server.followed[0]?.connection, events[0] as object);
    expect(answerText(answer.state.trace)).toBe("said");
    await feed(server.followed[0]?.connection, ...(events.slice(1) as object[]));
    expect(answer.state.known).toBe("whole");
    expect(answer.state.trace).toEqual(events.reduce(runReducer, { ...emptyTrace("m"), runId: "run9" }));
    expect(answer.state.trace).toMatchObject({ totalMs: 4000, firstEventMs: 700 });
    await answer.load();
    expect(server.followed).toHaveLength(1);
  });

  it("keeps its text if its events are gone", async () => {
    const { given } = deps();
    const gone = { request: async () => Promise.reject(new ApiError(404, "UNKNOWN_RUN", "Gone.")) };
    const answer = Answer.stored({ ...given, client: gone }, "run9", { text: "said", run: RUN });
    await answer.load();
    expect(answer.state.known).toBe("failed");
    expect([answerText(answer.state.trace), answer.state.trace.end?.status]).toEqual(["said", "complete"]);
  });

  it("keeps a settled cost, and applies one that arrives later", async () => {
    const { server, given } = deps();
    const estimate = done({ cost: 0.1, cost_estimated: true, ts: 1 });
    const answer = Answer.stored(given, "run9", { text: "said", run: RUN });
    void answer.load();
    await tick();
    await feed(server.followed[0]?.connection, content("said"), estimate);
    expect(answer.state.trace.end).toMatchObject({ cost: 0.5 });
    expect(answer.state.trace.end?.cost_estimated).toBeUndefined();
    const live = Answer.asked(given, { model: "m", effort: "auto" });
    void live.ask(BODY, "key");
    await tick();
    await feed(server.asked[0], content("said"), estimate);
    expect(live.state.trace.end).toMatchObject({ cost: 0.1, cost_estimated: true });
    live.settle(0.7);
    expect(live.state.trace.end).toMatchObject({ cost: 0.7 });
    expect(live.state.trace.end?.cost_estimated).toBeUndefined();
  });

  it("that could not be stopped reports it, and can be stopped again", async () => {
    const { server, given, pass } = deps({ stopDelays: [0, 100] });
    const answer = Answer.asked(given, { model: "m", effort: "auto" });
    void answer.ask(BODY, "key");
    await tick();
    const ask = server.request.bind(server);
    let tries = 0;
    server.request = (path, init) => {
      if (!path.endsWith("/stop")) return ask(path, init);
      tries += 1;
      return tries <= 2 ? Promise.reject(new ApiError(502, "HTTP_502", "Bad gateway.")) : ask(path, init);
    };
    void answer.stop();
    await pass(100);
    expect(answer.state).toMatchObject({ stopping: false, stopFailed: true });
    expect(answer.isOver).toBe(false);
    void answer.stop();
    await pass(0);
    await feed(server.asked[0], done({ status: "cancelled" }));
    expect(answer.state.trace.end?.status).toBe("cancelled");
  });

  it("that is still running is followed to its end", async () => {
    const { server, given } = deps();
    const answer = Answer.stored(given, "run9", { text: "so f", run: { ...RUN, status: "running" } });
    expect(answer.isOver).toBe(false);
    void answer.load();
    await tick();
    await feed(server.followed[0]?.connection, content("so far"));
    expect([answerText(answer.state.trace), answer.state.known]).toEqual(["so far", "whole"]);
    await feed(server.followed[0]?.connection, done());
    expect(answer.isOver).toBe(true);
  });

  it("that the server does not know reports it, if nothing else is known", async () => {
    const { given } = deps();
    const gone = { request: async () => Promise.reject(new ApiError(404, "UNKNOWN_RUN", "Gone.")) };
    const answer = Answer.named({ ...given, client: gone }, "run9");
    await answer.load();
    expect(answer.state.trace.end).toMatchObject({ status: "error", code: "UNKNOWN_RUN" });
  });
});
