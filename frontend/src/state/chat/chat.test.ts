import { describe, expect, it } from "vitest";
import { answeredChat, openChat, partAt, SETUP, shownRows } from "../../fixtures/chat.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import { ApiError } from "../../stream/errors.ts";
import type { RequestSetup } from "./requestBody.ts";

describe("asking", () => {
  it("posts the one new message, under the answer that it follows", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.send(" second ");
    await settle();
    await server.asked[1]?.send(content("two"), done({ cost: 0.5 }));
    expect(server.asked.map(({ body }) => body)).toEqual([
      {
        model: "m",
        conversation_id: "c1",
        parent_id: null,
        messages: [{ role: "user", content: "first" }],
        on_disconnect: "continue",
      },
      {
        model: "m",
        conversation_id: "c1",
        parent_id: "run1",
        messages: [{ role: "user", content: "second" }],
        on_disconnect: "continue",
      },
    ]);
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)", "? second", "! two (complete)"]);
    expect(chat.state.cost?.usd).toBe(0.75);
    expect(new Set(server.asked.map(({ key }) => key)).size).toBe(2);
  });

  it("sends pictures as parts beside the words, and alone where there are none", async () => {
    const { server, chat } = openChat();
    const picture = { id: "p", name: "cat", url: "data:image/png;base64,AA==" };
    void chat.send("What is this?", [picture]);
    await settle();
    await server.asked[0]?.send(done());
    void chat.send("  ", [picture]);
    await settle();
    const shownPicture = { type: "image_url", image_url: { url: picture.url } };
    expect(server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual([
      [{ type: "text", text: "What is this?" }, shownPicture],
      [shownPicture],
    ]);
  });

  it("sends nothing that says nothing", async () => {
    const { server, chat } = openChat();
    await chat.send("  \n ");
    expect(server.asked).toEqual([]);
    expect(chat.state.status).toBe("new");
  });

  it("sends instructions with the question for which they change, and an empty one to take them away", async () => {
    const { server, chat } = await answeredChat("first", {}, { system: "Be short." });
    void chat.send("second");
    await settle();
    await server.asked[1]?.send(content("two"), done());
    chat.setSystem("");
    void chat.send("third");
    await settle();
    expect(server.asked.map(({ body }) => body.system)).toEqual(["Be short.", undefined, ""]);
  });

  it("keeps the instructions of an old conversation, whatever a new one would begin with", async () => {
    const { server, chat } = openChat({}, { system: "For new chats." });
    server.conversation = conversation({ system: "Of old." });
    await chat.open();
    void chat.send("next");
    await settle();
    expect(chat.system).toBe("Of old.");
    expect(server.asked[0]?.body.system).toBeUndefined();
  });

  it("shows the question and a run under way before the server has said a word", () => {
    const { chat } = openChat();
    void chat.send("first");
    return Promise.resolve().then(() => {
      expect(shownRows(chat)).toEqual(["? first", "!  (running)"]);
      expect(chat.state.running).toBe(true);
    });
  });

  it("keeps a refused question where it was asked; the next one takes its place, and it stays beside", async () => {
    const { server, chat } = await answeredChat("first");
    server.refuse = () => new ApiError(422, "UNKNOWN_MODEL", "There is no model m.");
    await chat.send("second");
    expect(shownRows(chat).at(-1)).toBe("!  (error)");
    server.refuse = undefined;
    void chat.send("third");
    await settle();
    expect(server.asked[1]?.body.parent_id).toBe("run1");
    const question = chat.state.entries[2];
    expect(
      question?.kind === "question" && question.alternatives.map((part) => part.kind === "question" && part.text),
    ).toEqual(["second", "third"]);
  });

  it("posts a question anew when it is tried again after a refusal", async () => {
    const { server, chat } = openChat();
    server.refuse = () => new ApiError(503, "STORE_UNAVAILABLE", "The disk is full.");
    await chat.send("first");
    server.refuse = undefined;
    void chat.again(partAt(chat, 0).key);
    await settle();
    expect(server.asked[0]?.body).toMatchObject({ parent_id: null, messages: [{ content: "first" }] });
  });
});

