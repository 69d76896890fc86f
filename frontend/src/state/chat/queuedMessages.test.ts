import { describe, expect, it } from "vitest";
import { answeredChat, conversation, openChat, partAt, SETUP, shownRows } from "../../fixtures/chat.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import type { RequestSetup } from "./requestBody.ts";

describe("the queue", () => {
  it("sends queued messages one by one as answers complete", async () => {
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

  it("waits for the user after a stopped or failed answer", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    void chat.send("second");
    server.conversation = { id: "c1", title: "", leaf_id: null, messages: [] };
    await server.asked[0]?.send(done({ status: "cancelled" }));
    expect([chat.state.held, chat.state.queue.length, server.asked.length]).toEqual([true, 1, 1]);
    void chat.sendQueued(chat.state.queue[0]?.id ?? "");
    await settle();
    expect([chat.state.held, chat.state.queue.length, server.asked.length]).toEqual([false, 0, 2]);
  });

  it('"Send now" stops the running answer and sends the message next', async () => {
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

  it("continues on its branch, even if the user switches to another one", async () => {
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

  it("uses the message's id as key, so that a copy of the tab sends it once", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    void chat.send("second");
    const [message] = chat.state.queue;
    await server.asked[0]?.send(content("one"), done());
    await settle();
    expect(server.asked[1]?.key).toBe(message?.id);
  });

  it("survives a reload, and then waits for the user", async () => {
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

describe("the request setup", () => {
  it("is awaited with the message shown, one message at a time", async () => {
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

  it("without a model keeps the message and reports it", async () => {
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
