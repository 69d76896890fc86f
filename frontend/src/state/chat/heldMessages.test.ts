import { ApiError } from "@signalbox/client/requests";
import { describe, expect, it, vi } from "vitest";
import { openChat, SETUP, shownRows } from "../../fixtures/chat.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import type { Hold } from "../../logic/chat/messageQueue.ts";
import { Chat } from "./chat.ts";
import { claimMessage } from "./queueClaims.ts";

function held(more: Parameters<typeof openChat>[0] = {}) {
  const state: { hold: Hold | undefined } = { hold: "offline" };
  return { ...openChat({ hold: () => state.hold, ...more }), state };
}

describe("a message that cannot be sent yet", () => {
  it("is queued with the reason, and sent once", async () => {
    const { server, chat, state } = held();
    void chat.send("first");
    void chat.send("second");
    await settle();
    expect(server.asked).toEqual([]);
    expect(chat.state).toMatchObject({ hold: "offline", held: false, status: "ready" });
    expect(chat.state.queue.map(({ text }) => text)).toEqual(["first", "second"]);
    state.hold = undefined;
    void chat.goOn();
    void chat.goOn();
    await settle();
    await server.asked[0]?.send(content("one"), done());
    await server.asked[1]?.send(content("two"), done());
    expect(shownRows(chat)).toEqual(["? first", "! one (complete)", "? second", "! two (complete)"]);
    expect(server.asked).toHaveLength(2);
    expect(chat.state.hold).toBeUndefined();
  });

  it("is sent after a reload, in its new chat", async () => {
    const box = memoryStorage();
    const { server, chat, state } = held({ box });
    void chat.send("first");
    await settle();
    const again = held({ box });
    await again.chat.open();
    expect(again.chat.state).toMatchObject({ hold: "offline", status: "ready" });
    again.state.hold = undefined;
    void again.chat.goOn();
    await settle();
    expect(again.server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual(["first"]);
    expect(server.asked).toEqual([]);
    expect(state.hold).toBe("offline");
  });

  it("is sent by only one of two tabs that have it", async () => {
    const claims = memoryStorage();
    const mine = memoryStorage();
    const one = held({ box: mine, claim: (id) => claimMessage(claims, id) });
    void one.chat.send("first");
    await settle();
    const copy = memoryStorage();
    for (const [name, value] of mine.kept) copy.setItem(name, value);
    const two = held({ box: copy, claim: (id) => claimMessage(claims, id) });
    await two.chat.open();
    for (const { chat, state } of [one, two]) {
      state.hold = undefined;
      void chat.goOn();
      await settle();
    }
    expect(one.server.asked).toHaveLength(1);
    expect(two.server.asked).toEqual([]);
    expect(two.chat.state.queue).toEqual([]);
  });

  it("is sent automatically once its conversation can be loaded", async () => {
    const { server, chat } = openChat();
    const request = server.request.bind(server);
    let tries = 0;
    server.request = (path, init) => {
      tries += 1;
      return tries > 1 ? request(path, init) : Promise.reject(new ApiError(503, "NOT_READY", "Starting."));
    };
    server.conversation = { id: "c1", title: "", leaf_id: null, messages: [] };
    await chat.open();
    void chat.send("first");
    await settle();
    expect(chat.state).toMatchObject({ status: "failed", trouble: "Starting." });
    await expect.poll(() => server.asked.length, { timeout: 3000 }).toBe(1);
    expect(chat.state).toMatchObject({ status: "ready", trouble: undefined, queue: [] });
  });

  it("is not retried after the user has left", async () => {
    vi.useFakeTimers();
    const { server, chat } = openChat();
    let tries = 0;
    server.request = () => {
      tries += 1;
      return Promise.reject(new ApiError(503, "NOT_READY", "Starting."));
    };
    await chat.open();
    chat.leave();
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    expect(tries).toBe(1);
  });

  it("stays with a conversation that could not be loaded, and is sent when the connection is back", async () => {
    const { server, chat, state } = held();
    const request = server.request.bind(server);
    server.request = async () => {
      throw new ApiError(0, "SERVER_UNREACHABLE", "No answer.");
    };
    await chat.open();
    void chat.send("first");
    await settle();
    expect(chat.state).toMatchObject({ status: "failed", hold: "offline" });
    server.request = request;
    server.conversation = { id: "c1", title: "", leaf_id: null, messages: [] };
    state.hold = undefined;
    void chat.goOn();
    await settle();
    expect(server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual(["first"]);
  });
});

describe("a question that never reached the server", () => {
  const waiting = { slots: { acquire: async () => () => undefined }, askDelays: [], lineDelays: [20] };

  it("is sent again under its key, and ends at once when stopped", async () => {
    const { server, chat } = openChat({ stream: waiting });
    const keys: (string | null)[] = [];
    server.refuse = (_, key) => {
      keys.push(key);
      return new ApiError(0, "SERVER_UNREACHABLE", "No answer.");
    };
    const over = chat.send("first");
    await expect.poll(() => keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
    const entry = chat.state.entries[1];
    expect(entry?.kind === "answer" && entry.part.answer.state.connection).toBe("waiting");
    await chat.stop();
    expect(shownRows(chat)).toEqual(["? first", "!  (cancelled)"]);
    // A question only ends when it is no longer retried.
    await over;
  });

  it("is sent after a reload, however late, because the page has promised it", async () => {
    const box = memoryStorage();
    const before = openChat({ stream: waiting, box });
    before.server.refuse = () => new ApiError(0, "SERVER_UNREACHABLE", "No answer.");
    void before.chat.send("first");
    await expect.poll(() => box.kept.get("signalbox.pending")).toContain('"promised":true');
    before.chat.leave();
    const old = (box.kept.get("signalbox.pending") ?? "").replace(/"asked":\d+/, '"asked":1');
    box.setItem("signalbox.pending", old);
    const { server } = before;
    server.refuse = undefined;
    const after = new Chat("c1", {
      client: server,
      box,
      schedule: (run) => run(),
      asking: () => SETUP,
      stream: waiting,
    });
    await Promise.race([after.open(), settle()]);
    await settle();
    expect(server.asked.map(({ body }) => body.messages?.[0]?.content)).toEqual(["first"]);
  });
});