describe("branches", () => {
  it("an edited question stands beside the old one, under the same parent", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.edit(partAt(chat, 0).key, "better");
    await settle();
    await server.asked[1]?.send(content("well"), done());
    expect(server.asked[1]?.body).toMatchObject({ parent_id: null, messages: [{ content: "better" }] });
    expect(shownRows(chat)).toEqual(["? better", "! well (complete)"]);
    chat.choose("nobody");
    chat.choose(chat.state.entries[0]?.alternatives[0]?.key ?? "");
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)"]);
    expect(server.changed).toEqual([{ path: "/api/conversations/c1", body: { leaf_id: "run1" } }]);
  });

  it("an answer given again stands beside the old one, also by another model, and the next question follows it", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.again(partAt(chat, 0).key, "other/model");
    await settle();
    await server.asked[1]?.send(content("again"), done());
    expect(server.asked[1]?.body).toEqual({
      model: "other/model",
      conversation_id: "c1",
      parent_id: "m1",
      on_disconnect: "continue",
    });
    expect(chat.state.entries[1]?.alternatives).toHaveLength(2);
    void chat.send("next");
    await settle();
    expect(server.asked[2]?.body.parent_id).toBe("run2");
  });
});

describe("side by side", () => {
  const MODELS = ["a", "b", "c", "d"];

  it("asks the question once and the other models for their answers to it", async () => {
    const { server, chat } = openChat({}, { models: MODELS });
    void chat.send("first");
    await settle();
    await settle();
    expect(
      server.asked.map(({ body: { model, parent_id, messages } }) => [model, parent_id, messages?.length]),
    ).toEqual([
      ["a", null, 1],
      ["b", "m1", undefined],
      ["c", "m1", undefined],
      ["d", "m1", undefined],
    ]);
    const entry = chat.state.entries[1];
    expect(entry?.kind === "answer" && entry.beside.map(({ answer }) => answer.state.trace.model)).toEqual(MODELS);
  });

  it("is under way until the last has ended, and stop ends all of them", async () => {
    const { server, chat } = openChat({}, { models: ["a", "b"] });
    void chat.send("first");
    await settle();
    await settle();
    await server.asked[0]?.send(content("a"), done());
    expect(chat.state.running).toBe(true);
    void chat.stop();
    await settle();
    expect(server.stopped).toEqual(["/api/runs/run2/stop"]);
    await server.asked[1]?.send(done({ status: "cancelled" }));
    expect(chat.state.running).toBe(false);
  });

  it("goes on with the other models when the first is refused", async () => {
    const { server, chat } = openChat({}, { models: ["bad", "b"] });
    server.refuse = ({ model }) => (model === "bad" ? new ApiError(422, "UNKNOWN_MODEL", "No.") : undefined);
    void chat.send("first");
    await settle();
    await settle();
    expect(server.asked[0]?.body).toMatchObject({ model: "b", parent_id: null, messages: [{ content: "first" }] });
    expect(chat.state.entries[1]?.kind).toBe("answer");
    // The next message follows the existing answer.
    await server.asked[0]?.send(content("b"), done());
    void chat.send("next");
    await settle();
    expect(server.asked[1]?.body.parent_id).toBe("run1");
  });

  it("the chosen one is what the next question follows", async () => {
    const { server, chat } = openChat({}, { models: ["a", "b"] });
    void chat.send("first");
    await settle();
    await settle();
    for (const asked of server.asked) await asked.send(content("x"), done());
    const entry = chat.state.entries[1];
    if (entry?.kind !== "answer") throw new Error("no answer");
    chat.choose(entry.beside[1]?.key ?? "");
    void chat.send("next");
    await settle();
    expect(server.asked[2]?.body.parent_id).toBe("run2");
  });
});

