import { describe, expect, it } from "vitest";
import { answeredChat, holdQuestions, openChat, partAt, shownRows } from "../../fixtures/chat.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import { ApiError } from "../../stream/errors.ts";
import type { Chat } from "./chat.ts";
import { type Box, UnconfirmedMessages } from "./unconfirmedMessages.ts";

const pendingIn = (box: Box) => new UnconfirmedMessages(box, "c1").all();
const unreachable = () => new ApiError(0, "SERVER_UNREACHABLE", "No answer.");
const unknownModel = () => new ApiError(422, "UNKNOWN_MODEL", "There is no such model.");
const question = (id: string, text: string, parent: string | null = null) => ({
  ...{ id, parent_id: parent, role: "user", created: 1, text, parts: [], system: null },
});
const answerOf = (id: string, parent: string, more: object = {}) => ({
  ...{ id, parent_id: parent, role: "assistant", created: 2, text: "so far", run_id: id, status: "running" },
  ...{ model: "m", loop: "v2", cost: null, steps: 1 },
  ...more,
});

describe("a question of which nobody knows whether it came through", () => {
  it("is asked again under its key after a reload, and forgotten once it has a name", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.refuse = unreachable;
    void chat.send("first");
    await settle();
    const [pending] = pendingIn(box);
    expect(pending?.text).toBe("first");
    const after = openChat({ box });
    void after.chat.open();
    await settle();
    expect(after.server.asked.map(({ key }) => key)).toEqual([pending?.asks[0]?.key]);
    expect(after.server.asked[0]?.body).toEqual(pending?.asks[0]?.body);
    expect(pendingIn(box)).toEqual([]);
    expect(shownRows(after.chat)).toEqual(["? first", "!  (running)"]);
  });

  it("is shown where it is asked again, and what is asked next follows it, also after an opening that failed", async () => {
    const box = memoryStorage();
    const before = await answeredChat("f", { box });
    before.server.refuse = unreachable;
    await before.chat.send("r1");
    const { server, chat } = openChat({ box });
    const told = [question("m1", "f"), answerOf("run-f", "m1", { text: "so", status: "complete" })];
    const request = server.request.bind(server);
    server.request = () => Promise.reject(new ApiError(500, "INTERNAL_ERROR", "It failed."));
    await chat.open();
    server.request = request;
    const [pending] = pendingIn(box);
    told[1] = { ...told[1], id: pending?.parentId, run_id: pending?.parentId } as (typeof told)[1];
    server.conversation = { id: "c1", title: "", leaf_id: pending?.parentId, messages: told };
    void chat.open();
    await settle();
    expect(shownRows(chat)).toEqual(["? f", "! so (complete)", "? r1", "!  (running)"]);
    await server.asked[0]?.send(content("one"), done());
    void chat.send("after");
    await settle();
    expect(server.asked.map(({ body }) => body.parent_id)).toEqual([pending?.parentId, "run1"]);
  });

  it("is asked again under its key by Retry as well, so that it is asked once", async () => {
    const { server, chat } = openChat({ box: memoryStorage() });
    const keys: (string | null)[] = [];
    server.refuse = (_, key) => {
      keys.push(key);
      return unreachable();
    };
    await chat.send("first");
    await chat.again(partAt(chat, 0).key);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it("goes back to the reader when that was long ago", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.refuse = unreachable;
    await chat.send("first");
    const kept = JSON.parse(box.kept.get("signalbox.pending") ?? "");
    kept.questions[0].asked -= 120_000;
    box.kept.set("signalbox.pending", JSON.stringify(kept));
    const after = openChat({ box });
    await after.chat.open();
    expect(after.server.asked).toEqual([]);
    expect(after.chat.state.returned).toEqual({ text: "first", pictures: [] });
    expect([shownRows(after.chat), pendingIn(box)]).toEqual([[], []]);
  });

  it("that the server has is followed and not asked again; the model of the comparison that was missing is", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box }, { models: ["m", "n"] });
    server.refuse = unreachable;
    void chat.send("first");
    await settle();
    const after = openChat({ box });
    after.server.conversation = {
      id: "c1",
      title: "T",
      leaf_id: "r",
      messages: [question("q", "first"), answerOf("r", "q")],
    };
    void after.chat.open();
    await settle();
    expect(after.server.asked.map(({ body: { model, parent_id, messages } }) => [model, parent_id, messages])).toEqual([
      ["n", "q", undefined],
    ]);
    expect(after.server.followed.map(({ path }) => path)).toEqual(["/api/runs/r/events"]);
  });

  it("is not asked of another model: the first may be at work on it", async () => {
    const { server, chat } = openChat({ box: memoryStorage() }, { models: ["m", "n"] });
    const asked: string[] = [];
    server.refuse = ({ model }) => {
      asked.push(model);
      return unreachable();
    };
    await chat.send("first");
    expect(asked).toEqual(["m"]);
    const entry = chat.state.entries[1];
    expect(entry?.kind === "answer" && entry.beside.map(({ answer }) => answer.isOver)).toEqual([true, true]);
  });
});

