import { describe, expect, it } from "vitest";
import { openChat, partAt } from "../../fixtures/chat.ts";
import { answerOf, question, unreachable } from "../../fixtures/recovery.ts";
import { content, done, memoryStorage, settle } from "../../fixtures/server.ts";
import { ChosenAnswers } from "../chosenAnswers.ts";
import type { Chat, ChatDeps } from "./chat.ts";

const MODELS = ["m", "m", "m"];
const fields = (_: string, at: number) => ({ column: at });
const openVariants = (more: Partial<ChatDeps> = {}) => openChat(more, { models: MODELS, fields });

const variants = (chat: Chat) => {
  const entry = chat.state.entries[1];
  return entry?.kind === "answer" ? entry.beside : [];
};
const shown = (chat: Chat) =>
  variants(chat).map(({ column, answer: { state } }) => [
    column,
    state.trace.items.flatMap((item) => (item.kind === "content" ? [item.text] : [])).join(""),
  ]);

async function answered(more: Partial<ChatDeps> = {}) {
  const opened = openVariants(more);
  void opened.chat.send("first");
  await settle();
  await settle();
  for (const [at, asked] of opened.server.asked.entries()) await asked.send(content(`answer ${at}`), done());
  return opened;
}

describe("variants of one model", () => {
  it("are requested in their columns, and shown side by side", async () => {
    const { server, chat } = await answered();
    expect(server.asked.map(({ body: { model, column, parent_id } }) => [model, column, parent_id])).toEqual([
      ["m", 0, null],
      ["m", 1, "m1"],
      ["m", 2, "m1"],
    ]);
    expect(shown(chat)).toEqual([
      [0, "answer 0"],
      [1, "answer 1"],
      [2, "answer 2"],
    ]);
  });

  it("are regenerated one at a time, in their place", async () => {
    const { server, chat } = await answered();
    void chat.again(partAt(chat, 0).key, "m", 1);
    await settle();
    expect(server.asked[3]?.body).toMatchObject({ model: "m", column: 1, parent_id: "m1" });
    await server.asked[3]?.send(content("better"), done());
    expect(shown(chat)).toEqual([
      [0, "answer 0"],
      [1, "better"],
      [2, "answer 2"],
    ]);
  });

  it("are stopped one at a time", async () => {
    const { server, chat } = openVariants();
    void chat.send("first");
    await settle();
    await settle();
    void variants(chat)[1]?.answer.stop();
    await settle();
    expect(server.stopped).toEqual(["/api/runs/run2/stop"]);
    await server.asked[1]?.send(done({ status: "cancelled" }));
    expect(variants(chat).map(({ answer }) => answer.isOver)).toEqual([false, true, false]);
  });

  it("are requested after a reload if they had no run", async () => {
    const box = memoryStorage();
    const { server, chat } = openVariants({ box });
    server.refuse = unreachable;
    void chat.send("first");
    await settle();
    const after = openChat({ box });
    after.server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: "r1" },
      messages: [question("q", "first"), answerOf("r1", "q", { column: 1, status: "complete" })],
    };
    void after.chat.open();
    await settle();
    await settle();
    expect(after.server.asked.map(({ body }) => body.column)).toEqual([0, 2]);
  });

  it("keep the choice over a reload, however often it was made", async () => {
    const choices = new ChosenAnswers(memoryStorage());
    const told = {
      ...{ id: "c1", title: "T", leaf_id: "r1" },
      messages: [question("q", "first"), ...[0, 1].map((column) => answerOf(`r${column}`, "q", { column }))],
    };
    const shownAfterReload = async () => {
      const { server, chat } = openChat({ choices });
      server.conversation = told;
      await chat.open();
      const { entries } = chat.state;
      return { chat, part: entries.findLast(({ kind }) => kind === "answer")?.part.key };
    };
    const before = await shownAfterReload();
    // The server's leaf is the variant that was requested last.
    expect(before.part).toBe("r0");
    before.chat.choose("r1");
    before.chat.choose("r1");
    expect((await shownAfterReload()).part).toBe("r1");
  });

  it("are all there after a reload, and the next message follows the chosen one", async () => {
    const { server, chat } = openChat();
    server.conversation = {
      ...{ id: "c1", title: "T", leaf_id: "r2" },
      messages: [
        question("q", "first"),
        ...[0, 1, 2].map((column) => answerOf(`r${column}`, "q", { column, status: "complete" })),
      ],
    };
    await chat.open();
    expect(variants(chat).map(({ column }) => column)).toEqual([0, 1, 2]);
    chat.choose(variants(chat)[2]?.key ?? "");
    void chat.send("next");
    await settle();
    expect(server.asked.map(({ body }) => body.parent_id)).toEqual(["r2"]);
  });
});
