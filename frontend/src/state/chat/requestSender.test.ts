import { describe, expect, it } from "vitest";
import { holdQuestions, openChat } from "../../fixtures/chat.ts";
import { answerOf, pendingIn, question, unreachable } from "../../fixtures/recovery.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import type { Chat } from "./chat.ts";

describe("a comparison whose first answer is stopped before the question has an id", () => {
  const columns = (chat: Chat) => {
    const entry = chat.state.entries[1];
    return entry?.kind === "answer" ? entry.beside.map(({ answer }) => answer) : [];
  };
  const models = (server: { asked: readonly { body: { model: string; messages?: unknown } }[] }) =>
    server.asked.map(({ body }) => [body.model, body.messages !== undefined]);

  it("requests the other models once the question has an id", async () => {
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

  it("waits with the other models while the server is unreachable, and each can be stopped", async () => {
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

  it("ends the other answers if the outcome of the question stays unknown", async () => {
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

  it("requests only the others after a reload", async () => {
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
