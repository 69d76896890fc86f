import { ApiError } from "@signalbox/client/requests";
import { describe, expect, it } from "vitest";
import { answeredChat, openChat, partAt, SETUP, shownRows } from "../../fixtures/chat.ts";
import { content, done, memoryStorage, ScriptedServer, settle } from "../../fixtures/server.ts";
import type { Hold } from "../../logic/chat/messageQueue.ts";
import type { ChatDeps } from "./chat.ts";
import { Chats } from "./chats.ts";

const texts = (asked: ScriptedServer["asked"]) => asked.map(({ body }) => body.messages?.[0]?.content);
const deleted = (server: ScriptedServer) => {
  server.refuse = ({ parent_id }) =>
    parent_id === null ? undefined : new ApiError(422, "UNKNOWN_MESSAGE", "No such message.");
};
const told = [
  { id: "m1", parent_id: null, role: "user", created: 1, text: "first", parts: [], system: null },
  {
    ...{ id: "run1", parent_id: "m1", role: "assistant", created: 2, text: "to first", run_id: "run1" },
    ...{ status: "complete", model: "m", loop: "v2", cost: 0.25, steps: 1 },
  },
];
const conversation = { id: "c1", title: "", leaf_id: "run1", messages: told };

/** The chats of a page whose server has no conversations. */
function page(more: Partial<ChatDeps> = {}) {
  const server = new ScriptedServer();
  const chats = new Chats({
    client: server,
    schedule: (run) => run(),
    asking: () => SETUP,
    stream: { slots: { acquire: async () => () => undefined }, askDelays: [], lineDelays: [] },
    ...more,
  });
  return { server, chats };
}

/** A second page, where unsent messages move to a new chat. */
async function movedTo(chat: Parameters<Chats["moveToNew"]>[0], question?: string) {
  const { server, chats } = page();
  chats.moveToNew(chat, question);
  await settle();
  await server.asked[0]?.send(content("one"), done());
  await settle();
  return { server, fresh: chats.fresh() };
}

describe("a conversation that was deleted elsewhere", () => {
  it("keeps unsent messages, reports it, and moves them to a new chat in order", async () => {
    const state: { hold: Hold | undefined } = { hold: undefined };
    const { server, chat } = await answeredChat("first", { hold: () => state.hold, box: memoryStorage() });
    state.hold = "offline";
    void chat.send("second");
    void chat.send("third");
    await settle();
    deleted(server);
    state.hold = undefined;
    void chat.goOn();
    await settle();
    await settle();
    expect(chat.state).toMatchObject({ hold: "deleted", queue: [{ text: "third" }] });
    expect(chat.state.trouble).toMatch(/deleted in another tab/);
    void chat.sendQueued(chat.state.queue[0]?.id ?? "");
    void chat.send("fourth");
    await settle();
    expect(texts(server.asked)).toEqual(["first"]);

    const { server: next, fresh } = await movedTo(chat);
    expect(next.asked.map(({ body }) => body.parent_id)).toEqual([null, "run1"]);
    expect(next.asked.map(({ body }) => body.conversation_id)).toEqual([fresh.id, fresh.id]);
    expect(texts(next.asked)).toEqual(["second", "third"]);
    expect(fresh.state.queue.map(({ text }) => text)).toEqual(["fourth"]);
    expect([chat.state.queue, chat.state.hold]).toEqual([[], undefined]);
  });

  it("is reported when that stops its running answer", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    await server.asked[0]?.send(content("one"));
    await server.asked[0]?.send(done({ status: "cancelled" }));
    await settle();
    expect(chat.state.trouble).toMatch(/deleted in another tab/);
  });

  it("is not looked up when the user stops an answer", async () => {
    const { server, chat } = openChat();
    void chat.send("first");
    await settle();
    await server.asked[0]?.send(content("one"));
    void chat.stop();
    await settle();
    await server.asked[0]?.send(done({ status: "cancelled" }));
    await settle();
    expect(chat.state.trouble).toBeUndefined();
  });

  it("also moves the question of a regenerated answer", async () => {
    const { server, chat } = await answeredChat("first");
    deleted(server);
    await chat.again(partAt(chat, 0).key);
    await settle();
    const { server: next } = await movedTo(chat, partAt(chat, 0).key);
    expect(texts(next.asked)).toEqual(["first"]);
  });

  it("is not recreated by an edited question", async () => {
    const { server, chat } = await answeredChat("first");
    deleted(server);
    await chat.send("second");
    await settle();
    await chat.edit(partAt(chat, 0).key, "better");
    expect(texts(server.asked)).toEqual(["first"]);
    expect(chat.state).toMatchObject({ hold: "deleted", queue: [{ text: "better" }] });
  });

  it("is not recreated by its queue after a reload", async () => {
    const box = memoryStorage();
    const before = openChat({ box, hold: () => "offline" });
    before.server.conversation = conversation;
    await before.chat.open();
    void before.chat.send("second");
    await settle();
    const { server, chat } = openChat({ box, hold: () => "offline" });
    await chat.open();
    expect(chat.state).toMatchObject({ status: "failed", hold: "deleted", queue: [{ text: "second" }] });
    const { server: next } = await movedTo(chat);
    expect([texts(server.asked), texts(next.asked)]).toEqual([[], ["second"]]);
    expect(box.kept.size).toBe(0);
  });

  it("is not recreated by an unconfirmed message", async () => {
    const box = memoryStorage();
    const before = await answeredChat("first", { box });
    before.server.refuse = () => new ApiError(0, "SERVER_UNREACHABLE", "No answer.");
    await before.chat.send("second");
    const { server, chat } = openChat({ box });
    await chat.open();
    expect(server.asked).toEqual([]);
    expect(chat.state).toMatchObject({ status: "failed", hold: "deleted", queue: [{ text: "second" }] });
  });

  it("that exists after all receives its queued messages", async () => {
    const box = memoryStorage();
    const before = openChat({ box, hold: () => "offline" });
    before.server.conversation = conversation;
    await before.chat.open();
    void before.chat.send("second");
    await settle();
    const { server, chat } = openChat({ box });
    await chat.open();
    server.conversation = conversation;
    void chat.open();
    await settle();
    expect(texts(server.asked)).toEqual(["second"]);
    expect(chat.state.hold).toBeUndefined();
  });
});

