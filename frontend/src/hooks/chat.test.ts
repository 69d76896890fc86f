import { describe, expect, it } from "vitest";
import { answerText } from "../run/view.ts";
import type { ApiClient } from "../stream/client.ts";
import { ApiError } from "../stream/errors.ts";
import type { ChatBody } from "../types/models.ts";
import { Chat, type ChatDeps } from "./chat.ts";
import { runInAddress } from "./session.ts";

const ASK = { model: "m", effort: "auto" } as const;

/** One run that the test feeds event by event. */
class Run {
  readonly body: ChatBody;
  readonly key: string | null;
  #feed!: ReadableStreamDefaultController<Uint8Array>;
  #seq = 0;
  readonly response: Response;

  constructor(init: RequestInit, id: string) {
    this.body = JSON.parse(String(init.body ?? "{}"));
    this.key = new Headers(init.headers).get("idempotency-key");
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#feed = controller;
        init.signal?.addEventListener("abort", () => controller.error(new DOMException("aborted", "AbortError")));
      },
    });
    this.response = new Response(stream, { headers: { "x-run-id": id, "x-tool-loop": "v2" } });
  }

  async send(...events: object[]): Promise<void> {
    for (const event of events) {
      this.#seq += 1;
      this.#feed.enqueue(new TextEncoder().encode(`id: run:${this.#seq}\ndata: ${JSON.stringify(event)}\n\n`));
    }
    await settle();
  }
}

/** Let everything that is ready happen. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

class Server implements ApiClient {
  readonly runs: Run[] = [];
  readonly stopped: string[] = [];
  /** What was read, in order. */
  readonly asked: string[] = [];
  refuse: ApiError | undefined;
  onStop: () => void = () => undefined;

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    if (path.endsWith("/stop")) {
      this.stopped.push(path);
      this.onStop();
      return new Response("{}");
    }
    if (init.method !== "POST") this.asked.push(path);
    if (this.refuse) throw this.refuse;
    const run = new Run(init, `run${this.runs.length + 1}`);
    this.runs.push(run);
    return run.response;
  }
}

function open(more: Partial<ChatDeps> = {}) {
  const server = new Server();
  const frames: (() => void)[] = [];
  const chat = new Chat({ client: server, schedule: (run) => frames.push(run), now: () => 0, ...more });
  const frame = () => {
    for (const run of frames.splice(0)) run();
  };
  return { server, chat, frame };
}

const say = (content: string) => ({ type: "content", content });
const done = (more: object = {}) => ({ type: "done", done: true, status: "complete", ...more });
const answers = (chat: Chat) => chat.state.turns.map((turn) => [turn.trace.end?.status, answerText(turn.trace)]);