describe("a question that the server refused", () => {
  it("is never asked by itself; after a reload its words are back in the reader's hands", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.refuse = unknownModel;
    await chat.send("first");
    const after = openChat({ box });
    await after.chat.open();
    expect(after.server.asked).toEqual([]);
    expect(after.chat.state.returned?.text).toBe("first");
    expect([shownRows(after.chat), pendingIn(box)]).toEqual([[], []]);
  });

  it("is forgotten once it was asked well, or another one was", async () => {
    for (const go of [(chat: Chat) => chat.again(partAt(chat, 0).key), (chat: Chat) => chat.send("other")]) {
      const box = memoryStorage();
      const { server, chat } = openChat({ box });
      server.refuse = unknownModel;
      await chat.send("first");
      expect(pendingIn(box)).toHaveLength(1);
      server.refuse = undefined;
      void go(chat);
      await settle();
      expect(pendingIn(box)).toEqual([]);
    }
  });
});

describe("a question that was stopped before it had a name", () => {
  it("is not asked again after a reload; what the server makes of it is stopped", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box });
    server.request = () => new Promise(() => undefined);
    void chat.send("first");
    await settle();
    void chat.stop();
    await settle();
    expect(pendingIn(box).flatMap(({ asks }) => asks.map(({ stopped }) => stopped))).toEqual([true]);
    const after = openChat({ box });
    after.server.conversation = {
      id: "c1",
      title: "T",
      leaf_id: "r",
      messages: [question("q", "first"), answerOf("r", "q")],
    };
    await after.chat.open();
    await settle();
    expect(after.server.asked).toEqual([]);
    expect(after.server.stopped).toEqual(["/api/runs/r/stop"]);
    expect(pendingIn(box)).toEqual([]);
  });

  it("keeps the other models from being asked", async () => {
    const { server, chat } = openChat({ stopGraceMs: 0 }, { models: ["m", "n"] });
    const answer = holdQuestions(server);
    void chat.send("first");
    await settle();
    void chat.stop();
    await settle();
    answer();
    await settle();
    await settle();
    expect([server.asked.map(({ body }) => body.model), server.stopped]).toEqual([["m"], ["/api/runs/run1/stop"]]);
    expect(chat.state.running).toBe(false);
  });
});