describe("another version that is requested while no model is known", () => {
  it("is queued like a message, also over a reload", async () => {
    for (const act of ["edit", "again"] as const) {
      for (const isReloaded of [false, true]) {
        const box = memoryStorage();
        const state: { hold: Hold | undefined } = { hold: undefined };
        const before = await answeredChat("first", { box, hold: () => state.hold });
        state.hold = "loading";
        const { key } = partAt(before.chat, 0);
        await (act === "edit" ? before.chat.edit(key, "better") : before.chat.again(key));
        expect(before.chat.state).toMatchObject({ hold: "loading", trouble: undefined, held: false });
        expect(before.chat.state.queue).toHaveLength(1);
        expect(before.server.asked).toHaveLength(1);

        const after = isReloaded ? openChat({ box }) : before;
        state.hold = undefined;
        after.server.conversation = conversation;
        void (isReloaded ? after.chat.open() : after.chat.goOn());
        await settle();
        const asked = after.server.asked.at(-1);
        expect(asked?.body).toMatchObject(
          act === "edit" ? { parent_id: null, messages: [{ content: "better" }] } : { parent_id: "m1" },
        );
        await asked?.send(content("now"), done());
        expect(shownRows(after.chat)).toEqual([act === "edit" ? "? better" : "? first", "! now (complete)"]);
        expect(after.chat.state.queue).toEqual([]);
        expect(after.server.asked).toHaveLength(isReloaded ? 1 : 2);
      }
    }
  });

  it("does not wait for the answer to an earlier message", async () => {
    const state: { hold: Hold | undefined } = { hold: undefined };
    const { server, chat } = await answeredChat("first", { hold: () => state.hold });
    state.hold = "loading";
    void chat.send("next");
    await chat.edit(partAt(chat, 0).key, "better");
    state.hold = undefined;
    void chat.goOn();
    await settle();
    expect(server.asked.map(({ body }) => [body.messages?.[0]?.content, body.parent_id])).toEqual([
      ["first", null],
      ["next", "run1"],
      ["better", null],
    ]);
  });
});