describe("a conversation", () => {
  it("sends every turn with what was said before, and the effort only when it was chosen", async () => {
    const { server, chat } = open();
    void chat.send(" first ", ASK);
    await settle();
    await server.runs[0]?.send(say("one"), done());
    void chat.send("second", { model: "n", effort: "high" });
    await settle();
    await server.runs[1]?.send(say("two"), done());
    expect(server.runs.map((run) => run.body)).toEqual([
      { model: "m", messages: [{ role: "user", content: "first" }], on_disconnect: "continue" },
      {
        model: "n",
        messages: [
          { role: "user", content: "first" },
          { role: "assistant", content: "one" },
          { role: "user", content: "second" },
        ],
        on_disconnect: "continue",
        reasoning: { effort: "high" },
      },
    ]);
    expect(answers(chat)).toEqual([
      ["complete", "one"],
      ["complete", "two"],
    ]);
  });

  it("does not replay sentences of Signalbox as the model's words", async () => {
    const { server, chat } = open();
    void chat.send("first", ASK);
    await settle();
    await server.runs[0]?.send({ ...say("Ours."), synthetic: true }, done());
    void chat.send("second", ASK);
    await settle();
    expect(server.runs[1]?.body.messages.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  it("takes one message at a time, and no empty one", async () => {
    const { server, chat } = open();
    void chat.send("  ", ASK);
    void chat.send("first", ASK);
    void chat.send("second", ASK);
    void chat.retry();
    await settle();
    expect([server.runs.length, chat.state.turns.length]).toEqual([1, 1]);
  });

  it("asks the last question again in place of its answer, without that answer", async () => {
    const { server, chat } = open();
    void chat.send("first", ASK);
    await settle();
    await server.runs[0]?.send(say("half"), done({ status: "error", code: "UPSTREAM_ERROR" }));
    void chat.retry({ model: "other", effort: "auto" });
    await settle();
    await server.runs[1]?.send(say("whole"), done());
    expect(server.runs[1]?.body).toMatchObject({ model: "other", messages: [{ role: "user", content: "first" }] });
    expect(answers(chat)).toEqual([["complete", "whole"]]);
  });

  it("shows the question and the first lamp in the same frame as the key press", () => {
    const { chat } = open();
    void chat.send("first", ASK);
    expect(chat.snapshot().turns.map((turn) => turn.question)).toEqual(["first"]);
  });

  it("tells the screen once per frame, however many events came", async () => {
    const { server, chat, frame } = open();
    void chat.send("first", ASK);
    await settle();
    frame();
    let told = 0;
    chat.subscribe(() => told++);
    await server.runs[0]?.send(...Array.from({ length: 200 }, (_, i) => say(`${i} `)));
    expect(told).toBe(0);
    frame();
    expect(told).toBe(1);
    expect(chat.snapshot().turns.map((turn) => answerText(turn.trace))).toEqual([expect.stringMatching(/ 199$/)]);
  });
});

describe("stop", () => {
  it("asks the server, and takes its own ending with what came", async () => {
    const { server, chat } = open();
    void chat.send("first", ASK);
    await settle();
    await server.runs[0]?.send(say("half"));
    server.onStop = () => void server.runs[0]?.send(done({ status: "cancelled", cost: 0.1 }));
    await chat.stop();
    expect(chat.snapshot().turns[0]?.stopping).toBe(true);
    await settle();
    expect(server.stopped).toEqual(["/api/runs/run1/stop"]);
    expect(answers(chat)).toEqual([["cancelled", "half"]]);
    expect(chat.state.turns[0]?.trace.end).toMatchObject({ cost: 0.1 });
    expect(chat.running).toBe(false);
  });

  it("ends it in the page when the server's ending does not come", async () => {
    const { server, chat } = open({ stopGraceMs: 5 });
    const over = chat.send("first", ASK);
    await settle();
    await server.runs[0]?.send(say("half"));
    await chat.stop();
    await over;
    expect(answers(chat)).toEqual([["cancelled", "half"]]);
    expect(chat.state.turns[0]?.trace.end?.local).toBe(true);
  });

  it("ends it at once when the stop itself fails", async () => {
    const { server, chat } = open();
    const over = chat.send("first", ASK);
    await settle();
    server.onStop = () => {
      throw new ApiError(404, "UNKNOWN_RUN", "gone");
    };
    await chat.stop();
    await over;
    expect(answers(chat)).toEqual([["cancelled", ""]]);
  });
});

class Box implements Storage {
  readonly #items = new Map<string, string>();
  /** How many characters it takes. */
  room = 1_000_000;
  get length(): number {
    return this.#items.size;
  }
  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    if (value.length > this.room) throw new DOMException("full", "QuotaExceededError");
    this.#items.set(key, value);
  }
  removeItem(key: string): void {
    this.#items.delete(key);
  }
  key = () => null;
  clear = () => this.#items.clear();
}

describe("a reload", () => {
  const search = [
    { type: "tool_calls", calls: [{ id: "a", name: "search_web", arguments: {} }] },
    { type: "tool_result", id: "a", name: "search_web", result: { success: true, result: "x".repeat(5000) } },
  ];

  it("keeps what was said, and what is sent next follows it", async () => {
    const box = new Box();
    const before = open({ box });
    void before.chat.send("first", ASK);
    await settle();
    await before.server.runs[0]?.send(...search, say("one"), done({ cost: 0.1 }));
    const { server, chat } = open({ box });
    await chat.restore();
    expect(chat.snapshot().turns.map(({ trace }) => trace)).toEqual(before.chat.state.turns.map(({ trace }) => trace));
    expect(server.asked).toEqual([]);
    void chat.send("second", ASK);
    await settle();
    expect(server.runs[0]?.body.messages.map(({ content }) => content)).toEqual(["first", "one", "second"]);
  });

  it("in mid-answer takes the run up again from its first event, and stops nothing", async () => {
    const box = new Box();
    const before = open({ box });
    void before.chat.send("first", ASK);
    await settle();
    await before.server.runs[0]?.send(say("one "), say("two "));
    before.chat.save();
    const { server, chat } = open({ box });
    void chat.restore();
    await settle();
    expect(chat.running).toBe(true);
    expect(server.asked).toEqual(["/api/runs/run1/events"]);
    await server.runs[0]?.send(say("one "), say("two "), say("three"), { ...done(), ts: 9 });
    expect(answers(chat)).toEqual([["complete", "one two three"]]);
    expect([before.server.stopped, server.stopped]).toEqual([[], []]);
    const again = open({ box });
    await again.chat.restore();
    expect([again.server.asked, answers(again.chat)]).toEqual([[], [["complete", "one two three"]]]);
  });

  it("keeps what came when the server does not know the run any more", async () => {
    const box = new Box();
    const before = open({ box });
    void before.chat.send("first", ASK);
    await settle();
    await before.server.runs[0]?.send(say("half"));
    before.chat.save();
    const { server, chat } = open({ box });
    server.refuse = new ApiError(404, "UNKNOWN_RUN", "gone");
    await chat.restore();
    expect(answers(chat)).toEqual([["interrupted", "half"]]);
  });

  it("asks again under the same key where nobody had answered yet: it is one question all the same", async () => {
    const box = new Box();
    const before = open({ box });
    void before.chat.send("first", ASK);
    await settle();
    await before.server.runs[0]?.send(say("one"), done());
    void before.chat.send("second", { model: "n", effort: "high" });
    await settle();
    // Its page goes before the head of the answer has come.
    const saved = JSON.parse(box.getItem("signalbox.chat") ?? "");
    saved.turns[1].trace.runId = "";
    box.setItem("signalbox.chat", JSON.stringify(saved));
    const { server, chat } = open({ box });
    void chat.restore();
    await settle();
    const [again] = server.runs;
    expect([again?.key, again?.body]).toEqual([before.server.runs[1]?.key, before.server.runs[1]?.body]);
    expect(again?.key).not.toBe(before.server.runs[0]?.key);
    await again?.send(say("two"), done());
    expect(answers(chat)).toEqual([
      ["complete", "one"],
      ["complete", "two"],
    ]);
  });

  it("asks nothing by itself that is a minute old", async () => {
    const box = new Box();
    const before = open({ box });
    void before.chat.send("first", ASK);
    before.chat.save();
    const saved = JSON.parse(box.getItem("signalbox.chat") ?? "");
    saved.turns[0].asked -= 61_000;
    box.setItem("signalbox.chat", JSON.stringify(saved));
    const { server, chat } = open({ box });
    await chat.restore();
    expect([server.runs.length, answers(chat)]).toEqual([0, [["interrupted", ""]]]);
  });

  it("leaves out what the tools gave back where there is no room for it", async () => {
    const box = new Box();
    box.room = 2000;
    const before = open({ box });
    void before.chat.send("first", ASK);
    await settle();
    await before.server.runs[0]?.send(...search, say("one"), done());
    const { chat } = open({ box });
    await chat.restore();
    expect(answers(chat)).toEqual([["complete", "one"]]);
    expect(chat.state.turns[0]?.trace.items.length).toBe(1);
  });

  it("shows nothing of a chat that was cleared, of another version, or that cannot be read", async () => {
    const box = new Box();
    const before = open({ box });
    void before.chat.send("first", ASK);
    await settle();
    before.chat.clear();
    expect([box.length, before.server.stopped]).toEqual([0, ["/api/runs/run1/stop"]]);
    for (const saved of ["{", "null", '{"version":0,"turns":[]}', '{"version":1,"turns":[{"question":1}]}']) {
      box.setItem("signalbox.chat", saved);
      const { chat } = open({ box });
      await chat.restore();
      expect(chat.state.turns).toEqual([]);
    }
  });
});

describe("a run that is followed by its address", () => {
  it("is shown from its first event and can be stopped, and is nobody's chat", async () => {
    const { server, chat } = open();
    void chat.watch("run1");
    await settle();
    expect(server.asked).toEqual(["/api/runs/run1/events"]);
    await server.runs[0]?.send(say("half"));
    server.onStop = () => void server.runs[0]?.send(done({ status: "cancelled" }));
    await chat.stop();
    await settle();
    expect(server.stopped).toEqual(["/api/runs/run1/stop"]);
    expect(answers(chat)).toEqual([["cancelled", "half"]]);
    expect(chat.state.turns[0]?.question).toBe("");
    void chat.watch("run2");
    expect(chat.state.turns.length).toBe(1);
  });

  it.each([
    ["#run=0a1b", "0a1b"],
    ["#run=", undefined],
    ["#run=a/../b", undefined],
    ["#other=0a1b", undefined],
    ["", undefined],
  ])("is named by %j", (hash, id) => expect(runInAddress(hash)).toBe(id));
});

describe("what goes wrong", () => {
  it("is told in the turn, and a 401 asks for the token", async () => {
    let asked = 0;
    const { server, chat } = open({ onUnauthorized: () => asked++ });
    server.refuse = new ApiError(401, "UNAUTHORIZED", "A token is needed.");
    await chat.send("first", ASK);
    expect(chat.state.turns[0]?.trace.end).toMatchObject({ status: "error", code: "UNAUTHORIZED", local: true });
    expect(asked).toBe(1);
    server.refuse = undefined;
    void chat.retry();
    await settle();
    await server.runs[0]?.send(say("in"), done());
    expect(answers(chat)).toEqual([["complete", "in"]]);
  });

  it("lets a new chat start while a run is under way, and stops that run", async () => {
    const { server, chat } = open();
    void chat.send("first", ASK);
    await settle();
    chat.clear();
    expect(server.stopped.length).toBe(1);
    void chat.send("second", ASK);
    await settle();
    await server.runs[1]?.send(say("two"), done());
    expect(answers(chat)).toEqual([["complete", "two"]]);
  });
});