describe("a comparison of which only the first answer is stopped before the question has a name", () => {
  const columns = (chat: Chat) => {
    const entry = chat.state.entries[1];
    return entry?.kind === "answer" ? entry.beside.map(({ answer }) => answer) : [];
  };
  const models = (server: { asked: readonly { body: { model: string; messages?: unknown } }[] }) =>
    server.asked.map(({ body }) => [body.model, body.messages !== undefined]);

  it("asks the other models once the server has named it", async () => {
    const { server, chat } = openChat({ stopGraceMs: 0, box: memoryStorage() }, { models: ["m", "n"] });
    const answer = holdQuestions(server);
    void chat.send("first");
    await settle();
    void columns(chat)[0]?.stop();
    await settle();
    answer();
    await settle();
    answer();
    await settle();
    expect([models(server), server.stopped]).toEqual([
      [
        ["m", true],
        ["n", false],
      ],
      ["/api/runs/run1/stop"],
    ]);
  });

  it.each([
    ["by its name, where the server has it", true, [["n", false]], ["/api/runs/r/stop"]],
    ["with its words, where the server does not have it", false, [["n", true]], []],
  ])("asks the other models %s, when its connection has brought none", async (_, hasIt, asked, stopped) => {
    const box = memoryStorage();
    const { server, chat } = openChat({ stopGraceMs: 0, unnamedMs: 0, box }, { models: ["m", "n"] });
    const request = server.request.bind(server);
    server.request = (path, init) =>
      path === "/api/chat/stream" && String(init?.body).includes('"model":"m"')
        ? new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)))
        : request(path, init);
    void chat.send("first");
    await settle();
    void columns(chat)[0]?.stop();
    if (hasIt)
      server.conversation = {
        ...{ id: "c1", title: "T", leaf_id: "r", messages: [question("q", "first"), answerOf("r", "q")] },
      };
    await expect.poll(() => models(server)).toEqual(asked);
    await server.asked[0]?.send(content("n"), done());
    await expect.poll(() => server.stopped).toEqual(stopped);
    const other = columns(chat).find(({ state }) => state.trace.model === "n");
    expect([columns(chat).length, other?.state.trace.end?.status]).toEqual([2, "complete"]);
    expect(pendingIn(box)).toEqual([]);
  });

  it("waits with the other models while the server cannot be reached, and each can be stopped", async () => {
    const stream = { slots: { acquire: async () => () => undefined }, askDelays: [], lineDelays: [10] };
    const { server, chat } = openChat({ stream, box: memoryStorage() }, { models: ["m", "n", "o"] });
    const request = server.request.bind(server);
    server.request = () => Promise.reject(unreachable());
    const over = chat.send("first");
    await expect.poll(() => columns(chat).map(({ state }) => state.connection)).toEqual(Array(3).fill("waiting"));
    await columns(chat)[0]?.stop();
    await columns(chat)[2]?.stop();
    expect(columns(chat).map(({ isOver }) => isOver)).toEqual([true, false, true]);
    server.request = request;
    await expect.poll(() => models(server)).toEqual([["n", true]]);
    await server.asked[0]?.send(content("n"), done());
    await over;
    expect(columns(chat).map(({ state }) => state.trace.end?.status)).toEqual(["cancelled", "complete", "cancelled"]);
  });

  it("ends the other answers as unanswered, where nobody says what became of the question", async () => {
    const { server, chat } = openChat({ stopGraceMs: 0, unnamedMs: 0 }, { models: ["m", "n"] });
    server.request = (path, init) =>
      path === "/api/chat/stream"
        ? new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)))
        : Promise.reject(unreachable());
    const over = chat.send("first");
    await settle();
    await columns(chat)[0]?.stop();
    await over;
    expect(columns(chat).map(({ state }) => state.trace.end?.code ?? state.trace.end?.status)).toEqual([
      "cancelled",
      "SERVER_UNREACHABLE",
    ]);
  });

  it("asks the others alone after a reload", async () => {
    const box = memoryStorage();
    const { server, chat } = openChat({ box }, { models: ["m", "n"] });
    server.request = () => new Promise(() => undefined);
    void chat.send("first");
    await settle();
    void columns(chat)[0]?.stop();
    await settle();
    const after = openChat({ box });
    void after.chat.open();
    await settle();
    expect(models(after.server)).toEqual([["n", true]]);
  });
});