describe("the queue", () => {
  it("asks what waits, one after the other, as answers are complete", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    void chat.send("second");
    void chat.send("third");
    expect(chat.state.queue.map(({ text }) => text)).toEqual(["second", "third"]);
    await server.asked[0]?.send(content("one"), done());
    await settle();
    expect(server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual(["first", "second"]);
    expect(chat.state.queue.map(({ text }) => text)).toEqual(["third"]);
  });

  it("waits where an answer was stopped or failed, until the reader sends it", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    void chat.send("second");
    await server.asked[0]?.send(done({ status: "cancelled" }));
    expect([chat.state.held, chat.state.queue.length, server.asked.length]).toEqual([true, 1, 1]);
    void chat.sendQueued(chat.state.queue[0]?.id ?? "");
    await settle();
    expect([chat.state.held, chat.state.queue.length, server.asked.length]).toEqual([false, 0, 2]);
  });

  it("sent now, it stops what is under way and comes next", async () => {
    const { server, chat } = openChat({ stopGraceMs: 60_000 });
    void chat.send("first");
    await settle();
    void chat.send("second");
    server.onStop = () => void server.asked[0]?.send(content("half"), done({ status: "cancelled" }));
    void chat.sendQueued(chat.state.queue[0]?.id ?? "");
    await settle();
    await settle();
    expect(shownRows(chat)).toEqual(["? first", "! half (cancelled)", "? second", "!  (running)"]);
  });

  it("goes on where it was written, also when the reader looks at another branch meanwhile", async () => {
    const { server, chat } = await answeredChat("first");
    void chat.again(partAt(chat, 0).key);
    await settle();
    void chat.send("to the second answer");
    const [first] = chat.state.entries[1]?.alternatives ?? [];
    chat.choose(first?.key ?? "");
    await server.asked[1]?.send(content("again"), done());
    await settle();
    expect(server.asked[2]?.body).toMatchObject({ parent_id: "run2", messages: [{ content: "to the second answer" }] });
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)"]);
  });

  it("is asked under the name of the message, so that a copy of the tab asks the same once", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    void chat.send("second");
    const [message] = chat.state.queue;
    await server.asked[0]?.send(content("one"), done());
    await settle();
    expect(server.asked[1]?.key).toBe(message?.id);
  });

  it("survives a reload, and is then held", async () => {
    const box = memoryStorage();
    const { chat } = openChat({ box });
    void chat.send("first");
    await settle();
    void chat.send("second");
    expect(JSON.parse(box.kept.get("signalbox.queue") ?? "").c1).toMatchObject([{ text: "second" }]);
    const after = openChat({ box });
    after.server.conversation = conversation();
    await after.chat.open();
    expect([after.chat.state.queue.length, after.chat.state.held]).toEqual([1, true]);
  });
});

const conversation = (more: object = {}) => ({
  id: "c1",
  title: "Old",
  leaf_id: "run-a",
  messages: [
    { id: "q", parent_id: null, role: "user", created: 1, text: "asked", parts: [], system: null, ...more },
    {
      id: "run-a",
      parent_id: "q",
      role: "assistant",
      created: 2,
      text: "answered",
      run_id: "run-a",
      status: "complete",
      model: "m",
      loop: "v2",
      cost: 0.1,
      steps: 1,
    },
    {
      id: "run-b",
      parent_id: "q",
      role: "assistant",
      created: 3,
      text: "so far",
      run_id: "run-b",
      status: "running",
      model: "n",
      loop: "v2",
      cost: null,
      steps: 1,
    },
  ],
});