describe("a column that the server refuses", () => {
  const MODELS = ["m", "bad", "n"];
  const columns = (chat: Chat) => {
    const entry = chat.state.entries[1];
    return entry?.kind === "answer"
      ? entry.beside.map(({ answer: { state } }) => [state.trace.model, state.trace.end?.code ?? "answered"])
      : [];
  };
  async function compared(models: readonly string[], box = memoryStorage()) {
    const fields = (model: string) => ({ column: models.indexOf(model) });
    const opened = openChat({ box }, { models, fields });
    opened.server.refuse = ({ model }) => (model === "bad" ? unknownModel() : undefined);
    void opened.chat.send("first");
    await settle();
    await settle();
    for (const asked of opened.server.asked) await asked.send(content(asked.body.model), done());
    return { ...opened, box };
  }
  /** Reload the page. The server sends the runs that it has. */
  async function reloaded(box: Box, models: readonly string[]) {
    const after = openChat({ box });
    const runs = models
      .filter((model) => model !== "bad")
      .map((model, at) => ({ model, run: `run${at + 1}`, column: models.indexOf(model) }));
    after.server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: runs.at(-1)?.run },
      messages: [
        question("m1", "first"),
        ...runs.map(({ model, run, column }) => answerOf(run, "m1", { model, column, status: "complete" })),
      ],
    };
    await after.chat.open();
    return after;
  }

  it.each([
    ["between others", MODELS],
    ["first, before the question has a name", ["bad", "m", "n"]],
    ["beside one other alone", ["m", "bad"]],
  ])("is still there after a reload, in its place: %s", async (_, models) => {
    const { chat, box } = await compared(models);
    const before = columns(chat);
    expect(before).toEqual(models.map((model) => [model, model === "bad" ? "UNKNOWN_MODEL" : "answered"]));
    expect(columns((await reloaded(box, models)).chat)).toEqual(before);
    const after = await reloaded(box, models);
    expect(columns(after.chat)).toEqual(before);
    // The next message follows an answer, and nothing is sent again.
    void after.chat.send("next");
    await settle();
    expect(after.server.asked.map(({ body }) => body.parent_id)).toEqual(["run1"]);
  });

  it("is forgotten once its model answers", async () => {
    const { server, chat, box } = await compared(MODELS);
    server.refuse = undefined;
    void chat.again(partAt(chat, 0).key, "bad");
    await settle();
    await server.asked[2]?.send(content("better"), done());
    expect(columns(chat)).toEqual(MODELS.map((model) => [model, "answered"]));
    expect(box.kept.has("signalbox.refused")).toBe(false);
  });

  it("is none where another conversation has the question, or what is kept cannot be read", async () => {
    const { box } = await compared(MODELS);
    const kept = box.kept.get("signalbox.refused") ?? "";
    for (const text of [kept.replace('"c1"', '"c2"'), "{", '{"version":1,"answers":[{"model":"bad"}]}']) {
      box.kept.set("signalbox.refused", text);
      expect(columns((await reloaded(box, MODELS)).chat)).toEqual([
        ["m", "answered"],
        ["n", "answered"],
      ]);
    }
  });
});

describe("what the server tells of a question before its answer has come", () => {
  it("is the same question, and the same run: nothing is there twice", async () => {
    const { server, chat } = await answeredChat("first");
    const answer = holdQuestions(server);
    void chat.send("second");
    await settle();
    const told = [question("m1", "first"), answerOf("run1", "m1", { status: "complete", text: "to first" })];
    server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: "run2" },
      messages: [...told, question("m2", "second", "run1"), answerOf("run2", "m2")],
    };
    await chat.refresh();
    answer();
    await settle();
    await chat.refresh();
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)", "? second", "!  (running)"]);
    expect(chat.state.entries.map(({ alternatives }) => alternatives.length)).toEqual([1, 1, 1, 1]);
  });
});