describe("an old conversation", () => {
  it("shows the chosen branch at once, brings an answer when it comes into view, and follows what is under way", async () => {
    const { server, chat } = openChat();
    server.conversation = conversation();
    await chat.open();
    expect(shownRows(chat)).toEqual(["? asked", "! answered (complete)"]);
    expect(server.followed.map(({ path }) => path)).toEqual(["/api/runs/run-b/events"]);
    const part = partAt(chat, 1);
    if (part.kind !== "answer") throw new Error("no answer");
    chat.show(part.answer);
    await settle();
    await server.followed[1]?.connection.send(
      { type: "reasoning", content: "hm" },
      content("answered"),
      done({ cost: 0.1 }),
    );
    expect(part.answer.state.known).toBe("whole");
    expect(part.answer.state.trace.items.map(({ kind }) => kind)).toEqual(["reasoning", "content"]);
    expect(part.answer.events).toHaveLength(3);
  });

  it("says that it is gone", async () => {
    const { chat } = openChat();
    await chat.open();
    expect(chat.state).toMatchObject({
      status: "failed",
      trouble: "This conversation was not found. It may have been deleted.",
    });
  });

  it("takes in what another tab has asked, once", async () => {
    const { server, chat } = await answeredChat("first");
    const base = { created: 1, parts: [], system: null };
    const nodes = [
      { ...base, id: "m1", parent_id: null, role: "user", text: "first" },
      {
        ...base,
        id: "run1",
        parent_id: "m1",
        role: "assistant",
        text: "to first",
        run_id: "run1",
        status: "complete",
        model: "m",
        loop: "v2",
      },
      { ...base, id: "m9", parent_id: "run1", role: "user", text: "elsewhere" },
      {
        ...base,
        id: "run9",
        parent_id: "m9",
        role: "assistant",
        text: "x",
        run_id: "run9",
        status: "complete",
        model: "m",
        loop: "v2",
      },
    ];
    server.conversation = { id: "c1", title: "T", leaf_id: "run9", messages: nodes };
    await chat.refresh();
    await chat.refresh();
    expect(shownRows(chat)).toEqual(["? first", "! to first (complete)", "? elsewhere", "! x (complete)"]);
  });
});

describe("a conversation that is not there yet", () => {
  it("keeps what is sent until it is, and asks it where it belongs", async () => {
    const { server, chat } = openChat();
    let bring: () => void = () => undefined;
    const ask = server.request.bind(server);
    server.request = (path, init) =>
      path === "/api/conversations/c1"
        ? new Promise((resolve, reject) => {
            bring = () => void ask(path, init).then(resolve, reject);
          })
        : ask(path, init);
    void chat.open();
    void chat.send("next");
    await settle();
    expect([server.asked.length, chat.state.queue.length]).toEqual([0, 1]);
    bring();
    await settle();
    expect(chat.state).toMatchObject({ status: "failed", queue: [{ text: "next" }] });
    server.conversation = conversation();
    void chat.open();
    await settle();
    bring();
    await settle();
    expect(server.asked.map(({ body }) => body.parent_id)).toEqual(["run-a"]);
    expect(chat.state.queue).toEqual([]);
  });
});

describe("how it is asked", () => {
  it("is waited for with the message in sight, and one message at a time", async () => {
    let tell: (asking: RequestSetup) => void = () => undefined;
    const { server, chat } = openChat({ asking: () => new Promise((resolve) => (tell = resolve)) });
    void chat.send("first");
    void chat.send("second");
    await settle();
    expect(chat.state.queue.map(({ text }) => text)).toEqual(["first", "second"]);
    tell(SETUP);
    await settle();
    tell(SETUP);
    await settle();
    expect(server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual(["first"]);
    expect(chat.state.queue.map(({ text }) => text)).toEqual(["second"]);
    await server.asked[0]?.send(content("one"), done());
    tell(SETUP);
    await settle();
    expect(server.asked[1]?.body).toMatchObject({ parent_id: "run1", messages: [{ content: "second" }] });
  });

  it("not knowing any model keeps the message, with a word", async () => {
    const { server, chat, settings } = openChat({}, { models: [""] });
    await chat.send("first");
    expect([server.asked.length, chat.state.queue.length]).toEqual([0, 1]);
    expect(chat.state.trouble).toMatch(/Choose a model/);
    settings.models = ["m"];
    void chat.sendQueued(chat.state.queue[0]?.id ?? "");
    await settle();
    expect(server.asked).toHaveLength(1);
  });
});
